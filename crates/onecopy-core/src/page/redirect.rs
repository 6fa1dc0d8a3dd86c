//! Where redirects end.
//!
//! The caller looks up which page is at an address. Here a redirect is a step from page to page. Every step is
//! walked once in chains of any shape, and nothing depends on the order of the input.

use crate::page::PageId;

/// The most steps that are followed. Browsers stop at about 20, but they follow one visit. Chains here come from
/// files of many months, and each move of a site adds a step. A longer chain is a trap.
pub const HOPS_LIMIT: usize = 100;

/// A page that redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The page that redirects. If it has several redirects, the one with the smallest target counts.
    pub page: PageId,
    /// The target at the address that it names.
    pub target: Target,
}

/// The target at the address that a redirect names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A page with content of its own.
    Content(PageId),
    /// A page that redirects in turn. If it is not among the redirects, it is missing.
    Redirect(PageId),
    /// No known page.
    Nothing,
}

/// Where a redirect ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At a page with content.
    Page(PageId),
    /// At an address where no page is known.
    Missing,
    /// Nowhere: within [`HOPS_LIMIT`] steps it returns to a page that it passed.
    Loop,
    /// More than [`HOPS_LIMIT`] steps away, or nowhere. These are not distinguished, so that at most that many steps
    /// decide where a page ends.
    TooLong,
}

/// Where each redirect ends, in the order of `redirects`.
pub fn follow(redirects: &[Redirect]) -> Vec<End> {
    let places = places(redirects);
    let place_of = |page| places.binary_search_by_key(&page, |&(page, _)| page).ok();
    let mut ends: Vec<State> = vec![State::Unknown; places.len()];
    let mut path = Vec::new();
    for start in 0..places.len() {
        let (mut end, circle) = walk(start, &places, &mut ends, &mut path, place_of);
        // All pages of a circle have the same number of steps.
        path.drain(circle..).for_each(|place| ends[place] = State::Known(end));
        while let Some(place) = path.pop() {
            end.steps = end.steps.saturating_add(1);
            ends[place] = State::Known(end);
        }
    }
    redirects
        .iter()
        .map(|redirect| place_of(redirect.page).map_or(End::Missing, |at| ends[at].end()))
        .collect()
}

/// Every redirecting page with its target, by number.
fn places(redirects: &[Redirect]) -> Vec<(PageId, Target)> {
    let mut places: Vec<_> = redirects.iter().map(|redirect| (redirect.page, redirect.target)).collect();
    places.sort_unstable();
    places.dedup_by_key(|&mut (page, _)| page);
    places
}

/// The progress of a redirect.
#[derive(Clone, Copy)]
enum State {
    Unknown,
    /// On the path that is being walked: meeting it closes a circle.
    OnPath,
    Known(Reach),
}

/// Where a redirect leads without a limit, and how many steps away that is. For a circle, these are the steps until
/// it is closed.
#[derive(Clone, Copy)]
struct Reach {
    end: End,
    steps: usize,
}

impl State {
    fn end(self) -> End {
        match self {
            State::Known(reach) if reach.steps > HOPS_LIMIT => End::TooLong,
            State::Known(reach) => reach.end,
            State::Unknown | State::OnPath => End::Missing,
        }
    }
}

