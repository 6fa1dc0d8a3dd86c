//! `onecopy layout plan`.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::Result;
use onecopy_core::LayoutRules;
use onecopy_engine::{LayoutPlan, PlannedFile, read_index_files};
use serde::Serialize;
use serde_json::json;

use crate::args::LayoutPlanArgs;
use crate::columns::{columns, shown};
use crate::commands::{may_write, print};
use crate::size::{count, human};

/// The most files and servers that are shown.
const SHOWN: usize = 10;
/// The most characters shown of a name, and the most servers of a file.
const NAME: usize = 60;
const SERVERS: usize = 12;

pub fn run(args: &LayoutPlanArgs) -> Result<ExitCode> {
    if let Some(path) = &args.save {
        may_write(path, args.overwrite)?;
    }
    let rules = LayoutRules { servers: args.servers, capacity_bytes: args.capacity.map(|size| size.0) };
    let plan = LayoutPlan::new(read_index_files(&args.files)?, &rules)?;
    if let Some(path) = &args.save {
        plan.write(path)?;
    }
    let servers = servers(&plan);
    if args.json {
        let value = json!({"servers": servers, "files": plan.files});
        print(&(serde_json::to_string_pretty(&value)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = for_people(&plan, &servers);
    if let Some(path) = &args.save {
        let _ = writeln!(text, "{} has the plan", path.display());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A server of a plan.
#[derive(Serialize)]
struct PlannedServer {
    server: u32,
    files: u32,
    bytes: u64,
    expected_load: f64,
}

fn servers(plan: &LayoutPlan) -> Vec<PlannedServer> {
    let (layout, files) = (plan.layout(), plan.index_files());
    let counts = layout.files_of_servers().into_iter().zip(layout.bytes_of_servers(&files));
    let all = counts.zip(layout.expected_loads(&files)).zip(0..);
    all.map(|(((files, bytes), expected_load), server)| PlannedServer { server, files, bytes, expected_load })
        .collect()
}

fn for_people(plan: &LayoutPlan, servers: &[PlannedServer]) -> String {
    let copied = plan.files.iter().filter(|file| file.servers.len() > 1).count() as u64;
    let copies = plan.layout().copies() as u64;
    let bytes: u64 = plan.files.iter().map(|file| file.size).sum();
    let extra: u64 = plan.files.iter().map(|file| file.size * (file.servers.len() as u64 - 1)).sum();
    let most = servers.iter().map(|server| server.files).max().unwrap_or(0);
    let mean = servers.iter().map(|server| server.expected_load).sum::<f64>() / servers.len() as f64;
    let heaviest = servers.iter().map(|server| server.expected_load).fold(0.0, f64::max);
    let mut text = format!(
        "     files  {:>9}  {}\n   servers  {:>9}  up to {most} files each\n    copies  {:>9}  of {} files, {} more\n",
        count(plan.files.len() as u64),
        human(bytes),
        count(plan.servers as u64),
        count(copies),
        count(copied),
        human(extra)
    );
    let ratio = if mean > 0.0 { heaviest / mean } else { 1.0 };
    let _ = writeln!(text, " imbalance  {ratio:>9.3}  expected load of the heaviest server, over the mean\n");
    text + &hottest(plan) + "\n" + &heaviest_servers(servers) + "\n"
}

fn hottest(plan: &LayoutPlan) -> String {
    let mut files: Vec<&PlannedFile> = plan.files.iter().collect();
    files.sort_by(|a, b| b.load.total_cmp(&a.load));
    let mut rows = vec![["hottest files", "servers", "load", "size"].map(str::to_owned).to_vec()];
    for file in files.into_iter().take(SHOWN) {
        let named: Vec<String> = file.servers.iter().take(SERVERS).map(u32::to_string).collect();
        let more = file.servers.len().saturating_sub(SERVERS);
        let more = if more > 0 { format!(" and {}", count(more as u64)) } else { String::new() };
        let name = shown(&file.file, NAME);
        rows.push(vec![name, named.join(" ") + &more, format!("{:.3}", file.load), human(file.size)]);
    }
    columns(&rows, 2)
}

fn heaviest_servers(servers: &[PlannedServer]) -> String {
    let mut sorted: Vec<&PlannedServer> = servers.iter().collect();
    sorted.sort_by(|a, b| b.expected_load.total_cmp(&a.expected_load));
    let header = ["heaviest servers", "files", "size", "expected load"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(sorted.into_iter().take(SHOWN).map(|server| {
        let load = format!("{:.3}", server.expected_load);
        vec![server.server.to_string(), count(server.files.into()), human(server.bytes), load]
    }));
    columns(&rows, 1)
}
