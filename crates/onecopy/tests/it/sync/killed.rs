//! A sync that is killed again and again while pages change writes each change once, and misses none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::database::Database;
use super::engines::Engine;
use super::fixture::{Fixture, Reply};
use super::{expected, sync};
use crate::client::{Server, serve, try_ask};
use crate::collection::on;
use crate::pages::{Random, window, write_corpus};

const PAGES: u64 = 400;
const KILLS: usize = 12;

/// Notes every write of a row, so that a change that is written twice is seen. Rows and the cursor are written slowly, so
/// that most kills come between them, whichever is first.
const AUDIT: &str = "
CREATE TABLE audit (id text, feed bigint);
CREATE FUNCTION note() RETURNS trigger AS
    'BEGIN PERFORM pg_sleep(0.005); INSERT INTO audit VALUES (NEW.id, NEW.feed); RETURN NEW; END' LANGUAGE plpgsql;
CREATE FUNCTION slow() RETURNS trigger AS
    'BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END' LANGUAGE plpgsql;
CREATE TRIGGER slowed BEFORE UPDATE ON onecopy_cursor FOR EACH ROW EXECUTE FUNCTION slow();
CREATE TRIGGER noted AFTER INSERT OR UPDATE ON onecopy_pages FOR EACH ROW EXECUTE FUNCTION note();";

/// Changes pages until it is stopped.
fn change(address: &str, stop: &AtomicBool) {
    let mut random = Random::new(7);
    while !stop.load(Ordering::Relaxed) {
        let id = format!("p{}", random.below(PAGES));
        let body = match random.below(10) {
            0 => json!({"page": id}),
            _ => json!({"id": id, "text": window(random.below(60) as usize)}),
        };
        let path = if body["page"].is_null() { "/pages" } else { "/pages/dead" };
        try_ask(address, ("POST", path), "application/json", &body.to_string());
    }
}

fn fill(server: &Server) {
    let page = |page: u64| json!({"id": format!("p{page}"), "text": window(page as usize % 60)}).to_string();
    let body = (0..PAGES).map(page).collect::<Vec<_>>().join("\n");
    let answer = server.ask("POST", "/pages", &[("Content-Type", "application/x-ndjson")], &body);
    assert_eq!(answer.code, 200);
    server.settle();
}

#[test]
fn a_killed_sync_continues_and_writes_each_change_once() {
    let Some(database) = Database::start() else { return };
    let server = serve("");
    let folder = server.data().parent().expect("a folder").to_owned();
    fill(&server);
    // The tables are made by a sync that is killed early, too.
    let mut first = sync(&folder, &database.address()).args("--batch 1").start();
    while database.cursor() < 20 {
        assert!(!first.ends_within(Duration::from_millis(1)), "it ended before it was killed");
    }
    first.kill();
    assert!(first.finish().was_killed());
    let begun = database.cursor();
    assert!(begun < PAGES as i64, "killed in the middle");
    database.client().batch_execute(AUDIT).expect("a trigger");
    let stop = AtomicBool::new(false);
    let mut random = Random::new(1);
    let mut moved = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| change(&server.address, &stop));
        for kill in 0..KILLS {
            // The last kills are among changes that no later change covers up.
            stop.store(kill >= KILLS / 3, Ordering::Relaxed);
            let before = database.cursor();
            let mut running = sync(&folder, &database.address()).args("--batch 5 --follow --poll 1s").start();
            running.ends_within(Duration::from_millis(150 + random.below(500)));
            running.kill();
            assert!(running.finish().was_killed());
            moved += u32::from(database.cursor() > before);
        }
    });
    assert!(moved >= 3, "only {moved} of {KILLS} got anywhere");
    server.settle();
    sync(&folder, &database.address()).succeed();
    assert_eq!(database.pages(), expected(&folder));
    let twice = database.client().query("SELECT id FROM audit GROUP BY id, feed HAVING count(*) > 1", &[]);
    assert_eq!(twice.expect("the audit").len(), 0, "changes were written twice");
}

#[test]
fn a_killed_sync_into_a_search_engine_continues_and_misses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 1_000);
    on("import", folder.path()).arg(input).succeed();
    let index = Engine::Elasticsearch.index();
    index.add(expected(folder.path()).into_keys());
    // After some requests the engine is down, and the sync is killed while it waits.
    let (known, left) = (index.clone(), Arc::new(AtomicUsize::new(0)));
    let (budget, refusals) = (left.clone(), Arc::new(AtomicUsize::new(0)));
    let refused = refusals.clone();
    let fixture = Fixture::start(move |request| {
        let take = |left: usize| left.checked_sub(1);
        let is_bulk = request.path.ends_with("/_bulk");
        if is_bulk && budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            refused.fetch_add(1, Ordering::Relaxed);
            return Reply(503, "", "down".into());
        }
        Engine::Elasticsearch.answer(&known, request)
    });
    let target = Engine::Elasticsearch.target(&fixture.address);
    let mut kills = 0;
    for _ in 0..40 {
        left.store(8, Ordering::Relaxed);
        refusals.store(0, Ordering::Relaxed);
        let mut running = sync(folder.path(), &target).args("--batch 10 --quiet").start();
        while refusals.load(Ordering::Relaxed) == 0 && !running.ends_within(Duration::from_millis(1)) {}
        running.kill();
        kills += usize::from(running.finish().was_killed());
        if index.entries().len() == 1_000 {
            break;
        }
    }
    left.store(usize::MAX, Ordering::Relaxed);
    assert!(kills > 4, "killed {kills} times only");
    sync(folder.path(), &target).succeed();
    assert_eq!(index.entries(), expected(folder.path()));
    // Each kill repeats a batch or two, not all pages.
    let rows: usize = fixture.requests().iter().map(|request| request.body.matches("\"doc\"").count()).sum();
    assert!((1_000..1_000 + 20 * (kills + 2)).contains(&rows), "{rows} rows after {kills} kills");
}
