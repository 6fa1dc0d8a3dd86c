//! Small text plots, one bar per line.

use std::fmt::Write;

use crate::size::count;

/// Columns of the longest bar.
const WIDTH: usize = 40;

/// Appends a bar for each of `bins`, with its label and number.
pub fn plot(title: &str, bins: &[(String, u64)], text: &mut String) {
    let most = bins.iter().map(|bin| bin.1).max().unwrap_or(0).max(1);
    let _ = writeln!(text, "\n            {title}");
    for (label, number) in bins {
        let _ = writeln!(text, "{label:>10}  {:<WIDTH$}  {}", bar(*number, most), count(*number));
    }
}

/// A bar in eighths of a column; any number above zero is visible.
fn bar(number: u64, most: u64) -> String {
    let eighths = (number as f64 / most as f64 * (8 * WIDTH) as f64).ceil() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(['▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8 - 1]);
    }
    bar
}
