//! `onecopy pages`: lists the pages of a collection, one per line.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Result;
use onecopy_engine::ListedPage;

use crate::args::PagesArgs;
use crate::commands::collection::{self, line, name};
use crate::commands::{NotPrinted, print};

/// The pages that are read at a time.
const AT_ONCE: usize = 1_000;

pub fn run(args: &PagesArgs) -> Result<ExitCode> {
    let service = collection::open(&args.collection.data)?;
    let (filter, mut after, mut is_empty) = (args.filter(), None, true);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    loop {
        let list = service.list(&filter, after.as_ref(), AT_ONCE)?;
        is_empty &= list.pages.is_empty();
        for page in &list.pages {
            writeln!(out, "{}", text(page, args)?).map_err(NotPrinted)?;
        }
        after = list.next;
        if after.is_none() {
            break;
        }
    }
    out.flush().map_err(NotPrinted)?;
    drop(out);
    service.close()?;
    if is_empty && !args.json {
        print("No pages found.\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(page: &ListedPage, args: &PagesArgs) -> Result<String> {
    Ok(match args.json {
        true => serde_json::to_string(page)?,
        false => format!("{}  {}", name(&page.status.page), line(&page.status)),
    })
}
