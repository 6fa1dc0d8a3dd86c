//! A real full-text index: Tantivy behind a small server takes the fields, and the query of docs/SEARCH.md shows each
//! content once.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::tempdir;

use super::{expected, sync};
use crate::client::Connection;
use crate::collection::on;
use crate::pages::write_corpus;
use crate::python::Python;

/// The server. Dropping it kills it.
struct Engine {
    child: Child,
    address: String,
}

impl Engine {
    fn start(python: &Python, pages: &Path) -> Engine {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sync/engine.py");
        let mut child =
            python.command().arg(script).arg(pages).stdout(Stdio::piped()).spawn().expect("Python starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("a port");
        Engine { child, address: format!("127.0.0.1:{}", port.trim()) }
    }

    /// The hits of a search, best first: winner and status of each.
    fn search(&self, query: &Value) -> Vec<(String, String)> {
        let mut connection = Connection::open(&self.address).expect("the engine listens");
        connection.send_request("POST", "/web/_search", &[], query.to_string().as_bytes());
        let answer = connection.answer().json();
        let field = |hit: &Value, name: &str| hit["_source"][name].as_str().unwrap_or_default().to_owned();
        let hits = answer["hits"]["hits"].as_array().expect("hits").iter();
        hits.map(|hit| (field(hit, "onecopy_winner"), field(hit, "onecopy_status"))).collect()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The query that docs/SEARCH.md shows for Elasticsearch, for a word of the corpus.
fn query_of_the_guide() -> Value {
    let guide = include_str!("../../../../../docs/SEARCH.md");
    let (_, section) = guide.split_once("Elasticsearch and OpenSearch. ").expect("its section");
    let example = section.split("```").nth(1).expect("an example").trim_start_matches("json");
    let mut query: Value = serde_json::from_str(example).expect("JSON");
    query["query"]["bool"]["must"]["match"]["body"] = json!("site0");
    query
}

#[test]
fn tantivy_takes_the_fields_and_shows_each_content_once() {
    let python = match Python::with(&["tantivy==0.27.0"], "tantivy") {
        Ok(python) => python,
        Err(reason) => return println!("skipped: tantivy cannot be installed: {reason}"),
    };
    let folder = tempdir().expect("a folder");
    let input = write_corpus(folder.path(), 600);
    on("import", folder.path()).arg(&input).succeed();
    let engine = Engine::start(&python, &input);
    sync(folder.path(), &format!("elasticsearch://{}/web", engine.address)).succeed();
    let collapsed = query_of_the_guide();
    let mut all = collapsed.clone();
    all.as_object_mut().expect("a query").remove("collapse");
    let (hits, once) = (engine.search(&all), engine.search(&collapsed));
    let winners: BTreeSet<&String> = hits.iter().map(|(winner, _)| winner).collect();
    let shown: BTreeSet<&String> = once.iter().map(|(winner, _)| winner).collect();
    assert!(hits.len() > once.len() && hits.iter().any(|(_, status)| status == "loser"), "{}", hits.len());
    assert_eq!((shown.len(), &shown), (once.len(), &winners), "each content is there, once");
    let known = expected(folder.path());
    assert!(shown.iter().all(|winner| known[*winner].2 != "loser"), "a kept page stands for each");
}
