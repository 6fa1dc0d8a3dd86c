//! On real pages, the answer equals that of comparing all pairs.
//!
//! The pages are third-party data and not in the repository. Without them the test says so and passes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use tempfile::tempdir;

use crate::program::dedup;
use crate::results::{groups, kept_ids, removed, report, unpacked};

const THRESHOLD: f64 = 0.8;

/// The folder of the corpora, if it exists on this machine.
fn corpora() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("ONECOPY_DATA").map_or(beside, PathBuf::from);
    Some(data.join("corpora")).filter(|folder| folder.join("bench-20k.jsonl.zst").is_file())
}

/// The similarity of every pair above the threshold, in both directions.
fn similar_pairs(path: &Path) -> HashMap<String, BTreeMap<String, f64>> {
    let text = String::from_utf8(unpacked(path)).expect("the oracle is text");
    let mut similar: HashMap<String, BTreeMap<String, f64>> = HashMap::new();
    for line in text.lines().skip(1) {
        let parts: Vec<&str> = line.split(',').collect();
        let [a, b, value] = parts[..] else { panic!("not a pair: {line}") };
        let value: f64 = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        if value >= THRESHOLD {
            similar.entry(a.into()).or_default().insert(b.into(), value);
            similar.entry(b.into()).or_default().insert(a.into(), value);
        }
    }
    similar
}

/// The connected components of the pairs.
fn components(similar: &HashMap<String, BTreeMap<String, f64>>) -> BTreeSet<BTreeSet<String>> {
    let mut seen = BTreeSet::new();
    let mut found = BTreeSet::new();
    for start in similar.keys() {
        let mut component = BTreeSet::new();
        let mut open = vec![start.clone()];
        while let Some(page) = open.pop() {
            if seen.insert(page.clone()) {
                open.extend(similar[&page].keys().cloned());
                component.insert(page);
            }
        }
        if !component.is_empty() {
            found.insert(component);
        }
    }
    found
}

#[test]
fn the_answer_on_real_pages_is_exact() {
    let Some(corpora) = corpora() else {
        println!("skipped: neither $ONECOPY_DATA nor ../shared/data has corpora/bench-20k.jsonl.zst");
        return;
    };
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("out");
    dedup(&corpora.join("bench-20k.jsonl.zst"), &out).arg("--quiet").succeed();
    let similar = similar_pairs(&corpora.join("bench-20k.exact-jaccard.csv.zst"));
    let (kept, removed) = (kept_ids(&out, "bench-20k.jsonl.zst"), removed(&out));
    assert_eq!(
        report(&out)["read"].as_u64(),
        Some((kept.len() + removed.len()) as u64),
        "kept and removed are all"
    );

    let none = BTreeMap::new();
    let of = |page: &String| similar.get(page).unwrap_or(&none);
    let wrong: Vec<_> = removed.keys().filter(|page| of(page).is_empty()).collect();
    assert!(wrong.is_empty(), "removed, though no page is similar: {wrong:?}");
    let orphaned: Vec<_> =
        removed.keys().filter(|page| !of(page).keys().any(|other| kept.contains(other))).collect();
    assert!(orphaned.is_empty(), "removed, though no similar page was kept: {orphaned:?}");
    let residual: Vec<_> =
        kept.iter().filter(|page| of(page).keys().any(|other| kept.contains(other))).collect();
    assert!(residual.is_empty(), "kept beside a similar page: {residual:?}");

    for (page, (winner, similarity, kind)) in &removed {
        assert!(kept.contains(winner), "{page}: its winner {winner} was not kept");
        let claimed: f64 = similarity.parse().expect("a number");
        let Some(actual) = of(page).get(winner) else {
            panic!("{page} is not similar to its winner {winner}")
        };
        assert!((claimed - actual).abs() <= 1e-5 + 1e-12, "{page}, {winner}: {claimed}, but really {actual}");
        assert!(kind == "near" || kind == "url" || claimed == 1.0, "{page} is called exact at {claimed}");
    }
    let groups: BTreeSet<BTreeSet<String>> =
        groups(&out).into_iter().map(|members| members.into_iter().collect()).collect();
    assert!(groups == components(&similar), "the groups are not the connected components");
}
