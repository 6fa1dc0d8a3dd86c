//! Draws SVG pictures: dots on a scale from 0 to 1, points on logarithmic axes with a line, bars on a logarithmic
//! scale.

use std::fmt::Write;

use super::neighbours::Line;

/// A panel of rows, with marks between 0 and 1.
pub struct Panel<'a> {
    /// The title of the panel.
    pub title: &'a str,
    /// The name of each row, and its marks.
    pub rows: Vec<(&'a str, Vec<Mark>)>,
}

/// A mark: filled for precision, a ring for recall.
pub struct Mark {
    pub value: f64,
    pub filled: bool,
}

/// Points on logarithmic axes, and lines through them.
pub struct Cloud {
    pub title: String,
    pub points: Vec<(f64, f64)>,
    pub fit: Option<Line>,
    /// The dashed line through the binned points.
    pub binned: Option<Line>,
}

const BLUE: &str = "#06c";
const ORANGE: &str = "#c50";
const LABELS: f64 = 100.0;
const ROW: f64 = 20.0;
const TOP: f64 = 40.0;

fn page(width: f64, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Panels in rows of three: filled dots are precision, rings are recall.
pub fn dots(panels: &[Panel<'_>]) -> String {
    const ACROSS: usize = 3;
    let tallest = panels.iter().map(|panel| panel.rows.len()).max().unwrap_or(0);
    let (width, height) = (330.0, tallest as f64 * ROW + 70.0);
    let mut body = String::new();
    for (number, panel) in panels.iter().enumerate() {
        let (x, y) = ((number % ACROSS) as f64 * width, (number / ACROSS) as f64 * height + TOP);
        let _ = write!(body, "<g transform=\"translate({} {y})\">\n{}</g>\n", x + LABELS, dot_panel(panel));
    }
    let lines = panels.len().div_ceil(ACROSS) as f64;
    let legend = lines * height + 20.0;
    let _ = writeln!(
        body,
        "<circle cx=\"106\" cy=\"{legend}\" r=\"4\" fill=\"{BLUE}\"/><text x=\"116\" y=\"{}\">precision</text>\
         <circle cx=\"196\" cy=\"{legend}\" r=\"5\" fill=\"none\" stroke=\"{ORANGE}\" stroke-width=\"2\"/>\
         <text x=\"208\" y=\"{}\">recall</text>",
        legend + 4.0,
        legend + 4.0
    );
    page(panels.len().min(ACROSS) as f64 * width, lines * height + 36.0, &body)
}

fn dot_panel(panel: &Panel<'_>) -> String {
    const WIDTH: f64 = 200.0;
    let bottom = panel.rows.len() as f64 * ROW;
    let mut out = format!("<text y=\"-14\" font-size=\"14\">{}</text>\n", escaped(panel.title));
    for tick in 0..=4 {
        let (value, x) = (f64::from(tick) / 4.0, f64::from(tick) / 4.0 * WIDTH);
        let _ = writeln!(out, "<path d=\"M{x} 0V{bottom}\" stroke=\"#ddd\"/>");
        let _ =
            writeln!(out, "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{value}</text>", bottom + 16.0);
    }
    for (number, (name, marks)) in panel.rows.iter().enumerate() {
        let y = (number as f64 + 0.5) * ROW;
        let _ =
            writeln!(out, "<text x=\"-8\" y=\"{}\" text-anchor=\"end\">{}</text>", y + 4.0, escaped(name));
        for mark in marks {
            let x = mark.value * WIDTH;
            let _ = match mark.filled {
                true => writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"3.5\" fill=\"{BLUE}\"/>"),
                false => writeln!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"5.5\" fill=\"none\" stroke=\"{ORANGE}\" stroke-width=\"2\"/>"
                ),
            };
        }
    }
    out
}

/// Panels side by side on the same axes.
pub fn clouds(clouds: &[Cloud]) -> String {
    const WIDTH: f64 = 340.0;
    let all = || clouds.iter().flat_map(|cloud| &cloud.points);
    let x = Powers::over(all().map(|point| point.0), WIDTH);
    let y = Powers::over(all().map(|point| point.1), 260.0);
    let mut body = String::new();
    for (number, cloud) in clouds.iter().enumerate() {
        let left = 60.0 + number as f64 * (WIDTH + 80.0);
        let panel = cloud_panel(cloud, &x, &y);
        let _ = write!(body, "<g transform=\"translate({left} {TOP})\">\n{panel}</g>\n");
    }
    page(clouds.len() as f64 * (WIDTH + 80.0), TOP + y.length + 50.0, &body)
}

