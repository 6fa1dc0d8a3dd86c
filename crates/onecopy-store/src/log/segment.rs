//! Segment files: lists them, creates them, and finds the end of the good records in the last one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Position;
use super::layout::{SEGMENT_HEAD_BYTES, check_segment_head, segment_head, segment_name, segment_number};
use super::walk::{Step, Walk};
use crate::disk::{File, Folder, Open, cannot, damaged};
use crate::{Error, Result};

pub(super) fn numbers(folder: &dyn Folder) -> Result<Vec<u32>> {
    let names = folder.names().map_err(cannot("list", "the folder"))?;
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| segment_number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

pub(super) fn list(folder: &dyn Folder) -> Result<BTreeMap<u32, u32>> {
    let mut segments = BTreeMap::new();
    for segment in numbers(folder)? {
        let name = segment_name(segment);
        let file = folder.open(&name, Open::Read).map_err(cannot("open", &name))?;
        let length = file.len().map_err(cannot("read", &name))?;
        let length = u32::try_from(length).map_err(|_| damaged(&name, length, "no segment is that long"))?;
        segments.insert(segment, length);
    }
    Ok(segments)
}

/// Whether power was lost before the segment's header was durable. Such a segment had no record.
pub(super) fn is_unborn(folder: &dyn Folder, segment: u32, length: u32) -> Result<bool> {
    if length != SEGMENT_HEAD_BYTES {
        return Ok(length < SEGMENT_HEAD_BYTES);
    }
    let name = segment_name(segment);
    let mut head = [0; SEGMENT_HEAD_BYTES as usize];
    let file = folder.open(&name, Open::Read).map_err(cannot("open", &name))?;
    file.read_exact_at(&mut head, 0).map_err(cannot("read", &name))?;
    Ok(matches!(check_segment_head(&head, segment), Err(Error::Damaged { .. })))
}

/// Creates a segment. It is durable before its first record, so a record without a segment header means damage.
pub(super) fn create(folder: &dyn Folder, segment: u32) -> Result<Arc<dyn File>> {
    let name = segment_name(segment);
    let file = folder.open(&name, Open::Create).map_err(cannot("create", &name))?;
    file.set_len(0).map_err(cannot("write", &name))?;
    file.write_all_at(&segment_head(segment), 0).map_err(cannot("write", &name))?;
    file.sync().map_err(cannot("sync", &name))?;
    folder.sync().map_err(cannot("sync", "the folder"))?;
    Ok(file)
}

pub(super) fn open_to_write(folder: &dyn Folder, segment: u32) -> Result<Arc<dyn File>> {
    let name = segment_name(segment);
    folder.open(&name, Open::Create).map_err(cannot("open", &name))
}

pub(super) fn cut(file: &dyn File, end: Position) -> Result<()> {
    let name = segment_name(end.segment);
    file.set_len(u64::from(end.offset)).map_err(cannot("cut", &name))?;
    file.sync().map_err(cannot("sync", &name))
}

/// The end of the good records in the last segment; everything before `durable` was synced. The rest is torn, unless a
/// record shows that the log was already durable beyond this point.
pub(super) fn find_end(file: &dyn File, segment: u32, durable: Position) -> Result<Position> {
    let name = segment_name(segment);
    let length = file.len().map_err(cannot("read", &name))? as u32;
    let end = |offset| Position { segment, offset };
    if end(length) < durable {
        return Err(damaged(&name, u64::from(length), "the log is cut short here"));
    }
    let mut walk = Walk::new(file, durable.max(end(0)), length)?;
    let mut torn: Option<(u32, &str)> = None;
    loop {
        match walk.step()? {
            Step::Record { since, .. } => match torn {
                Some((offset, what)) if since > offset => return Err(damaged(&name, offset.into(), what)),
                _ => {}
            },
            Step::Damage { offset, what } => {
                torn.get_or_insert((offset, what));
                walk.skip()?;
            }
            Step::End => return Ok(end(torn.map_or(length, |(offset, _)| offset))),
        }
    }
}
