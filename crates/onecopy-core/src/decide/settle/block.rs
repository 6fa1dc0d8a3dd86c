//! Settles a block of contents: threads compare, and one thread decides in order.

use super::index::ListIndex;
use super::{Buffers, Comparer, Settled, Winner};

/// How many contents threads compare with those that stayed before, until these are settled one by one.
const BATCH: usize = 8_192;

/// How many contents a thread takes at once. They are compared with a crowd in one pass.
pub(in crate::decide) const FEW: usize = 32;

/// With how many others of its batch a content is compared before it is known which of them stay.
const FEW_BESIDE: usize = 4;

/// A content of a batch, after it was compared with those that stayed before the batch.
#[derive(Clone, Copy, Debug, Default)]
enum First {
    Winner(Winner),
    /// It shares a key with one that comes before it in the batch, and may be alike.
    Open,
    /// It stays.
    #[default]
    Nothing,
}

/// An open content, after it was compared with others of its batch.
#[derive(Clone, Debug, Default)]
struct Beside {
    /// Those that are alike, best first. They may stay or not.
    alike: Vec<Winner>,
    /// Those before this number were all compared, unless one of `alike` stays.
    until: u32,
}

/// A block of contents that is being settled.
pub(super) struct BlockSettler<'a, C> {
    pub comparer: &'a C,
    pub index: ListIndex,
}

impl<C: Comparer> BlockSettler<'_, C> {
    /// Settles `contents` among themselves. Contents that a better one removed before must not be among them.
    pub(super) fn settle(mut self, contents: &[u32], settled: &mut Settled) -> Result<(), C::Error> {
        let mut buffers = Buffers::default();
        for batch in contents.chunks(BATCH) {
            self.index.gather(batch, self.comparer)?;
            let found = self.before(batch)?;
            let mut beside = self.beside(batch, &found)?.into_iter();
            for (&content, first) in batch.iter().zip(found) {
                self.comparer.check()?;
                let winner = match first {
                    First::Winner(winner) => Some(winner),
                    First::Nothing => None,
                    First::Open => {
                        let beside = beside.next().unwrap_or_default();
                        self.winner_beside(content, &beside, batch[0], settled, &mut buffers)?
                    }
                };
                match winner {
                    Some(winner) => settled.remove(content, winner),
                    None => self.index.keep(content),
                }
            }
            self.comparer.settled(batch.len() as u64);
        }
        Ok(())
    }

    /// Threads compare the contents of a batch with those that stayed before it.
    fn before(&self, batch: &[u32]) -> Result<Vec<First>, C::Error> {
        let few: Vec<&[u32]> = batch.chunks(FEW).collect();
        let found = self.comparer.map(&few, |few, buffers| {
            let first = |(&content, winner): (&u32, Option<Winner>)| match winner {
                Some(winner) => First::Winner(winner),
                None if self.is_open(content, batch[0]) => First::Open,
                None => First::Nothing,
            };
            Ok(few.iter().zip(self.winners(few, 0, buffers)?).map(first).collect::<Vec<_>>())
        })?;
        Ok(found.concat())
    }

    /// Whether a content may be alike to one of its batch, of which `from` is the first. The base is not compared.
    fn is_open(&self, content: u32, from: u32) -> bool {
        content >= self.comparer.base() && self.index.is_open_beside(content, from, self.comparer)
    }

    /// Threads compare each open content of a batch with the first of the batch before it. They do not know yet which of
    /// these stay, so some comparisons may be for nothing.
    fn beside(&self, batch: &[u32], found: &[First]) -> Result<Vec<Beside>, C::Error> {
        let open = batch.iter().zip(found).filter(|(_, first)| matches!(first, First::Open));
        let open: Vec<u32> = open.map(|(&content, _)| content).collect();
        let few: Vec<&[u32]> = open.chunks(FEW).collect();
        let first = |content: u32| batch.binary_search(&content).map_or(First::Nothing, |at| found[at]);
        let found = self.comparer.map(&few, |few, buffers| {
            let beside = few.iter().map(|&content| self.beside_one(content, batch[0], &first, buffers));
            beside.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(found.concat())
    }

    /// Compares an open content with the first of its batch before it. `first` is what is known of each, and `from` is the
    /// first content of the batch.
    fn beside_one(
        &self,
        content: u32,
        from: u32,
        first: &impl Fn(u32) -> First,
        buffers: &mut Buffers,
    ) -> Result<Beside, C::Error> {
        if !self.index.open_beside(content, from, self.comparer, &mut buffers.candidates) {
            return Ok(Beside::default());
        }
        let (mut beside, mut compared) = (Beside { alike: Vec::new(), until: content }, 0);
        for i in 0..buffers.candidates.list.len() {
            let other = buffers.candidates.list[i];
            let is_sure = match first(other) {
                First::Winner(_) => continue,
                First::Open => false,
                First::Nothing => true,
            };
            if compared == FEW_BESIDE {
                beside.until = other;
                break;
            }
            compared += 1;
            if let Some(score) = self.comparer.compare(other, content, buffers)? {
                beside.alike.push(Winner { content: other, score });
                if is_sure {
                    break;
                }
            }
        }
        Ok(beside)
    }

    /// The winner of an open content among the contents from number `from` on, the first of its batch.
    fn winner_beside(
        &mut self,
        content: u32,
        beside: &Beside,
        from: u32,
        settled: &Settled,
        buffers: &mut Buffers,
    ) -> Result<Option<Winner>, C::Error> {
        let first = beside.alike.iter().find(|winner| settled.stays(winner.content));
        if first.is_some() || beside.until >= content {
            return Ok(first.copied());
        }
        self.index.gather(&[content], self.comparer)?;
        Ok(self.winners(&[content], from.max(beside.until), buffers)?.pop().flatten())
    }

    /// The winner of each of `few` among the contents from number `from` on that stay so far.
    fn winners(
        &self,
        few: &[u32],
        from: u32,
        buffers: &mut Buffers,
    ) -> Result<Vec<Option<Winner>>, C::Error> {
        let mut near = std::mem::take(&mut buffers.near);
        self.index.crowd_beside(few, from, self.comparer, &mut near)?;
        let (mut lists, mut winners) = (near.iter_mut(), Vec::with_capacity(few.len()));
        for &content in few {
            if content < self.comparer.base() {
                winners.push(None);
                continue;
            }
            let list = if self.index.is_crowded(content) { lists.next() } else { None };
            match list {
                Some(list) => std::mem::swap(&mut buffers.candidates.list, list),
                None => self.index.kept_beside(content, from, self.comparer, &mut buffers.candidates),
            }
            winners.push(first_alike(self.comparer, content, buffers)?);
        }
        buffers.near = near;
        Ok(winners)
    }
}

/// The first of the candidates in `buffers` that is alike.
fn first_alike<C: Comparer>(
    comparer: &C,
    content: u32,
    buffers: &mut Buffers,
) -> Result<Option<Winner>, C::Error> {
    for i in 0..buffers.candidates.list.len() {
        let candidate = buffers.candidates.list[i];
        if let Some(score) = comparer.compare(candidate, content, buffers)? {
            return Ok(Some(Winner { content: candidate, score }));
        }
    }
    Ok(None)
}
