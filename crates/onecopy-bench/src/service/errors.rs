//! E3: measures how the service's groups differ from those of one batch run over the same pages (TIERS, Table 1).
//!
//! REP is the share of pairs grouped by the service but not by the batch run; RER is the reverse.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::stream::Stream;
use super::{Program, emptied, shared_data};
use crate::jsonl;
use crate::table::{Table, count};

/// The published errors: the largest of 18 figures each.
const PUBLISHED: [&str; 2] = ["1.3 %", "1.74 %"];

/// Numbers of pairs in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// By the service.
    pub service: u64,
    /// By the batch run.
    pub batch: u64,
    /// By both.
    pub both: u64,
}

impl Pairs {
    /// The relative error in precision.
    pub fn rep(&self) -> f64 {
        (self.service - self.both) as f64 / self.service.max(1) as f64
    }

    /// The relative error in recall.
    pub fn rer(&self) -> f64 {
        (self.batch - self.both) as f64 / self.batch.max(1) as f64
    }
}

/// The errors on one set of pages.
#[derive(Clone, Debug, Serialize)]
pub struct Errors {
    /// The pages.
    pub pages: String,
    /// Pairs in one group.
    pub pairs: Pairs,
    /// See [`Pairs::rep`].
    pub rep: f64,
    /// See [`Pairs::rer`].
    pub rer: f64,
    /// Losers of the batch run that the service keeps.
    pub missed: u64,
}

/// The results of a batch run.
struct Batch {
    groups: Groups,
    /// The removed pages.
    losers: Vec<String>,
}

/// The results of the service.
struct Served {
    groups: Groups,
    losers: HashSet<String>,
}

/// Measures generated pages and, if available, real ones.
pub fn run(program: &Program, seed: u64, pages: u64) -> Result<Vec<Errors>> {
    let generated = program.work.join("errors.jsonl");
    Stream::new(seed, pages).write(0..pages, &generated)?;
    let mut found = vec![of_set(program, &format!("{} generated", count(pages)), &generated)?];
    fs::remove_file(&generated)?;
    match shared_data("corpora/bench-20k.jsonl.zst") {
        Some(real) => found.push(of_set(program, "bench-20k", &real)?),
        None => {
            eprintln!("skipped: neither $ONECOPY_DATA nor ../shared/data has corpora/bench-20k.jsonl.zst")
        }
    }
    Ok(found)
}

fn of_set(program: &Program, pages: &str, input: &Path) -> Result<Errors> {
    eprintln!("{pages}: batch ...");
    let out = emptied(program.work.join("errors-batch"))?;
    program
        .run(Command::new(&program.onecopy).arg("dedup").arg(input).arg("--out").arg(&out).arg("--quiet"))?;
    let batch = Batch::read(&out)?;
    fs::remove_dir_all(&out)?;
    eprintln!("{pages}: service ...");
    let served = serve(program, input)?;
    let pairs = pairs(&served.groups, &batch.groups);
    let missed = batch.losers.iter().filter(|page| !served.losers.contains(*page)).count() as u64;
    let (rep, rer) = (pairs.rep(), pairs.rer());
    Ok(Errors { pages: pages.to_owned(), pairs, rep, rer, missed })
}

/// The group of each grouped page.
type Groups = HashMap<String, u64>;

impl Batch {
    fn read(out: &Path) -> Result<Batch> {
        #[derive(Deserialize)]
        struct Group {
            members: Vec<Value>,
        }
        #[derive(Deserialize)]
        struct Removed {
            page: Value,
        }
        let mut batch = Batch { groups: Groups::new(), losers: Vec::new() };
        let mut number = 0;
        each_line(&out.join("groups.jsonl"), |group: Group| {
            number += 1;
            batch.groups.extend(group.members.iter().map(|member| (member.to_string(), number)));
        })?;
        each_line(&out.join("removed.jsonl"), |line: Removed| {
            batch.losers.push(line.page.to_string());
        })?;
        Ok(batch)
    }
}

