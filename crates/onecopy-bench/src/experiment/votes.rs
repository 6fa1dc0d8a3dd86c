//! `onecopy-bench experiment votes`: does merging copies make the order by PageRank better?
//!
//! Manuals in many versions link to their own pages, and labels say which pages are copies. The truth is the PageRank of
//! the web without copies, by a solver of our own. We compare the order of pages by the scores of `onecopy rank`, first
//! over all copies, then with those merged that `onecopy dedup` removes.

mod order;
mod web;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use self::order::{common_best, spearman, true_scores};
use self::web::{Links, Web};
use super::methods::shared_data;
use crate::measure;
use crate::peers::{self, Machine};
use crate::table::{Table, count};

/// The sets with links between copies.
const SETS: [&str; 2] = ["docs-numpy-versions", "docs-kafka-versions"];
/// How many of the best pages are compared.
const BEST: usize = 20;

/// Measures whether merging copies makes the order by PageRank better, on labelled sets with links.
///
/// Writes votes.md with the table. Takes about a minute.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  onecopy-bench experiment votes --out votes
  onecopy-bench experiment votes --set labelled/docs-numpy-versions --out votes")]
pub struct Args {
    /// The folder for the report; created if missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A labelled set: a folder with docs.jsonl.zst and clusters.csv [default: the sets of manuals in $ONECOPY_DATA, else
    /// in ../shared/data]
    #[arg(long = "set", value_name = "DIR")]
    sets: Vec<PathBuf>,
    /// A folder for outputs
    #[arg(long, default_value = measure::WORK, value_name = "DIR")]
    work: PathBuf,
    /// The onecopy program; by default this workspace's release build
    #[arg(long, value_name = "FILE")]
    onecopy: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<()> {
    let sets = match args.sets.is_empty() {
        true => SETS.map(|name| shared_data().join("labelled").join(name)).to_vec(),
        false => args.sets.clone(),
    };
    for folder in [&args.out, &args.work] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let program = Program { path: peers::onecopy(args.onecopy.as_deref())?, work: args.work.clone() };
    let mut table = Table::new(&[
        "set",
        "links lead",
        "pages",
        "links",
        "Spearman, all copies",
        "merged",
        "of the best 20: all copies",
        "merged",
    ]);
    for set in &sets {
        let web = Web::read(set)?;
        program.dedup(&web)?;
        for links in Links::ALL {
            table.push(program.row(set, &web, links)?);
        }
    }
    let text =
        format!("# Do copies split their votes?\n\n{}.\n\n{}", Machine::this().line(), table.markdown());
    print!("{text}");
    let path = args.out.join("votes.md");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The program, and its work folder.
struct Program {
    path: PathBuf,
    work: PathBuf,
}

impl Program {
    fn row(&self, set: &Path, web: &Web, kind: Links) -> Result<Vec<String>> {
        let links = web.links(kind);
        let truth = true_scores(&web.page_of, &links);
        ensure!(truth.len() > BEST, "{}: only {} pages have links", set.display(), truth.len());
        let edges = self.work.join("votes-links.tsv");
        let line = |&(from, to): &(u32, u32)| format!("{from}\t{to}\n");
        fs::write(&edges, links.iter().map(line).collect::<String>()).context("cannot write links")?;
        let all = self.scores(&edges, None)?;
        let merged = self.scores(&edges, Some(&self.run_folder()))?;
        let winners = self.winners()?;
        let truth_scores: Vec<f64> = truth.values().copied().collect();
        let pages: Vec<u32> = truth.keys().copied().collect();
        let all = best_of_copies(web, &pages, |copy| all.get(&copy));
        // A removed copy has the score of its winner.
        let merged = best_of_copies(web, &pages, |copy| merged.get(winners.get(&copy).unwrap_or(&copy)));
        let correlation = |scores: &[f64]| format!("{:.3}", spearman(&truth_scores, scores));
        let best = |scores: &[f64]| common_best(&truth_scores, scores, BEST).to_string();
        Ok(vec![
            set.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            kind.name().into(),
            count(truth.len() as u64),
            count(links.len() as u64),
            correlation(&all),
            correlation(&merged),
            best(&all),
            best(&merged),
        ])
    }

    /// The scores of copies, those merged that a finished run removed.
    fn scores(&self, edges: &Path, run: Option<&Path>) -> Result<HashMap<u32, f64>> {
        let out = self.work.join("votes-scores.tsv");
        let mut rank = Command::new(&self.path);
        rank.args([
            "rank",
            "--edges",
            "--quiet",
            "--overwrite",
            "--tolerance",
            "1e-12",
            "--iterations",
            "1000",
        ]);
        run.into_iter().for_each(|run| _ = rank.arg("--run").arg(run));
        rank.arg("--out").arg(&out).arg(edges);
        measure::run(&rank, &self.work.join("votes-rank.log"))?;
        let text = fs::read_to_string(&out).context("cannot read the scores")?;
        let mut scores = HashMap::new();
        // The first line has titles.
        for line in text.lines().skip(1) {
            let mut cells = line.split('\t');
            let (Some(copy), Some(score)) = (cells.next(), cells.next()) else { continue };
            scores.insert(copy.parse().context("not a page")?, score.parse().context("not a score")?);
        }
        Ok(scores)
    }

    /// The winner of each removed copy.
    fn winners(&self) -> Result<HashMap<u32, u32>> {
        #[derive(Deserialize)]
        struct Removed {
            page: String,
            winner: String,
        }
        let text = fs::read_to_string(self.run_folder().join("removed.jsonl"))
            .context("no list of removed pages")?;
        let mut winners = HashMap::new();
        for line in text.lines() {
            let Removed { page, winner } = serde_json::from_str(line).context("not a removed page")?;
            winners.insert(page.parse()?, winner.parse()?);
        }
        Ok(winners)
    }

    fn dedup(&self, web: &Web) -> Result<()> {
        let pages = self.work.join("votes-pages.jsonl");
        fs::write(&pages, web.lines()).context("cannot write pages")?;
        let mut dedup = Command::new(&self.path);
        dedup
            .args(["dedup", "--quiet", "--overwrite", "--lists-only", "--out"])
            .arg(self.run_folder())
            .arg(&pages);
        measure::run(&dedup, &self.work.join("votes-dedup.log"))?;
        Ok(())
    }

    fn run_folder(&self) -> PathBuf {
        self.work.join("votes-run")
    }
}

/// The best score of any copy of each page.
fn best_of_copies<'a>(web: &Web, pages: &[u32], score: impl Fn(u32) -> Option<&'a f64>) -> Vec<f64> {
    let best =
        |page: &u32| web.copies[page].iter().filter_map(|&copy| score(copy)).copied().fold(0.0, f64::max);
    pages.iter().map(best).collect()
}
