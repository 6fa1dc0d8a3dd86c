//! `onecopy-bench extract`: onecopy and its peers turn the same pages into text in one run.
//!
//! It measures word-level F1 against the text that people marked, and bytes of HTML per CPU second of extraction alone,
//! on one core.

pub mod align;
pub mod boost;
pub mod judge;
pub mod score;
mod set;
mod tool;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::peers::install::Workshop;
use crate::peers::machine::Machine;
use crate::table::Table;
pub use set::{Page, Set};
use tool::{Outcome, TOOLS, Tool};

/// Measures how well and how fast onecopy and other tools find the main content of pages.
#[derive(clap::Args)]
#[command(after_help = "Example:
  onecopy-bench extract extract-l3s-gn1 extract-readability --markdown")]
pub struct Args {
    /// Folders with docs.jsonl(.zst): pages with their gold text
    #[arg(required = true, value_name = "SET")]
    sets: Vec<PathBuf>,
    /// How often each tool runs; the least CPU time is shown
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// A folder for environments, builds and outputs; kept, so that the next run starts sooner
    #[arg(long, default_value = crate::measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

pub fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.work).with_context(|| format!("cannot create {}", args.work.display()))?;
    let workshop = Workshop { work: args.work.canonicalize()?, onecopy: None };
    let sets = args.sets.iter().map(|folder| Set::read(folder)).collect::<Result<Vec<_>>>()?;
    let inputs = sets.iter().map(|set| write_pages(set, &workshop.work)).collect::<Result<Vec<_>>>()?;
    let mut rows = vec![];
    for tool in &TOOLS {
        eprintln!("{} {} ...", tool.name, tool.setting);
        rows.push((tool, measure(tool, &workshop, (&sets, &inputs), args.runs)));
    }
    println!("{}\n", Machine::this().line());
    let figures: [(&str, Figure); 3] = [
        ("F1, mean over pages", |_, outcome| format!("{:.4}", outcome.score.means()[0])),
        ("F1 over all words", |_, outcome| format!("{:.4}", outcome.score.micro())),
        ("MB of HTML a CPU second", |set, outcome| {
            format!("{:.1}", set.bytes() as f64 / 1e6 / outcome.cpu_seconds.max(1e-6))
        }),
    ];
    for (title, figure) in figures {
        let table = table(title, &sets, &rows, figure);
        println!("{}", if args.markdown { table.markdown() } else { table.aligned() });
    }
    for (tool, outcome) in &rows {
        if let Err(error) = outcome {
            println!("{} {} failed: {error:#}", tool.name, tool.setting);
        }
    }
    Ok(())
}

type Figure = fn(&Set, &Outcome) -> String;

fn measure(tool: &Tool, workshop: &Workshop, on: (&[Set], &[PathBuf]), runs: u32) -> Result<Vec<Outcome>> {
    let ready = tool.ready(workshop)?;
    let best = |(set, input): (&Set, &PathBuf)| {
        let mut best = tool.run(&ready, set, input)?;
        for _ in 1..runs {
            best.cpu_seconds = tool.run(&ready, set, input)?.cpu_seconds.min(best.cpu_seconds);
        }
        Ok(best)
    };
    on.0.iter().zip(on.1).map(best).collect()
}

fn table(title: &str, sets: &[Set], rows: &[(&Tool, Result<Vec<Outcome>>)], figure: Figure) -> Table {
    let names = sets.iter().map(|set| set.name.as_str());
    let mut table = Table::new(&[title].into_iter().chain(names).collect::<Vec<_>>());
    for (tool, outcomes) in rows {
        if let Ok(outcomes) = outcomes {
            let figures = sets.iter().zip(outcomes).map(|(set, outcome)| figure(set, outcome));
            table.push([format!("{} {}", tool.name, tool.setting)].into_iter().chain(figures).collect());
        }
    }
    table
}

/// Writes the pages of `set` in the input format of every tool.
fn write_pages(set: &Set, work: &Path) -> Result<PathBuf> {
    let path = work.join(format!("{}.jsonl", set.name));
    let file = std::fs::File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut file = std::io::BufWriter::new(file);
    for page in &set.pages {
        writeln!(file, "{}", serde_json::json!({ "id": page.id, "html": page.html }))?;
    }
    file.flush()?;
    Ok(path)
}

/// Lets onecopy write the features of the pages of `set` for the model.
pub fn features(set: &Set, work: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(work).with_context(|| format!("cannot create {}", work.display()))?;
    let workshop = Workshop { work: work.canonicalize()?, onecopy: None };
    let input = write_pages(set, &workshop.work)?;
    let out = input.with_extension("features.jsonl");
    let onecopy = TOOLS[0].ready(&workshop)?;
    tool::extract(&onecopy, &input, &out, "features")?;
    Ok(out)
}

/// Computes the context features of blocks from the first judgement; `said` has one line per page in onecopy's format.
pub fn contexts(said: &str, work: &Path) -> Result<String> {
    let workshop = Workshop { work: work.canonicalize()?, onecopy: None };
    let input = workshop.work.join("said.jsonl");
    std::fs::write(&input, said).with_context(|| format!("cannot write {}", input.display()))?;
    let out = workshop.work.join("context.jsonl");
    tool::extract(&TOOLS[0].ready(&workshop)?, &input, &out, "context")?;
    std::fs::read_to_string(&out).with_context(|| format!("cannot read {}", out.display()))
}
