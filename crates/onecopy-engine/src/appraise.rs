//! Appraises rows in memory and nothing else, for engines that share the work out, such as Spark.
//!
//! A row becomes the same page as in [`dedup_rows`](crate::dedup_rows).

use onecopy_core::{Appraised, Appraiser, Needs, method};

use crate::error::{Error, Result};
use crate::ingest::{FieldNames, RowCells, RowColumns, Rows};
use crate::job::Job;

/// A row as a page with its sketch, or the reason why it cannot be judged.
pub type RowFacts<'a> = std::result::Result<(Appraised<'a>, &'a [u64]), String>;

/// Appraises all rows by the job's configuration, fields and limits, and gives each to `each`, in order.
pub fn appraise_rows(job: &Job, rows: &dyn Rows, mut each: impl FnMut(RowFacts)) -> Result<()> {
    let method = method(&job.config).map_err(Error::Config)?;
    let (names, needs) = (FieldNames::new(&job.fields), Needs::of(&job.config, &*method));
    let columns = RowColumns::choose(rows, &job.fields)?;
    let mut appraiser = Appraiser::new(&job.config, &*method);
    let mut sketch = Vec::new();
    for row in 0..rows.len() {
        sketch.clear();
        let cells = RowCells::read(rows, &columns, row);
        match cells.record(&names, &needs, job.limits.page_bytes) {
            Err(reason) => each(Err(reason.text)),
            Ok(record) => {
                let page = appraiser.appraise(&record, &cells.bytes(), |_| true, &mut sketch);
                match page.objection() {
                    Some(objection) => each(Err(objection.into())),
                    None => each(Ok((page, &sketch))),
                }
            }
        }
    }
    Ok(())
}
