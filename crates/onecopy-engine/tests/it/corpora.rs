//! Cases as text files: `corpora/*.txt`, each run by the reference, by the core in memory and by the engine, which
//! must all give what the file expects. `corpora/README.md` describes the format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use onecopy_core::{
    Case as LetterCase, Config, Decision, Decisions, Numbering, PageId, Punctuation, Record, Replicas, Unit,
    parse_time, reference,
};
use onecopy_engine::{Job, Silent, dedup};
use serde_json::{Value, json};

/// The name under which a case's pages are read, as it appears in the names of pages without id and URL.
const INPUT: &str = "pages.jsonl";

/// A case: what is given, and the lines that must come out.
struct Case {
    name: String,
    config: Config,
    pages: Vec<Given>,
    expected: Outcome,
}

/// A page as the file gives it.
#[derive(Default)]
struct Given {
    id: Option<Value>,
    url: Option<String>,
    time: Option<String>,
    popularity: Option<f64>,
    text: String,
}

/// The decision on each page, one line each, and the groups.
type Outcome = BTreeSet<String>;

#[test]
fn every_case_gives_what_it_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora");
    let mut cases = 0;
    let mut failures = String::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            let name = path.file_stem().unwrap().to_string_lossy();
            cases += 1;
            failures.extend(check(&parse(&name, &fs::read_to_string(&path).unwrap())).err());
        }
    }
    assert!(cases >= 15, "only {cases} cases were found");
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn a_wrong_expectation_is_reported() {
    let given = "set k 1\npage a\n  one two\npage b\n  two one\npage c\n";
    let right = "expect\n  kept a\n  removed b -> a 1 near\n  group a b\n  rejected c no words to compare\n";
    check(&parse("right", &format!("{given}{right}"))).unwrap();
    let wrong = right.replace("a 1 near", "a 1/2 near");
    let message = check(&parse("wrong", &format!("{given}{wrong}"))).unwrap_err();
    for part in [
        "case `wrong`",
        "by the reference",
        "by the engine",
        "expected: removed b -> a 0.50000 near",
        "found:    removed b -> a 1.00000 near",
    ] {
        assert!(message.contains(part), "no `{part}` in\n{message}");
    }
}

/// Runs a case by the reference and by the engine, forwards and backwards. Returns the differences from the expectation.
fn check(case: &Case) -> Result<(), String> {
    let forwards: Vec<usize> = (0..case.pages.len()).collect();
    let mut answers = vec![
        ("by the reference", by_core(case, reference::dedup)),
        (
            "by the core",
            by_core(case, |pages, config| {
                onecopy_core::dedup(pages, config).expect("a checked configuration")
            }),
        ),
        ("by the engine", by_engine(case, &forwards, 2)),
    ];
    if case.pages.iter().all(Given::is_named) {
        let backwards: Vec<usize> = forwards.into_iter().rev().collect();
        answers.push(("by the engine, input reversed", by_engine(case, &backwards, 1)));
    }
    let differences: String =
        answers.iter().filter_map(|(how, found)| difference(&case.expected, found, how)).collect();
    if differences.is_empty() { Ok(()) } else { Err(format!("case `{}`\n{differences}", case.name)) }
}

fn difference(expected: &Outcome, found: &Outcome, how: &str) -> Option<String> {
    let lines = |label: &str, lines: &Outcome, other: &Outcome| -> String {
        lines.difference(other).map(|line| format!("    {label} {line}\n")).collect()
    };
    let text = lines("expected:", expected, found) + &lines("found:   ", found, expected);
    (!text.is_empty()).then(|| format!("  {how}:\n{text}"))
}

