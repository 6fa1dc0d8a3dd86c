//! `cost` compares schemes by given and by measured numbers.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::pages::{topic, write_file, write_records};
use crate::program::{dedup, onecopy};

fn cost(flags: &str) -> crate::program::Call {
    onecopy(["cost"]).args(flags)
}

#[test]
fn the_published_figure_comes_out() {
    let folder = tempdir().expect("a folder");
    let (svg, png) = (folder.path().join("figure.svg"), folder.path().join("figure.png"));
    let said = cost("--published --plot").arg(&svg).succeed().stdout;
    assert!(said.contains("published: 8.2 to 25.6 %") && said.contains("T2.5, quiet"), "{said}");
    assert!(fs::read_to_string(&svg).expect("a figure").contains("crawled pages"));
    let said = cost("--published --json --plot").arg(&png).succeed().stdout;
    assert!(fs::read(&png).expect("a figure").starts_with(b"\x89PNG"));
    let found: Value = serde_json::from_str(&said).expect("JSON");
    for (name, published) in [("least", 0.082), ("most", 0.256)] {
        assert!((found[name].as_f64().expect("a share") - published).abs() < 0.005, "{found}");
    }
}

#[test]
fn measured_numbers_replace_the_usual_ones() {
    let folder = tempdir().expect("a folder");
    // The longest copies win, so that one of them is exact and the shorter one is near.
    let longer = format!("{} and one more word", topic("a"));
    let records =
        [("1", longer.clone()), ("2", topic("a")), ("3", longer), ("4", topic("b")), ("5", topic("c"))];
    let records: Vec<(&str, &str)> = records.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let out = folder.path().join("out");
    dedup(&write_records(folder.path(), "in.jsonl", &records), &out).arg("--quiet").succeed();
    let report = out.join("report.json");
    let json = |call: crate::program::Call| -> Value {
        serde_json::from_str(&call.arg("--json").succeed().stdout).expect("JSON")
    };
    let found = json(cost("--report").arg(&report));
    assert_eq!(found["profile"]["removed_share"], 0.25, "an exact copy does not count: {found}");
    assert_ne!(found["profile"]["batch_rate"], 10_000.0);
    assert_eq!(found["costs"].as_array().map(Vec::len), Some(7));
    assert_eq!((&found["costs"][0]["pages"], &found["costs"][6]["pages"]), (&1e7.into(), &1e10.into()));
    let metrics = |name: &str, settled: u32| {
        let text =
            format!("onecopy_pages_kept 60\nonecopy_pages_losers 40\nonecopy_settled_number {settled}\n");
        write_file(folder.path(), name, text)
    };
    let (before, after) = (metrics("before", 100), metrics("after", 700));
    let asked = || cost("--apart 60 --metrics").arg(&before).arg("--metrics").arg(&after);
    let found = json(asked());
    assert_eq!(
        (&found["profile"]["service_rate"], &found["profile"]["removed_share"]),
        (&10.0.into(), &0.4.into())
    );
    assert_eq!(
        json(asked().args("--service-rate 7"))["profile"]["service_rate"],
        7.0,
        "given numbers count first"
    );
    let said = cost("--price 100").succeed().stdout;
    for words in ["10 million", "10 billion", "online", "offline", "both", "cost a month", "saved"] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    cost("--apart 60 --metrics").arg(&before).fail(2).says(&["give --metrics twice"]);
    cost("--apart 60 --metrics")
        .arg(&after)
        .arg("--metrics")
        .arg(&before)
        .fail(2)
        .says(&["no change was settled"]);
    cost("--report").arg(&before).fail(1).says(&["not the report.json"]);
}

#[test]
fn what_cannot_work_is_named() {
    cost("--removed 1").fail(2).says(&["removed share 1 is out of range"]);
    cost("--removed=-0.1").fail(2).says(&["out of range"]);
    cost("--batch-rate 0").fail(2).says(&["batch rate 0"]);
    cost("--price NaN").fail(2).says(&["price NaN"]);
    cost("--published --plot x.gif").fail(2).says(&[".svg or .png"]);
}
