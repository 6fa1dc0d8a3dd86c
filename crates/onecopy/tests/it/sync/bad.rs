//! Wrong calls, other collections, old cursors, names that do not fit, and servers that are down.

use std::time::Duration;

use serde_json::json;
use tempfile::tempdir;

use super::database::Database;
use super::{expected, summary, sync};
use crate::collection::on;
use crate::pages::{topic, window, write_records};
use crate::program::onecopy;
use crate::results::json_lines;

/// A collection with three pages in a new folder.
fn small(stem: &str) -> tempfile::TempDir {
    let folder = tempdir().expect("a folder");
    let pages = [("a", window(0)), ("b", window(3)), (stem, topic(stem))];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let input = write_records(folder.path(), "in.jsonl", &pages);
    on("import", folder.path()).arg(input).succeed();
    folder
}

#[test]
fn another_collection_is_refused_until_a_restart() {
    let Some(database) = Database::start() else { return };
    let (one, other) = (small("one"), small("other"));
    sync(one.path(), &database.address()).succeed();
    let before = database.pages();
    let refused = sync(other.path(), &database.address()).fail(2);
    refused.says(&["has the statuses of the collection", "--restart"]);
    assert_eq!(database.pages(), before, "nothing was written");
    sync(other.path(), &database.address()).args("--restart").succeed();
    let mut now = expected(other.path());
    now.insert("one".into(), (None, None, "dead".into()));
    assert_eq!(database.pages(), now);
    // The first one is another again.
    sync(one.path(), &database.address()).fail(2);
}

#[test]
fn a_cursor_that_the_feed_does_not_have_sends_all_pages_again() {
    let Some(database) = Database::start() else { return };
    let folder = small("one");
    sync(folder.path(), &database.address()).succeed();
    let spoil = "UPDATE onecopy_cursor SET feed = 1000000; UPDATE onecopy_pages SET status = 'wrong'; \
                 INSERT INTO onecopy_pages VALUES ('gone', 1, 'a', 'loser', 9)";
    database.client().batch_execute(spoil).expect("a change");
    let told = summary(&sync(folder.path(), &database.address()).arg("--json").succeed());
    assert!(told["restarted"].as_str().is_some_and(|why| why.contains("1000000")), "{told}");
    let mut now = expected(folder.path());
    now.insert("gone".into(), (None, None, "dead".into()));
    assert_eq!(database.pages(), now);
}

#[test]
fn pages_that_the_database_refuses_are_listed_and_tried_again() {
    let Some(database) = Database::start() else { return };
    let folder = tempdir().expect("a folder");
    // A key of an index holds 2,704 bytes after compression, and this text is hard to compress.
    let mut random = crate::pages::Random::new(3);
    let long: String = (0..4_000).map(|_| char::from(33 + random.below(90) as u8)).collect();
    let pages =
        [("good", topic("x")), (&long, topic("y")), ("zero\0name", topic("z")), ("other", topic("o"))];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(id, text)| (*id, text.as_str())).collect();
    on("import", folder.path()).arg(write_records(folder.path(), "in.jsonl", &pages)).succeed();
    for _ in 0..2 {
        let finished = sync(folder.path(), &database.address()).args("--json").fail(3);
        finished.says(&["refuses 2 pages", "failed.jsonl"]);
        let told = summary(&finished);
        assert_eq!(
            (&told["failed"], told["first_failed"][1]["page"].as_str()),
            (&json!(2), Some("zero\0name"))
        );
        let list = json_lines(std::path::Path::new(told["failed_list"].as_str().expect("a path")));
        assert!(list[0]["reason"].as_str().is_some_and(|why| why.contains("exceeds")), "{list:?}");
        assert_eq!(database.pages().keys().collect::<Vec<_>>(), ["good", "other"]);
    }
    let list = folder.path().join("pages.sync");
    assert_eq!(std::fs::read_dir(&list).expect("a folder").count(), 1, "one list");
}

