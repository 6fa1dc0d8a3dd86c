//! Pages of one template: how many sketches are read must grow with their number, not with its square.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::config::Config;
use crate::decide::connect::connect;
use crate::decide::group::Groups;
use crate::dedup::Contents;
use crate::similarity::method::{Parts, Scratch, Subject, method};
use crate::text::canonical::{Canonical, canonicalise};

/// Contents with outlines, which counts the sketches that are read.
struct Counting<'a> {
    contents: Contents<'a>,
    outlines: Vec<Vec<u64>>,
    elsewhere: Elsewhere,
    read: AtomicU64,
}

impl<'a> Counting<'a> {
    fn new(method: &'a dyn Method, sketches: &'a [Vec<u64>]) -> Counting<'a> {
        let elsewhere = Elsewhere::new(sketches.len(), 1 << 20);
        let outline = |sketch: &Vec<u64>| {
            let mut outline = vec![0; 64];
            method.outline(sketch, &mut Scratch::default(), &mut outline);
            method.note_rest(sketch, &elsewhere);
            outline
        };
        let outlines = sketches.iter().map(outline).collect();
        let numbers: Vec<u32> = (0..sketches.len() as u32).collect();
        let contents = Contents {
            of_page: numbers.clone(),
            best_page: numbers,
            sketches: sketches.iter().map(Vec::as_slice).collect(),
            sizes: sketches.iter().map(|sketch| sketch.len() as u32).collect(),
            base: 0,
            method,
        };
        Counting { contents, outlines, elsewhere, read: 0.into() }
    }
}

impl Comparer for Counting<'_> {
    type Error = Infallible;

    fn method(&self) -> &dyn Method {
        self.contents.method
    }

    fn sizes(&self) -> &[u32] {
        &self.contents.sizes
    }

    fn sketch<'a>(&'a self, content: u32, buffer: &'a mut Vec<u64>) -> Result<&'a [u64], Infallible> {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.contents.sketch(content, buffer)
    }

    fn outline(&self, content: u32) -> Option<&[u64]> {
        Some(&self.outlines[content as usize])
    }

    fn crowd_words(&self) -> usize {
        63
    }

    fn elsewhere(&self) -> &Elsewhere {
        &self.elsewhere
    }
}

/// A template with a page's own values in it.
type Template = fn(&mut dyn FnMut(u64) -> u64) -> String;

/// Fixed sentences with values in them.
fn forecast(value: &mut dyn FnMut(u64) -> u64) -> String {
    let day = |n: u64| {
        let (low, wind, rain) = (value(20), value(60), value(100));
        format!(
            "on day {n} the sky over the town will be of kind {} until late in the night and it gets warmer from {low} \
             to {} degrees in the course of the day with wind of {wind} from there and a chance of rain of {rain} \
             percent in the evening ",
            value(6),
            low + value(8),
        )
    };
    (0..7).map(day).collect()
}

/// Fixed words, and questions with one of two answers.
fn form(value: &mut dyn FnMut(u64) -> u64) -> String {
    let fixed: String = (0..150).map(|n| format!("f{n} ")).collect();
    fixed + &(0..40).map(|n| format!("a{n} b{n} c{n} d{n} {} ", value(2))).collect::<String>()
}

/// Sentences, each one of three.
fn slots(value: &mut dyn FnMut(u64) -> u64) -> String {
    let sentence = |n: u64| {
        let kind = value(3);
        (0..12).map(|word| format!("s{n}k{kind}w{word} ")).collect::<String>()
    };
    (0..40).map(sentence).collect()
}

/// The text of an HTML page beside its main content.
#[derive(Clone, Copy)]
struct Frame<'a> {
    menu: &'a str,
    title: &'a str,
}

