//! Rules on prose: sentences are short, start with their subject, and use words that every engineer knows.
//!
//! It reads documents, comments and the texts of `openapi.json` as Markdown. It skips code, headings and pictures, and
//! treats each table cell as a separate text. It catches common faults, but cannot judge whether a sentence is good.

use serde_json::Value;

use super::{Source, caught, read, report, source, sources};

/// The most words in a sentence. Aim for 25.
const SENTENCE_WORDS: usize = 35;
/// A sentence of at most this many words is a label, and may start in any way.
const LABEL_WORDS: usize = 6;
/// Phrases that need reading twice, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("a line a page", "one line per page"),
    ("a page a line", "one page per line"),
    ("aloud", "how it is said"),
    ("anew", "again"),
    ("are not there", "do not exist"),
    ("as ever", "as before"),
    ("at any place", "at random"),
    ("at hand", "available"),
    ("but for", "except"),
    ("came to", "was"),
    ("comes to", "is"),
    ("for ever", "forever"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("in any place", "at random"),
    ("is not there", "does not exist"),
    ("lest", "so that ... not"),
    ("one behind the other", "in sequence"),
    ("pass over", "skip"),
    ("passed over", "skipped"),
    ("passes over", "skips"),
    ("tell apart", "distinguish"),
    ("tells apart", "distinguishes"),
    ("that which", "the noun"),
    ("thereof", "the noun"),
    ("thousand million", "billion"),
    ("thousands of millions", "billions"),
    ("told apart", "distinguished"),
    ("told from", "distinguished from"),
    ("what was not", "the noun"),
    ("whatever happens", "always"),
    ("whereof", "the noun"),
];
/// First words that put something before the subject of a sentence, or a clause in its place.
const FIRST_WORDS: &[&str] = &["Of", "What", "Whatever", "Whichever", "Whoever"];
/// Units and divisors: in `20 bytes a page` it is clearer to write "per".
const UNITS: &str = "bits byte bytes changes comparisons file gib kb keys kib lines look-ups mb mib minute ms numbers \
                     objects pages records requests rows seconds threads times updates words";
const PER: &str = "character collection core crate day file group host hour key line machine minute page record request \
                   row run search second stage target thread word";

/// A text that starts on a line, counted from zero. It may span several lines.
struct Block {
    line: usize,
    text: String,
}

/// The paragraphs, list items and table cells of a document, without code, headings and pictures.
fn blocks<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Block> {
    let (mut found, mut fenced, mut open) = (Vec::<Block>::new(), false, false);
    for (at, line) in lines {
        let text = line.trim();
        let is_fence = text.starts_with("```");
        fenced ^= is_fence;
        if fenced || is_fence || text.is_empty() || text.starts_with(['#', '!']) {
            open = false;
            continue;
        }
        if text.starts_with('|') {
            let cells = text.split('|').map(|cell| Block { line: at, text: cell.trim().to_owned() });
            found.extend(cells.filter(|cell| !cell.text.is_empty()));
            open = false;
            continue;
        }
        let item = list_item(text);
        match found.last_mut().filter(|_| open && item.is_none()) {
            Some(block) => block.text = format!("{}\n{text}", block.text),
            None => found.push(Block { line: at, text: item.unwrap_or(text).to_owned() }),
        }
        // Two spaces at the end of a line break it.
        open = !line.ends_with("  ");
    }
    found
}

/// The text after a bullet or a list number.
fn list_item(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = (digits > 0).then(|| text[digits..].strip_prefix(". ")).flatten();
    number.or_else(|| text.strip_prefix("- ")).or_else(|| text.strip_prefix("* "))
}

/// The words of a text as a reader sees them: a span of code counts as one word, a link as its text.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        match at % 2 {
            0 => out.push_str(part),
            _ => out.extend(["code"].into_iter().chain(part.matches('\n'))),
        }
    }
    let mut parts = out.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    let shown = parts.fold(first, |shown, part| shown + part.split_once(')').map_or(part, |(_, rest)| rest));
    shown.replace(['*', '[', ']'], "")
}

