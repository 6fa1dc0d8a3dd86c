//! StoredLists for methods that find candidates in perhaps-similar sets rather than by a shared key alone.

use onecopy_core::Sets;
use onecopy_core::settle::KeyLists;

use crate::batch::candidates::key_lists::StoredLists;
use crate::error::Result;

/// The sets that `runs` of `contents` contents grow into, each a run.
pub(crate) fn sets(runs: StoredLists, contents: usize, limit: u32) -> Result<StoredLists> {
    let mut sets = Sets::new(contents, limit);
    // StoredLists come in the order of their keys, whatever the memory and the threads.
    runs.for_each(|run| {
        sets.join(run.iter().map(|&[content, _]| content));
        Ok(())
    })?;
    let grown = runs.emptied();
    let mut writer = grown.writer(0);
    for set in sets.finish() {
        let run: Vec<_> = set.into_iter().map(|content| [content, 0]).collect();
        writer.push(&run)?;
    }
    writer.finish()?;
    grown.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_share_a_content_are_one_set() {
        let folder = tempfile::tempdir().unwrap();
        for room in [1_000, 0] {
            let runs = StoredLists::new(2, room, &folder.path().join("runs"));
            for (part, input) in [[[0, 1], [2, 3]], [[1, 2], [4, 5]]].iter().enumerate() {
                let mut writer = runs.writer(part);
                input.iter().for_each(|run| writer.push(&run.map(|content| [content, 7])).unwrap());
                writer.finish().unwrap();
            }
            let mut found = Vec::new();
            let sets = sets(runs.finish().unwrap(), 6, 4).unwrap();
            sets.for_each(|run| {
                found.push(run.iter().map(|holder| holder[0]).collect::<Vec<_>>());
                Ok(())
            })
            .unwrap();
            assert_eq!(found, [vec![0, 1, 2, 3], vec![4, 5]]);
        }
    }
}
