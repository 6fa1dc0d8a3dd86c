//! The figure of an evaluation: for each set and method two small panels, so that any number of methods is readable.
//! One panel has precision and recall by threshold. The other has precision by recall, before the other methods in grey.

use onecopy_engine::{Evaluation, Point};

use crate::columns::shown;
use crate::picture::{Anchor, Colour, Dash, Picture, Shape, Weight, width_of};

/// The size of a panel.
const PANEL: (f64, f64) = (148.0, 120.0);
/// Room left of a panel for the labels of its axis, and between the two panels of a method.
const AXIS: f64 = 30.0;
const BETWEEN: f64 = 14.0;
/// A method: its two panels, with the title above and labels below.
const CELL: (f64, f64) = (2.0 * (AXIS + PANEL.0) + BETWEEN, 40.0 + PANEL.1 + 48.0);
/// Room between methods, around everything, and for the title of a set.
const GAP: f64 = 28.0;
const MARGIN: f64 = 24.0;
const TITLE: f64 = 66.0;
/// The most methods side by side.
const ABREAST: usize = 3;
/// Sizes of text.
const LARGE: f64 = 16.0;
const NORMAL: f64 = 12.5;
const SMALL: f64 = 11.0;
/// The most characters of a name.
const NAME: usize = 44;

/// The figure, one block of panels per set.
pub fn figure(sets: &[&[Evaluation]]) -> Picture {
    let most = sets.iter().map(|set| set.len()).max().unwrap_or(0).clamp(1, ABREAST) as f64;
    // The key needs the width of two methods.
    let width = 2.0 * MARGIN + most.max(2.0) * (CELL.0 + GAP) - GAP;
    let mut drawing = Drawing { shapes: Vec::new() };
    let mut top = MARGIN;
    for set in sets {
        drawing.title(set, top);
        top += TITLE;
        for (number, found) in set.iter().enumerate() {
            let left = MARGIN + (number % ABREAST) as f64 * (CELL.0 + GAP);
            drawing.method(found, set, (left, top + (number / ABREAST) as f64 * CELL.1));
        }
        top += set.len().div_ceil(ABREAST) as f64 * CELL.1 + GAP;
    }
    Picture { width, height: top - GAP + MARGIN / 2.0, shapes: drawing.shapes }
}

struct Drawing {
    shapes: Vec<Shape>,
}

impl Drawing {
    fn text(&mut self, at: (f64, f64), text: impl Into<String>, look: Look) {
        let Look { colour, size, weight, anchor } = look;
        self.shapes.push(Shape::Text { at, text: text.into(), colour, size, weight, anchor });
    }

    fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: f64, dash: Dash) {
        self.shapes.push(Shape::Line { points, colour, width, dash });
    }

    /// The name of a set, and the key.
    fn title(&mut self, set: &[Evaluation], top: f64) {
        self.text((MARGIN, top + 14.0), super::heading(&set[0]), BOLD.of(LARGE));
        let mut left = MARGIN;
        let keys = [
            ("precision", Colour::First, Dash::Solid),
            ("recall", Colour::Second, Dash::Solid),
            ("the method's own threshold", Colour::Faint, Dash::Dashed),
            ("other methods", Colour::Grid, Dash::Solid),
        ];
        let y = top + 36.0;
        for (name, colour, dash) in keys {
            self.line(vec![(left, y - 4.0), (left + 20.0, y - 4.0)], colour, 2.0, dash);
            self.text((left + 26.0, y), name, PLAIN);
            left += 26.0 + width_of(name) * NORMAL + 26.0;
        }
    }

    /// The panels of a method.
    fn method(&mut self, found: &Evaluation, set: &[Evaluation], (left, top): (f64, f64)) {
        self.text((left, top + 10.0), shown(&found.method, NAME), BOLD.of(13.0));
        let share = |value: Option<f64>| value.map_or("none".into(), |value| format!("{value:.2}"));
        let (precision, recall) = (share(found.score.precision), share(found.score.recall));
        let said = format!("precision {precision}, recall {recall} at threshold {:.2}", found.threshold);
        self.text((left, top + 26.0), said, FAINT.of(SMALL));
        let top = top + 40.0;
        let one = Panel { left: left + AXIS, top };
        self.axes(&one, "threshold");
        let own = one.at(found.threshold.clamp(0.0, 1.0), 0.0);
        self.line(vec![own, (own.0, top)], Colour::Faint, 1.0, Dash::Dashed);
        let precision = |point: &Point| Some((point.threshold, point.precision?));
        let recall = |point: &Point| Some((point.threshold, point.recall?));
        self.curve(&one, found.curve.iter().map(recall), Colour::Second, 2.0);
        self.curve(&one, found.curve.iter().map(precision), Colour::First, 2.0);
        self.dot(&one, Some(found.threshold).zip(found.score.recall), Colour::Second);
        self.dot(&one, Some(found.threshold).zip(found.score.precision), Colour::First);
        let two = Panel { left: one.left + PANEL.0 + BETWEEN + AXIS, top };
        self.axes(&two, "recall");
        self.text((two.left, top - 14.0), "precision by recall", FAINT.of(SMALL));
        let both = |point: &Point| point.recall.zip(point.precision);
        for other in set.iter().filter(|other| other.method != found.method) {
            self.curve(&two, other.curve.iter().map(both), Colour::Grid, 1.0);
        }
        self.curve(&two, found.curve.iter().map(both), Colour::First, 2.0);
        self.dot(&two, found.score.recall.zip(found.score.precision), Colour::First);
    }

    fn axes(&mut self, panel: &Panel, below: &str) {
        for share in [0.0, 0.5, 1.0] {
            let (x, y) = panel.at(share, share);
            self.line(vec![(panel.left, y), (panel.left + PANEL.0, y)], Colour::Grid, 1.0, Dash::Solid);
            self.line(
                vec![(x, panel.top + PANEL.1), (x, panel.top + PANEL.1 + 4.0)],
                Colour::Faint,
                1.0,
                Dash::Solid,
            );
            let label = if share == 0.5 { "0.5".to_owned() } else { format!("{share:.0}") };
            let look = FAINT.of(SMALL);
            self.text((panel.left - 6.0, y + 4.0), label.clone(), look.anchored(Anchor::End));
            self.text((x, panel.top + PANEL.1 + 16.0), label, look.anchored(Anchor::Middle));
        }
        let middle = (panel.left + PANEL.0 / 2.0, panel.top + PANEL.1 + 30.0);
        self.text(middle, below, PLAIN.of(SMALL).anchored(Anchor::Middle));
    }

    /// A curve, which ends where a value is missing.
    fn curve(
        &mut self,
        panel: &Panel,
        points: impl Iterator<Item = Option<(f64, f64)>>,
        colour: Colour,
        width: f64,
    ) {
        let points: Vec<_> = points.map(|point| point.map(|(x, y)| panel.at(x, y))).collect();
        for run in points.split(Option::is_none) {
            let mut run: Vec<(f64, f64)> = run.iter().copied().flatten().collect();
            run.dedup();
            if run.len() > 1 {
                self.line(run, colour, width, Dash::Solid);
            }
        }
    }

    fn dot(&mut self, panel: &Panel, place: Option<(f64, f64)>, colour: Colour) {
        let dot = |(x, y): (f64, f64)| Shape::Dot { at: panel.at(x.clamp(0.0, 1.0), y), radius: 3.5, colour };
        self.shapes.extend(place.map(dot));
    }
}

/// A panel, from 0 to 1 in both directions.
struct Panel {
    left: f64,
    top: f64,
}

impl Panel {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + x * PANEL.0, self.top + (1.0 - y) * PANEL.1)
    }
}

/// How a text looks.
#[derive(Clone, Copy)]
struct Look {
    colour: Colour,
    size: f64,
    weight: Weight,
    anchor: Anchor,
}

const PLAIN: Look =
    Look { colour: Colour::Ink, size: NORMAL, weight: Weight::Regular, anchor: Anchor::Start };
const BOLD: Look = Look { weight: Weight::Bold, ..PLAIN };
const FAINT: Look = Look { colour: Colour::Faint, ..PLAIN };

impl Look {
    fn of(self, size: f64) -> Look {
        Look { size, ..self }
    }

    fn anchored(self, anchor: Anchor) -> Look {
        Look { anchor, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_end_where_nothing_is() {
        let mut drawing = Drawing { shapes: Vec::new() };
        let points = [Some((0.0, 1.0)), Some((0.5, 0.5)), None, Some((0.9, 0.1)), Some((1.0, 0.0))];
        drawing.curve(&Panel { left: 10.0, top: 20.0 }, points.into_iter(), Colour::First, 2.0);
        let lines: Vec<_> = drawing
            .shapes
            .iter()
            .map(|shape| match shape {
                Shape::Line { points, .. } => points.clone(),
                _ => Vec::new(),
            })
            .collect();
        let x = |share: f64| 10.0 + share * PANEL.0;
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], [(x(0.0), 20.0), (x(0.5), 20.0 + PANEL.1 / 2.0)]);
        assert_eq!(lines[1][1], (x(1.0), 20.0 + PANEL.1));
    }
}
