//! Text on a terminal: colours if wanted, lines of limited width, no control sequences.

use std::io::IsTerminal;

use crate::width;

/// The role of a text, which decides its colour.
#[derive(Clone, Copy)]
pub enum Tone {
    Faint,
    Strong,
    Gone,
    Come,
    Moved,
}

/// Colours text if enabled, and knows how long lines may be.
#[derive(Clone, Copy)]
pub struct Paint {
    is_on: bool,
    /// Columns of a line.
    pub columns: usize,
}

impl Paint {
    /// For standard output: no colour if it is not a terminal, or if `NO_COLOR` is set (no-color.org).
    pub fn for_stdout() -> Paint {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_on = std::io::stdout().is_terminal() && !set("NO_COLOR") && !is_dumb;
        Paint { is_on, columns: width::of_stdout() }
    }

    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Faint => "2",
            Tone::Strong => "1",
            Tone::Gone => "31",
            Tone::Come => "32",
            Tone::Moved => "33",
        };
        if self.is_on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The text on one line, without control characters.
pub fn plain(text: &str) -> String {
    let shown = |c: char| !c.is_control() && !is_invisible(c);
    let words = text.split_whitespace().map(|word| word.chars().filter(|c| shown(*c)).collect::<String>());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Invisible characters, and those that change the text direction.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The approximate width of a character: East Asian characters take two columns.
fn columns_of(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => 2,
        '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' => 2,
        '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}' => 2,
        '\u{300}'..='\u{36f}' => 0,
        _ => 1,
    }
}

/// The width of a text in columns.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The end of the first part of a text that fits in some columns, between words if possible.
pub fn head_end(text: &str, most: usize) -> usize {
    let mut taken = 0;
    let over = text.char_indices().find(|(_, c)| {
        taken += columns_of(*c);
        taken > most
    });
    let Some((end, c)) = over else { return text.len() };
    if c.is_whitespace() {
        return end;
    }
    let between = text[..end].rfind(char::is_whitespace).map(|at| text[..at].trim_end().len());
    between.filter(|at| *at >= end / 2 && *at > 0).unwrap_or(end)
}

/// The start of the last part of a text that fits in some columns, between words if possible.
pub fn tail_start(text: &str, most: usize) -> usize {
    let mut taken = 0;
    let over = text.char_indices().rev().find(|(_, c)| {
        taken += columns_of(*c);
        taken > most
    });
    let Some((at, c)) = over else { return 0 };
    let start = at + c.len_utf8();
    if c.is_whitespace() {
        return start;
    }
    let rest = &text[start..];
    let between = rest.find(char::is_whitespace).map(|at| text.len() - rest[at..].trim_start().len());
    between.filter(|at| *at <= start + rest.len() / 2 && *at < text.len()).unwrap_or(start)
}

/// Wraps text to lines of some columns. Words longer than a line are cut.
pub fn wrap(text: &str, most: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        // A character wider than a line still gets one.
        let least = rest.chars().next().map_or(0, char::len_utf8);
        let (line, behind) = rest.split_at(head_end(rest, most).max(least));
        lines.push(line);
        rest = behind.trim_start();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(plain(" a\x1b[31m \u{202e}b\n\n\u{7}\tc\u{200b}"), "a[31m b c");
    }

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a twothreefour", 9), ["a twothre", "efour"]);
        assert_eq!(wrap("湖畔の水車", 4), ["湖畔", "の水", "車"]);
        assert_eq!(wrap("湖", 1), ["湖"]);
        assert!(wrap("  ", 5).is_empty());
    }

    #[test]
    fn heads_and_tails() {
        let text = "one two three four";
        assert_eq!(&text[..head_end(text, 9)], "one two");
        assert_eq!(&text[tail_start(text, 11)..], "three four");
        assert_eq!(tail_start("one to three", 8), 4);
        assert_eq!((head_end(text, 99), tail_start(text, 99)), (text.len(), 0));
        assert_eq!((head_end("", 9), tail_start("", 9)), (0, 0));
    }
}
