//! Text in columns that fit the reader's lines, and foreign text made safe for a terminal.

use std::ops::Range;

use crate::paint::{columns as width_of, wrap};

/// Between two columns.
const GAP: usize = 2;
/// Prose in fewer columns than this is hard to read, and gets lines of its own.
const PROSE_MIN: usize = 24;

/// Aligns rows of cells: the first `left` columns to the left, because they are names, the others to the right.
pub fn columns(rows: &[Vec<String>], left: usize) -> String {
    columns_within(rows, left, usize::MAX)
}

/// Like [`columns`]. If a line would have more than `most` columns, the table is cut into several, each with the names.
pub fn columns_within(rows: &[Vec<String>], left: usize, most: usize) -> String {
    let widths = widths(rows);
    let width = |columns: &[usize]| columns.iter().map(|&column| widths[column] + GAP).sum::<usize>();
    let names: Vec<usize> = (0..left.min(widths.len())).collect();
    let mut parts = vec![names.clone()];
    for together in joined(rows, left..widths.len()) {
        let part = parts.last().expect("there is a first part");
        if part.len() > names.len() && width(part) + width(&together) > most.saturating_add(GAP) {
            parts.push(names.clone());
        }
        parts.last_mut().expect("there is a first part").extend(together);
    }
    let parts: Vec<String> = parts.iter().map(|part| aligned(rows, part, left, &widths)).collect();
    parts.join("\n")
}

/// Columns that stay together: an interval, a threshold (`at`) or a recall (`R`) stays with the column before it.
fn joined(rows: &[Vec<String>], columns: Range<usize>) -> Vec<Vec<usize>> {
    let header = |column: usize| rows.first().and_then(|row| row.get(column)).map_or("", String::as_str);
    let mut together: Vec<Vec<usize>> = Vec::new();
    for column in columns {
        match together.last_mut() {
            Some(before) if ["", "at", "R"].contains(&header(column)) => before.push(column),
            _ => together.push(vec![column]),
        }
    }
    together
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width_of(cell)).max().unwrap_or(0)
    };
    (0..most).map(width).collect()
}

/// The lines of some columns.
fn aligned(rows: &[Vec<String>], shown: &[usize], left: usize, widths: &[usize]) -> String {
    let line = |row: &Vec<String>| {
        let cells = shown.iter().map(|&column| {
            let cell = row.get(column).map_or("", String::as_str);
            let padding = " ".repeat(widths[column] - width_of(cell));
            if column < left { format!("{cell}{padding}") } else { format!("{padding}{cell}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Prose beside a `start` of a line that takes `indent` columns, or below it if there is no room for both.
pub fn with_prose(start: &str, indent: usize, prose: &str, most: usize) -> Vec<String> {
    let (first, indent) = match most.saturating_sub(indent) {
        room if room >= PROSE_MIN => (Some(start), indent),
        _ => (None, 4),
    };
    let mut lines = if first.is_none() { vec![start.trim_end().to_owned()] } else { Vec::new() };
    for (number, line) in wrap(prose, most.saturating_sub(indent).max(1)).into_iter().enumerate() {
        let before = " ".repeat(indent);
        lines.push(format!("{}{line}", first.filter(|_| number == 0).unwrap_or(&before)));
    }
    if lines.is_empty() { vec![start.trim_end().to_owned()] } else { lines }
}

/// Removes control characters from foreign text, and cuts it after `most` characters.
pub fn shown(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).filter(|c| !c.is_control()).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<const N: usize>(rows: &[[&str; N]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.map(String::from).to_vec()).collect()
    }

    #[test]
    fn names_are_left_and_numbers_right() {
        assert_eq!(columns(&table(&[["name", "n"], ["a", "1,000"]]), 1), "name      n\na     1,000\n");
        assert_eq!(columns(&table(&[["湖畔", "1"], ["abc", "22"]]), 1), "湖畔   1\nabc   22\n");
    }

    #[test]
    fn a_table_that_is_too_wide_is_cut_between_columns() {
        let rows = table(&[["name", "one", "", "two", "three"], ["a", "1", "[0, 1]", "2", "3"]]);
        assert_eq!(columns_within(&rows, 1, 80).lines().count(), 2);
        let said = "name  one\na       1  [0, 1]\n\nname  two  three\na       2      3\n";
        assert_eq!(columns_within(&rows, 1, 18), said);
        assert_eq!(columns_within(&rows, 1, 1).lines().filter(|line| line.starts_with("name")).count(), 3);
    }

    #[test]
    fn prose_is_wrapped_beside_or_below() {
        assert_eq!(with_prose("n  ", 3, "one two", 80), ["n  one two"]);
        let prose = "one two three four five six seven";
        assert_eq!(with_prose("n  ", 3, prose, 28), ["n  one two three four five", "   six seven"]);
        assert_eq!(with_prose("n  ", 3, "one two three", 12), ["n", "    one two", "    three"]);
        assert_eq!(with_prose("n  ", 3, "", 80), ["n"]);
    }

    #[test]
    fn text_of_others_is_cut_and_harmless() {
        assert_eq!(shown("a\u{1b}[31mb", 99), "a[31mb");
        assert_eq!(shown("éééé", 3), "ééé…");
    }
}
