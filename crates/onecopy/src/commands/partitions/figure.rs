//! The figures of plans: by the number of machines, or the load of each machine.

use super::plan::{PlanRow, name};
use crate::picture::{Curve, Panel, Picture, Scale, chart};

/// Balance, communication and speed-up by the number of machines. For a single number it shows the machines.
pub fn figure(rows: &[PlanRow]) -> Picture {
    let mut numbers: Vec<usize> = rows.iter().map(|row| row.machines).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() < 2 {
        return loads(rows);
    }
    let of = |value: fn(&PlanRow) -> f64| {
        let mut curves: Vec<Curve> = Vec::new();
        for row in rows {
            let point = (row.machines as f64, value(row));
            match curves.iter_mut().find(|curve| curve.name == title(row)) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name: title(row), points: vec![point] }),
            }
        }
        curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        curves
    };
    let panel = |title: &str, includes, curves| Panel {
        title: title.into(),
        x: "machines".into(),
        scale: Scale::Doubling,
        includes,
        curves,
    };
    let panels = [
        panel("pages of the fullest machine over the mean", 1.0, of(|row| row.figures.imbalance)),
        panel("% of communication saved", 100.0, of(|row| 100.0 * row.figures.communication_saved)),
        panel("speed-up: machines over imbalance", 0.0, of(|row| row.figures.speedup)),
    ];
    chart("pages divided among machines by their lengths", &panels)
}

fn title(row: &PlanRow) -> String {
    format!("{} {}D", name(row.bound), row.dimensions)
}

/// The pages of each machine over the mean.
fn loads(rows: &[PlanRow]) -> Picture {
    let curve = |row: &PlanRow| {
        let mean = row.loads.iter().sum::<u64>() as f64 / row.loads.len() as f64;
        Curve { name: title(row), points: steps(row.loads.iter().map(|&load| load as f64 / mean)) }
    };
    chart(
        "pages divided among machines by their lengths",
        &[by_machine("pages of each machine over the mean", 1.0, rows.iter().map(curve).collect())],
    )
}

/// The shares of machines as planned, and now.
pub fn shares_figure(planned: &[f64], now: &[f64]) -> Picture {
    let curve = |name: &str, shares: &[f64]| {
        let percents = shares.iter().map(|share| 100.0 * share);
        Curve { name: name.into(), points: steps(percents) }
    };
    let curves = vec![curve("now", now), curve("planned", planned)];
    chart("a plan on other pages", &[by_machine("% of pages on each machine", 0.0, curves)])
}

fn by_machine(title: &str, includes: f64, curves: Vec<Curve>) -> Panel {
    Panel { title: title.into(), x: "machine".into(), scale: Scale::Linear, includes, curves }
}

/// A step for each machine, from its number to the next.
fn steps(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    values.enumerate().flat_map(|(at, value)| [(at as f64, value), (at as f64 + 1.0, value)]).collect()
}
