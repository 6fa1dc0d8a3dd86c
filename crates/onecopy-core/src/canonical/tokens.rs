//! Canonical text under rules other than the default: case kept, punctuation kept, numbering dropped, stop words out.
//!
//! Clarity over speed: these rules are for people who ask for them. Under the default rules it gives what
//! `letters::fold` gives, which is tested.

use super::Canonical;
use super::letters::is_word;
use crate::config::{CanonicalRules, Case, Numbering, Punctuation};

/// Writes the canonical form of `text` under any rules.
pub(super) fn by_rules(text: &str, rules: &CanonicalRules, out: &mut Canonical) {
    out.start(2 * text.len());
    let mut token = String::new();
    for line in text.split('\n') {
        let line = if rules.numbering == Numbering::Drop { without_numbering(line) } else { line };
        for c in line.chars() {
            for c in cased(c, rules.case) {
                if is_word(c) {
                    token.push(c);
                    continue;
                }
                push(&mut token, rules, out);
                if rules.punctuation == Punctuation::Keep && is_mark(c) {
                    token.push(c);
                    push(&mut token, rules, out);
                }
            }
        }
        push(&mut token, rules, out);
    }
    out.length = out.length.saturating_sub(1);
}

/// Ends a token: it goes into the canonical text unless it is empty or a stop word.
fn push(token: &mut String, rules: &CanonicalRules, out: &mut Canonical) {
    if !token.is_empty() && !rules.stop_words.contains(token) {
        let end = out.length + token.len();
        out.bytes[out.length..end].copy_from_slice(token.as_bytes());
        out.bytes[end] = b' ';
        out.ends[out.count] = end as u32;
        out.count += 1;
        out.length = end + 1;
    }
    token.clear();
}

fn cased(c: char, case: Case) -> impl Iterator<Item = char> {
    let (folded, kept) = match case {
        Case::Fold => (Some(c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })), None),
        Case::Keep => (None, Some(c)),
    };
    folded.into_iter().flatten().chain(kept)
}

/// Marks that count under [`Punctuation::Keep`]: all but white space, control characters, dashes, quotes and colons.
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

/// Short groups of letters or digits with a dot or a bracket among them, or a lone bullet.
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

/// Tells words such as `etc` from numbering: more than one letter that is not a Roman numeral.
fn is_word_like(part: &str) -> bool {
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    letters > 1 && !part.bytes().all(|b| matches!(b.to_ascii_lowercase(), b'i' | b'v' | b'x' | b'l' | b'c'))
}
