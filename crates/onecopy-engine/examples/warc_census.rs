//! Counts what is in files of the WARC family: `cargo run --example warc_census -- crawl.warc.gz`

use onecopy_engine::{Limits, census};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let census = census(path.as_ref(), &Limits::default())?;
        let records: u64 = census.records.values().sum();
        println!("{path}: {records} records, {} pages of {} bytes", census.pages, census.page_bytes);
        println!("  {:?}, redirects: {}, revisits: {}", census.records, census.redirects, census.revisits);
        for (reason, count) in census.rejected.iter().chain(&census.lost) {
            println!("  {count} x {reason}");
        }
    }
    Ok(())
}
