//! Tables for people: aligned for a terminal, or Markdown for a document.

/// Lines of cells. The first line is the header, the first column is text, the others are figures.
pub struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns and no rows.
    pub fn new(header: &[&str]) -> Table {
        Table { lines: vec![header.iter().map(ToString::to_string).collect()] }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.lines[0].len(), "a cell for each column");
        self.lines.push(row);
    }

    /// Columns aligned by spaces.
    pub fn aligned(&self) -> String {
        let widths = self.widths();
        let line = |cells: &Vec<String>| pad(cells, &widths).join("  ").trim_end().to_owned() + "\n";
        self.lines.iter().map(line).collect()
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let widths = self.widths();
        let mut lines: Vec<String> =
            self.lines.iter().map(|cells| format!("| {} |\n", pad(cells, &widths).join(" | "))).collect();
        let rule = widths.iter().enumerate().map(|(column, &width)| match column {
            0 => "-".repeat(width.max(3)),
            _ => "-".repeat(width.max(3) - 1) + ":",
        });
        lines.insert(1, format!("| {} |\n", rule.collect::<Vec<_>>().join(" | ")));
        lines.concat()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.lines.iter().map(|line| line[column].chars().count()).max();
        (0..self.lines[0].len()).map(|column| width(column).unwrap_or(0)).collect()
    }
}

fn pad(cells: &[String], widths: &[usize]) -> Vec<String> {
    let pad = |(column, (cell, &width)): (usize, (&String, &usize))| match column {
        0 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    };
    cells.iter().zip(widths).enumerate().map(pad).collect()
}

/// A count with commas between the thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes as whole megabytes.
pub fn megabytes(bytes: u64) -> String {
    count(bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(&["tool", "CPU s"]);
        table.push(vec!["onecopy".into(), "1.9".into()]);
        table.push(vec!["é".into(), "10.25".into()]);
        table
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(sample().aligned(), "tool     CPU s\nonecopy    1.9\né        10.25\n");
    }

    #[test]
    fn markdown_has_a_rule_under_the_header() {
        let wanted = "| tool    | CPU s |\n| ------- | ----: |\n| onecopy |   1.9 |\n| é       | 10.25 |\n";
        assert_eq!(sample().markdown(), wanted);
    }

    #[test]
    fn figures_are_readable() {
        assert_eq!([count(7), count(1234), count(12_345_678)], ["7", "1,234", "12,345,678"]);
        assert_eq!(megabytes(85_100_000), "86");
    }
}
