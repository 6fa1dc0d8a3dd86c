//! Precision and recall by threshold, drawn in braille: eight dots per character.

use onecopy_engine::{Evaluation, Point};

use crate::paint::wrap;

/// The size of a plot in characters, without its axes.
const WIDTH: usize = 28;
const HEIGHT: usize = 5;
/// Columns of a plot with its axis.
const WHOLE: usize = WIDTH + 4;
/// The gap between two plots.
const GAP: &str = "   ";

/// One small plot per method, as many side by side as fit.
pub fn plots(set: &[Evaluation], most: usize) -> String {
    let title = "precision (rising) and recall (falling) by threshold; ▲ is the method's own threshold";
    let mut text = wrap(title, most).join("\n") + "\n";
    let abreast = ((most + GAP.len()) / (WHOLE + GAP.len())).max(1);
    for row in set.chunks(abreast) {
        let plots: Vec<Vec<String>> = row.iter().map(plot).collect();
        for line in 0..HEIGHT + 3 {
            let parts: Vec<&str> = plots.iter().map(|plot| plot[line].as_str()).collect();
            text.push_str(parts.join(GAP).trim_end());
            text.push('\n');
        }
    }
    text
}

/// The lines of a plot, all of one width.
fn plot(found: &Evaluation) -> Vec<String> {
    let mut canvas = Canvas([[0; WIDTH]; HEIGHT]);
    canvas.line(&found.curve, |point| point.precision);
    canvas.line(&found.curve, |point| point.recall);
    let name: String = found.method.chars().take(WHOLE - 2).collect();
    let mut lines = vec![format!("  {name:<0$}", WHOLE - 2)];
    for (row, cells) in canvas.0.iter().enumerate() {
        let label = match row {
            0 => "1",
            row if row + 1 == HEIGHT => "0",
            _ => " ",
        };
        let dots: String = cells.iter().map(|&dots| braille(dots)).collect();
        lines.push(format!("{label} │{dots} "));
    }
    let (first, last) = (found.curve.first(), found.curve.last());
    let [from, to] = [first, last].map(|point| point.map_or(0.0, |point| point.threshold));
    let mark = place(&found.curve, found.threshold) / 2;
    let axis: String = (0..WIDTH).map(|column| if column == mark { '▲' } else { '─' }).collect();
    lines.push(format!("  └{axis} "));
    let to = format!("{to:.1}");
    lines.push(format!("   {from:<0$}{to} ", WIDTH - to.len()));
    lines
}

/// The column of dots that a threshold is at.
fn place(curve: &[Point], threshold: f64) -> usize {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return 0 };
    let span = last.threshold - first.threshold;
    let at = (threshold - first.threshold).max(0.0) / span * (2 * WIDTH - 1) as f64;
    (at.round() as usize).min(2 * WIDTH - 1)
}

/// The dots that are set, eight per character.
struct Canvas([[u8; WIDTH]; HEIGHT]);

impl Canvas {
    /// Draws values from 0 to 1 as a line, which ends at a missing value.
    fn line(&mut self, curve: &[Point], value: impl Fn(&Point) -> Option<f64>) {
        let mut before: Option<usize> = None;
        for point in curve {
            let Some(value) = value(point) else {
                before = None;
                continue;
            };
            let rows = 4 * HEIGHT - 1;
            let (x, y) = (place(curve, point.threshold), ((1.0 - value) * rows as f64).round() as usize);
            let from = before.unwrap_or(y);
            for y in from.min(y)..=from.max(y).min(rows) {
                self.dot(x, y);
            }
            before = Some(y);
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        /// The bits of the dots of a character, by row and column (Unicode, Braille Patterns).
        const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        self.0[y / 4][x / 2] |= DOTS[y % 4][x % 2];
    }
}

fn braille(dots: u8) -> char {
    if dots == 0 { ' ' } else { char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ') }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(threshold: f64, value: Option<f64>) -> Point {
        Point { threshold, precision: value, recall: value, f1: value }
    }

    #[test]
    fn a_line_goes_from_corner_to_corner_and_ends_where_nothing_is() {
        let curve: Vec<Point> =
            (5..=100).map(|n| f64::from(n) / 100.0).map(|at| point(at, Some((at - 0.05) / 0.95))).collect();
        let mut canvas = Canvas([[0; WIDTH]; HEIGHT]);
        canvas.line(&curve, |point| point.precision);
        assert_eq!(canvas.0[HEIGHT - 1][0] & 0x40, 0x40, "the lower left");
        assert_eq!(canvas.0[0][WIDTH - 1] & 0x08, 0x08, "the upper right");
        assert_eq!((canvas.0[0][0], canvas.0[HEIGHT - 1][WIDTH - 1]), (0, 0));
        let mut canvas = Canvas([[0; WIDTH]; HEIGHT]);
        canvas.line(&[point(0.05, Some(1.0)), point(0.5, None), point(1.0, Some(0.0))], |point| point.recall);
        let dots: u32 = canvas.0.iter().flatten().map(|cell| cell.count_ones()).sum();
        assert_eq!(dots, 2);
    }
}
