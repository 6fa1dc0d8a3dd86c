//! `partitions` divides pages among machines, and applies plans to other pages.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::tempdir;

use crate::pages::{write_file, write_records};
use crate::program::{Call, onecopy};

fn plan(input: &Path, flags: &str) -> Call {
    onecopy(["partitions", "plan"]).arg(input).args(flags)
}

fn apply(plan: &Path, input: &Path) -> Call {
    onecopy(["partitions", "apply"]).arg(plan).arg(input)
}

fn json(call: Call) -> Value {
    serde_json::from_str(&call.arg("--json").succeed().stdout).expect("JSON")
}

/// Pages of many lengths, from `first` words on.
fn pages(folder: &Path, name: &str, first: usize) -> PathBuf {
    let text = |number: usize| {
        let words =
            (0..first + number * number % 397).map(|word| format!("word{}", word * 31 % 2003 + number));
        words.collect::<Vec<_>>().join(" ")
    };
    let records: Vec<(String, String)> = (0..300).map(|number| (number.to_string(), text(number))).collect();
    let records: Vec<(&str, &str)> = records.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    write_records(folder, name, &records)
}

#[test]
fn plans_compare_bounds_and_dimensions() {
    let folder = tempdir().expect("a folder");
    let input = pages(folder.path(), "in.jsonl", 20);
    let svg = folder.path().join("plan.svg");
    let said = plan(&input, "--machines 2,4,8 --plot").arg(&svg).succeed().stdout;
    for words in ["300 pages", "published", "lossless", "imbalance", "saved", "3D: delta", "rho"] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    assert!(fs::read_to_string(&svg).expect("a figure").contains("% of communication saved"));
    let found = json(plan(&input, "--machines 2,4,8"));
    let plans = found["plans"].as_array().expect("plans");
    assert_eq!((plans.len(), &found["pages"]), (18, &300.into()));
    for plan in plans {
        let number = |name: &str| plan[name].as_f64().expect("a number");
        let loads: u64 = plan["loads"].as_array().expect("loads").iter().filter_map(Value::as_u64).sum();
        assert_eq!(loads, 300, "every page has a machine");
        assert!(number("imbalance") >= 1.0 && number("replication") >= 1.0, "{plan}");
        assert!((0.0..=1.0).contains(&number("communication_saved")) && number("pages_met") <= 1.0, "{plan}");
    }
    let sampled = json(plan(&input, "--machines 2 --sample 100"));
    assert_eq!((&sampled["sample"], &sampled["pages"]), (&100.into(), &300.into()));
    let all = json(plan(&input, "--machines 2 --ratio 1 --dimensions 1 --bound lossless"));
    assert!(all["plans"][0]["cells"].as_u64() > plans[9]["cells"].as_u64(), "higher: smaller cells");
}

#[test]
fn a_saved_plan_is_applied_to_other_pages() {
    let folder = tempdir().expect("a folder");
    let (input, longer) = (pages(folder.path(), "in.jsonl", 20), pages(folder.path(), "longer.jsonl", 200));
    let path = folder.path().join("plan.json");
    let said =
        plan(&input, "--machines 4 --dimensions 3 --bound lossless --save").arg(&path).succeed().stdout;
    assert!(said.contains("machine") && said.contains("has the plan"), "{said}");
    plan(&input, "--machines 4 --save").arg(&path).fail(2).says(&["exists", "--overwrite"]);
    let same = json(apply(&path, &input));
    assert_eq!(same["drift"], 0.0, "{same}");
    assert_eq!(same["shares"], same["planned_shares"]);
    let other = json(apply(&path, &longer));
    assert!(other["drift"].as_f64() > Some(0.1), "longer pages are on other machines: {other}");
    let figure = folder.path().join("drift.png");
    let said = apply(&path, &longer).arg("--plot").arg(&figure).succeed().stdout;
    assert!(said.contains("would have to move") && said.contains("planned"), "{said}");
    assert!(fs::read(&figure).expect("a figure").starts_with(b"\x89PNG"));
}

#[test]
fn three_dimensions_divide_generated_pages_best() {
    let call = |flags: &str| json(onecopy(["partitions", "plan", "--generate", "40000"]).args(flags));
    let found = call("--machines 64 --threshold 0.9");
    let speedup = |row: usize| found["plans"][row]["speedup"].as_f64().expect("a number");
    assert!(speedup(2) > 3.3 * speedup(0), "published: {} {}", speedup(0), speedup(2));
    assert!(speedup(5) > 3.3 * speedup(3), "lossless: {} {}", speedup(3), speedup(5));
    assert_eq!(found, call("--machines 64 --threshold 0.9"), "the same seed gives the same pages");
    assert_ne!(found, call("--machines 64 --threshold 0.9 --seed 2"));
}

#[test]
fn what_cannot_be_planned_is_named() {
    let folder = tempdir().expect("a folder");
    let input = pages(folder.path(), "in.jsonl", 20);
    plan(&input, "--machines 0").fail(2).says(&["machines"]);
    plan(&input, "--machines 2 --dimensions 4").fail(2).says(&["dimensions"]);
    plan(&input, "--machines 2 --threshold 0").fail(2).says(&["threshold 0 is out of range"]);
    plan(&input, "--machines 2 --shingle 0").fail(2).says(&["shingle length 0"]);
    plan(&input, "--machines 2 --ratio 2").fail(2).says(&["--ratio 2"]);
    plan(&input, "--machines 2 --rho 0.5").fail(2).says(&["--rho 0.5"]);
    plan(&input, "--machines 2 --plot x.gif").fail(2).says(&[".svg or .png"]);
    onecopy(["partitions", "plan", "--machines", "2"]).fail(2).says(&["INPUT"]);
    let empty = write_file(folder.path(), "empty.jsonl", "{\"id\":\"1\",\"text\":\" \"}\n");
    plan(&empty, "--machines 2").fail(2).says(&["no page of the input has words"]);
    let planned = folder.path().join("plan.json");
    plan(&input, "--machines 2 --save").arg(&planned).succeed();
    apply(&planned, &empty).fail(2).says(&["no page of the input has words"]);
    apply(&input, &input).fail(1).says(&["not a plan of a partitioning", "give a saved plan"]);
    let text = fs::read_to_string(&planned).expect("a plan");
    for (from, to) in [
        ("partitions 1", "partitions 9"),
        ("\"starts\":[0", "\"starts\":[5"),
        ("\"machines\":2", "\"machines\":1"),
    ] {
        let changed = write_file(folder.path(), "changed.json", text.replacen(from, to, 1));
        apply(&changed, &input).fail(1).says(&["not a plan of a partitioning"]);
    }
}
