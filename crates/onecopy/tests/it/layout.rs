//! `layout` places the files of an index on servers, and simulates requests to them.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::tempdir;

use crate::pages::write_file;
use crate::program::{Call, onecopy};

fn plan(files: &Path, flags: &str) -> Call {
    onecopy(["layout", "plan"]).arg(files).args(flags)
}

fn simulate(plan: &Path, flags: &str) -> Call {
    onecopy(["layout", "simulate"]).arg(plan).args(flags)
}

fn json(call: Call) -> Value {
    serde_json::from_str(&call.arg("--json").succeed().stdout).expect("JSON")
}

/// A table of files, the first of which is the hottest.
fn table(folder: &Path, files: u32) -> PathBuf {
    let mut text = String::from("File,load,size\n");
    for file in 0..files {
        let load = if file == 0 { 9.5 } else { 1.0 + f64::from(file % 3) / 4.0 };
        let _ = writeln!(text, "\"part {file}\",{load},{}", 1_000 + file);
    }
    write_file(folder, "files.csv", text)
}

fn saved(folder: &Path, files: u32, servers: u32) -> PathBuf {
    let path = folder.join("plan.json");
    plan(&table(folder, files), &format!("--servers {servers} --overwrite --save")).arg(&path).succeed();
    path
}

#[test]
fn a_plan_has_copies_of_hot_files() {
    let folder = tempdir().expect("a folder");
    let (files, path) = (table(folder.path(), 21), folder.path().join("plan.json"));
    let said = plan(&files, "--servers 4 --save").arg(&path).succeed().stdout;
    for words in
        ["hottest files", "part 0", "0 1 2 3", "heaviest servers", "up to 7 files each", "has the plan"]
    {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    plan(&files, "--servers 4 --save").arg(&path).fail(2).says(&["plan.json exists", "--overwrite"]);
    let found = json(plan(&files, "--servers 4"));
    let servers = found["servers"].as_array().expect("servers");
    assert_eq!((servers.len(), found["files"].as_array().map(Vec::len)), (4, Some(21)));
    assert_eq!(
        found["files"][0]["servers"],
        serde_json::json!([0, 1, 2, 3]),
        "the hottest file is everywhere"
    );
    let loads: Vec<f64> = servers.iter().filter_map(|server| server["expected_load"].as_f64()).collect();
    assert!(loads.iter().all(|load| (load / loads[0] - 1.0).abs() < 0.1), "{loads:?}");
    let small = json(plan(&files, "--servers 4 --capacity 7K"));
    let bytes =
        small["servers"].as_array().into_iter().flatten().filter_map(|server| server["bytes"].as_u64());
    assert!(bytes.max().is_some_and(|most| most <= 7 << 10), "{small}");
    // The same table as JSON Lines, compressed.
    let lines: String = (0..21)
        .map(|file| {
            let planned = &found["files"][file];
            format!(
                "{}\n",
                serde_json::json!({"file": planned["file"], "load": planned["load"], "size": planned["size"]})
            )
        })
        .collect();
    let packed = zstd::encode_all(lines.as_bytes(), 1).expect("packed");
    let again = folder.path().join("files.jsonl.zst");
    fs::write(&again, packed).expect("written");
    assert_eq!(json(plan(&again, "--servers 4")), found);
}

#[test]
fn schemes_answer_the_same_requests() {
    let folder = tempdir().expect("a folder");
    let plan = saved(folder.path(), 50, 8);
    let svg = folder.path().join("loads.svg");
    let call = || simulate(&plan, "--generate 20000 --seed 3 --drift 0.5 --plot").arg(&svg);
    let said = call().succeed().stdout;
    for words in
        ["planned", "hand-picked", "round robin", "20,000 requests on 8 servers", "2 (1 + a) Opt + 2 b"]
    {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    assert!(fs::read_to_string(&svg).expect("a figure").contains("heaviest server over the mean"));
    let found = json(call());
    assert_eq!(found, json(call()), "the same seed gives the same log");
    let heaviest = |scheme: usize| found["schemes"][scheme]["heaviest"].as_f64().expect("a load");
    assert!(heaviest(0) <= heaviest(1) && heaviest(0) <= heaviest(2), "the plan is best: {said}");
    assert!(heaviest(0) <= found["bound"]["limit"].as_f64().expect("a bound"));
    assert_eq!(found["schemes"][0]["over_time"].as_array().map(Vec::len), Some(400));
    assert_eq!(found["schemes"][1]["copies"], found["schemes"][0]["copies"]);
}

#[test]
fn a_log_is_read_in_its_order() {
    let folder = tempdir().expect("a folder");
    let files = write_file(folder.path(), "files.csv", "file\na\nb\nc\n");
    let plan_file = folder.path().join("plan.json");
    plan(&files, "--servers 2 --save").arg(&plan_file).succeed();
    // All files are on both servers, because there is room for it.
    let log = write_file(
        folder.path(),
        "log.jsonl",
        "{\"file\":\"a\",\"load\":3}\n{\"file\":\"b\"}\n{\"file\":\"c\"}\n",
    );
    let found = json(simulate(&plan_file, "").arg(&log));
    assert_eq!(found["schemes"][0]["loads"], serde_json::json!([3.0, 2.0]));
    assert_eq!((&found["bound"]["beta"], &found["bound"]["optimum_least"]), (&3.0.into(), &3.0.into()));
    let log = write_file(folder.path(), "log.csv", "load,file\n2,b\n");
    let said = simulate(&plan_file, "--plot x.png").within(folder.path()).arg(&log).succeed().stdout;
    assert!(said.contains("Some files had no request"), "{said}");
}

#[test]
fn bad_tables_and_logs_are_named() {
    let folder = tempdir().expect("a folder");
    let at = folder.path();
    let file = |name: &str, text: &str| write_file(at, name, text);
    for (text, said) in [
        ("file,load\na,1\nb,-2\n", "line 3`: `load` is \"-2\": give a number from 0 on"),
        ("file,load\na,NaN\n", "line 2`: `load` is \"NaN\""),
        ("file,load\na,1\na,2\n", "the file \"a\" is also in line 2"),
        ("file,load\na,1,2\n", "it has 3 cells, and the header has 2"),
        ("file,load\n,1\n", "there is no `file`"),
        ("name,load\na,1\n", "there is no column `file`"),
        ("{\"file\":\"a\",\"size\":-1}\n", "`size` is \"-1\""),
        ("{\"file\":[1]}\n", "`file` is neither text nor a number"),
        ("{\"file\":\n", "it is no JSON object"),
        ("file,load\n", "no file is in it"),
        ("", "no file is in it"),
    ] {
        plan(&file("bad", text), "--servers 1").fail(1).says(&[said]);
    }
    let files = table(at, 5);
    plan(&files, "--servers 6").fail(2).says(&["6 servers are too many for 5 files", "--servers"]);
    plan(&files, "--servers 0").fail(2).says(&["at least 1 server"]);
    plan(&files, "--servers 5 --capacity 1000").fail(2).says(&["needs", "bytes for its files, and has 1000"]);
    plan(&at.join("none.csv"), "--servers 1").fail(1).says(&["none.csv"]);
    let planned = saved(at, 5, 2);
    for (text, said) in [
        ("file\npart 1\nother\n", "line 3`: the file \"other\" is not in the plan"),
        ("file,load\npart 1,-1\n", "`load` is \"-1\""),
        ("file\n", "no request is in it"),
        ("", "no request is in it"),
    ] {
        simulate(&planned, "").arg(file("log", text)).fail(1).says(&[said]);
    }
    simulate(&planned, "--generate 0").fail(2).says(&["generate"]);
    simulate(&planned, "--generate 5 --drift=-1").fail(2).says(&["--drift -1"]);
    simulate(&planned, "--generate 5 --plot x.gif").fail(2).says(&[".svg or .png"]);
    simulate(&planned, "").fail(2).says(&["LOG"]);
    simulate(&files, "--generate 5").fail(1).says(&["not a plan of a layout", "give a saved plan"]);
    let text = fs::read_to_string(&planned).expect("a plan");
    for (from, to) in
        [("layout 1", "layout 9"), ("\"servers\":[0", "\"servers\":[7"), ("\"part 1\"", "\"part 2\"")]
    {
        let changed = file("changed.json", &text.replacen(from, to, 1));
        simulate(&changed, "--generate 5").fail(1).says(&["not a plan of a layout"]);
    }
    let cold = file("cold.csv", "file,load\na,0\nb,0\n");
    plan(&cold, "--servers 2 --overwrite --save").arg(&planned).succeed();
    simulate(&planned, "--generate 5").fail(2).says(&["no file of the plan has load"]);
}