fn cloud_panel(cloud: &Cloud, x: &Powers, y: &Powers) -> String {
    let mut out = format!("<text y=\"-14\" font-size=\"14\">{}</text>\n", escaped(&cloud.title));
    for value in x.ticks() {
        let at = x.place(value);
        let _ = writeln!(out, "<path d=\"M{at:.1} 0V{}\" stroke=\"#ddd\"/>", y.length);
        let _ = writeln!(
            out,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            y.length + 18.0
        );
    }
    for value in y.ticks() {
        let at = y.length - y.place(value);
        let _ = writeln!(out, "<path d=\"M0 {at:.1}H{}\" stroke=\"#ddd\"/>", x.length);
        let _ = writeln!(out, "<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>", at + 4.0);
    }
    let lines = [(&cloud.fit, "", "", 16.0), (&cloud.binned, "binned: ", "5 4", 32.0)];
    for (fit, name, dashes, below) in lines {
        let Some(fit) = fit else { continue };
        let places = line(fit, &cloud.points, x, y);
        let stroke = format!("stroke=\"{ORANGE}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
        let _ = writeln!(out, "<polyline points=\"{places}\" fill=\"none\" {stroke}/>");
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{below}\" text-anchor=\"end\" fill=\"{ORANGE}\">\
             {name}slope {:.2}, spread {:.2} decades</text>",
            x.length - 6.0,
            fit.slope,
            fit.spread
        );
    }
    for point in &cloud.points {
        let (x, y) = (x.place(point.0), y.length - y.place(point.1));
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{BLUE}\" fill-opacity=\"0.7\"/>"
        );
    }
    out
}

/// The part of a line over the points that is inside the panel.
fn line(fit: &Line, points: &[(f64, f64)], x: &Powers, y: &Powers) -> String {
    let ends = points.iter().map(|point| point.0);
    let (from, to) =
        ends.fold((f64::INFINITY, 1.0f64), |(low, high), value| (low.min(value), high.max(value)));
    let steps = (0..=50).map(|step| from * (to / from).powf(f64::from(step) / 50.0));
    let inside = steps
        .map(|at| (x.place(at), y.place(fit.at(at))))
        .filter(|(_, y_at)| (0.0..=y.length).contains(y_at));
    let places: Vec<String> = inside.map(|(x, at)| format!("{x:.1},{:.1}", y.length - at)).collect();
    places.join(" ")
}

/// One bar per row on a logarithmic scale, and a dashed line at `goal`.
pub fn bars(rows: &[(&str, f64)], goal: f64) -> String {
    const WIDTH: f64 = 520.0;
    let scale = Powers::over(rows.iter().map(|row| row.1).chain([goal]), WIDTH);
    let bottom = rows.len() as f64 * ROW;
    let mut body = format!("<g transform=\"translate({LABELS} {TOP})\">\n");
    body += "<text y=\"-24\" font-size=\"14\">Pages a CPU second</text>\n";
    for value in scale.ticks() {
        let x = scale.place(value);
        let _ = writeln!(body, "<path d=\"M{x:.1} 0V{bottom}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            body,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            bottom + 16.0
        );
    }
    for (number, (name, value)) in rows.iter().enumerate() {
        let (y, width) = (number as f64 * ROW, scale.place(*value));
        let _ =
            writeln!(body, "<text x=\"-8\" y=\"{}\" text-anchor=\"end\">{}</text>", y + 14.0, escaped(name));
        let _ =
            writeln!(body, "<rect y=\"{}\" width=\"{width:.1}\" height=\"14\" fill=\"{BLUE}\"/>", y + 3.0);
        let _ = writeln!(body, "<text x=\"{:.1}\" y=\"{}\">{value:.0}</text>", width + 6.0, y + 14.0);
    }
    let x = scale.place(goal);
    let _ = writeln!(body, "<path d=\"M{x:.1} -6V{bottom}\" stroke=\"{ORANGE}\" stroke-dasharray=\"4 4\"/>");
    let _ = writeln!(body, "<text x=\"{:.1}\" y=\"-3\" fill=\"{ORANGE}\">goal of lcs</text></g>", x + 4.0);
    page(LABELS + WIDTH + 70.0, TOP + bottom + 30.0, &body)
}

/// A logarithmic axis from one power of ten to another.
struct Powers {
    low: i32,
    high: i32,
    length: f64,
}

impl Powers {
    fn over(values: impl Iterator<Item = f64>, length: f64) -> Powers {
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return Powers { low: 0, high: 1, length };
        }
        let (low, high) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        Powers { low, high: high.max(low + 1), length }
    }

    fn place(&self, value: f64) -> f64 {
        (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low) * self.length
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|power| 10f64.powi(power))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_point_and_bar_is_drawn_once() {
        let marks = vec![Mark { value: 0.5, filled: true }, Mark { value: 1.0, filled: false }];
        let panel = Panel { title: "a<b", rows: vec![("m", marks), ("n", vec![])] };
        let picture = dots(&[panel]);
        // Two more circles belong to the legend.
        assert_eq!(picture.matches("<circle").count(), 4);
        assert!(picture.contains("a&lt;b") && picture.contains("cx=\"100.0\""), "{picture}");
        assert_eq!(bars(&[("m", 10.0), ("n", 2000.0)], 500.0).matches("<rect y=").count(), 2);
    }

    #[test]
    fn a_line_ends_where_the_panel_does() {
        let points = vec![(1.0, 100.0), (10.0, 10.0), (100.0, 1.0), (1000.0, 1.0)];
        let fit = Line { slope: -1.0, start: 2.0, spread: 0.1 };
        let picture = clouds(&[Cloud { title: "t".into(), points, fit: Some(fit), binned: None }]);
        assert!(picture.contains("slope -1.00") && !picture.contains("NaN"));
        assert!(
            !clouds(&[Cloud { title: "t".into(), points: vec![], fit: None, binned: None }]).contains("inf")
        );
    }
}
