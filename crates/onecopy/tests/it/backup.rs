//! `backup` and `restore`, and snapshots that a server makes: to folders and buckets, while pages come in.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::client::{Server, folder_with_token, serve, serve_in};
use crate::collection::{on, statuses};
use crate::pages::{topic, window, write_corpus};
use crate::program::{Call, Finished, onecopy};
use crate::results::{entries, files_below};
use crate::stores::s3_for_backups;

const LIMIT: Duration = Duration::from_secs(60);
const TOKEN: &str = "0123456789abcdef-token";

fn put(server: &Server, id: &str, text: &str) {
    server.post("/pages", &format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}")).with(202);
}

fn backup(folder: &Path) -> Call {
    on("backup", folder).arg("--to").arg(folder.join("backups"))
}

/// Restores the newest snapshot into a new folder, which then has it in `pages`.
fn restored(from: &Path) -> TempDir {
    let folder = tempdir().expect("a folder");
    on("restore", folder.path()).arg("--from").arg(from.join("backups")).succeed();
    folder
}

/// All lines of a list about a collection.
fn export(folder: &Path, args: &str) -> String {
    on("export", folder).args("--quiet --status all").args(args).succeed().stdout
}

fn assert_same(one: &Path, other: &Path) {
    assert_eq!(export(one, ""), export(other, ""));
    assert_eq!(export(one, "--statuses"), export(other, "--statuses"));
    let groups = |folder: &Path| on("groups", folder).args("--json --limit 1000").succeed().stdout;
    assert_eq!(groups(one), groups(other));
}

#[test]
fn a_collection_comes_back_from_a_folder() {
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 300);
    on("import", folder.path()).arg(&input).args("--quiet").succeed();
    let first = backup(folder.path()).args("--json").succeed();
    let first: Value = serde_json::from_str(&first.stdout).expect("JSON");
    let pieces = files_below(&folder.path().join("backups/pieces")).len() as u64;
    assert_eq!((&first["pieces"], &first["new_pieces"]), (&Value::from(pieces), &Value::from(pieces)));
    let again = backup(folder.path()).succeed();
    assert!(again.stdout.contains(&format!("Written: 0 of {pieces} pieces, 0 B")), "{}", again.stdout);
    let copy = restored(folder.path());
    assert_same(folder.path(), copy.path());
    on("check", copy.path()).succeed();
    on("restore", copy.path()).arg("--from").arg(folder.path().join("backups")).fail(2).says(&["not empty"]);
    let list = || onecopy(["backup", "--list", "--to"]).arg(folder.path().join("backups")).succeed().stdout;
    assert_eq!(list().lines().count(), 2);
    backup(folder.path()).args("--keep 1 --quiet").succeed();
    assert_eq!(list().lines().count(), 1);
}

#[test]
fn a_place_without_snapshots_is_an_error() {
    let folder = tempdir().expect("a folder");
    let (missing, other) = (folder.path().join("missing"), folder.path().join("other"));
    fs::create_dir(&other).expect("a folder");
    fs::write(other.join("letter.txt"), "mine").expect("a file");
    for (place, words) in [(&missing, "there is no such folder"), (&other, "it has no snapshot")] {
        let remedy = "check the path, or make one with `onecopy backup --data DIR --to";
        onecopy(["backup", "--list", "--to"]).arg(place).fail(1).says(&[words, remedy]);
        onecopy(["backup", "--list", "--json", "--to"]).arg(place).fail(1).says(&[words, remedy]);
        on("restore", folder.path()).arg("--from").arg(place).fail(1).says(&[words, remedy]);
        on("restore", folder.path()).args("--snapshot x --from").arg(place).fail(1).says(&[words, remedy]);
    }
    assert_eq!(entries(folder.path()), ["other"], "nothing is created");
    assert_eq!(entries(&other), ["letter.txt"]);
}

