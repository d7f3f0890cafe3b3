//! The cases of a campaign: numbered, and each made of the seed and its number alone.
//!
//! So it makes no difference in which process, on which machine or in which order a case is made.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::generate::{self, LeftOut, Options};
use crate::program::{Program, Reply};
use crate::reference::{self, Abort, AbortKind, Ask};

/// The most parts that a campaign may have: a summary lists those that are missing.
const MAX_SHARDS: u64 = 1_000_000;

/// One part of a campaign that several machines share: the cases whose number is `index` modulo `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The index of the part, from 0.
    pub index: u64,
    /// The number of parts.
    pub of: u64,
}

/// A case.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Its number in the campaign.
    pub case: u64,
    /// Its program.
    pub program: Program,
    /// The reply of the reference, or the way in which it went wrong.
    pub expected: Result<Reply, Abort>,
}

impl Shard {
    /// The whole campaign.
    pub const WHOLE: Shard = Shard { index: 0, of: 1 };

    /// The same, if there can be such a part.
    ///
    /// # Errors
    /// When there cannot.
    pub fn check(self) -> Result<Shard, String> {
        let Shard { index, of } = self;
        if of > MAX_SHARDS {
            return Err(format!("a campaign has {MAX_SHARDS} parts at most, not {of}"));
        }
        if index < of { Ok(self) } else { Err(format!("there is no part {index}/{of}: parts are counted from 0")) }
    }

    /// The number of the case at a position of this part.
    pub fn case(self, position: u64) -> u64 {
        position.saturating_mul(self.of).saturating_add(self.index)
    }

    /// Returns how many of the first `cases` cases belong to this part.
    pub fn share(self, cases: u64) -> u64 {
        cases.saturating_sub(self.index).div_ceil(self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if index < of => Shard { index, of }.check(),
            _ => Err("write i/n for part i of n, counted from 0: 0/3, 1/3 and 2/3 are the parts of three".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Made {
    /// The case with this program.
    pub fn of(case: u64, program: Program, ask: Ask) -> Made {
        Made { case, expected: ask(&program), program }
    }

    /// Returns whether the reference ends the process over it.
    pub fn is_deadly(&self) -> bool {
        matches!(self.expected, Err(Abort { kind: AbortKind::Died { .. }, .. }))
    }
}

/// Makes a case out of a seed.
pub fn make(seed: u64, case: u64, options: &Options) -> Made {
    make_with_reasons(seed, case, options).0
}

/// The same with the reasons for which proposed steps are not in its program.
pub fn make_with_reasons(seed: u64, case: u64, options: &Options) -> (Made, Vec<LeftOut>) {
    let (program, reply, left_out) = generate::program_with_reasons(&bytes(seed, case), options);
    let made = match reply {
        Some(reply) => Made { case, program, expected: Ok(reply) },
        None => Made::of(case, program, reference::ask),
    };
    (made, left_out)
}

/// A digest of programs. It changes with the generator, with the options, and with the reference as
/// far as programs are made of what it answers.
pub fn digest(programs: impl Iterator<Item = impl Borrow<Program>>) -> String {
    let mut hash = Sha256::new();
    for program in programs {
        hash.update(serde_json::to_vec(program.borrow()).expect("programs have only text for keys"));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that a case is made of.
fn bytes(seed: u64, case: u64) -> Vec<u8> {
    let mut state = scrambled(seed).wrapping_add(scrambled(case ^ 0xd134_2543_de82_ef95));
    let length = 96 + (next(&mut state) % 672) as usize;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend(next(&mut state).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The next number of splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    scrambled(*state)
}

fn scrambled(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_shards_are_the_whole() {
        for of in 1..6 {
            let shards = (0..of).map(|index| Shard { index, of });
            let cases: Vec<u64> =
                shards.flat_map(|shard| (0..shard.share(17)).map(move |position| shard.case(position))).collect();
            assert_eq!(cases.len(), 17, "{of} shards");
            assert_eq!(cases.into_iter().collect::<BTreeSet<_>>(), (0..17).collect());
        }
    }

    #[test]
    fn shards_are_written_as_a_part_of_a_number() {
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, of: 3 }));
        for wrong in ["3/3", "1", "1/", "-1/2", "0/0", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn neighbours_have_nothing_in_common() {
        let all: BTreeSet<Vec<u8>> =
            (0..100).flat_map(|seed| (0..100).map(move |case| bytes(seed, case)[..16].to_vec())).collect();
        assert_eq!(all.len(), 10_000);
    }
}
