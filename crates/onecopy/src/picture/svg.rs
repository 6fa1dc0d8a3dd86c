//! A picture as SVG, light or dark as the reader's system is.

use std::fmt::Write;

use super::{Anchor, Colour, DASHES, Dash, Picture, Shape, Weight};

/// The picture as an SVG file.
pub fn svg(picture: &Picture) -> String {
    let Picture { width, height, .. } = picture;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\">\n<style>\n{}</style>\n\
         <rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n",
        style()
    );
    picture.shapes.iter().for_each(|shape| write_shape(shape, &mut out));
    out + "</svg>\n"
}

/// The colours: `fill` for text and dots, `stroke` for lines.
fn style() -> String {
    let theme = |number: usize| -> String {
        let rule = |colour: Colour| {
            let (name, values) = colour.values();
            let [red, green, blue] = values[number];
            format!(
                ".{name}{{fill:#{red:02x}{green:02x}{blue:02x}}}.l-{name}{{stroke:#{red:02x}{green:02x}{blue:02x}}}\n"
            )
        };
        Colour::ALL.map(rule).concat()
    };
    format!("{}@media (prefers-color-scheme: dark) {{\n{}}}\n", theme(0), theme(1))
}

fn write_shape(shape: &Shape, out: &mut String) {
    let _ = match shape {
        Shape::Line { points, colour, width, dash } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let dashes = match dash {
                Dash::Solid => String::new(),
                Dash::Dashed => format!(" stroke-dasharray=\"{} {}\"", DASHES[0], DASHES[1]),
            };
            writeln!(
                out,
                "<polyline points=\"{}\" class=\"l-{}\" fill=\"none\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"{dashes}/>",
                points.join(" "),
                colour.values().0
            )
        }
        Shape::Dot { at: (x, y), radius, colour } => {
            let class = colour.values().0;
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" class=\"{class}\"/>")
        }
        Shape::Text { at: (x, y), text, colour, size, weight, anchor } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
            let (class, text) = (colour.values().0, escaped(text));
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" class=\"{class}\"{weight}{anchor}>{text}</text>"
            )
        }
    };
}

fn escaped(text: &str) -> String {
    let harmless: String = text.chars().filter(|c| !c.is_control()).collect();
    harmless.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_written_and_names_are_escaped() {
        let text = Shape::Text {
            at: (1.0, 2.0),
            text: "a<b>&\u{1b}".into(),
            colour: Colour::Ink,
            size: 12.0,
            weight: Weight::Bold,
            anchor: Anchor::End,
        };
        let points = vec![(0.0, 0.0), (10.04, 5.0)];
        let line = Shape::Line { points, colour: Colour::Second, width: 1.5, dash: Dash::Dashed };
        let drawn = svg(&Picture { width: 30.0, height: 20.0, shapes: vec![text, line] });
        for words in [
            "viewBox=\"0 0 30 20\"",
            ">a&lt;b&gt;&amp;</text>",
            "text-anchor=\"end\"",
            "points=\"0.0,0.0 10.0,5.0\" class=\"l-second\"",
            "stroke-dasharray=\"4 3\"",
            "prefers-color-scheme: dark",
        ] {
            assert!(drawn.contains(words), "`{words}` is not in {drawn}");
        }
    }
}