fn serve(program: &Program, input: &Path) -> Result<Served> {
    #[derive(Deserialize)]
    struct Status {
        page: Value,
        status: String,
        group: Option<u64>,
    }
    let data = emptied(program.work.join("errors-service"))?;
    let list = program.work.join("errors-statuses.jsonl");
    let mut import = Command::new(&program.onecopy);
    import.arg("import").arg("--data").arg(&data).arg(input);
    program.run(import.args(["--no-keep-pages", "--quiet", "--json"]))?;
    let mut export = Command::new(&program.onecopy);
    export.arg("export").arg("--data").arg(&data).arg("--out").arg(&list);
    program.run(export.args(["--status", "all", "--statuses", "--quiet"]))?;
    let mut served = Served { groups: Groups::new(), losers: HashSet::new() };
    each_line(&list, |status: Status| {
        let page = status.page.to_string();
        if status.status == "loser" {
            served.losers.insert(page.clone());
        }
        served.groups.extend(status.group.map(|group| (page, group)));
    })?;
    fs::remove_dir_all(&data)?;
    fs::remove_file(&list)?;
    Ok(served)
}

fn each_line<T: for<'a> Deserialize<'a>>(path: &Path, mut each: impl FnMut(T)) -> Result<()> {
    let mut reader = jsonl::open(path)?;
    let mut line = String::new();
    while reader.read_line(&mut line).with_context(|| format!("cannot read {}", path.display()))? > 0 {
        each(serde_json::from_str(&line).with_context(|| format!("{} is not as expected", path.display()))?);
        line.clear();
    }
    Ok(())
}

/// Counts pairs without listing them: pages that share both groups form pairs of both.
fn pairs(service: &Groups, batch: &Groups) -> Pairs {
    let of = |sizes: HashMap<(u64, u64), u64>| sizes.into_values().map(|size| size * (size - 1) / 2).sum();
    let mut sizes = [HashMap::new(), HashMap::new(), HashMap::new()];
    for (page, &group) in service {
        *sizes[0].entry((group, 0)).or_default() += 1;
        if let Some(&other) = batch.get(page) {
            *sizes[2].entry((group, other)).or_default() += 1;
        }
    }
    for &group in batch.values() {
        *sizes[1].entry((group, 0)).or_default() += 1;
    }
    let [service, batch, both] = sizes.map(of);
    Pairs { service, batch, both }
}

/// Fails if the service made an error: none is allowed.
pub fn check(found: &[Errors]) -> Result<()> {
    for Errors { pages, rep, rer, .. } in found {
        ensure!(*rep == 0.0 && *rer == 0.0, "{pages}: the service has REP {rep} and RER {rer}, not 0");
    }
    Ok(())
}

/// The errors next to the published ones.
pub fn table(found: &[Errors]) -> Table {
    let mut table = Table::new(&["pages", "pairs", "of batch", "REP", "RER", "losers missed"]);
    for errors in found {
        let Errors { pages, pairs, rep, rer, missed } = errors;
        let share = |error: &f64| format!("{:.3} %", 100.0 * error);
        table.push(vec![
            pages.clone(),
            count(pairs.service),
            count(pairs.batch),
            share(rep),
            share(rer),
            count(*missed),
        ]);
    }
    let [rep, rer] = PUBLISHED.map(|most| format!("at most {most}"));
    let published = ["TIERS, 100 M pages, 12 to 36 machines", "-", "-", &rep, &rer, "-"];
    table.push(published.map(str::to_owned).to_vec());
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(lists: &[&[&str]]) -> Groups {
        let numbered = lists.iter().enumerate();
        numbered
            .flat_map(|(group, pages)| pages.iter().map(move |page| ((*page).to_owned(), group as u64)))
            .collect()
    }

    #[test]
    fn pairs_are_counted_as_by_hand() {
        let service = groups(&[&["a", "b", "c"], &["d", "e"]]);
        let batch = groups(&[&["a", "b"], &["c", "d", "e", "f"]]);
        let found = pairs(&service, &batch);
        assert_eq!(found, Pairs { service: 4, batch: 7, both: 2 });
        assert_eq!((found.rep(), found.rer()), (0.5, 5.0 / 7.0));
        let same = pairs(&batch, &batch);
        assert_eq!((same.rep(), same.rer(), same.both), (0.0, 0.0, 7));
        assert_eq!(pairs(&Groups::new(), &batch).rer(), 1.0);
    }

    #[test]
    fn errors_are_refused() {
        let errors = |rep| Errors { pages: "x".into(), pairs: Pairs::default(), rep, rer: 0.0, missed: 0 };
        assert!(check(&[errors(0.0)]).is_ok());
        assert!(check(&[errors(0.0), errors(0.001)]).is_err());
    }
}
