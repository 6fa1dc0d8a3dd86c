//! Rust as text: code without comments and strings, test modules, and where a function ends.

/// The text with comments, strings and characters blanked out, line for line.
pub fn code_only(text: &str) -> String {
    kept(text, |is_code, _| is_code)
}

/// The text with all but strings and characters blanked out, line for line.
pub fn literals_only(text: &str) -> String {
    kept(text, |is_code, first| !is_code && first != '/')
}

/// The text with everything blanked out except the pieces to `keep`, line for line. `keep` gets whether a piece is
/// code, and its first character.
fn kept(text: &str, keep: impl Fn(bool, char) -> bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = blank_end(&chars, at).min(chars.len());
        let (is_code, next) = (end == at, end.max(at + 1));
        let is_kept = keep(is_code, chars[at]);
        out.extend(chars[at..next].iter().map(|c| if *c == '\n' || is_kept { *c } else { ' ' }));
        at = next;
    }
    out
}

/// Where the comment or literal that starts at `at` ends; `at` itself if none starts there.
fn blank_end(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    let in_word = at > 0 && is_word(chars[at - 1]);
    match rest {
        ['/', '/', ..] => at + rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => at + comment_length(rest),
        ['"', ..] => at + quoted_length(rest, '"'),
        ['\'', '\\', ..] => at + quoted_length(rest, '\''),
        ['\'', _, '\'', ..] => at + 3,
        ['r', '"' | '#', ..] if !in_word => at + raw_length(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !in_word => at + raw_length(rest, 2),
        _ => at,
    }
}

/// Block comments nest.
fn comment_length(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted_length(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of a raw string. Zero for `r#name`, which is not a string.
fn raw_length(rest: &[char], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let start = prefix + hashes;
    if rest.get(start) != Some(&'"') {
        return 0;
    }
    let closes =
        |at: usize| rest[at] == '"' && rest[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    let end = (start + 1..rest.len()).find(|at| closes(*at));
    end.map_or(rest.len(), |at| at + 1 + hashes)
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The first line after `start` that closes the block opened at `start`.
fn block_end(lines: &[&str], start: usize) -> usize {
    let closes = |line: &&str| line.trim_start().starts_with('}') && indent(line) == indent(lines[start]);
    lines[start + 1..].iter().position(closes).map_or(lines.len() - 1, |offset| start + 1 + offset)
}

/// Marks the lines of inline `#[cfg(test)] mod` blocks.
fn test_lines(lines: &[&str]) -> Vec<bool> {
    let mut marks = vec![false; lines.len()];
    for (start, line) in lines.iter().enumerate() {
        if line.trim() != "#[cfg(test)]" {
            continue;
        }
        let item = (start + 1..lines.len()).find(|at| !lines[*at].trim_start().starts_with("#["));
        let Some(item) = item else { continue };
        if words(lines[item]).any(|word| word == "mod") && lines[item].trim_end().ends_with('{') {
            marks[start..=block_end(lines, item)].fill(true);
        }
    }
    marks
}

/// The lines of code outside inline test modules, with their index.
pub fn production_lines<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let marks = test_lines(lines);
    lines.iter().copied().enumerate().filter(|(at, _)| !marks[*at]).collect()
}

pub fn function_name(line: &str) -> Option<&str> {
    let qualifiers = ["pub", "const", "async", "unsafe", "extern"];
    let mut parts = line.split_whitespace().skip_while(|p| {
        qualifiers.contains(p) || p.starts_with("pub(") || p.ends_with(')') && !p.contains("fn")
    });
    (parts.next() == Some("fn")).then(|| parts.next().and_then(|p| words(p).next())).flatten()
}

/// The last line of the function that starts at `start`; `start` itself if it has no body or is a one-liner.
pub fn function_end(lines: &[&str], start: usize) -> usize {
    let first = lines[start].trim_end();
    if first.ends_with(';') || first.ends_with('}') {
        return start;
    }
    let header = lines[start..].iter().position(|l| l.trim_end().ends_with(['{', ';']));
    match header.map(|offset| start + offset) {
        Some(at) if lines[at].trim_end().ends_with('{') => block_end(lines, start),
        _ => start,
    }
}

#[test]
fn knows_code_from_text() {
    let first = r#"let a = b"x.unwrap()"; // unsafe"#;
    let second = r###"let l: &'static str = "\""; let c = '"'; let r#type = br##""#"##;"###;
    let code = code_only(&[first, second].join("\n"));
    assert_eq!(code.lines().count(), 2);
    assert!(!code.contains("unwrap") && !code.contains("unsafe") && !code.contains('"'), "{code}");
    assert!(code.contains("'static") && code.contains("r#type") && code.ends_with(';'), "{code}");
    let literals = literals_only(first);
    assert!(literals.contains("\"x.unwrap()\"") && !literals.contains("let") && !literals.contains("unsafe"));
}