/// The sentences of a text, each with the line it starts on.
fn sentences(block: &Block) -> Vec<(usize, String)> {
    let text = visible(&block.text);
    let (mut found, mut line, mut start) = (Vec::new(), block.line, block.line);
    let mut words: Vec<&str> = Vec::new();
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        if words.is_empty() {
            start = line;
        }
        words.extend((!word.is_empty()).then_some(word));
        line += part.matches('\n').count();
        let end = word.trim_end_matches(['"', '\'', ')', '”', '’']);
        if end.ends_with(['.', '!', '?']) && !words.is_empty() {
            found.push((start, words.join(" ")));
            words.clear();
        }
    }
    found.extend((!words.is_empty()).then(|| (start, words.join(" "))));
    found
}

/// The faults of a sentence.
fn faults(sentence: &str) -> Vec<String> {
    let is_word = |word: &&str| word.contains(|c: char| c.is_alphanumeric());
    let words: Vec<&str> = sentence.split(' ').filter(is_word).collect();
    let mut faults = Vec::new();
    if words.len() > SENTENCE_WORDS {
        faults.push(format!("a sentence of {} words, the limit is {SENTENCE_WORDS}", words.len()));
    }
    let first = words.first().map_or("", |word| word.trim_start_matches(['(', '"']));
    let is_open = sentence.ends_with(['?', ':']);
    if FIRST_WORDS.contains(&first) && words.len() > LABEL_WORDS && !is_open {
        faults.push(format!("a sentence that starts with \"{first}\": start with the actor"));
    }
    let plain: Vec<String> = words.iter().map(|word| plain_word(word)).collect();
    let joined = format!(" {} ", plain.join(" "));
    let said = PHRASES.iter().filter(|(phrase, _)| joined.contains(&format!(" {phrase} ")));
    faults.extend(said.map(|(phrase, instead)| format!("\"{phrase}\": write \"{instead}\"")));
    let rate = (0..words.len()).find(|&at| is_rate(&words[at..]));
    faults.extend(rate.map(|at| format!("\"{}\": write \"per\"", plain[at..at + 3].join(" "))));
    faults
}

fn plain_word(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Whether words start with a rate such as `bytes a page`. `pages a second time` is not a rate.
fn is_rate(words: &[&str]) -> bool {
    let listed = |list: &str, word: &str| list.split_whitespace().any(|listed| listed == plain_word(word));
    let [unit, article, per, rest @ ..] = words else { return false };
    let is_one = [unit, article].iter().all(|word| word.ends_with(char::is_alphanumeric));
    let is_count = *per == "second" && rest.first().is_some_and(|next| plain_word(next) == "time");
    is_one && !is_count && listed(UNITS, unit) && listed("a an", article) && listed(PER, per)
}

fn check(file: &Source, blocks: Vec<Block>) -> Vec<String> {
    let mut offences = Vec::new();
    for (line, sentence) in blocks.iter().flat_map(sentences) {
        let shown: String = sentence.chars().take(60).collect();
        offences
            .extend(faults(&sentence).iter().map(|fault| file.offence(line, &format!("{fault}: {shown}"))));
    }
    offences
}

fn document_prose(file: &Source) -> Vec<String> {
    check(file, blocks(file.text.lines().enumerate()))
}

/// The comments of a Rust file. A line of code ends a comment.
fn comment_prose(file: &Source) -> Vec<String> {
    let lines = file.text.lines().enumerate().map(|(at, line)| (at, comment_text(line)));
    check(file, blocks(lines))
}

/// The text of a comment line; empty for other lines.
fn comment_text(line: &str) -> &str {
    let line = line.trim_start();
    let text = ["//!", "///", "//"].iter().find_map(|mark| line.strip_prefix(mark));
    text.unwrap_or_default()
}

/// The summaries and descriptions of an OpenAPI document.
fn openapi_prose(file: &Source) -> Vec<String> {
    let document = serde_json::from_str(&file.text).expect("openapi.json is JSON");
    let mut texts = Vec::new();
    collect_texts(&document, &mut texts);
    let block = |text: &str| blocks(text.lines().map(|line| (0, line)));
    check(file, texts.into_iter().flat_map(block).collect())
}

fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let is_text = ["summary", "description"].contains(&name.as_str());
                texts.extend(field.as_str().filter(|_| is_text));
                collect_texts(field, texts);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        _ => {}
    }
}

