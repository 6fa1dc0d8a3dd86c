//! Draws curves over the number of machines, and a published point.

use std::fmt::Write;

/// A line with a name.
pub(super) struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 44.0;
const COLOURS: [&str; 4] = ["#06c", "#c50", "#080", "#639"];

/// Curves by machines on a logarithmic axis, and the published point as a ring.
pub(super) fn picture(title: &str, curves: &[Curve], published: (f64, f64)) -> String {
    let most =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(published.1, f64::max).ceil();
    let place = |(x, y): (f64, f64)| (LEFT + (x.log2() - 1.0) / 5.0 * WIDTH, TOP + (1.0 - y / most) * HEIGHT);
    let mut body = format!("<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{title}</text>\n");
    for value in 0..=most as u32 {
        let (_, y) = place((2.0, f64::from(value)));
        let _ = writeln!(body, "<path d=\"M{LEFT} {y:.1}h{WIDTH}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            body,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 8.0,
            y + 4.0
        );
    }
    for machines in [2, 4, 8, 16, 32, 64] {
        let (x, y) = place((f64::from(machines), 0.0));
        let _ =
            writeln!(body, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{machines}</text>", y + 18.0);
    }
    let middle = LEFT + WIDTH / 2.0;
    let _ = writeln!(
        body,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">machines</text>",
        TOP + HEIGHT + 38.0
    );
    let mut legend = TOP + HEIGHT + 62.0;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let points: Vec<String> =
            curve.points.iter().map(|&point| place(point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <path d=\"M{LEFT} {}h26\" stroke=\"{colour}\" stroke-width=\"3\"/>\n<text x=\"{}\" y=\"{legend}\">{}</text>",
            points.join(" "),
            legend - 4.0,
            LEFT + 34.0,
            curve.name
        );
        legend += 20.0;
    }
    let (x, y) = place(published);
    let _ = writeln!(
        body,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\" fill=\"none\" stroke=\"#000\" stroke-width=\"2\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" stroke=\"#fff\" stroke-width=\"4\" \
         paint-order=\"stroke\">published: {}</text>",
        x - 10.0,
        y + 4.0,
        published.1
    );
    let (width, height) = (LEFT + WIDTH + 30.0, legend);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}
