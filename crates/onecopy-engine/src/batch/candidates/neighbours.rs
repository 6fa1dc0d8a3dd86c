//! Key lists for methods that find candidates as neighbours in a sorted order. Takes about 40 bytes of memory per
//! content.

use onecopy_core::{Near, Sketches};

use crate::batch::budget::Budget;
use crate::batch::candidates::key_lists::StoredLists;
use crate::batch::candidates::keys::KeyFinder;
use crate::error::{Error, Result};
use crate::io::Aligned;
use crate::progress::Progress;

/// Returns the pairs that `near` finds among one-word sketches, best content first. Each pair is a list.
pub(crate) fn neighbours(
    finder: &KeyFinder,
    near: impl Fn(Sketches) -> Vec<Near>,
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<StoredLists> {
    let (mut words, mut buffer) = (vec![0; finder.contents.len()], Aligned::default());
    let again = !finder.segments.on_disk();
    for i in 0..finder.segments.len() {
        if progress.stopped() {
            return Err(Error::Stopped);
        }
        let word = |content: u32, sketch: &[u64]| {
            words[content as usize] = sketch[0];
            Ok(())
        };
        let pages = finder.contents.each_sketch(finder.segments, i, again, &mut buffer, word)?;
        progress.advance(pages);
    }
    let pairs = near(Sketches { words: &words, width: 1 });
    let lists = StoredLists::new(1, budget.holders, &finder.folder.join("lists"));
    let mut writer = lists.writer(0);
    for pair in pairs {
        writer.push(&[[pair.a, 0], [pair.b, 0]])?;
    }
    writer.finish()?;
    lists.finish()
}
