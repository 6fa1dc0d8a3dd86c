//! Contents whose outlines lie side by side, to find those near another in one pass.

use super::{Buffers, Comparer};
use crate::similarity::outline::{Crowd, Probe};

/// A crowd of contents, added in ascending order.
pub(in crate::decide) struct CrowdedContents {
    crowd: Crowd,
    /// For sketches on disk.
    buffer: Vec<u64>,
}

impl CrowdedContents {
    /// An empty crowd. `None` if the comparer has no outlines that bound how alike contents are, or no room for them.
    /// `any` is one of the contents.
    pub(in crate::decide) fn new<C: Comparer>(comparer: &C, any: u32) -> Option<CrowdedContents> {
        let outline = comparer.outline(any)?;
        let words = comparer.crowd_words().min(outline.len().saturating_sub(1));
        let is_bounded = words > 0 && comparer.method().slack(outline).is_some();
        is_bounded.then(|| CrowdedContents { crowd: Crowd::new(words), buffer: Vec::new() })
    }

    /// How many contents there are.
    pub(in crate::decide) fn len(&self) -> usize {
        self.crowd.len()
    }

    pub(in crate::decide) fn push<C: Comparer>(
        &mut self,
        content: u32,
        comparer: &C,
    ) -> Result<(), C::Error> {
        if let Some(probe) = probe(comparer, content, &mut self.buffer)? {
            self.crowd.push(content, probe);
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
        let (mut probes, mut buffers) = (Vec::with_capacity(few.len()), Buffers::default());
        for &content in few {
            probes.extend(probe(comparer, content, &mut buffers.first)?);
        }
        self.crowd.near(&probes, from, near);
        Ok(())
    }
}

/// The outline of a content, if it bounds how alike others are.
fn probe<'a, C: Comparer>(
    comparer: &'a C,
    content: u32,
    buffer: &mut Vec<u64>,
) -> Result<Option<Probe<'a>>, C::Error> {
    let Some(bits) = comparer.outline(content) else { return Ok(None) };
    let sketch = comparer.sketch(content, buffer)?;
    let slacks = comparer.method().slacks(bits, sketch, comparer.elsewhere());
    Ok(slacks.map(|slacks| Probe { bits, slacks }))
}
