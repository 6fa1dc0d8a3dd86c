//! Charts of curves: panels side by side with axes, and one legend for all.

use super::{Anchor, Colour, Dash, Picture, Shape, Weight, width_of};

/// The least width and the height of a panel, and the room around it.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = 52.0;
/// Sizes of text.
const LARGE: f64 = 16.0;
const NORMAL: f64 = 12.5;
/// The length of a line in the legend, and the room behind a name.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 22.0;
/// About how many lines a grid has.
const LINES: f64 = 5.0;

/// A panel of a chart.
pub struct Panel {
    pub title: String,
    /// What is below the horizontal axis.
    pub x: String,
    pub scale: Scale,
    /// A value that the vertical axis includes.
    pub includes: f64,
    pub curves: Vec<Curve>,
}

/// How numbers are placed along the horizontal axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Every doubling is equally long, and has a label.
    Doubling,
}

/// A line of a panel. Curves of one name look the same in all panels.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Draws panels with a common title and legend. Each has a curve with two points at least.
pub fn chart(title: &str, panels: &[Panel]) -> Picture {
    let names = names(panels);
    let mut shapes = vec![text((LEFT, 28.0), title, LARGE, Anchor::Start)];
    legend(&names, &mut shapes);
    // Panels are as wide as a long legend.
    let wide = LEFT + names.iter().map(|name| entry_width(name)).sum::<f64>();
    let step = (LEFT + WIDTH + RIGHT).max(wide / panels.len() as f64);
    for (number, panel) in panels.iter().enumerate() {
        let room = Room { left: number as f64 * step + LEFT, width: step - LEFT - RIGHT };
        draw(panel, &names, &room, &mut shapes);
    }
    Picture { width: step * panels.len() as f64, height: TOP + HEIGHT + BOTTOM, shapes }
}

/// Where a panel lies.
struct Room {
    left: f64,
    width: f64,
}

/// The names of all curves, in the order in which they occur.
fn names(panels: &[Panel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if !names.contains(&curve.name.as_str()) {
            names.push(&curve.name);
        }
    }
    names
}

fn entry_width(name: &str) -> f64 {
    SAMPLE + 8.0 + width_of(name) * NORMAL + GAP
}

fn legend(names: &[&str], shapes: &mut Vec<Shape>) {
    let (mut x, y) = (LEFT, 52.0);
    for (number, name) in names.iter().enumerate() {
        let (colour, dash) = look(number);
        let points = vec![(x, y - 4.0), (x + SAMPLE, y - 4.0)];
        shapes.push(Shape::Line { points, colour, width: 2.5, dash });
        shapes.push(text((x + SAMPLE + 8.0, y), name, NORMAL, Anchor::Start));
        x += entry_width(name);
    }
}

fn draw(panel: &Panel, names: &[&str], room: &Room, shapes: &mut Vec<Shape>) {
    let Room { left, width } = *room;
    let all = || panel.curves.iter().flat_map(|curve| &curve.points);
    let xs = (fold(all().map(|point| point.0), f64::min), fold(all().map(|point| point.0), f64::max));
    let low = fold(all().map(|point| point.1), f64::min).min(panel.includes);
    let high = fold(all().map(|point| point.1), f64::max).max(panel.includes);
    let lines = grid(low, high);
    let ys = (lines[0], lines[lines.len() - 1]);
    let along = |x: f64| if panel.scale == Scale::Doubling { x.log2() } else { x };
    let place = |(x, y): (f64, f64)| {
        let across = (along(x) - along(xs.0)) / (along(xs.1) - along(xs.0)).max(f64::MIN_POSITIVE);
        (left + across * width, TOP + (ys.1 - y) / (ys.1 - ys.0) * HEIGHT)
    };
    shapes.push(text((left, TOP - 14.0), &panel.title, NORMAL, Anchor::Start));
    for &y in &lines {
        let (_, at) = place((xs.0, y));
        let points = vec![(left, at), (left + width, at)];
        shapes.push(Shape::Line { points, colour: Colour::Grid, width: 1.0, dash: Dash::Solid });
        shapes.push(text((left - 8.0, at + 4.0), &short(y, lines[1] - lines[0]), NORMAL, Anchor::End));
    }
    for x in marks(panel, xs) {
        let (at, _) = place((x, ys.0));
        shapes.push(text((at, TOP + HEIGHT + 20.0), &short(x, x), NORMAL, Anchor::Middle));
    }
    shapes.push(text((left + width / 2.0, TOP + HEIGHT + 42.0), &panel.x, NORMAL, Anchor::Middle));
    for curve in panel.curves.iter().rev() {
        let (colour, dash) = look(names.iter().position(|name| *name == curve.name).unwrap_or(0));
        let points = curve.points.iter().map(|&point| place(point)).collect();
        shapes.push(Shape::Line { points, colour, width: 2.0, dash });
    }
}

