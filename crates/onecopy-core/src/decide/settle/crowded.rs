//! Contents whose outlines lie side by side, to find those near another in one pass.
//!
//! Most of them are often pages of one template, and these are kin: less of them may differ (`Leeway`). They have a crowd
//! of their own.

use super::Comparer;
use crate::similarity::method::Scratch;
use crate::similarity::outline::{Crowd, Probe, place};

/// Contents from which a crowd learns how to tell them apart. It learns when it has so many, and again after growing
/// eight times.
const SOME: usize = 256;
/// How many contents tell which of a few others has the template of most.
const ASKED: usize = 64;
const MODELS: usize = 8;
/// The slack of a bound that does not hold.
const UNBOUNDED: u32 = u32::MAX / 4;

/// Crowds of contents, added in ascending order.
pub(in crate::decide) struct CrowdedContents {
    /// The sketch of a content whose template kin have. It is empty if there are none.
    model: Vec<u64>,
    kin: GrowingCrowd,
    others: GrowingCrowd,
    prober: Prober,
}

impl CrowdedContents {
    /// An empty crowd. `None` if the comparer has no outlines that bound how alike contents are, or no room for them.
    /// `any` is one of the contents.
    pub(in crate::decide) fn new<C: Comparer>(comparer: &C, any: u32) -> Option<CrowdedContents> {
        let outline = comparer.outline(any)?;
        let words = comparer.crowd_words().min(outline.len().saturating_sub(1));
        let is_bounded = words > 0 && comparer.method().slack(outline).is_some();
        let [kin, others] = [0; 2].map(|_| GrowingCrowd { crowd: Crowd::new(words), learns_at: SOME });
        is_bounded.then(|| CrowdedContents { model: Vec::new(), kin, others, prober: Prober::default() })
    }

    /// Chooses the kin of an empty crowd: the contents with the template that most have among a few of `contents`.
    pub(in crate::decide) fn choose_kin<C: Comparer>(
        &mut self,
        contents: &[u32],
        comparer: &C,
    ) -> Result<(), C::Error> {
        let some = |count: usize| contents.iter().step_by(contents.len().div_ceil(count).max(1));
        let (method, mut buffer, mut most) = (comparer.method(), Vec::new(), 0);
        for &content in some(MODELS) {
            let (model, mut count) = (comparer.sketch(content, &mut self.prober.buffer)?, 0);
            for &other in some(ASKED) {
                count += usize::from(method.has_template(comparer.sketch(other, &mut buffer)?, model));
            }
            if count > most {
                (most, self.model) = (count, model.to_vec());
            }
        }
        Ok(())
    }

    /// How many contents there are.
    pub(in crate::decide) fn len(&self) -> usize {
        self.kin.crowd.contents().len() + self.others.crowd.contents().len()
    }

    pub(in crate::decide) fn push<C: Comparer>(
        &mut self,
        content: u32,
        comparer: &C,
    ) -> Result<(), C::Error> {
        let Some(found) = self.prober.probe(comparer, content, &self.model)? else { return Ok(()) };
        match found.into_kin() {
            Ok(kin) => self.kin.push(content, kin, &mut self.prober, comparer),
            Err(other) => self.others.push(content, other, &mut self.prober, comparer),
        }
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
        let (mut found, mut prober) = (Vec::with_capacity(few.len()), Prober::default());
        for &content in few {
            found.extend(prober.probe(comparer, content, &self.model)?);
        }
        let probes: Vec<Probe> = found.iter().map(|found| found.probe.clone()).collect();
        self.others.crowd.near(&probes, from, near);
        let probes: Vec<Probe> = found.into_iter().map(|found| found.beside_kin()).collect();
        self.kin.crowd.near(&probes, from, near);
        near.iter_mut().for_each(|near| near.sort_unstable());
        Ok(())
    }
}

/// A crowd that learns while it grows.
struct GrowingCrowd {
    crowd: Crowd,
    /// The number of contents at which the crowd learns.
    learns_at: usize,
}

impl GrowingCrowd {
    fn push<C: Comparer>(
        &mut self,
        content: u32,
        probe: Probe,
        prober: &mut Prober,
        comparer: &C,
    ) -> Result<(), C::Error> {
        self.crowd.push(content, &probe);
        if self.crowd.contents().len() == self.learns_at {
            self.learns_at *= 8;
            self.learn(prober, comparer)?;
        }
        Ok(())
    }

    fn learn<C: Comparer>(&mut self, prober: &mut Prober, comparer: &C) -> Result<(), C::Error> {
        let (all, mut some) = (self.crowd.contents().to_vec(), Vec::with_capacity(SOME));
        for (place, &content) in all.iter().enumerate().step_by(all.len() / SOME) {
            some.extend(prober.probe(comparer, content, &[])?.map(|found| self.as_pushed(place, found)));
        }
        self.crowd.learn(&some);
        for (place, &content) in all.iter().enumerate() {
            if let Some(found) = prober.probe(comparer, content, &[])? {
                let probe = self.as_pushed(place, found);
                self.crowd.look_at(place, &probe);
            }
        }
        Ok(())
    }

    /// The probe of a content, with the slacks that it was added with.
    fn as_pushed<'a>(&self, place: usize, found: Found<'a>) -> Probe<'a> {
        Probe { slacks: self.crowd.slacks(place), ..found.probe }
    }
}

/// Makes probes of contents.
#[derive(Default)]
struct Prober {
    scratch: Scratch,
    /// For sketches on disk.
    buffer: Vec<u64>,
}

/// The outline of a content, and how far others may be.
struct Found<'a> {
    probe: Probe<'a>,
    /// The slack towards kin, if it is kin.
    kin: Option<u32>,
}

impl<'a> Found<'a> {
    /// The probe with the slack towards kin, or as it is if the content is not kin.
    fn into_kin(self) -> Result<Probe<'a>, Probe<'a>> {
        match self.kin {
            Some(slack) => Ok(Probe { slacks: [self.probe.slacks[0], slack], ..self.probe }),
            None => Err(self.probe),
        }
    }

    /// The probe with its slacks towards kin, whether the content is kin or not.
    fn beside_kin(self) -> Probe<'a> {
        self.into_kin().unwrap_or_else(|probe| Probe { slacks: [probe.slacks[0], UNBOUNDED], ..probe })
    }
}

impl Prober {
    /// The outline of a content, if it bounds how alike others are. It is kin if it has the template of `model`.
    fn probe<'a, C: Comparer>(
        &mut self,
        comparer: &'a C,
        content: u32,
        model: &[u64],
    ) -> Result<Option<Found<'a>>, C::Error> {
        let Some(bits) = comparer.outline(content) else { return Ok(None) };
        let (method, sketch) = (comparer.method(), comparer.sketch(content, &mut self.buffer)?);
        let Some(leeway) = method.leeway(bits, sketch, comparer.elsewhere()) else { return Ok(None) };
        let kin = method.has_template(sketch, model).then_some(leeway.kin);
        let shingles = method.outlined(sketch, &mut self.scratch);
        let places = shingles.iter().map(|&shingle| place(shingle)).collect();
        Ok(Some(Found { probe: Probe { bits, slacks: leeway.slacks, places }, kin }))
    }
}
