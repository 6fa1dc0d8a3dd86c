//! Text in columns, and foreign text made safe for a terminal.

/// Aligns rows of cells: the first `left` columns to the left, because they are names, the others to the right.
pub fn columns(rows: &[Vec<String>], left: usize) -> String {
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..most).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
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

    #[test]
    fn names_are_left_and_numbers_right() {
        let rows = [["name", "n"], ["a", "1,000"]].map(|row| row.map(String::from).to_vec());
        assert_eq!(columns(&rows, 1), "name      n\na     1,000\n");
    }

    #[test]
    fn text_of_others_is_cut_and_harmless() {
        assert_eq!(shown("a\u{1b}[31mb", 99), "a[31mb");
        assert_eq!(shown("éééé", 3), "ééé…");
    }
}
