//! Sends random requests from the served `openapi.json`, by schemathesis. No answer may be a server error, or have a
//! code, type or form that the document does not name.
//!
//! schemathesis is installed once below the target folder. Without Python or a network the test says so and passes.

mod agreement;

use std::fs;
use std::time::Duration;

use tempfile::tempdir;

use crate::client::serve;
use crate::pages::topic;
use crate::python::{Python, run};

const PACKAGES: [&str; 2] = ["schemathesis==4.32.5", "hypothesis==6.170.15"];
const LIMIT: Duration = Duration::from_secs(140);
/// The checks on every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,response_headers_conformance,unsupported_method,allow_header_conformance";
const FEED_AT_ONCE: &str = "[[operations]]\ninclude-path = \"/feed\"\nparameters = { \"query.wait\" = 0 }\n";

#[test]
fn no_answer_is_other_than_the_document_says() {
    let python = match Python::with(&PACKAGES, "schemathesis, hypothesis") {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {} cannot be installed: {reason}", PACKAGES.join(", "));
            return;
        }
    };
    let server = serve("");
    for (id, text) in [("a", topic("one")), ("b", topic("one")), ("c", topic("two"))] {
        server.post("/pages", &format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}")).with(202);
    }
    server.settle();
    let folder = tempdir().expect("a folder");
    // Other tests cover waiting for the feed: this one would wait again and again.
    fs::write(folder.path().join("schemathesis.toml"), FEED_AT_ONCE).expect("a file");
    fs::write(folder.path().join("openapi.py"), include_str!("openapi.py")).expect("a file");
    let address = format!("http://{}/openapi.json", server.address);
    let mut command = python.command();
    command.current_dir(folder.path()).env("SCHEMATHESIS_HOOKS", "openapi").env("NO_PROXY", "127.0.0.1");
    command.args(["-m", "schemathesis.cli", "run", &address, "--checks", CHECKS, "--seed", "7"]);
    command.args([
        "--max-examples",
        "25",
        "--phases",
        "examples,coverage,fuzzing",
        "--request-timeout",
        "20",
    ]);
    run(&mut command, LIMIT).unwrap_or_else(|error| panic!("{error}"));
    server.get("/health").with(200);
}
