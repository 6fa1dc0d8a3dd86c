//! The main job in a few lines: removes the duplicates of a folder, and prints each removed page with its reason.
//!
//! ```sh
//! cargo run --release -p onecopy-engine --example few_lines examples/crawl
//! ```

use std::error::Error;

use onecopy_engine::{Job, Silent, dedup};

fn main() -> Result<(), Box<dyn Error>> {
    let input = std::env::args().nth(1).unwrap_or_else(|| "examples/crawl".into());
    let folder = tempfile::tempdir()?;

    let job = Job::new([input], folder.path().join("out"));
    let outcome = dedup(&job, &Silent)?;
    let counts = &outcome.report().counts;
    println!("{} pages kept, {} removed; the first of them:", counts.kept, counts.removed);

    for line in std::fs::read_to_string(job.out.join("removed.jsonl"))?.lines().take(5) {
        let removed: serde_json::Value = serde_json::from_str(line)?;
        println!("{} for {}, {} alike", removed["page"], removed["winner"], removed["similarity"]);
    }
    Ok(())
}