/// The same pages for the same template, as plain text or as HTML.
fn sketches(template: Template, frame: Option<Frame>, pages: u64, method: &dyn Method) -> Vec<Vec<u64>> {
    let (mut canonical, mut scratch) = (Canonical::default(), Scratch::default());
    let mut sketch = |page: u64| {
        let mut drawn = 0;
        let main = template(&mut |below| {
            drawn += 1;
            crate::hash::repeated(page, drawn) % below
        });
        canonicalise(&main, &Default::default(), &mut canonical);
        let Frame { menu, title } = frame.unwrap_or(Frame { menu: "", title: "" });
        let (text, main) = (format!("{menu}\n{main}"), main.len());
        let range = text.len() - main..text.len();
        let parts = frame.map(|_| Parts { text: &text, main: std::slice::from_ref(&range), title });
        let mut out = Vec::new();
        method.sketch(
            &Subject { canonical: &canonical, text: "", links: &[], parts },
            &mut scratch,
            &mut out,
        );
        out
    };
    (0..pages).map(&mut sketch).collect()
}

/// How many sketches are read to settle pages and to group them. The winners are those of comparing all pairs.
fn read(template: Template, frame: Option<Frame>, pages: u64) -> u64 {
    let method = method(&Config::default()).expect("the usual method");
    let sketches = sketches(template, frame, pages, &*method);
    let comparer = Counting::new(&*method, &sketches);
    let (all, lists) = ((0..pages as u32).collect::<Vec<_>>(), comparer.contents.lists());
    let (mut settled, mut groups) = (Settled::new(all.len()), Groups::new(all.len()));
    let Ok(()) = settle(&comparer, &all, &lists, usize::MAX, &mut settled);
    let Ok(()) = connect(&comparer, &all, &lists, &settled, &mut groups);
    let read = comparer.read.load(Ordering::Relaxed);
    for content in (0..pages as usize).step_by(97) {
        let is_alike = |kept: &usize| {
            settled.stays(*kept as u32) && method.verify(&sketches[*kept], &sketches[content]).is_some()
        };
        let winner = (0..content).find(is_alike).unwrap_or(content);
        assert_eq!(settled.winner[content] as usize, winner);
    }
    read
}

#[test]
fn twice_the_pages_take_about_twice_the_comparisons() {
    let menu: String = (0..60).map(|n| format!("m{n} ")).collect();
    let [html, named] = ["", "s1k0w1 s1k1w1 s1k2w1"].map(|title| Some(Frame { menu: &menu, title }));
    let kinds: [(&str, Template, Option<Frame>); 6] = [
        ("forecasts", forecast, None),
        ("forecasts as HTML", forecast, html),
        ("forms", form, None),
        ("slots", slots, None),
        ("slots as HTML", slots, html),
        ("slots with one subject", slots, named),
    ];
    for (kind, template, frame) in kinds {
        let (some, twice) = (read(template, frame, 600), read(template, frame, 1_200));
        // A few sketches for each page. All pairs would be 720,000.
        assert!(2 * twice <= 5 * some.max(600), "{kind}: {some}, then {twice}");
        assert!(twice <= 12 * 1_200, "{kind}: {twice}");
    }
}

/// Words count if titles name one subject. Such pages may be alike although most of their shingles differ, and some pairs
/// must be compared.
#[test]
fn of_pages_with_one_subject_few_pairs_are_compared() {
    let menu: String = (0..60).map(|n| format!("m{n} ")).collect();
    let sketches = read(forecast, Some(Frame { menu: &menu, title: "the day" }), 1_200);
    assert!(sketches / 2 <= 1_200 * 1_199 / 2 / 30, "{sketches}");
}

#[test]
fn a_crowd_that_lacks_a_content_is_not_asked() {
    let method = method(&Config::default()).expect("the usual method");
    let sketches = sketches(forecast, None, 1_200, &*method);
    let comparer = Counting::new(&*method, &sketches);
    let Ok(mut index) = ListIndex::new(&comparer.contents.lists(), 0..1_200, &Settled::new(1_200));
    (0..1_000).for_each(|content| index.keep(content));
    assert!(!index.is_crowded(1_100), "there is no crowd yet");
    let later: Vec<u32> = (1_000..1_200).collect();
    let Ok(()) = index.gather(&later, &comparer);
    assert!(index.is_crowded(1_100));
    index.keep(1_000);
    assert!(!index.is_crowded(1_100), "it lacks content 1,000");
    let Ok(()) = index.gather(&later, &comparer);
    assert!(index.is_crowded(1_100));
}
