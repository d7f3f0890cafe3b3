//! `broadcheck exhaust`: every pair of small shapes.

use std::path::PathBuf;

use clap::Args;

use super::campaign::run::{Campaign, greeted};
use super::campaign::{self, chosen};
use super::runner::Named;
use super::{Ending, Failure};
use crate::generate::bounded_exhaustive::{Bounds, World};
use crate::harness::campaign::cases::Shard;
use crate::harness::campaign::{
    journal::{self},
    record::Configuration,
};
use crate::harness::campaign::{options, plausible, world};
use crate::harness::model::finding::Oracle;
use crate::harness::runner::Start;

/// Run every pair of small shapes through every operation on two operands, and every triple through those on three.
///
/// A case is a pair or a triple of shapes; its program has each operation that works element by element or broadcasts
/// as a view, functional and in place. The reference gives the expected outcome of each: shape, dtype, strides, values,
/// aliasing, warnings, and the message of a rejection. reports/exhaustive.md says why a few sizes are enough, and what
/// they do not cover.
///
/// It is a campaign like those of `broadcheck fuzz`: findings are reduced and kept in a folder from which --resume
/// continues, even after kill -9; crashes and hangs are findings; `broadcheck merge` puts shards together.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck exhaust --jobs 2
  broadcheck exhaust --layouts --out layouts
  broadcheck exhaust --rank 3 --sizes 0,1,2 --ops add,where,expand --out some
  broadcheck exhaust --shard 0/3 --out part0
  broadcheck exhaust --resume --out part0

Exit codes: 0 no unknown finding, 1 an unknown finding, 2 could not run, nothing was judged, or the \
implementation was given up, 130 interrupted by Ctrl-C or SIGTERM: findings are kept, and --resume continues.")]
pub struct Exhaust {
    /// The most dimensions of the shapes in pairs [default: 4; with --layouts 2].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=6))]
    rank: Option<u8>,
    /// The most dimensions of the shapes in triples [default: 2; with --layouts 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=6))]
    triples: Option<u8>,
    /// The sizes that a dimension can have [default: 0,1,2,3].
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(i64).range(0..=64))]
    sizes: Option<Vec<i64>>,
    /// Operands also transposed, expanded, with gaps between their elements, and with elements before the first.
    #[arg(long)]
    layouts: bool,
    /// Only these operations [default: all that the implementation has].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    ops: Option<Vec<String>>,
    /// The number of adapter processes, each with a thread that makes cases for it and judges
    /// [default: half of the processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// The implementation under test: libtorch, libtorch@VERSION, or the command of an adapter, with NAME=VALUE before
    /// it to set variables of its environment [default: libtorch].
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementation: Option<String>,
    /// Only part I of N, counted from 0: the cases whose number is I modulo N. `broadcheck merge` puts parts together.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Resume the campaign in the folder. Options that are not given keep the values that it was begun with.
    #[arg(long)]
    resume: bool,
    /// The folder of the campaign.
    #[arg(long, value_name = "DIR", default_value = "broadcheck-exhaust")]
    out: PathBuf,
    /// Seconds that a program may take before it is a hang [default: 20].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=plausible::MAX_TIMEOUT))]
    timeout: Option<u64>,
    /// Give the implementation up, with exit code 2, after so many unknown crashes and hangs; 0 for never.
    #[arg(long, value_name = "N", default_value_t = campaign::GIVE_UP)]
    give_up: u64,
    /// GiB of address space that an adapter process may take; 0 for no limit [default: 8].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u64).range(..=plausible::MAX_MEMORY))]
    memory: Option<u64>,
    #[command(flatten)]
    printed: campaign::Printed,
}

impl Exhaust {
    pub fn run(&self) -> Result<Ending, Failure> {
        let kept = if self.resume { Some(journal::read(&self.out)?.header.configuration) } else { None };
        let begun = kept.as_ref();
        let bounds = self.bounds(begun)?;
        let implementation =
            self.implementation.clone().or_else(|| begun.map(|configuration| configuration.implementation.clone()));
        let implementation = implementation.unwrap_or_else(|| "libtorch".to_owned());
        let memory = self.memory.or(begun.map(|configuration| configuration.memory)).unwrap_or(8);
        let named = Named::parse("--impl", &implementation)?;
        if named.start == Start::Reference {
            return Err("the reference cannot judge itself: choose another --impl".into());
        }
        let subject = greeted(named, memory)?;

        let possible = options(&subject.1, None, false).ops;
        let ops = match (&self.ops, begun) {
            (Some(names), _) => chosen(names, &possible, &subject.1)?,
            (None, Some(configuration)) => configuration.ops.clone(),
            (None, None) => possible.into_iter().filter(|op| World::takes(*op)).collect(),
        };
        if let Some(other) = ops.iter().find(|op| !World::takes(**op)) {
            return Err(format!(
                "--ops: `{other}` does not broadcast two tensors; `broadcheck exhaust` without --ops runs all that do"
            )
            .into());
        }
        let configuration = Configuration {
            seed: 0,
            cases: Some(world(&bounds, &ops, &subject.1).len()),
            shard: self.shard.or(begun.map(|configuration| configuration.shard)).unwrap_or(Shard::WHOLE),
            ops,
            unrestricted: false,
            swarm: false,
            world: Some(bounds),
            corpus: None,
            oracles: vec![Oracle::Reference],
            implementation,
            against: None,
            divergences: None,
            timeout: self.timeout.or(begun.map(|configuration| configuration.timeout)).unwrap_or(20),
            memory,
        };
        let campaign = Campaign {
            out: &self.out,
            resume: self.resume,
            jobs: self.jobs,
            seconds: None,
            give_up: self.give_up,
            bisect: false,
            printed: self.printed,
            row: None,
            programs: None,
        };
        campaign.run(configuration, begun, subject, None)
    }

    /// The scope: as the campaign was begun, unless an option sets another.
    fn bounds(&self, begun: Option<&Configuration>) -> Result<Bounds, Failure> {
        let layouts = self.layouts;
        let standard = Bounds {
            rank: if layouts { 2 } else { 4 },
            triples: if layouts { 1 } else { 2 },
            sizes: vec![0, 1, 2, 3],
            layouts,
        };
        let begun = match begun {
            Some(configuration) => {
                let world = configuration.world.clone();
                Some(world.ok_or("this is a campaign of `broadcheck fuzz`: resume it with that command")?)
            }
            None => None,
        };
        let mut bounds = begun.unwrap_or(standard);
        bounds.layouts |= layouts;
        bounds.rank = self.rank.map_or(bounds.rank, usize::from);
        bounds.triples = self.triples.map_or(bounds.triples, usize::from);
        if let Some(sizes) = &self.sizes {
            bounds.sizes.clone_from(sizes);
            bounds.sizes.sort_unstable();
            bounds.sizes.dedup();
        }
        plausible::bounds(&bounds)?;
        Ok(bounds)
    }
}
