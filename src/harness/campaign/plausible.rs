//! Plausibility checks of a journal. A journal comes from another machine, or from another hand: a number in it that
//! no campaign writes is an error, and neither a panic nor a loop without an end.

use std::path::{Component, Path};

use super::record::{Configuration, Header, Record};
use crate::generate::MAX_LARGE_ELEMENTS;
use crate::generate::bounded_exhaustive::Bounds;

/// The most bytes that a line may have. A line has one program, or the counts of all operations; the longest that were seen
/// have some ten thousand.
pub const MAX_LINE: usize = 16 << 20;

/// The most seconds that a program may take: a day.
pub const MAX_TIMEOUT: u64 = 24 * 60 * 60;

/// The most GiB that an adapter may take, more than any machine has.
pub const MAX_MEMORY: u64 = 1 << 20;

/// The most dimensions of an operand, and the largest size, in a small world.
pub const MAX_RANK: usize = 6;
/// See [`MAX_RANK`].
pub const MAX_SIZE: i64 = 64;

/// Checks that a record can be one of a campaign.
///
/// # Errors
/// With what is wrong.
pub fn record(record: &Record) -> Result<(), String> {
    match record {
        Record::Header(header) => self::header(header),
        Record::Pursued(pursued) => {
            let mut parts = Path::new(&pursued.folder).components();
            match (parts.next(), parts.next()) {
                (Some(Component::Normal(_)), None) => Ok(()),
                _ => Err(format!("{:?} is no name of a folder", pursued.folder)),
            }
        }
        Record::Checkpoint(checkpoint) => checkpoint.done.check(),
        Record::Finding(_) | Record::Suspect(_) | Record::End { .. } => Ok(()),
    }
}

fn header(header: &Header) -> Result<(), String> {
    let Configuration { shard, timeout, memory, world, .. } = &header.configuration;
    let _ = shard.check()?;
    if !(1..=MAX_TIMEOUT).contains(timeout) {
        return Err(format!("a program may take from 1 to {MAX_TIMEOUT} seconds, not {timeout}"));
    }
    if *memory > MAX_MEMORY {
        return Err(format!("an adapter may take {MAX_MEMORY} GiB at most, not {memory}"));
    }
    world.as_ref().map_or(Ok(()), bounds)
}

/// Checks that a small world is small.
///
/// # Errors
/// With what is wrong.
pub fn bounds(bounds: &Bounds) -> Result<(), String> {
    let rank = bounds.rank.max(bounds.triples);
    if rank > MAX_RANK {
        return Err(format!("{rank} dimensions are more than a small world has: at most {MAX_RANK}"));
    }
    if !bounds.sizes.is_sorted_by(|a, b| a < b) {
        return Err("the sizes of a small world are not in order, each once".to_owned());
    }
    if let Some(size) = bounds.sizes.iter().find(|size| !(0..=MAX_SIZE).contains(*size)) {
        return Err(format!("size {size} is none of a small world: 0 to {MAX_SIZE}"));
    }
    let largest = bounds.sizes.last().copied().unwrap_or(0);
    let elements = (largest as usize).saturating_pow(rank as u32);
    if elements > MAX_LARGE_ELEMENTS {
        return Err(format!(
            "shapes of {elements} elements are more than a small world has: at most {MAX_LARGE_ELEMENTS}"
        ));
    }
    Ok(())
}
