//! Draws cost by size as an SVG picture with logarithmic axes, where a straight line of slope one is linear growth.

use std::fmt::Write;

/// A measured line: a title with its unit, and (size, value) points.
pub struct Series<'a> {
    /// The title, with the unit.
    pub title: &'a str,
    /// The points by ascending size, all positive.
    pub points: Vec<(f64, f64)>,
    /// A published point to compare with, and its source.
    pub beside: Option<((f64, f64), &'a str)>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 300.0;
/// Space for the labels around a panel.
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const GAP: f64 = 90.0;

/// A panel for each series, side by side. The dashed line is linear growth from the first point.
pub fn svg(series: &[Series<'_>]) -> String {
    let width = LEFT + series.len() as f64 * (WIDTH + GAP);
    let height = TOP + HEIGHT + 50.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, series) in series.iter().enumerate() {
        let x = LEFT + number as f64 * (WIDTH + GAP);
        let _ = writeln!(out, "<g transform=\"translate({x} {TOP})\">\n{}</g>", panel(series));
    }
    out + "</svg>\n"
}

fn panel(series: &Series<'_>) -> String {
    let (Some(&first), Some(&last)) = (series.points.first(), series.points.last()) else {
        return String::new();
    };
    let linear = [first, (last.0, first.1 * last.0 / first.0)];
    let beside: Vec<(f64, f64)> = series.beside.iter().map(|(point, _)| *point).collect();
    let x = Axis::over(series.points.iter().chain(&beside).map(|point| point.0), WIDTH);
    let y = Axis::over(series.points.iter().chain(&linear).chain(&beside).map(|point| point.1), HEIGHT);
    let place = |point: &(f64, f64)| (x.place(point.0), HEIGHT - y.place(point.1));
    let line = |points: &[(f64, f64)]| {
        let places = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}"));
        places.collect::<Vec<_>>().join(" ")
    };
    let mut out = format!("<text y=\"-14\" font-size=\"14\">{} by pages</text>\n", series.title);
    for value in x.ticks() {
        let at = x.place(value);
        out += &format!("<path d=\"M{at:.1} 0V{HEIGHT}\" stroke=\"#ddd\"/>\n");
        out += &format!(
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            HEIGHT + 18.0,
            short(value)
        );
    }
    for value in y.ticks() {
        let at = HEIGHT - y.place(value);
        out += &format!("<path d=\"M0 {at:.1}H{WIDTH}\" stroke=\"#ddd\"/>\n");
        out += &format!("<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n", at + 4.0, short(value));
    }
    out += &format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#999\" stroke-dasharray=\"4 4\"/>\n",
        line(&linear)
    );
    out += &format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#06c\" stroke-width=\"2\"/>\n",
        line(&series.points)
    );
    for point in &series.points {
        let (x, y) = place(point);
        out += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#06c\"/>\n");
        out += &format!("<text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n", x + 6.0, y - 6.0, short(point.1));
    }
    if let Some((point, whose)) = &series.beside {
        let (x, y) = place(point);
        out += &format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"#c60\"/>\n",
            x - 4.0,
            y - 4.0
        );
        let label = format!("{whose}: {}", short(point.1));
        out +=
            &format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n", x - 8.0, y + 4.0);
    }
    out
}

/// A logarithmic axis from one power of ten to another.
struct Axis {
    low: i32,
    high: i32,
    length: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, length: f64) -> Axis {
        let logs: Vec<f64> = values.map(f64::log10).collect();
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min).floor() as i32;
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil() as i32;
        Axis { low, high: high.max(low + 1), length }
    }

    fn place(&self, value: f64) -> f64 {
        (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low) * self.length
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|power| 10f64.powi(power))
    }
}

/// Three digits and a unit: 10k, 1m, 0.25.
fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        value if value >= 1e9 => (value / 1e9, "g"),
        value if value >= 1e6 => (value / 1e6, "m"),
        value if value >= 1e3 => (value / 1e3, "k"),
        value => (value, ""),
    };
    let digits = if scaled >= 100.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_distances() {
        let axis = Axis::over([10.0, 1000.0].into_iter(), 200.0);
        assert_eq!([10.0, 100.0, 1000.0].map(|value| axis.place(value)), [0.0, 100.0, 200.0]);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([10_000.0, 1e6, 0.25, 512.0, 1234.0].map(short), ["10k", "1m", "0.25", "512", "1.23k"]);
    }

    #[test]
    fn the_picture_has_a_panel_a_series_and_a_dot_a_point() {
        let points = vec![(10.0, 1.0), (100.0, 12.0)];
        let series = [
            Series { title: "CPU s", points: points.clone(), beside: None },
            Series { title: "peak MB", points, beside: Some(((1e6, 3.0), "elsewhere")) },
            Series { title: "nothing", points: vec![], beside: None },
        ];
        let picture = svg(&series);
        assert_eq!(picture.matches("<g ").count(), 3);
        assert_eq!(picture.matches("<circle").count(), 4);
        assert!(picture.contains(">elsewhere: 3<"));
        assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"));
    }
}