fn fold(values: impl Iterator<Item = f64>, with: fn(f64, f64) -> f64) -> f64 {
    values.reduce(with).unwrap_or(0.0)
}

/// Round numbers from below the least value to above the most.
fn grid(low: f64, high: f64) -> Vec<f64> {
    let step = round_step((high - low).max(1e-9 * high.abs()).max(f64::MIN_POSITIVE) / LINES);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    let count = (last - first).max(1.0) as usize;
    (0..=count).map(|line| (first + line as f64) * step).collect()
}

/// The least of 1, 2 and 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= least * 0.999)
        .unwrap_or(least)
}

/// The numbers below the horizontal axis.
fn marks(panel: &Panel, xs: (f64, f64)) -> Vec<f64> {
    match panel.scale {
        Scale::Doubling => panel.curves[0].points.iter().map(|point| point.0).collect(),
        Scale::Linear => grid(xs.0, xs.1).into_iter().filter(|x| (xs.0..=xs.1).contains(x)).collect(),
    }
}

/// A number with as many digits as its distance to the next needs.
fn short(value: f64, step: f64) -> String {
    for (scale, unit) in [(1e9, "G"), (1e6, "M"), (1e4, "k")] {
        if value.abs() >= scale {
            let scale = if unit == "k" { 1e3 } else { scale };
            return trimmed(value / scale, 2) + unit;
        }
    }
    let digits =
        if step.abs() >= 1.0 || step == 0.0 { 2 } else { (-step.abs().log10().floor()) as usize + 1 };
    trimmed(value, digits)
}

/// At most so many decimals, without zeros at the end.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

/// The colour and the dash of a curve, by its number.
fn look(number: usize) -> (Colour, Dash) {
    let colours = [Colour::First, Colour::Second, Colour::Ink];
    let dash = if number % 6 < 3 { Dash::Solid } else { Dash::Dashed };
    (colours[number % 3], dash)
}

fn text(at: (f64, f64), text: &str, size: f64, anchor: Anchor) -> Shape {
    let weight = if size == LARGE { Weight::Bold } else { Weight::Regular };
    let colour = if size == LARGE { Colour::Ink } else { Colour::Faint };
    Shape::Text { at, text: text.to_owned(), colour, size, weight, anchor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_round_and_cover_all_values() {
        let shown = |low, high| {
            let lines = grid(low, high);
            lines.iter().map(|line| short(*line, lines[1] - lines[0])).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(1.0, 1.9), "1 1.2 1.4 1.6 1.8 2");
        assert_eq!(shown(0.0, 48_000.0), "0 10k 20k 30k 40k 50k");
        assert_eq!(shown(3.0, 3.0).split(' ').count(), 2, "one value has a grid, too");
        assert_eq!(shown(0.0, 0.0).split(' ').count(), 2);
    }

    #[test]
    fn curves_of_one_name_look_the_same_in_all_panels() {
        let curve = |name: &str, y| Curve { name: name.into(), points: vec![(1.0, y), (64.0, 2.0 * y)] };
        let panel = |scale, curves| Panel { title: "t".into(), x: "x".into(), scale, includes: 0.0, curves };
        let left = panel(Scale::Doubling, vec![curve("a", 1.0), curve("b", 2.0)]);
        let drawn = chart("both", &[left, panel(Scale::Linear, vec![curve("b", 5.0)])]);
        let lines = |colour| {
            let of = |shape: &&Shape| matches!(shape, Shape::Line { colour: found, .. } if *found == colour);
            drawn.shapes.iter().filter(of).count()
        };
        assert_eq!((lines(Colour::First), lines(Colour::Second)), (2, 3), "with the legend");
        let inside =
            |at: &(f64, f64)| (0.0..=drawn.width).contains(&at.0) && (0.0..=drawn.height).contains(&at.1);
        assert!(drawn.shapes.iter().all(|shape| match shape {
            Shape::Line { points, .. } => points.iter().all(inside),
            Shape::Dot { at, .. } | Shape::Text { at, .. } => inside(at),
        }));
    }
}