/// The outcome of `dedup`: that of the core in memory, or the reference.
fn by_core(case: &Case, dedup: impl Fn(&[Record], &Config) -> Decisions) -> Outcome {
    let ids: Vec<String> = case.pages.iter().map(Given::id_as_json).collect();
    let given: Vec<Record> = case.pages.iter().zip(&ids).map(|(page, id)| page.as_record(id)).collect();
    let Decisions { of_page, group_of } = dedup(&given, &case.config);
    let name = |place: usize| case.pages[place].name(place);
    let mut outcome = Outcome::new();
    let mut groups: BTreeMap<PageId, Vec<String>> = BTreeMap::new();
    for (place, decision) in of_page.iter().enumerate() {
        outcome.insert(match *decision {
            Decision::Kept => format!("kept {}", name(place)),
            Decision::Rejected => format!("rejected {} no words to compare", name(place)),
            Decision::Removed { winner, similarity, kind } => {
                removed(&name(place), &name(winner as usize), similarity, kind.as_str())
            }
        });
        groups.entry(group_of[place]).or_default().push(name(place));
    }
    let several = groups.into_iter().filter(|(_, members)| members.len() > 1);
    outcome.extend(several.map(|(best, members)| group(&name(best as usize), members)));
    outcome
}

/// The outcome by a run from a file to a folder, the pages in the given order.
fn by_engine(case: &Case, order: &[usize], threads: usize) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join(INPUT), folder.path().join("out"));
    let records: Vec<String> = order.iter().map(|&page| case.pages[page].record()).collect();
    fs::write(&input, records.concat()).unwrap();
    let mut job = Job::new([input.to_string_lossy()], &out);
    job.config = case.config.clone();
    job.threads = threads;
    let ran = dedup(&job, &Silent).unwrap();
    let mut outcome = Outcome::new();
    for line in fs::read_to_string(out.join("kept").join(INPUT)).unwrap().split_inclusive('\n') {
        let place = records.iter().position(|record| record == line).expect("kept records are as they were");
        outcome.insert(format!("kept {}", case.pages[order[place]].name(order[place])));
    }
    for line in values(&out.join("removed.jsonl")) {
        let similarity = line["similarity"].as_f64().unwrap();
        let (page, winner) = (plain(&line["page"]), plain(&line["winner"]));
        outcome.insert(removed(&page, &winner, similarity, line["kind"].as_str().unwrap()));
    }
    for line in values(&out.join("rejected.jsonl")) {
        let page = order[line["line"].as_u64().unwrap() as usize - 1];
        outcome.insert(format!("rejected {} {}", case.pages[page].name(page), plain(&line["reason"])));
    }
    assert_eq!(outcome.len() as u64, ran.report().read, "each page has one outcome");
    for line in values(&out.join("groups.jsonl")) {
        let members: Vec<String> = line["members"].as_array().unwrap().iter().map(plain).collect();
        for kept in line["kept"].as_array().unwrap() {
            assert!(outcome.contains(&format!("kept {}", plain(kept))), "{line}");
        }
        outcome.insert(group(&plain(&line["winner"]), members));
    }
    outcome
}

fn values(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A name as a case writes it: numbers and strings alike.
fn plain(name: &Value) -> String {
    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
}

fn removed(page: &str, winner: &str, similarity: f64, kind: &str) -> String {
    format!("removed {page} -> {winner} {similarity:.5} {kind}")
}

/// A group by its winner; the others by name.
fn group(winner: &str, mut members: Vec<String>) -> String {
    members.retain(|member| member != winner);
    members.sort();
    format!("group {winner} {}", members.join(" "))
}

impl Given {
    fn is_named(&self) -> bool {
        self.id.is_some() || self.url.is_some()
    }

    /// The page's name in the outputs, if it is number `place` of the input.
    fn name(&self, place: usize) -> String {
        let given = self.id.as_ref().map(plain).or_else(|| self.url.clone());
        given.unwrap_or_else(|| format!("{INPUT}:{}", place + 1))
    }

    /// The page's id as JSON; nothing if it has none.
    fn id_as_json(&self) -> String {
        self.id.as_ref().map_or_else(String::new, Value::to_string)
    }

    fn as_record<'a>(&'a self, id: &'a str) -> Record<'a> {
        let time = self.time.as_deref().map(|time| parse_time(time).expect("a time that can be read"));
        let (url, popularity) = (self.url.as_deref().map(Into::into), self.popularity);
        Record { id, url, time, popularity, ..Record::of_text(&self.text) }
    }

    fn record(&self) -> String {
        let mut record = json!({"text": self.text});
        let signals = [
            ("id", self.id.clone()),
            ("url", self.url.clone().map(Value::from)),
            ("time", self.time.clone().map(Value::from)),
            ("popularity", self.popularity.map(Value::from)),
        ];
        for (key, value) in signals {
            if let Some(value) = value {
                record[key] = value;
            }
        }
        record.to_string() + "\n"
    }
}

/// Reads a case. Panics on what is not in the format: a case is code.
fn parse(name: &str, text: &str) -> Case {
    let mut case = Case {
        name: name.to_owned(),
        config: Config::default(),
        pages: Vec::new(),
        expected: Outcome::new(),
    };
    let mut expecting = false;
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, line.strip_prefix("  ")) {
            (_, Some(line)) if expecting => case.expected.extend(expectation(line)),
            (_, Some(line)) => {
                let page = case.pages.last_mut().expect("text follows a page");
                page.text.push_str(line);
                page.text.push('\n');
            }
            ("" | "#", None) => {}
            ("set", None) => set(rest, &mut case.config),
            ("page", None) => case.pages.push(page(rest)),
            ("expect", None) => expecting = true,
            _ => panic!("case `{name}`: `{line}` is none of set, page, expect, # or an indented line"),
        }
    }
    assert!(!case.expected.is_empty(), "case `{name}` expects nothing");
    case
}

