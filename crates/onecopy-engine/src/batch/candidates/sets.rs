//! Key lists for methods that compare all pages of a perhaps-similar set, not only pages that share a key.

use onecopy_core::Sets;
use onecopy_core::settle::KeyLists;

use crate::batch::candidates::key_lists::StoredLists;
use crate::error::Result;

/// Grows the sets of `contents` contents from key lists. Each set becomes a list.
pub(crate) fn sets(lists: StoredLists, contents: usize, limit: u32) -> Result<StoredLists> {
    let mut sets = Sets::new(contents, limit);
    // Lists come in the order of their keys, for any memory limit and number of threads.
    lists.for_each(|list| {
        sets.join(list.iter().map(|&[content, _]| content));
        Ok(())
    })?;
    let grown = lists.emptied();
    let mut writer = grown.writer(0);
    for set in sets.finish() {
        let list: Vec<_> = set.into_iter().map(|content| [content, 0]).collect();
        writer.push(&list)?;
    }
    writer.finish()?;
    grown.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_share_a_content_are_one_set() {
        let folder = tempfile::tempdir().unwrap();
        for room in [1_000, 0] {
            let lists = StoredLists::new(2, room, &folder.path().join("lists"));
            for (part, input) in [[[0, 1], [2, 3]], [[1, 2], [4, 5]]].iter().enumerate() {
                let mut writer = lists.writer(part);
                input.iter().for_each(|list| writer.push(&list.map(|content| [content, 7])).unwrap());
                writer.finish().unwrap();
            }
            let mut found = Vec::new();
            let sets = sets(lists.finish().unwrap(), 6, 4).unwrap();
            sets.for_each(|list| {
                found.push(list.iter().map(|holder| holder[0]).collect::<Vec<_>>());
                Ok(())
            })
            .unwrap();
            assert_eq!(found, [vec![0, 1, 2, 3], vec![4, 5]]);
        }
    }
}
