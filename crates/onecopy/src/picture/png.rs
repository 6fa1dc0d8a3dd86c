//! A picture as PNG, on light paper.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::glyphs::{strokes, width_of};
use super::{Anchor, Colour, DASHES, Dash, Picture, Shape, Weight};

/// Pixels of the file for one of the picture, so that it is sharp on fine screens.
const SCALE: f64 = 2.0;
/// A picture of more pixels than this is drawn without [`SCALE`].
const LARGE: f64 = 40e6;
/// The width of the strokes of letters, as a share of their size.
const REGULAR: f64 = 0.085;
const BOLD: f64 = 0.125;

/// The picture as a PNG file; `None` if it is too large for one.
pub fn png(picture: &Picture) -> Option<Vec<u8>> {
    let pixels = picture.width * picture.height * SCALE * SCALE;
    let scale = if pixels > LARGE { 1.0 } else { SCALE };
    let size = |length: f64| (length * scale).ceil() as u32;
    let mut canvas = Canvas {
        pixels: Pixmap::new(size(picture.width), size(picture.height))?,
        scale: Transform::from_scale(scale as f32, scale as f32),
    };
    canvas.pixels.fill(colour(Colour::Paper));
    picture.shapes.iter().for_each(|shape| canvas.draw(shape));
    canvas.pixels.encode_png().ok()
}

fn colour(colour: Colour) -> Color {
    let [red, green, blue] = colour.values().1[0];
    Color::from_rgba8(red, green, blue, 255)
}

struct Canvas {
    pixels: Pixmap,
    scale: Transform,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, colour, width, dash } => {
                let dash = match dash {
                    Dash::Solid => None,
                    Dash::Dashed => StrokeDash::new(DASHES.map(|length| length as f32).to_vec(), 0.0),
                };
                let stroke = Stroke { width: *width as f32, dash, ..Stroke::default() };
                self.stroke(path(std::slice::from_ref(points)), *colour, &stroke);
            }
            Shape::Dot { at: (x, y), radius, colour } => {
                let dot = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                if let Some(dot) = dot {
                    self.pixels.fill_path(&dot, &paint(*colour), FillRule::Winding, self.scale, None);
                }
            }
            Shape::Text { at, text, colour, size, weight, anchor } => {
                let width = size * if *weight == Weight::Bold { BOLD } else { REGULAR };
                let stroke = Stroke {
                    width: width as f32,
                    line_cap: LineCap::Round,
                    line_join: LineJoin::Round,
                    ..Stroke::default()
                };
                self.stroke(path(&placed(text, *at, *size, *anchor)), *colour, &stroke);
            }
        }
    }

    fn stroke(&mut self, path: Option<Path>, colour: Colour, stroke: &Stroke) {
        if let Some(path) = path {
            self.pixels.stroke_path(&path, &paint(colour), stroke, self.scale, None);
        }
    }
}

fn paint(role: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(role));
    paint
}

/// The strokes of a text at its place.
fn placed(text: &str, at: (f64, f64), size: f64, anchor: Anchor) -> Vec<Vec<(f64, f64)>> {
    let width = width_of(text) * size;
    let left = at.0
        - match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
    let place = |(x, y): (f64, f64)| (left + x * size, at.1 - y * size);
    strokes(text).into_iter().map(|stroke| stroke.into_iter().map(place).collect()).collect()
}

fn path(lines: &[Vec<(f64, f64)>]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        for (number, (x, y)) in line.iter().enumerate() {
            match number {
                0 => path.move_to(*x as f32, *y as f32),
                _ => path.line_to(*x as f32, *y as f32),
            }
        }
    }
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_leave_their_colours() {
        let points = vec![(5.0, 10.0), (35.0, 10.0)];
        let line = Shape::Line { points, colour: Colour::Second, width: 4.0, dash: Dash::Solid };
        let dot = Shape::Dot { at: (20.0, 30.0), radius: 4.0, colour: Colour::First };
        let text = Shape::Text {
            at: (20.0, 55.0),
            text: "HHH".into(),
            colour: Colour::Ink,
            size: 20.0,
            weight: Weight::Bold,
            anchor: Anchor::Middle,
        };
        let bytes = png(&Picture { width: 40.0, height: 60.0, shapes: vec![line, dot, text] }).unwrap();
        let drawn = Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((drawn.width(), drawn.height()), (80, 120));
        let at = |x: u32, y: u32| {
            let pixel = drawn.pixel(2 * x, 2 * y).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()]
        };
        let of = |colour: Colour| colour.values().1[0];
        assert_eq!(
            [at(20, 10), at(20, 30), at(2, 2)],
            [Colour::Second, Colour::First, Colour::Paper].map(of)
        );
        let inked = (0..80).filter(|&x| drawn.pixel(x, 94).unwrap().red() < 60).count();
        assert!(inked > 5, "the letters have ink: {inked}");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        assert!(png(&Picture { width: 1e9, height: 1e9, shapes: Vec::new() }).is_none());
    }
}