#[test]
fn a_bucket_works_like_a_folder() {
    let (root, store) = s3_for_backups();
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 200);
    on("import", folder.path()).arg(&input).args("--quiet").succeed();
    let to = |call: Call, flag: &str| store.settings(call.arg(flag).arg("s3://pages/deep/backups"));
    to(on("backup", folder.path()), "--to").succeed();
    let second = to(on("backup", folder.path()), "--to").args("--keep 1").succeed();
    assert!(second.stdout.contains("Written: 0 of"), "{}", second.stdout);
    assert!(second.stdout.contains("Removed: 1 older"), "{}", second.stdout);
    let copy = tempdir().expect("a folder");
    to(on("restore", copy.path()), "--from").succeed();
    assert_same(folder.path(), copy.path());
    let listed = to(onecopy(["backup", "--list", "--json"]), "--to").succeed().stdout;
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let lost = files_below(&root.path().join("pages/deep/backups/pieces")).swap_remove(0);
    fs::remove_file(root.path().join("pages/deep/backups/pieces").join(&lost)).expect("a piece");
    let other = tempdir().expect("a folder");
    to(on("restore", other.path()), "--from").fail(1).says(&[&lost, "is missing"]);
    on("status", other.path()).fail(2).says(&["a restore was not finished"]);
    let away = store.settings(on("backup", folder.path()).args("--to s3://elsewhere/x"));
    away.fail(1).says(&["s3://elsewhere/x", "no such bucket"]);
    on("backup", folder.path())
        .args("--to https://a.example/x")
        .fail(1)
        .says(&["a web server stores nothing"]);
}

#[test]
fn the_commands_for_operators_work() {
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 100);
    on("import", folder.path()).arg(&input).args("--quiet").succeed();
    let guide = include_str!("../../../../docs/OPERATING.md");
    let section = guide.split("## Back it up").nth(1).and_then(|rest| rest.split("\n## ").next());
    let commands = section.expect("the section").lines().filter_map(|line| line.strip_prefix("onecopy "));
    let finished: Vec<Finished> =
        commands.map(|command| onecopy(command.split(' ')).within(folder.path()).succeed()).collect();
    assert_eq!(finished.len(), 4);
    assert!(finished[3].stdout.starts_with("No problems found."), "{}", finished[3].stdout);
}

/// Unpacks a collection of an earlier release into `pages` of a new folder.
fn of_release(name: &str) -> TempDir {
    let folder = tempdir().expect("a folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../onecopy-engine/tests/formats").join(name);
    let packed = fs::read(path).expect("a fixture");
    let bytes = zstd::stream::decode_all(&packed[..]).expect("zstd");
    tar::Archive::new(&bytes[..]).unpack(folder.path().join("pages")).expect("a collection");
    folder
}

#[test]
fn the_first_command_on_an_earlier_collection_upgrades_it() {
    let folder = of_release("format-2-0.1.tar.zst");
    // A backup before the upgrade is one of the old format.
    backup(folder.path()).succeed();
    on("status", folder.path()).fail(2).says(&["it has format 2", "must be upgraded first", "onecopy serve"]);
    let line = "{\"id\": \"a\", \"text\": \"a page of today\"}\n";
    let more = folder.path().join("more.jsonl");
    fs::write(&more, line).expect("a file");
    let import = on("import", folder.path()).arg(&more).succeed();
    import.says(&["from format 2 to format 3", "format-2 has its old files"]);
    assert_eq!(on("status", folder.path()).succeed().stderr, "");
    on("check", folder.path()).succeed();
    let server = serve_in(of_release("format-2-0.2.tar.zst"), "");
    server.heard("the collection is upgraded");
    server.get("/pages?page=sl/ash").with(200);
    server.post("/pages", line.trim()).with(202);
    server.settle();
    let (_, served) = server.end();
    assert_eq!(export(served.path(), ""), export(folder.path(), ""));
    let copy = restored(folder.path());
    on("import", copy.path())
        .arg(write_corpus(copy.path(), 10))
        .succeed()
        .says(&["from format 2 to format 3"]);
}

