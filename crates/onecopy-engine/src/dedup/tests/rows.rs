//! Rows in memory give the obvious answer, too.

use std::sync::Arc;

use super::*;
use crate::ingest::{RowColumn, RowKind, RowValue, Rows};
use crate::output::ListValues;

/// Pages as rows. The text of HTML pages is in a column of its own.
#[derive(Debug)]
struct MadeRows(Vec<Value>);

const COLUMNS: [(&str, RowKind); 4] =
    [("popularity", RowKind::Real), ("html", RowKind::Text), ("id", RowKind::Text), ("text", RowKind::Text)];

impl Rows for MadeRows {
    fn columns(&self) -> Vec<RowColumn> {
        let column = |&(name, kind): &(&str, RowKind)| RowColumn { name: name.into(), kind: Some(kind) };
        COLUMNS.iter().map(column).collect()
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn value(&self, row: u64, column: usize) -> Option<RowValue<'_>> {
        let value = self.0[row as usize].get(COLUMNS[column].0)?;
        let text = value.as_str().map(|text| RowValue::Text(text.as_bytes()));
        text.or_else(|| value.as_f64().map(RowValue::Real))
    }
}

fn made_rows(pages: &[Made]) -> Arc<MadeRows> {
    Arc::new(MadeRows(pages.iter().map(|page| serde_json::from_str(&line(page)).unwrap()).collect()))
}

fn texts(table: &crate::ListTable, name: &str) -> Vec<String> {
    let Some(ListValues::Text(values)) = table.column(name) else { panic!("no text in {name}") };
    values.iter().map(|value| value.as_deref().unwrap_or_default().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_give_the_obvious_answer(pages in corpus(), config in methods(), squeeze in squeezes()) {
        let expected = expected(&pages, &config);
        let folder = tempfile::tempdir().unwrap();
        let mut job = job(folder.path(), &config, squeeze);
        job.rows = Some(made_rows(&pages));
        prop_assume!(!pages.is_empty());
        let (report, lists) = dedup_rows(&job, &Silent).unwrap();
        prop_assert_eq!(report.read, pages.len() as u64);
        let found: BTreeMap<String, String> =
            texts(&lists.removed, "page").into_iter().zip(texts(&lists.removed, "winner")).collect();
        let removed = expected.iter().filter_map(|(page, fate)| Some((page.clone(), fate.0.clone()?.0)));
        prop_assert_eq!(found, removed.collect());
        prop_assert!(fs::read_dir(&job.out).unwrap().next().is_none(), "the folder is left empty");
    }
}

#[test]
fn columns_that_make_no_page_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = Job::new(["data"], folder.path().join("out"));
    job.rows =
        Some(Arc::new(MadeRows(vec![json!({"id": "a", "text": "one two three"}), json!({"id": "a"})])));
    let why = dedup_rows(&job, &Silent).unwrap_err().to_string();
    assert_eq!(why, "the id `a` is in rows 0 and 1: make ids differ, or drop the column");
    job.fields.text = Some("popularity".into());
    let why = dedup_rows(&job, &Silent).unwrap_err().to_string();
    assert!(why.contains("its column `popularity` cannot be the text: it is not a column of text"), "{why}");
    job.fields.text = Some("txt".into());
    let why = dedup_rows(&job, &Silent).unwrap_err().to_string();
    assert!(why.contains("no field `txt`") && why.contains("did you mean `text`"), "{why}");
}
