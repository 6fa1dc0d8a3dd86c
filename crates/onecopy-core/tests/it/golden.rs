//! Answers change only together with `ANSWER_VERSION`.
//!
//! A few pages go through every method. All that a run compares or keeps is hashed: fingerprints, sketches, keys, ranks
//! and decisions.

use std::fmt::Write;

use onecopy_core::{
    ANSWER_VERSION, Appraised, Appraiser, Config, Decision, LinkKind, METHODS, Needs, Rarity, Record,
    Scratch, count, dedup, fingerprint, method,
};

/// The version of the answer that [`DIGESTS`] belong to.
const VERSION: u32 = 4;

/// The digest of the answers of each method.
const DIGESTS: [(&str, u64); 12] = [
    ("auto", 0xc7047f6a487f5f6d),
    ("jaccard", 0x16c5287f7c16e2d6),
    ("containment", 0xc700be2e2ac74ecd),
    ("cosine", 0x1e05217834120feb),
    ("shingles-b", 0x6fa4a6f35486402c),
    ("projection-c", 0x106c1860797c6f98),
    ("combined", 0x1e02e41e2ddfa186),
    ("simhash", 0xd8f5b126156f6c1c),
    ("lcs", 0xbf051f0a47fa5faa),
    ("bloom", 0x80fe2e0fcdbd6de6),
    ("links", 0xe43a071223051c12),
    ("mix", 0x43fb1587dd2d66fe),
];

const STORY: &str = "The ferry to the island leaves at nine, and nobody in the village can remember a morning \
    when it was early. The captain drinks his coffee on the quay, counts the crates of bread, waits for the \
    doctor's bicycle, and only then lets go of the rope. In winter he leaves ten minutes later because the \
    deck has to be cleared of snow, which he does himself, with a shovel that his grandfather bought in 1931.";
const RECIPE: &str = "Cut two onions, fry them in butter until they are golden, add a spoon of flour and half \
    a litre of stock, stir, and let it simmer for twenty minutes. Season with nutmeg. Serve with toast.";
const CHINESE: &str = "每天早上九点钟，渡轮从村子里的小码头出发，开往对面的岛屿。船长总是先喝完咖啡，数一数面包箱，\
    等医生的自行车来了以后才解开缆绳。冬天的时候他会晚十分钟出发，因为甲板上的积雪必须清理干净。";
const JAPANESE: &str = "島へ向かう船は毎朝九時に村の小さな港を出ます。船長はコーヒーを飲み終えてから、パンの箱を数え、\
    医者の自転車を待って、ようやくロープをほどきます。冬は雪かきのために十分ほど遅れます。";

/// A page: its name, address, popularity, text, and where it says that it is. Text that begins with `<` is HTML.
type Page = (&'static str, Option<&'static str>, Option<f64>, String, Option<(LinkKind, &'static str)>);

fn pages() -> Vec<Page> {
    let menu = "<ul><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/shop>Shop</a></ul>";
    let html = |text: &str| {
        format!("<html><head><title>Ferry</title></head><body>{menu}<article><p>{text}</p></article></body>")
    };
    let later = STORY.replace("nine", "ten").replace("shovel", "broom");
    let redirect = Some((LinkKind::Redirect, "http://a.example/ferry"));
    let canonical = Some((LinkKind::Canonical, "http://a.example/ferry"));
    vec![
        ("\"story\"", Some("http://a.example/ferry"), Some(3.0), STORY.into(), None),
        ("\"copy\"", Some("http://b.example/ferry?id=7"), None, STORY.to_uppercase(), None),
        ("\"later\"", None, Some(9.0), later.clone(), None),
        ("\"half\"", None, None, STORY[..STORY.len() / 2].into(), None),
        ("\"html\"", Some("http://c.example/"), None, html(STORY), None),
        ("\"html, later\"", Some("http://d.example/x"), None, html(&later), canonical),
        ("17", None, None, RECIPE.into(), None),
        ("18", None, None, RECIPE.replace("nutmeg", "pepper"), None),
        ("\"中文\"", None, None, CHINESE.into(), None),
        ("\"中文2\"", None, Some(1.5), CHINESE.replace("咖啡", "绿茶"), None),
        ("\"日本語\"", None, None, JAPANESE.into(), None),
        ("\"日本語2\"", None, None, html(JAPANESE), None),
        ("\"moved\"", Some("http://a.example/old"), None, "This page has moved.".into(), redirect),
        ("\"empty\"", None, None, " .,; ".into(), None),
        ("\"short\"", None, None, "Nine o'clock".into(), None),
    ]
}

fn records<'a>(pages: &'a [Page], needs: &Needs) -> Vec<Record<'a>> {
    let record = |&(id, url, popularity, ref text, link): &'a Page| {
        let mut record = Record { id, url: url.map(Into::into), popularity, ..Record::default() };
        if let Some((kind, to)) = link {
            record.link(kind, to);
        }
        match text.starts_with('<') {
            true => record.html(text, needs),
            false => record.plain(Record::of_text(text).text, needs),
        }
        record
    };
    pages.iter().map(record).collect()
}

