//! Canonical text under rules other than the default: keep case or punctuation, drop numbering or stop words, cut
//! words by dictionary.
//!
//! Clarity comes before speed: these rules are for people who ask for them. Under the default rules the result
//! equals that of `fold`, which is tested.

use super::Canonical;
use super::letters::{Class, class, classes, is_word};
use super::segment::{closed_up, is_complex, is_mark as is_mark_letter, needs_cut, words as cut};
use crate::config::{CanonicalRules, Case, Numbering, Punctuation, Words};

/// Writes the canonical form of `text` under any rules. `words` says how to cut its runs of letters.
pub(super) fn by_rules(text: &str, rules: &CanonicalRules, words: Words, out: &mut Canonical) {
    let classes = classes();
    out.start(2 * text.len());
    let mut token = String::new();
    for line in text.split('\n') {
        let line = if rules.numbering == Numbering::Drop { without_numbering(line) } else { line };
        let line = if words == Words::Segmented { closed_up(line) } else { line.into() };
        for c in line.chars() {
            for c in cased(c, rules.case) {
                let joins = match class(c, classes) {
                    Class::Word | Class::Dense | Class::Complex => true,
                    Class::Mark => joins_mark(&token, words),
                    Class::Fold => is_word(c),
                    Class::Separator => false,
                };
                if joins {
                    token.push(c);
                    continue;
                }
                push_run(&mut token, rules, words, out);
                if rules.punctuation == Punctuation::Keep && is_mark(c) {
                    token.push(c);
                    push(&token, rules, out);
                    token.clear();
                }
            }
        }
        push_run(&mut token, rules, words, out);
    }
    out.length = out.length.saturating_sub(1);
}

/// Ends a run of letters and appends its words to the canonical text.
fn push_run(run: &mut String, rules: &CanonicalRules, words: Words, out: &mut Canonical) {
    match words {
        Words::Segmented => cut(run).for_each(|word| push(word, rules, out)),
        Words::Auto if needs_cut(run) => cut(run).for_each(|word| push(word, rules, out)),
        // Marks were taken into the run in case it must be cut.
        Words::Auto => run.split(is_mark_letter).for_each(|word| push(word, rules, out)),
        Words::Runs => push(run, rules, out),
    }
    run.clear();
}

/// Whether a mark belongs to the word before it.
fn joins_mark(word: &str, words: Words) -> bool {
    match words {
        Words::Runs => false,
        Words::Segmented => !word.is_empty(),
        Words::Auto => word.ends_with(is_complex),
    }
}

/// Ends a token and appends it to the canonical text, unless it is empty or a stop word.
fn push(token: &str, rules: &CanonicalRules, out: &mut Canonical) {
    if !token.is_empty() && !rules.stop_words.iter().any(|word| word == token) {
        let end = out.length + token.len();
        out.bytes[out.length..end].copy_from_slice(token.as_bytes());
        out.bytes[end] = b' ';
        out.ends[out.count] = end as u32;
        out.count += 1;
        out.length = end + 1;
    }
}

fn cased(c: char, case: Case) -> impl Iterator<Item = char> {
    let (folded, kept) = match case {
        Case::Fold => (Some(c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })), None),
        Case::Keep => (None, Some(c)),
    };
    folded.into_iter().flatten().chain(kept)
}

/// Marks that count under [`Punctuation::Keep`]: all except white space, control characters, dashes, quotes and
/// colons.
fn is_mark(c: char) -> bool {
    let separates = matches!(c, ':' | '"' | '\'' | '`' | '-' | '‐'..='―' | '‘'..='‟' | '«' | '»' | '：');
    !(c.is_whitespace() || c.is_control() || separates)
}

/// `line` without a bullet or numbering such as `1.`, `a.1`, `(iv)` or `•` at its start.
fn without_numbering(line: &str) -> &str {
    let body = line.trim_start();
    let Some((head, rest)) = body.split_once(char::is_whitespace) else { return line };
    if is_numbering(head) { rest } else { line }
}

/// Whether `head` is short groups of letters or digits with a dot or a bracket among them, or a single bullet.
fn is_numbering(head: &str) -> bool {
    if matches!(head, "•" | "*" | "-" | "–" | "·" | "◦" | "▪" | "‣") {
        return true;
    }
    let marked = head.contains(['.', ')', ']']);
    let short = head.split(['.', '(', ')', '[', ']']).all(|part| {
        part.len() <= 3 && part.bytes().all(|b| b.is_ascii_alphanumeric()) && !is_word_like(part)
    });
    marked && short
}

/// Separates words such as `etc` from numbering: they have more than one letter and are not Roman numerals.
fn is_word_like(part: &str) -> bool {
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    letters > 1 && !part.bytes().all(|b| matches!(b.to_ascii_lowercase(), b'i' | b'v' | b'x' | b'l' | b'c'))
}
