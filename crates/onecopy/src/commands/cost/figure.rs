//! The figure of savings by the number of pages.

use serde::Serialize;

use crate::picture::{Anchor, Colour, Dash, Picture, Shape, Weight};

/// The size of the panel, and the room around it.
const PANEL: (f64, f64) = (560.0, 300.0);
const LEFT: f64 = 64.0;
const TOP: f64 = 56.0;
const RIGHT: f64 = 120.0;
const BOTTOM: f64 = 56.0;
/// Sizes of text.
const LARGE: f64 = 16.0;
const NORMAL: f64 = 12.5;
/// The least distance between two names.
const APART: f64 = 16.0;

/// A line of the figure.
#[derive(Serialize)]
pub struct Curve<'a> {
    pub name: &'a str,
    /// Pages and the share of machines saved.
    pub points: Vec<(f64, f64)>,
}

/// Draws curves over the same numbers of pages, on a logarithmic axis.
pub fn figure(title: &str, curves: &[Curve]) -> Picture {
    let mut shapes = vec![text((LEFT, 28.0), title, LARGE, Anchor::Start)];
    let all = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let (least, most) = (all().fold(0.0, f64::min), all().fold(0.05, f64::max));
    let step = step(least);
    let bounds = ((least / step).floor() * step, (most / step).ceil() * step);
    let place = |pages: f64, share: f64| {
        let points = &curves[0].points;
        let (first, last) = (points[0].0.ln(), points[points.len() - 1].0.ln());
        let x = LEFT + (pages.ln() - first) / (last - first) * PANEL.0;
        (x, TOP + (bounds.1 - share) / (bounds.1 - bounds.0) * PANEL.1)
    };
    axes(curves, bounds, &place, &mut shapes);
    let mut names: Vec<(f64, usize)> = Vec::new();
    for (number, curve) in curves.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            curve.points.iter().map(|&(pages, share)| place(pages, share)).collect();
        let (colour, dash) = look(number);
        names.push((points[points.len() - 1].1, number));
        shapes.extend(points.iter().map(|&at| Shape::Dot { at, radius: 3.0, colour }));
        shapes.push(Shape::Line { points, colour, width: 2.0, dash });
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut above = f64::NEG_INFINITY;
    for (y, number) in names {
        above = y.max(above + APART);
        shapes.push(Shape::Text {
            at: (LEFT + PANEL.0 + 10.0, above + 4.0),
            text: curves[number].name.to_owned(),
            colour: look(number).0,
            size: NORMAL,
            weight: Weight::Bold,
            anchor: Anchor::Start,
        });
    }
    Picture { width: LEFT + PANEL.0 + RIGHT, height: TOP + PANEL.1 + BOTTOM, shapes }
}

fn axes(
    curves: &[Curve],
    bounds: (f64, f64),
    place: &impl Fn(f64, f64) -> (f64, f64),
    shapes: &mut Vec<Shape>,
) {
    let first = curves[0].points[0].0;
    let (mut share, step) = (bounds.0, step(bounds.0));
    while share <= bounds.1 + 1e-9 {
        let (_, y) = place(first, share);
        let points = vec![(LEFT, y), (LEFT + PANEL.0, y)];
        shapes.push(Shape::Line { points, colour: Colour::Grid, width: 1.0, dash: Dash::Solid });
        let label = format!("{:.0} %", 100.0 * share);
        shapes.push(text((LEFT - 8.0, y + 4.0), &label, NORMAL, Anchor::End));
        share += step;
    }
    for &(pages, _) in &curves[0].points {
        let (x, _) = place(pages, bounds.0);
        let label = super::short(pages).replace(" million", " M").replace(" billion", " B");
        shapes.push(text((x, TOP + PANEL.1 + 20.0), &label, NORMAL, Anchor::Middle));
    }
    let middle = (LEFT + PANEL.0 / 2.0, TOP + PANEL.1 + 42.0);
    shapes.push(text(middle, "crawled pages without exact copies", NORMAL, Anchor::Middle));
}

/// The distance of two lines of the grid.
fn step(least: f64) -> f64 {
    if least < -0.2 { 0.25 } else { 0.05 }
}

/// Two colours, and two ways to draw each.
fn look(number: usize) -> (Colour, Dash) {
    let colour = if number % 4 < 2 { Colour::First } else { Colour::Second };
    (colour, if number.is_multiple_of(2) { Dash::Solid } else { Dash::Dashed })
}

fn text(at: (f64, f64), text: &str, size: f64, anchor: Anchor) -> Shape {
    let weight = if size == LARGE { Weight::Bold } else { Weight::Regular };
    let colour = if size == LARGE { Colour::Ink } else { Colour::Faint };
    Shape::Text { at, text: text.to_owned(), colour, size, weight, anchor }
}
