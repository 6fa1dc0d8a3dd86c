//! Draws lines over named places as SVG: shares from 0 to 1 by number of results, threshold, version or rank.

use std::fmt::Write;

/// A panel of lines over the same places.
pub struct Panel {
    pub title: String,
    /// What the places are.
    pub places_are: &'static str,
    /// The names of the places, from left to right.
    pub places: Vec<String>,
    pub lines: Vec<Line>,
    /// Below and above a line at each place, drawn as a bar.
    pub ranges: Vec<(f64, f64)>,
    /// A published value at a place, and its source.
    pub beside: Vec<(usize, f64, &'static str)>,
}

/// A line: a value at each place. Lines may end early.
pub struct Line {
    pub name: String,
    pub values: Vec<f64>,
}

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 40.0;
/// Space for the names of lines right of a panel.
const NAMES: f64 = 110.0;
const ACROSS: usize = 2;
const COLOURS: [&str; 8] = ["#06c", "#c50", "#090", "#a0a", "#777", "#0aa", "#b90", "#000"];

/// Panels in rows of two.
pub fn svg(panels: &[Panel]) -> String {
    let (across, down) = (WIDTH + NAMES + LEFT, HEIGHT + TOP + 55.0);
    let width = panels.len().min(ACROSS) as f64 * across;
    let height = panels.len().div_ceil(ACROSS) as f64 * down;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, panel) in panels.iter().enumerate() {
        let x = (number % ACROSS) as f64 * across + LEFT;
        let y = (number / ACROSS) as f64 * down + TOP;
        let _ = write!(out, "<g transform=\"translate({x} {y})\">\n{}</g>\n", draw(panel));
    }
    out + "</svg>\n"
}

fn draw(panel: &Panel) -> String {
    let mut out = format!("<text y=\"-14\" font-size=\"14\">{}</text>\n", escaped(&panel.title));
    for tick in 0..=5 {
        let value = f64::from(tick) / 5.0;
        let y = height(value);
        let _ = writeln!(out, "<path d=\"M0 {y:.1}H{WIDTH}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            out,
            "<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{:.0} %</text>",
            y + 4.0,
            value * 100.0
        );
    }
    let x = |place: usize| (place as f64 + 0.5) / panel.places.len().max(1) as f64 * WIDTH;
    // Labels that would overlap are left out.
    let step = panel.places.len().div_ceil(11).max(1);
    for (place, name) in panel.places.iter().enumerate().step_by(step) {
        let (at, below) = (x(place), HEIGHT + 16.0);
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
            escaped(name)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{}</text>",
        WIDTH / 2.0,
        HEIGHT + 34.0,
        panel.places_are
    );
    for (place, (low, high)) in panel.ranges.iter().enumerate() {
        let (at, top, bottom) = (x(place), height(*high), height(*low));
        let ends =
            format!("M{at:.1} {bottom:.1}V{top:.1}M{:.1} {bottom:.1}h8m-8 {:.1}h8", at - 4.0, top - bottom);
        let _ = writeln!(out, "<path d=\"{ends}\" stroke=\"#999\" fill=\"none\"/>");
    }
    for (number, (line, name_at)) in panel.lines.iter().zip(name_heights(&panel.lines)).enumerate() {
        out += &one_line(number, line, &x, name_at);
    }
    for (place, value, whose) in &panel.beside {
        let (at, y) = (x(*place), height(*value));
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"none\" stroke=\"#000\"/>",
            at - 4.0,
            y - 4.0
        );
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at + 7.0, y + 4.0, escaped(whose));
    }
    out
}

fn one_line(number: usize, line: &Line, x: &dyn Fn(usize) -> f64, name_at: f64) -> String {
    let colour = COLOURS[number % COLOURS.len()];
    let places = line.values.iter().enumerate().map(|(place, value)| (x(place), height(*value)));
    let points: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut out = format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n",
        points.join(" ")
    );
    for point in &points {
        let (x, y) = point.split_once(',').unwrap_or_default();
        let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.5\" fill=\"{colour}\"/>");
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
        WIDTH + 4.0,
        name_at + 4.0,
        escaped(&line.name)
    );
    out
}

/// Where the name of each line stands: next to its end, but never over another name.
fn name_heights(lines: &[Line]) -> Vec<f64> {
    const STEP: f64 = 14.0;
    let end = |line: &Line| height(line.values.last().copied().unwrap_or(0.0));
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| end(&lines[a]).total_cmp(&end(&lines[b])));
    let mut heights = vec![0.0; lines.len()];
    let mut lowest = f64::NEG_INFINITY;
    for line in order {
        lowest = end(&lines[line]).max(lowest + STEP);
        heights[line] = lowest;
    }
    // Names that were pushed below the panel move up together.
    let over = (lowest - HEIGHT).max(0.0);
    heights.into_iter().map(|y| y - over).collect()
}

fn height(value: f64) -> f64 {
    HEIGHT * (1.0 - value.clamp(0.0, 1.0))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_a_dot_and_names_do_not_overlap() {
        let line = |name: &str, values: &[f64]| Line { name: name.into(), values: values.into() };
        let panel = Panel {
            title: "a<b".into(),
            places_are: "results",
            places: vec!["10".into(), "20".into()],
            lines: vec![line("x", &[0.1, 0.5]), line("y", &[0.2, 0.5]), line("z", &[0.0, 0.0])],
            ranges: vec![(0.0, 0.4)],
            beside: vec![(1, 0.98, "paper")],
        };
        let heights = name_heights(&panel.lines);
        assert!((heights[0] - heights[1]).abs() >= 14.0 && heights[2] <= HEIGHT, "{heights:?}");
        let picture = svg(&[panel]);
        assert_eq!(picture.matches("<circle").count(), 6);
        assert!(picture.contains("a&lt;b") && picture.contains(">paper<") && !picture.contains("NaN"));
    }
}
