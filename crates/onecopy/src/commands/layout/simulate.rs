//! `onecopy layout simulate`.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_core::{
    IndexFile, Layout, LoadBound, Moment, Request, Scheduler, generated_requests, hand_picked, load_bound,
    simulate,
};
use onecopy_engine::{LayoutPlan, read_requests};
use serde::Serialize;
use serde_json::json;

use crate::args::LayoutSimulateArgs;
use crate::columns::columns;
use crate::commands::{WrongCall, print};
use crate::picture::{Curve, Panel, Scale, chart, picture_format, write_picture};
use crate::size::count;

/// How often the servers are looked at.
const MOMENTS: usize = 400;
/// This part of the moments is not drawn: so few requests cannot be even.
const HIDDEN: usize = 20;

pub fn run(args: &LayoutSimulateArgs) -> Result<ExitCode> {
    args.plot.as_deref().map(picture_format).transpose()?;
    let plan = LayoutPlan::read(&args.plan)?;
    let (layout, files) = (plan.layout(), plan.index_files());
    let requests = requests(args, &plan, &files)?;
    let schemes = schemes(&layout, &files, &requests);
    let bound = load_bound(&requests, files.len(), layout.servers);
    if let Some(path) = &args.plot {
        write_picture(path, &figure(&schemes))?;
    }
    if args.json {
        let value = json!({"requests": requests.len(), "servers": layout.servers, "files": files.len(),
            "bound": bound, "schemes": schemes});
        print(&(serde_json::to_string_pretty(&value)? + "\n"))?;
    } else {
        print(&for_people(&schemes, &bound, requests.len(), layout.servers))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn requests(args: &LayoutSimulateArgs, plan: &LayoutPlan, files: &[IndexFile]) -> Result<Vec<Request>> {
    let wrong = |reason: &str| Err(WrongCall(reason.into()).into());
    match (&args.log, args.generate) {
        (Some(log), _) => Ok(read_requests(log, plan)?),
        (None, _) if !args.drift.is_finite() || args.drift < 0.0 => {
            wrong(&format!("--drift {}: give a share from 0 on, such as 0.5", args.drift))
        }
        (None, _) if files.iter().all(|file| file.load == 0.0) => {
            wrong("no file of the plan has load, so that no request can be generated: give a log")
        }
        (None, count) => Ok(generated_requests(files, count.unwrap_or(1) as usize, args.drift, args.seed)),
    }
}

/// How one scheme answered the requests.
#[derive(Serialize)]
struct SchemeLoads {
    scheme: &'static str,
    scheduler: Scheduler,
    copies: usize,
    heaviest: f64,
    mean: f64,
    /// Over the mean.
    imbalance: f64,
    over_time: Vec<Moment>,
    loads: Vec<f64>,
}

fn schemes(layout: &Layout, files: &[IndexFile], requests: &[Request]) -> Vec<SchemeLoads> {
    let by_hand = hand_picked(files, layout.servers, layout.copies());
    let all = [
        ("planned", layout, Scheduler::Greedy),
        ("hand-picked", &by_hand, Scheduler::Greedy),
        ("round robin", layout, Scheduler::RoundRobin),
    ];
    let scheme = |(scheme, layout, scheduler): (&'static str, &Layout, Scheduler)| {
        let simulated = simulate(layout, scheduler, requests, MOMENTS);
        let last = simulated.moments[simulated.moments.len() - 1];
        SchemeLoads {
            scheme,
            scheduler,
            copies: layout.copies(),
            heaviest: last.heaviest,
            mean: last.mean,
            imbalance: over(last.heaviest, last.mean),
            over_time: simulated.moments,
            loads: simulated.loads,
        }
    };
    all.into_iter().map(scheme).collect()
}

/// A load over the mean. All servers are even if there is no load.
fn over(load: f64, mean: f64) -> f64 {
    if mean > 0.0 { load / mean } else { 1.0 }
}

fn for_people(schemes: &[SchemeLoads], bound: &LoadBound, requests: usize, servers: usize) -> String {
    let header = ["scheme", "copies", "heaviest", "mean", "heaviest / mean"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for scheme in schemes {
        rows.push(vec![
            scheme.scheme.into(),
            count(scheme.copies as u64),
            format!("{:.3}", scheme.heaviest),
            format!("{:.3}", scheme.mean),
            format!("{:.4}", scheme.imbalance),
        ]);
    }
    let mut text = columns(&rows, 1);
    let (asked, servers) = (count(requests as u64), count(servers as u64));
    let _ = writeln!(
        text,
        "\n{asked} requests on {servers} servers. No layout is below {:.3}.",
        bound.optimum_least
    );
    let _ = match (bound.alpha, bound.limit) {
        (Some(alpha), Some(limit)) => writeln!(
            text,
            "The plan is at most 2 (1 + a) Opt + 2 b = {limit:.3}, with a = {alpha:.3}, b = {:.3} and the least Opt.",
            bound.beta
        ),
        _ => writeln!(
            text,
            "Some files had no request. The guarantee compares the loads of files, and says nothing."
        ),
    };
    text
}

fn figure(schemes: &[SchemeLoads]) -> crate::picture::Picture {
    let over_time = schemes.iter().map(|scheme| {
        let drawn = &scheme.over_time
            [scheme.over_time.len().saturating_sub(2).min(scheme.over_time.len() / HIDDEN)..];
        let point = |moment: &Moment| (moment.requests as f64, over(moment.heaviest, moment.mean));
        Curve { name: scheme.scheme.into(), points: drawn.iter().map(point).collect() }
    });
    let sorted = schemes.iter().map(|scheme| {
        let mut loads = scheme.loads.clone();
        loads.sort_by(f64::total_cmp);
        let last = loads.len().max(2) as f64 - 1.0;
        let point = |(number, load): (usize, f64)| (100.0 * number as f64 / last, over(load, scheme.mean));
        Curve { name: scheme.scheme.into(), points: loads.into_iter().enumerate().map(point).collect() }
    });
    let panel = |title: &str, x: &str, curves| Panel {
        title: title.into(),
        x: x.into(),
        scale: Scale::Linear,
        includes: 1.0,
        curves,
    };
    let panels = [
        panel("heaviest server over the mean", "requests", over_time.collect()),
        panel("servers at the end over the mean, lightest first", "% of servers", sorted.collect()),
    ];
    chart("loads of index servers", &panels)
}
