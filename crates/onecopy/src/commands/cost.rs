//! `onecopy cost`: the machines for removing duplicates before serving pages, or not.

mod figure;
mod measured;

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_core::{CostProfile, Machines, Scheme, machines, published_profiles, saving};
use onecopy_engine::Error;
use serde::Serialize;
use serde_json::json;

use crate::args::CostArgs;
use crate::columns::columns;
use crate::commands::print;
use crate::picture::write_picture;
use crate::size::count;
use figure::{Curve, figure};

/// The numbers of pages in the table: 10 million to 10 billion.
const SIZES: [f64; 7] = [1e7, 3e7, 1e8, 3e8, 1e9, 3e9, 1e10];

pub fn run(args: &CostArgs) -> Result<ExitCode> {
    if args.published {
        return published(args);
    }
    let profile = measured::profile(args)?;
    profile.check().map_err(Error::from)?;
    let lines: Vec<CostLine> = SIZES.iter().map(|&pages| CostLine::new(&profile, pages)).collect();
    if let Some(path) = &args.plot {
        let curve = |name, scheme| {
            let saved = |line: &CostLine| line.cost_saving(scheme);
            Curve { name, points: lines.iter().map(|line| (line.pages, saved(line))).collect() }
        };
        let curves = [curve("offline", Scheme::Offline), curve("both", Scheme::Both)];
        write_picture(path, &figure("cost saved over scheme online, in whole machines", &curves))?;
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&json!({"profile": profile, "costs": lines}))? + "\n"))?;
    } else {
        print(&for_people(&profile, &lines))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The schemes for one number of pages.
#[derive(Serialize)]
struct CostLine {
    pages: f64,
    schemes: Vec<SchemeCost>,
}

#[derive(Serialize)]
struct SchemeCost {
    scheme: Scheme,
    #[serde(flatten)]
    machines: Machines,
    /// Whole machines, times the price.
    cost_per_month: f64,
    /// The share of machines saved over scheme online.
    saving: f64,
}

impl CostLine {
    fn new(profile: &CostProfile, pages: f64) -> CostLine {
        let cost = |scheme| {
            let machines = machines(profile, scheme, pages);
            let cost_per_month = whole(&machines) * profile.machine_price;
            SchemeCost { scheme, machines, cost_per_month, saving: saving(profile, scheme, pages) }
        };
        CostLine { pages, schemes: Scheme::ALL.map(cost).into() }
    }

    /// The share of the cost that a scheme saves, in whole machines.
    fn cost_saving(&self, scheme: Scheme) -> f64 {
        let cost =
            self.schemes.iter().find(|cost| cost.scheme == scheme).map_or(0.0, |cost| cost.cost_per_month);
        1.0 - cost / self.schemes[0].cost_per_month.max(f64::MIN_POSITIVE)
    }
}

/// Machines that serve and machines that remove, each rounded up.
fn whole(machines: &Machines) -> f64 {
    machines.serving.ceil() + machines.removing.ceil()
}

fn for_people(profile: &CostProfile, lines: &[CostLine]) -> String {
    let header = ["pages", "scheme", "serving", "removing", "cost a month", "saved"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for line in lines {
        for (number, cost) in line.schemes.iter().enumerate() {
            let pages = if number == 0 { short(line.pages) } else { String::new() };
            let saved = if number == 0 {
                String::new()
            } else {
                format!("{:.1} %", 100.0 * line.cost_saving(cost.scheme))
            };
            rows.push(vec![
                pages,
                name(cost.scheme).into(),
                shown_machines(cost.machines.serving),
                shown_machines(cost.machines.removing),
                count(cost.cost_per_month.round() as u64),
                saved,
            ]);
        }
    }
    let mut text = columns(&rows, 2);
    let _ = write!(
        text,
        "\n{:.1} % of pages removed; {:.0} pages/s by batch runs, {:.0} changes/s by a service, each page every {} days\n\
         Costs count whole machines. `onecopy cost --help` has the formula.\n",
        100.0 * profile.removed_share,
        profile.batch_rate,
        profile.service_rate,
        profile.cycle_days
    );
    text
}

/// The four curves of the published figure.
fn published(args: &CostArgs) -> Result<ExitCode> {
    let sizes: Vec<f64> = (3..=8).map(|billions| f64::from(billions) * 1e9).collect();
    let profiles = published_profiles();
    let curves: Vec<Curve> = profiles
        .iter()
        .map(|(name, profile)| {
            let points = sizes.iter().map(|&pages| (pages, saving(profile, Scheme::Both, pages)));
            Curve { name, points: points.collect() }
        })
        .collect();
    if let Some(path) = &args.plot {
        write_picture(path, &figure("machines saved, as in Figure 9 of Zhu et al. 2011", &curves))?;
    }
    let all = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let (least, most) = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
    if args.json {
        let value = json!({"curves": curves, "least": least, "most": most, "published": [0.082, 0.256]});
        print(&(serde_json::to_string_pretty(&value)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows =
        vec![["pages"].into_iter().chain(curves.iter().map(|curve| curve.name)).map(str::to_owned).collect()];
    for (number, &pages) in sizes.iter().enumerate() {
        let mut row = vec![short(pages)];
        row.extend(curves.iter().map(|curve| format!("{:.1} %", 100.0 * curve.points[number].1)));
        rows.push(row);
    }
    let mut text = columns(&rows, 1);
    let _ = write!(
        text,
        "\nsaved: {:.1} to {:.1} %; published: 8.2 to 25.6 %\nbusy: a third of queries asks the second tier, which \
         first tiers without duplicates answer 10 % more of; quiet: a quarter, 5 %\n",
        100.0 * least,
        100.0 * most
    );
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Online => "online",
        Scheme::Offline => "offline",
        Scheme::Both => "both",
    }
}

/// A number of pages as people say it.
fn short(pages: f64) -> String {
    if pages >= 1e9 { format!("{} billion", pages / 1e9) } else { format!("{} million", pages / 1e6) }
}

fn shown_machines(machines: f64) -> String {
    if machines > 0.0 && machines < 10.0 { format!("{machines:.2}") } else { count(machines.round() as u64) }
}
