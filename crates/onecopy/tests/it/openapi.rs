//! Made-up requests after the served `openapi.json`, by schemathesis: no answer is a server error, and none has a code,
//! a type or a form that the document does not name.
//!
//! It is installed below the target folder, once. Where there is no Python or no network the test says so and passes.

use std::time::Duration;

use tempfile::tempdir;

use crate::client::serve;
use crate::pages::topic;
use crate::python::{Python, run};

const PACKAGES: [&str; 2] = ["schemathesis==4.32.5", "hypothesis==6.170.15"];
const LIMIT: Duration = Duration::from_secs(140);
/// What is asked of every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,response_headers_conformance,unsupported_method";

#[test]
fn no_answer_is_other_than_the_document_says() {
    let python = match Python::with(&PACKAGES, "schemathesis, hypothesis") {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {} cannot be installed: {reason}", PACKAGES.join(", "));
            return;
        }
    };
    let server = serve("--quiet=false");
    for (id, text) in [("a", topic("one")), ("b", topic("one")), ("c", topic("two"))] {
        server.post("/pages", &format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}")).with(202);
    }
    server.settle();
    // It keeps what it learned in the folder that it is called from.
    let folder = tempdir().expect("a folder");
    let address = format!("http://{}/openapi.json", server.address);
    let mut command = python.command();
    command.current_dir(folder.path()).env("NO_PROXY", "127.0.0.1").args([
        "-m",
        "schemathesis.cli",
        "run",
        &address,
    ]);
    command.args([
        "--checks",
        CHECKS,
        "--max-examples",
        "25",
        "--seed",
        "7",
        "--phases",
        "examples,coverage,fuzzing",
    ]);
    command.args(["--request-timeout", "20", "--exclude-checks", "none", "--no-color"]);
    run(&mut command, LIMIT).unwrap_or_else(|error| panic!("{error}"));
    server.get("/health").with(200);
}
