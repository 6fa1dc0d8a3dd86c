//! The curves of an evaluation as an SVG picture: for each set, precision against recall, and both over thresholds.

use std::fmt::Write;

use onecopy_engine::Evaluation;

use crate::columns::shown;

/// The size of a panel, and its margins.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 60.0;
const GAP: f64 = 70.0;
const BELOW: f64 = 60.0;
/// The width of the method names.
const LEGEND: f64 = 200.0;
/// The most characters of a name.
const NAME: usize = 30;
/// Colours that differ for most eyes (Okabe and Ito 2008), and some more.
const COLOURS: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999", "#882255",
    "#117733", "#999933", "#6699cc",
];

/// The picture, one row per set.
pub fn svg(sets: &[&[Evaluation]]) -> String {
    let width = LEFT + 2.0 * (WIDTH + GAP) + LEGEND;
    let row = TOP + HEIGHT + BELOW;
    let height = row * sets.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, set) in sets.iter().enumerate() {
        let y = TOP + row * number as f64;
        let name = escaped(&set[0].set);
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\" font-size=\"16\">{name}</text>", y - 32.0);
        let _ = writeln!(out, "<g transform=\"translate({LEFT} {y})\">\n{}</g>", against(set));
        let x = LEFT + WIDTH + GAP;
        let _ = writeln!(out, "<g transform=\"translate({x} {y})\">\n{}</g>", over(set));
        let x = x + WIDTH + 24.0;
        let _ = writeln!(out, "<g transform=\"translate({x} {y})\">\n{}</g>", legend(set));
    }
    out + "</svg>\n"
}

/// Precision against recall. The dot is the method's own threshold.
fn against(set: &[Evaluation]) -> String {
    let mut out = axes("precision by recall; a dot is the method's own threshold", "recall");
    for (number, found) in set.iter().enumerate() {
        let points = found.curve.iter().map(|point| Some((point.recall?, point.precision?)));
        lines(points, &format!("stroke=\"{}\" stroke-width=\"1.5\"", colour(number)), &mut out);
        if let (Some(recall), Some(precision)) = (found.score.recall, found.score.precision) {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"/>",
                recall * WIDTH,
                (1.0 - precision) * HEIGHT,
                colour(number)
            );
        }
    }
    out
}

/// Precision and, dashed, recall over thresholds.
fn over(set: &[Evaluation]) -> String {
    let mut out = axes("precision, and recall (dashed), by threshold", "threshold");
    for (number, found) in set.iter().enumerate() {
        let style = format!("stroke=\"{}\" stroke-width=\"1.5\"", colour(number));
        let precision = found.curve.iter().map(|point| Some((point.threshold, point.precision?)));
        lines(precision, &style, &mut out);
        let recall = found.curve.iter().map(|point| Some((point.threshold, point.recall?)));
        lines(recall, &format!("{style} stroke-dasharray=\"5 3\""), &mut out);
    }
    out
}

/// The names of the methods, with their colours.
fn legend(set: &[Evaluation]) -> String {
    let mut out = String::new();
    for (number, found) in set.iter().enumerate() {
        let y = (HEIGHT / set.len() as f64).min(18.0) * number as f64 + 10.0;
        let _ = writeln!(
            out,
            "<circle cx=\"0\" cy=\"{y}\" r=\"4\" fill=\"{}\"/>\n<text x=\"10\" y=\"{}\">{}</text>",
            colour(number),
            y + 4.0,
            escaped(&shown(&found.method, NAME))
        );
    }
    out
}

fn axes(title: &str, below: &str) -> String {
    let mut out = format!("<text y=\"-10\">{title}</text>\n");
    for tenth in (0..=10).step_by(2) {
        let (x, y) = (WIDTH * f64::from(tenth) / 10.0, HEIGHT * (1.0 - f64::from(tenth) / 10.0));
        let label = f64::from(tenth) / 10.0;
        let _ = writeln!(out, "<path d=\"M{x} 0V{HEIGHT}M0 {y}H{WIDTH}\" stroke=\"#ddd\"/>");
        let _ =
            writeln!(out, "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", HEIGHT + 16.0);
        let _ = writeln!(out, "<text x=\"-8\" y=\"{}\" text-anchor=\"end\">{label}</text>", y + 4.0);
    }
    let (x, y) = (WIDTH / 2.0, HEIGHT + 34.0);
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{below}</text>");
    out
}

/// Points from 0 to 1, joined where they are adjacent.
fn lines(points: impl Iterator<Item = Option<(f64, f64)>>, style: &str, out: &mut String) {
    let points: Vec<_> = points.collect();
    for run in points.split(Option::is_none).filter(|run| !run.is_empty()) {
        let places = run.iter().flatten();
        let places: Vec<String> =
            places.map(|(x, y)| format!("{:.1},{:.1}", x * WIDTH, (1.0 - y) * HEIGHT)).collect();
        let _ = writeln!(out, "<polyline points=\"{}\" fill=\"none\" {style}/>", places.join(" "));
    }
}

fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

fn escaped(text: &str) -> String {
    let harmless: String = text.chars().filter(|c| !c.is_control()).collect();
    harmless.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_nothing_is() {
        let mut out = String::new();
        let points = [Some((0.0, 1.0)), Some((0.5, 0.5)), None, Some((1.0, 0.0))];
        lines(points.into_iter(), "", &mut out);
        assert_eq!(out.matches("<polyline").count(), 2);
        assert!(out.contains("points=\"0.0,0.0 170.0,130.0\"") && out.contains("points=\"340.0,260.0\""));
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a<b>&\u{1b}"), "a&lt;b&gt;&amp;");
    }
}
