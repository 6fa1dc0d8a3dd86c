//! Contents whose outlines lie side by side, to find those near another in one pass.

use super::Comparer;
use crate::similarity::method::Scratch;
use crate::similarity::outline::{Crowd, Probe, place};

/// Contents from which a crowd learns how to tell them apart. It learns when it has so many, and again after growing
/// eight times.
const SOME: usize = 256;

/// A crowd of contents, added in ascending order.
pub(in crate::decide) struct CrowdedContents {
    crowd: Crowd,
    prober: Prober,
    /// The number of contents at which the crowd learns.
    learns_at: usize,
}

impl CrowdedContents {
    /// An empty crowd. `None` if the comparer has no outlines that bound how alike contents are, or no room for them.
    /// `any` is one of the contents.
    pub(in crate::decide) fn new<C: Comparer>(comparer: &C, any: u32) -> Option<CrowdedContents> {
        let outline = comparer.outline(any)?;
        let words = comparer.crowd_words().min(outline.len().saturating_sub(1));
        let is_bounded = words > 0 && comparer.method().slack(outline).is_some();
        let (crowd, prober) = (Crowd::new(words), Prober::default());
        is_bounded.then_some(CrowdedContents { crowd, prober, learns_at: SOME })
    }

    /// How many contents there are.
    pub(in crate::decide) fn len(&self) -> usize {
        self.crowd.contents().len()
    }

    pub(in crate::decide) fn push<C: Comparer>(
        &mut self,
        content: u32,
        comparer: &C,
    ) -> Result<(), C::Error> {
        if let Some(probe) = self.prober.probe(comparer, content)? {
            self.crowd.push(content, &probe);
        }
        if self.len() == self.learns_at {
            self.learns_at *= 8;
            self.learn(comparer)?;
        }
        Ok(())
    }

    fn learn<C: Comparer>(&mut self, comparer: &C) -> Result<(), C::Error> {
        let (all, mut some) = (self.crowd.contents().to_vec(), Vec::with_capacity(SOME));
        for &content in all.iter().step_by(all.len() / SOME) {
            some.extend(self.prober.probe(comparer, content)?);
        }
        self.crowd.learn(&some);
        for (place, &content) in all.iter().enumerate() {
            if let Some(probe) = self.prober.probe(comparer, content)? {
                self.crowd.look_at(place, &probe);
            }
        }
        Ok(())
    }

    /// Replaces `near` by a list for each of `few`: the contents from number `from` on that may be alike to it, ascending.
    pub(in crate::decide) fn near<C: Comparer>(
        &self,
        few: &[u32],
        from: u32,
        comparer: &C,
        near: &mut Vec<Vec<u32>>,
    ) -> Result<(), C::Error> {
        near.iter_mut().for_each(Vec::clear);
        near.resize_with(few.len(), Vec::new);
        let (mut probes, mut prober) = (Vec::with_capacity(few.len()), Prober::default());
        for &content in few {
            probes.extend(prober.probe(comparer, content)?);
        }
        self.crowd.near(&probes, from, near);
        Ok(())
    }
}

/// Makes probes of contents.
#[derive(Default)]
struct Prober {
    scratch: Scratch,
    /// For sketches on disk.
    buffer: Vec<u64>,
}

impl Prober {
    /// The outline of a content, if it bounds how alike others are.
    fn probe<'a, C: Comparer>(
        &mut self,
        comparer: &'a C,
        content: u32,
    ) -> Result<Option<Probe<'a>>, C::Error> {
        let Some(bits) = comparer.outline(content) else { return Ok(None) };
        let (method, sketch) = (comparer.method(), comparer.sketch(content, &mut self.buffer)?);
        let Some(slacks) = method.slacks(bits, sketch, comparer.elsewhere()) else { return Ok(None) };
        let shingles = method.outlined(sketch, &mut self.scratch);
        Ok(Some(Probe { bits, slacks, places: shingles.iter().map(|&shingle| place(shingle)).collect() }))
    }
}