fn wait_for_snapshots(server: &Server, count: usize) -> Value {
    let begun = Instant::now();
    loop {
        let list = server.get("/snapshots").with(200);
        if list["running"] == false && list["snapshots"].as_array().is_some_and(|all| all.len() == count) {
            return list;
        }
        assert!(begun.elapsed() < LIMIT, "{list}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_makes_snapshots_while_pages_come_in() {
    let mut server = serve("--snapshots backups");
    (0..40).for_each(|page| put(&server, &format!("p{page}"), &window(page % 20)));
    server.post("/snapshots", "").with(202);
    (40..60).for_each(|page| put(&server, &format!("p{page}"), &topic(&format!("t{page}"))));
    let list = wait_for_snapshots(&server, 1);
    assert!(list["snapshots"][0]["accepted"].as_u64().is_some_and(|accepted| accepted >= 40), "{list}");
    server.hear_of("is complete");
    let metrics = server.get("/metrics").text();
    for line in
        ["onecopy_snapshots_total 1", "onecopy_snapshots_failed_total 0", "onecopy_snapshot_running 0"]
    {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in {metrics}");
    }
    assert!(!metrics.contains("onecopy_snapshot_timestamp_seconds 0\n"), "{metrics}");
    // The command sees the served collection, too.
    let data = server.data();
    let folder = data.parent().expect("a folder");
    backup(folder).succeed();
    wait_for_snapshots(&server, 2);
    let copy = restored(folder);
    server.settle();
    let (_, folder) = server.end();
    assert_same(folder.path(), copy.path());
    assert_eq!(statuses(copy.path()).len(), 60);
    let cursor_of = |folder: TempDir| {
        serve_in(folder, "").get("/feed?after=0").header("onecopy-cursor").map(str::to_owned)
    };
    let cursor = cursor_of(folder).expect("a cursor");
    let server = serve_in(copy, "");
    // Readers of the original may know changes that came after the snapshot.
    server.get(&format!("/feed?after={cursor}")).fails(410, "collection");
}

#[test]
fn a_snapshot_that_fails_is_reported_and_the_place_is_the_operators() {
    let folder = folder_with_token(TOKEN);
    fs::write(folder.path().join("occupied"), "a file").expect("a file");
    let mut server = serve_in(folder, "--snapshots occupied --token-file token");
    let header = [("Authorization", format!("Bearer {TOKEN}"))];
    let header: Vec<(&str, &str)> = header.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(server.ask("POST", "/snapshots", &[], "").code, 401);
    server.ask("POST", "/snapshots?to=elsewhere", &header, "").fails(400, "to");
    server.ask("POST", "/snapshots", &header, "").with(202);
    let line = server.hear_of("snapshot: failed");
    assert!(line.contains("occupied"), "{line}");
    let metrics = server.ask("GET", "/metrics", &header, "").text();
    assert!(metrics.contains("onecopy_snapshots_failed_total 1"), "{metrics}");
    let empty = serve("--snapshots later").get("/snapshots").with(200);
    assert_eq!(empty["snapshots"], serde_json::json!([]), "{empty}");
    serve("").post("/snapshots", "").fails(404, "no place for snapshots");
    serve("").get("/snapshots").fails(404, "no place for snapshots");
}

#[test]
fn a_killed_backup_and_a_killed_restore_are_run_again() {
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 4_000);
    on("import", folder.path()).arg(&input).args("--quiet").succeed();
    for milliseconds in [0, 20, 60, 150] {
        let mut running = backup(folder.path()).start();
        std::thread::sleep(Duration::from_millis(milliseconds));
        running.kill();
        running.finish();
    }
    backup(folder.path()).succeed();
    let copy = tempdir().expect("a folder");
    let restore = || on("restore", copy.path()).arg("--from").arg(folder.path().join("backups"));
    for milliseconds in [0, 20, 60, 150] {
        let mut running = restore().start();
        std::thread::sleep(Duration::from_millis(milliseconds));
        running.kill();
        running.finish();
    }
    if !copy.path().join("pages/tables.redb").exists() {
        restore().succeed();
    }
    assert_same(folder.path(), copy.path());
}