fn set(setting: &str, config: &mut Config) {
    let (key, value) = setting.split_once(' ').expect("a setting has a value");
    match (key, value) {
        ("threshold", value) => config.threshold = Some(value.parse().expect("a threshold")),
        ("k", value) => config.shingles.length = value.parse().expect("a number of tokens"),
        ("unit", "chars") => config.shingles.unit = Unit::Chars,
        ("replicas", "count") => config.shingles.replicas = Replicas::Count,
        ("case", "keep") => config.canonical.case = LetterCase::Keep,
        ("punctuation", "keep") => config.canonical.punctuation = Punctuation::Keep,
        ("numbering", "drop") => config.canonical.numbering = Numbering::Drop,
        ("stop-words", words) => {
            config.canonical.stop_words = words.split_whitespace().map(str::to_owned).collect();
        }
        ("winner", rules) => {
            let rules = rules.split_whitespace().map(|rule| serde_json::from_value(json!(rule)));
            config.winner = rules.collect::<Result<_, _>>().expect("rules of winning");
        }
        _ => panic!("there is no setting `{setting}`"),
    }
}

/// `NAME url=… time=… popularity=…`. A name that is a number is a numeric id; `-` is no id.
fn page(header: &str) -> Given {
    let mut words = header.split_whitespace();
    let id = match words.next().expect("a page has a name, or -") {
        "-" => None,
        name => Some(name.parse::<i64>().map_or_else(|_| Value::from(name), Value::from)),
    };
    let mut page = Given { id, ..Given::default() };
    for word in words {
        match word.split_once('=').expect("signals are written name=value") {
            ("url", url) => page.url = Some(url.to_owned()),
            ("time", time) => page.time = Some(time.to_owned()),
            ("popularity", value) => page.popularity = Some(value.parse().expect("a number")),
            _ => panic!("there is no signal `{word}`"),
        }
    }
    page
}

/// The outcomes that a line expects, as they are written above.
fn expectation(line: &str) -> Vec<String> {
    let (what, rest) = line.split_once(' ').expect("an outcome has a page");
    let words: Vec<&str> = rest.split_whitespace().collect();
    match (what, words.as_slice()) {
        ("kept", names) => names.iter().map(|name| format!("kept {name}")).collect(),
        ("removed", [page, "->", winner, similarity, kind]) => {
            vec![removed(page, winner, fraction(similarity), kind)]
        }
        ("group", [winner, others @ ..]) => {
            vec![group(winner, others.iter().map(|&name| name.to_owned()).collect())]
        }
        ("rejected", _) => vec![line.to_owned()],
        _ => panic!("`{line}` is not an outcome"),
    }
}

/// `4/5`, `0.8` or `1`.
fn fraction(text: &str) -> f64 {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    text.split_once('/').map_or_else(|| number(text), |(part, whole)| number(part) / number(whole))
}