/// Walks from `start` to a known end, and leaves the redirects that it passed on `path`. Returns where on the path
/// the circle begins that it ends with, or the length of the path if there is none.
fn walk(
    start: usize,
    places: &[(PageId, Target)],
    ends: &mut [State],
    path: &mut Vec<usize>,
    place_of: impl Fn(PageId) -> Option<usize>,
) -> (Reach, usize) {
    let mut place = start;
    loop {
        match ends[place] {
            State::Known(reach) => return (reach, path.len()),
            State::OnPath => {
                let circle = path.iter().position(|&passed| passed == place).unwrap_or(path.len());
                return (Reach { end: End::Loop, steps: path.len() - circle }, circle);
            }
            State::Unknown => {}
        }
        ends[place] = State::OnPath;
        path.push(place);
        let next = match places[place].1 {
            Target::Content(page) => return (Reach { end: End::Page(page), steps: 0 }, path.len()),
            Target::Nothing => None,
            Target::Redirect(page) => place_of(page),
        };
        match next {
            Some(next) => place = next,
            None => return (Reach { end: End::Missing, steps: 0 }, path.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redirect(page: PageId, target: Target) -> Redirect {
        Redirect { page, target }
    }

    /// The definition: each redirect by itself, step by step.
    fn slow(redirects: &[Redirect]) -> Vec<End> {
        let target = |page| redirects.iter().filter(|r| r.page == page).map(|r| r.target).min();
        let end = |start: &Redirect| {
            let (mut page, mut passed) = (start.page, Vec::new());
            loop {
                if passed.contains(&page) {
                    return if passed.len() > HOPS_LIMIT { End::TooLong } else { End::Loop };
                }
                passed.push(page);
                let end = match target(page) {
                    Some(Target::Redirect(next)) if target(next).is_some() => {
                        page = next;
                        continue;
                    }
                    Some(Target::Content(content)) => End::Page(content),
                    _ => End::Missing,
                };
                return if passed.len() > HOPS_LIMIT { End::TooLong } else { end };
            }
        };
        redirects.iter().map(end).collect()
    }

    #[test]
    fn chains_end_where_they_lead() {
        let chain = [
            redirect(1, Target::Redirect(2)),
            redirect(2, Target::Content(9)),
            redirect(3, Target::Nothing),
            redirect(4, Target::Redirect(77)),
            redirect(5, Target::Redirect(6)),
            redirect(6, Target::Redirect(6)),
        ];
        let ends = [End::Page(9), End::Page(9), End::Missing, End::Missing, End::Loop, End::Loop];
        assert_eq!(follow(&chain), ends);
        assert_eq!(follow(&[]), []);
    }

    #[test]
    fn long_chains_are_cut_for_those_that_are_far() {
        let count = 3 * HOPS_LIMIT as PageId;
        let step = |page| redirect(page, Target::Redirect(page + 1));
        let mut chain: Vec<_> = (0..count).map(step).collect();
        chain.push(redirect(count, Target::Content(7)));
        let ends = follow(&chain);
        let far = ends.iter().filter(|end| **end == End::TooLong).count();
        assert_eq!(far, chain.len() - HOPS_LIMIT);
        assert_eq!(ends, slow(&chain));
    }

    #[test]
    fn a_circle_is_one_if_it_is_closed_in_time() {
        let last = 3 * HOPS_LIMIT as PageId;
        for (back, loops) in [(0, 0), (last + 1 - HOPS_LIMIT as PageId, HOPS_LIMIT), (last - 9, HOPS_LIMIT)] {
            let next = |page| if page == last { back } else { page + 1 };
            let chain: Vec<_> = (0..=last).map(|page| redirect(page, Target::Redirect(next(page)))).collect();
            let ends = follow(&chain);
            assert_eq!(ends, slow(&chain));
            assert_eq!(ends.iter().filter(|end| **end == End::Loop).count(), loops, "back to {back}");
        }
    }

    #[test]
    fn a_million_steps_need_no_stack() {
        let chain: Vec<_> = (0..1_000_000).map(|page| redirect(page, Target::Redirect(page + 1))).collect();
        assert_eq!(follow(&chain).len(), chain.len());
    }

    fn any_redirects() -> impl Strategy<Value = Vec<Redirect>> {
        let target = |page| {
            prop_oneof![
                6 => Just(Target::Redirect(page)), 1 => Just(Target::Content(page)), 1 => Just(Target::Nothing)
            ]
        };
        let any =
            (0..30_u32, (0..34_u32).prop_flat_map(target)).prop_map(|(page, target)| redirect(page, target));
        prop::collection::vec(any, 0..40)
    }

    proptest! {
        #[test]
        fn marking_equals_walking(redirects in any_redirects()) {
            prop_assert_eq!(follow(&redirects), slow(&redirects));
        }

        #[test]
        fn the_order_does_not_matter(redirects in any_redirects().prop_shuffle()) {
            let mut sorted = redirects.clone();
            sorted.sort_by_key(|redirect| (redirect.page, redirect.target));
            for (redirect, end) in redirects.iter().zip(follow(&redirects)) {
                let place = sorted.iter().position(|other| other == redirect).unwrap();
                prop_assert_eq!(end, follow(&sorted)[place]);
            }
        }
    }
}
