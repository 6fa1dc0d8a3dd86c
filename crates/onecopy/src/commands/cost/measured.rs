//! The profile of a comparison: measured numbers where there are some, given ones before them.

use std::path::Path;

use anyhow::{Context, Result};
use onecopy_core::CostProfile;
use onecopy_engine::Report;

use crate::args::CostArgs;
use crate::commands::WrongCall;

/// Numbers of a finished run or of a service.
#[derive(Default)]
struct MeasuredNumbers {
    removed_share: Option<f64>,
    batch_rate: Option<f64>,
    service_rate: Option<f64>,
}

pub fn profile(args: &CostArgs) -> Result<CostProfile> {
    let mut measured = MeasuredNumbers::default();
    if let Some(path) = &args.report {
        of_report(path, &mut measured)?;
    }
    match (&args.metrics[..], args.apart) {
        ([], None) => {}
        ([before, after], Some(seconds)) if seconds > 0.0 => {
            of_metrics([before, after], seconds, &mut measured)?
        }
        _ => {
            let reason = "a rate needs two answers of /metrics: give --metrics twice, and --apart above 0";
            return Err(WrongCall(reason.into()).into());
        }
    }
    let usual = CostProfile::default();
    Ok(CostProfile {
        careful_share: args.careful,
        removed_share: args.removed.or(measured.removed_share).unwrap_or(usual.removed_share),
        pages_per_machine: args.pages_per_machine,
        replicas: args.replicas,
        first_tier: args.first_tier,
        second_tier_traffic: args.second_traffic,
        unique_gain: args.unique_gain,
        filter_gain: args.filter_gain,
        batch_rate: args.batch_rate.or(measured.batch_rate).unwrap_or(usual.batch_rate),
        service_rate: args.service_rate.or(measured.service_rate).unwrap_or(usual.service_rate),
        cycle_days: args.cycle,
        machine_price: args.price,
    })
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Exact copies are not counted: all schemes remove them first.
fn of_report(path: &Path, measured: &mut MeasuredNumbers) -> Result<()> {
    let report: Report = serde_json::from_str(&read(path)?)
        .with_context(|| format!("{}: not the report.json of a finished run", path.display()))?;
    let kinds = &report.counts.kinds;
    let (removed, kept) = ((kinds.near + kinds.url) as f64, report.counts.kept as f64);
    if removed + kept > 0.0 {
        measured.removed_share = Some(removed / (removed + kept));
    }
    if report.seconds > 0.0 && report.read > 0 {
        measured.batch_rate = Some(report.read as f64 / report.seconds);
    }
    Ok(())
}

fn of_metrics(paths: [&std::path::PathBuf; 2], seconds: f64, measured: &mut MeasuredNumbers) -> Result<()> {
    let [before, after] = [read(paths[0])?, read(paths[1])?];
    let number = |text: &str, path: &Path, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        line.with_context(|| format!("{}: no {name}: it is not an answer of /metrics", path.display()))
    };
    let settled = "onecopy_settled_number";
    let changes = number(&after, paths[1], settled)? - number(&before, paths[0], settled)?;
    if changes <= 0.0 {
        let reason = "no change was settled between the two answers of /metrics, so that there is no rate";
        return Err(WrongCall(reason.into()).into());
    }
    measured.service_rate = Some(changes / seconds);
    let losers = number(&after, paths[1], "onecopy_pages_losers")?;
    let kept = number(&after, paths[1], "onecopy_pages_kept")?;
    if losers + kept > 0.0 && measured.removed_share.is_none() {
        measured.removed_share = Some(losers / (losers + kept));
    }
    Ok(())
}