/// All that a method makes of the pages, as text.
fn answer(name: &str) -> String {
    let config = Config { method: name.into(), ..Config::default() };
    let (method, pages) = (method(&config).unwrap(), pages());
    let records = records(&pages, &Needs::of(&config, &*method));
    let mut appraiser = Appraiser::new(&config, &*method);
    let (mut sketches, mut out) = (Vec::new(), String::new());
    for (record, page) in records.iter().zip(&pages) {
        let mut sketch = Vec::new();
        let appraised = appraiser.appraise(record, page.3.as_bytes(), |_| true, &mut sketch);
        let Appraised { fingerprint, silent, address, language, markets, rank, .. } = appraised;
        let address = (address.exact, address.identity);
        writeln!(out, "{:x} {silent} {address:x?} {language} {markets} {rank:x?} {sketch:x?}", fingerprint.0)
            .unwrap();
        sketches.push(sketch);
    }
    const BITS: u32 = 12;
    let mut counters = vec![0; 1 << BITS];
    if method.asks_rarity() {
        sketches.iter().for_each(|sketch| count(sketch, BITS, 0, &mut counters));
    }
    let (rarity, mut scratch) = (Rarity::new(counters), Scratch::default());
    for sketch in sketches.iter().filter(|sketch| !sketch.is_empty()) {
        let mut keys = Vec::new();
        method.keys(sketch, &rarity, &mut scratch, &mut keys);
        keys.sort_unstable();
        writeln!(out, "{keys:x?}").unwrap();
    }
    let decisions = dedup(&records, &config).unwrap();
    for (decision, group) in decisions.of_page.iter().zip(&decisions.group_of) {
        match decision {
            // Nine places: the last bits of a float may differ between machines.
            Decision::Removed { winner, similarity, kind } => {
                writeln!(out, "{winner} {similarity:.9} {kind:?} {group}").unwrap();
            }
            kept => writeln!(out, "{kept:?} {group}").unwrap(),
        }
    }
    out
}

#[test]
fn answers_change_only_with_their_version() {
    let digest = |name: &str| fingerprint(answer(name).as_bytes()).0 as u64;
    let found: Vec<(&str, u64)> = METHODS.iter().map(|entry| (entry.name, digest(entry.name))).collect();
    let table: String =
        found.iter().map(|(name, digest)| format!("    (\"{name}\", 0x{digest:016x}),\n")).collect();
    assert!(
        found == DIGESTS && VERSION == ANSWER_VERSION,
        "answers changed, or their version did. If a page's sketch, key, decision or rank changed, raise \
         ANSWER_VERSION in crates/onecopy-core/src/version.rs, set VERSION here to the same number, and put \
         these digests into DIGESTS:\n{table}"
    );
}

#[test]
fn the_pages_have_something_to_decide() {
    for entry in METHODS {
        let config = Config { method: entry.name.into(), ..Config::default() };
        let (method, pages) = (method(&config).unwrap(), pages());
        let records = records(&pages, &Needs::of(&config, &*method));
        let decisions = dedup(&records, &config).unwrap().of_page;
        let removed = decisions.iter().filter(|decision| matches!(decision, Decision::Removed { .. }));
        assert!(removed.count() >= 2 && decisions.contains(&Decision::Kept), "{}", entry.name);
    }
}
