//! A method that panics on some pages, as a defect would.

use onecopy_core::{Held, LooksAt, Method, Rarity, Scratch, Subject};

use super::*;
use crate::service::collection::Collection;

/// Words that make a method panic when it is asked for the keys of a page with them.
pub(super) const POISON: &str = "poison poison poison poison poison poison";

/// A method that panics on some pages.
#[derive(Debug)]
struct Fragile {
    method: Box<dyn Method>,
    poison: u64,
}

impl Fragile {
    fn look(&self, sketch: &[u64]) {
        if sketch.contains(&self.poison) {
            // A panic whose message and backtrace nobody prints: both take long.
            std::panic::resume_unwind(Box::new("this page is poison"));
        }
    }
}

impl Method for Fragile {
    fn threshold(&self) -> f64 {
        self.method.threshold()
    }

    fn measures(&self) -> String {
        self.method.measures()
    }

    fn looks_at(&self) -> LooksAt {
        self.method.looks_at()
    }

    fn sketch(&self, page: &Subject, scratch: &mut Scratch, out: &mut Vec<u64>) {
        self.method.sketch(page, scratch, out);
    }

    fn asks_rarity(&self) -> bool {
        self.method.asks_rarity()
    }

    fn keys(&self, sketch: &[u64], rarity: &Rarity, scratch: &mut Scratch, out: &mut Vec<(u64, u32)>) {
        self.look(sketch);
        self.method.keys(sketch, rarity, scratch, out);
    }

    fn may(&self, a: Held, b: Held) -> bool {
        self.method.may(a, b)
    }

    fn least_rest(&self, size: u32) -> u32 {
        self.method.least_rest(size)
    }

    fn verify(&self, a: &[u64], b: &[u64]) -> Option<u32> {
        self.method.verify(a, b)
    }

    fn distance(&self, score: u32, sizes: (usize, usize)) -> Option<f64> {
        self.method.distance(score, sizes)
    }

    fn score(&self, a: &[u64], b: &[u64]) -> u32 {
        self.method.score(a, b)
    }

    fn similarity(&self, score: u32, sizes: (usize, usize)) -> f64 {
        self.method.similarity(score, sizes)
    }
}

/// Accepts a change. While Tier 2 looks for the page that makes it fail, changes are refused.
pub(super) fn accept(service: &Service, action: Action) -> std::result::Result<Accepted, Refusal> {
    retried(|| service.accept(&[action]).swap_remove(0))
}

/// Does something again until Tier 2 does not fail.
pub(super) fn retried<T>(
    change: impl Fn() -> std::result::Result<T, Refusal>,
) -> std::result::Result<T, Refusal> {
    let begun = std::time::Instant::now();
    loop {
        match change() {
            Err(Refusal::Broken(_)) if begun.elapsed() < WAIT => std::thread::sleep(Duration::from_millis(1)),
            outcome => return outcome,
        }
    }
}

/// The shingle that only pages with `POISON` have.
fn poison(method: &dyn Method) -> u64 {
    let mut canonical = onecopy_core::Canonical::default();
    onecopy_core::canonicalise(POISON, &Default::default(), &mut canonical);
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let page = Subject { canonical: &canonical, text: POISON, links: &[], parts: None };
    method.sketch(&page, &mut scratch, &mut out);
    out[0]
}

/// Opens a collection whose method panics on pages with `POISON`.
pub(super) fn open_fragile(disk: &Volatile, setup: &Setup) -> Service {
    open_tuned(disk, setup, Tuning::small())
}

pub(super) fn open_tuned(disk: &Volatile, setup: &Setup, tuning: Tuning) -> Service {
    let Setup { config, feed_bytes } = setup.clone();
    let options =
        ServiceOptions { config: Some(config.clone()), feed_bytes, ..ServiceOptions::new("memory") };
    let mut collection = Collection::open_in(Arc::new(disk.clone()), options, tuning).expect("a collection");
    let method = onecopy_core::method(&config).unwrap();
    let poison = poison(&*method);
    collection.preparation.method = Box::new(Fragile { method, poison });
    Service::start(collection).expect("the threads start")
}