#[test]
fn a_page_leaves_the_list_when_the_database_takes_it() {
    let Some(database) = Database::start() else { return };
    let folder = small("one");
    sync(folder.path(), &database.address()).succeed();
    let mut client = database.client();
    client
        .batch_execute("ALTER TABLE onecopy_pages ADD CONSTRAINT early CHECK (id <> 'late')")
        .expect("a rule");
    let more =
        write_records(folder.path(), "more.jsonl", &[("late", &topic("late")), ("soon", &topic("soon"))]);
    on("import", folder.path()).arg(more).succeed();
    sync(folder.path(), &database.address()).fail(3).says(&["refuses 1 page:"]);
    assert!(database.pages().contains_key("soon") && !database.pages().contains_key("late"));
    client.batch_execute("ALTER TABLE onecopy_pages DROP CONSTRAINT early").expect("no rule");
    let told = summary(&sync(folder.path(), &database.address()).args("--json").succeed());
    assert_eq!(told["sent"], 1, "{told}");
    assert_eq!(database.pages(), expected(folder.path()));
    assert!(!folder.path().join("pages.sync").exists());
}

#[test]
fn a_database_that_is_down_is_waited_for() {
    let Some(mut database) = Database::start() else { return };
    let folder = small("one");
    sync(folder.path(), &database.address()).succeed();
    database.stop();
    let down = sync(folder.path(), &database.address()).fail(1);
    down.says(&["postgres://127.0.0.1", "--retry-for"]);
    let patient =
        on("sync", folder.path()).args("--retry-for 1m --restart --to").arg(database.address()).start();
    std::thread::sleep(Duration::from_millis(500));
    database.restart();
    assert_eq!(patient.finish().code(), Some(0));
    assert_eq!(database.pages(), expected(folder.path()));
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let folder = small("one");
    let here = |args: &str| on("sync", folder.path()).args(args).within(folder.path());
    here("--to lucene://a/b").fail(2).says(&["lucene", "elasticsearch://HOST"]);
    here("").fail(2).says(&["--to"]);
    here("--run out --to postgres://a/b").fail(2).says(&["--run"]);
    onecopy(["sync", "--from", "http://127.0.0.1:1", "--to", "postgres://a/b"]).fail(2).says(&["--state"]);
    onecopy(["sync", "--from", "ftp://a", "--state", "s", "--to", "postgres://a/b"])
        .within(folder.path())
        .fail(2)
        .says(&["http://HOST:7171"]);
    onecopy(["sync", "--run", "nothing", "--to", "postgres://a/b"])
        .within(folder.path())
        .fail(1)
        .says(&["holds no finished run"]);
    onecopy(["sync", "--data", "nothing", "--to", "postgres://a/b"])
        .within(folder.path())
        .fail(1)
        .says(&["onecopy import --data nothing"]);
    assert!(!folder.path().join("nothing.sync").exists(), "no folder for nothing");
    let Some(database) = Database::start() else { return };
    let missing = database.address().replace("/postgres", "/missing");
    here(&format!("--retry-for 1s --to {}", missing.replacen("postgres:", "postgresql:", 1)))
        .fail(1)
        .says(&["missing", "createdb"]);
    let mut client = database.client();
    client.batch_execute("CREATE TABLE onecopy_cursor (x text)").expect("a table");
    here(&format!("--to {}", database.address())).fail(1).says(&["one of onecopy_pages and onecopy_cursor"]);
}

#[test]
fn a_password_comes_from_the_environment_and_a_wrong_one_is_not_tried_again() {
    let Some(mut database) = Database::start() else { return };
    database.add_user("guarded", "open sesame");
    let folder = small("one");
    let target = database.address().replace("tester@", "guarded@");
    let call = || on("sync", folder.path()).args("--retry-for 1h --to").arg(&target);
    call().fail(1).says(&["password missing", "PGPASSWORD"]);
    call().variable("PGPASSWORD", "wrong").fail(1).says(&["authentication failed", "PGPASSWORD"]);
    call().variable("PGPASSWORD", "open sesame").succeed();
    assert_eq!(database.pages(), expected(folder.path()));
}