// The checks over the repository.

#[test]
fn documents_are_plain() {
    report(sources(&[".md"]).iter().flat_map(document_prose).collect());
}

#[test]
fn comments_are_plain() {
    report(sources(&[".rs"]).iter().flat_map(comment_prose).collect());
}

#[test]
fn the_http_interface_is_described_plainly() {
    report(openapi_prose(&read("crates/onecopy/src/http/openapi.json".to_string())));
}

// Each check catches an offence.

#[test]
fn catches_a_long_sentence() {
    let sentence = |words: usize| vec!["word"; words].join(" ") + ".";
    let two = format!("{}\n{} Short one.\n", sentence(SENTENCE_WORDS), sentence(SENTENCE_WORDS + 1));
    caught(document_prose(&source("a.md", two)), &["a.md:2: a sentence of 36 words"]);
    let split = sentence(SENTENCE_WORDS + 1).replacen("word word ", "word word\n", 1);
    let table = format!("| {} | {} |\n", sentence(30), sentence(30));
    let list = format!("- {}\n- {}\n  {split}\n", sentence(30), sentence(30));
    let text = table + &list + "\n# " + &sentence(40) + "\n```\n" + &sentence(40) + "\n```\n";
    caught(document_prose(&source("a.md", text)), &["a.md:4: a sentence of 36 words"]);
}

#[test]
fn counts_words_as_they_are_read() {
    let code = format!("Run `{}` and see [this page](https://a.example/a b c).", "a ".repeat(40));
    caught(document_prose(&source("a.md", code)), &[]);
    let breaks = "One two three four five six seven eight nine ten  \n".repeat(6);
    caught(document_prose(&source("a.md", breaks)), &[]);
}

#[test]
fn catches_an_inverted_sentence() {
    let bad = "Of HTML the main content is compared where it can be.\n\nWhat may be alike is settled in memory now.\n";
    caught(document_prose(&source("a.md", bad)), &["a.md:1: ", "a.md:3: "]);
    let good = "What is in a collection, and what survives?\n\nOf them all.\n\nWhat stays in memory at all times is this:\n";
    caught(document_prose(&source("a.md", good)), &[]);
}

#[test]
fn catches_a_phrase() {
    for (phrase, _) in PHRASES {
        let broken = phrase.replacen(' ', "\n", 1);
        let text = format!("Good.\nThis is {broken}, and more.\n");
        caught(document_prose(&source("a.md", text)), &["a.md:2: "]);
    }
    caught(
        document_prose(&source("a.md", "A canew `anew` shows the pages a second time, byte a, page b.\n")),
        &[],
    );
    let rates =
        "It takes 20 bytes a page.\n\nIt reads 3,000 pages a second.\n\nIt reads them a second time.\n";
    caught(
        document_prose(&source("a.md", rates)),
        &["a.md:1: \"bytes a page\"", "a.md:3: \"pages a second\""],
    );
}

#[test]
fn catches_a_phrase_in_a_comment() {
    let text = "//! Good.\n\nlet a = \"anew\"; // anew\n/// Made\n/// anew.\nfn f() {}\n    // Of pages the best one stays here now.\n";
    caught(
        comment_prose(&source("a.rs", text)),
        &["a.rs:4: \"anew\"", "a.rs:7: a sentence that starts with"],
    );
}

#[test]
fn catches_a_phrase_in_the_http_interface() {
    let text =
        r#"{"info": {"summary": "Made anew."}, "tags": [{"description": "Told apart."}], "anew": "anew"}"#;
    caught(openapi_prose(&source("a.json", text)), &["a.json:1: ", "a.json:1: "]);
}
