//! Copies whole tables, row by row, as bytes: for backups.

use redb::{Key, ReadTransaction, ReadableTable, TableDefinition, TableHandle, Value, WriteTransaction};

use super::{
    CHECKS, CONTENTS, COPIES, ENDING, EXPIRING, FED_GROUPS, FED_PAGES, FEED, FINGERPRINTS, GROUPS, LIVE,
    MARKS, META, NAMES, NAMING, PAGES, STANDING, Snapshot, Tables, WITNESSES, broken, guarded,
};
use crate::error::{Error, Result};

/// A row of a table, as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow<'a> {
    /// The name of the table.
    pub table: &'a str,
    /// The bytes of the key.
    pub key: &'a [u8],
    /// The bytes of the value.
    pub value: &'a [u8],
}

/// Receives the rows of all tables.
pub type EachRow<'a> = dyn FnMut(TableRow) -> Result<()> + 'a;

impl Snapshot {
    /// Passes on all rows, table by table, sorted by key.
    pub fn rows(&self, each: &mut EachRow) -> Result<()> {
        let from = &self.transaction;
        guarded(|| {
            read(from, META, each)?;
            read(from, NAMES, each)?;
            read(from, PAGES, each)?;
            read(from, CONTENTS, each)?;
            read(from, FINGERPRINTS, each)?;
            read(from, COPIES, each)?;
            read(from, STANDING, each)?;
            read(from, NAMING, each)?;
            read(from, ENDING, each)?;
            read(from, GROUPS, each)?;
            read(from, CHECKS, each)?;
            read(from, WITNESSES, each)?;
            read(from, FEED, each)?;
            read(from, FED_PAGES, each)?;
            read(from, FED_GROUPS, each)?;
            read(from, EXPIRING, each)?;
            read(from, MARKS, each)?;
            read(from, LIVE, each)
        })
    }
}

/// Keys and values of one table.
pub type KeysAndValues<'a> = dyn Iterator<Item = (&'a [u8], &'a [u8])> + 'a;

impl Tables {
    /// Adds rows of a table that [`Snapshot::rows`] gave, in one transaction.
    pub fn insert_rows<'a>(&self, table: &str, rows: &mut KeysAndValues<'a>) -> Result<()> {
        let writing = self.begin()?;
        guarded(|| insert(&writing.transaction, table, rows))?;
        writing.commit()
    }
}

fn read<K, V>(from: &ReadTransaction, table: TableDefinition<K, V>, each: &mut EachRow) -> Result<()>
where
    K: Key + 'static,
    V: Value + 'static,
{
    for entry in from.open_table(table).map_err(broken)?.iter().map_err(broken)? {
        let (key, value) = entry.map_err(broken)?;
        let (key, value) = (key.value(), value.value());
        let (key, value) = (K::as_bytes(&key), V::as_bytes(&value));
        each(TableRow { table: table.name(), key: key.as_ref(), value: value.as_ref() })?;
    }
    Ok(())
}

fn insert(into: &WriteTransaction, table: &str, rows: &mut KeysAndValues) -> Result<()> {
    match table {
        "meta" => write(into, META, rows),
        "names" => write(into, NAMES, rows),
        "pages" => write(into, PAGES, rows),
        "contents" => write(into, CONTENTS, rows),
        "fingerprints" => write(into, FINGERPRINTS, rows),
        "copies" => write(into, COPIES, rows),
        "standing" => write(into, STANDING, rows),
        "naming" => write(into, NAMING, rows),
        "ending" => write(into, ENDING, rows),
        "groups" => write(into, GROUPS, rows),
        "checks" => write(into, CHECKS, rows),
        "witnesses" => write(into, WITNESSES, rows),
        "feed" => write(into, FEED, rows),
        "fed-pages" => write(into, FED_PAGES, rows),
        "fed-groups" => write(into, FED_GROUPS, rows),
        "expiring" => write(into, EXPIRING, rows),
        "marks" => write(into, MARKS, rows),
        "live" => write(into, LIVE, rows),
        other => Err(Error::Refused(format!("this version knows no table `{other}`"))),
    }
}

fn write<K, V>(into: &WriteTransaction, table: TableDefinition<K, V>, rows: &mut KeysAndValues) -> Result<()>
where
    K: Key + 'static,
    V: Value + 'static,
{
    let fits = |width: Option<usize>, bytes: &[u8]| width.is_none_or(|width| width == bytes.len());
    let name = table.name().to_owned();
    let mut table = into.open_table(table).map_err(broken)?;
    for (key, value) in rows {
        if !fits(K::fixed_width(), key) || !fits(V::fixed_width(), value) {
            return Err(Error::Refused(format!("a row of table `{name}` has another length")));
        }
        table.insert(K::from_bytes(key), V::from_bytes(value)).map_err(broken)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use redb::ReadableDatabase;
    use redb::backends::InMemoryBackend;

    use super::*;
    use crate::rows::{Heads, PageRow};
    use crate::tables::{FeedSubject, Role};

    fn tables() -> Tables {
        Tables::open(InMemoryBackend::new(), 1 << 20, false).unwrap()
    }

    fn all(tables: &Tables) -> Vec<(String, Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        let each = &mut |row: TableRow| {
            rows.push((row.table.to_owned(), row.key.to_vec(), row.value.to_vec()));
            Ok(())
        };
        tables.snapshot().unwrap().rows(each).unwrap();
        rows
    }

    fn filled() -> Tables {
        let tables = tables();
        let writing = tables.begin().unwrap();
        let mut batch = writing.batch().unwrap();
        for page in 0..50 {
            let row = PageRow { name: format!("\"{page}\""), ..PageRow::default() };
            batch.set_page(page, &row).unwrap();
            batch.set_name(&row.name, page).unwrap();
            batch.add_copy(page, 1, b"rank", page).unwrap();
            batch.add_standing(Role::Content, u64::from(page), b"rank", page).unwrap();
            batch.add_naming(7, page).unwrap();
            batch.add_change(u64::from(page) + 1, FeedSubject::Page(page), b"{}").unwrap();
            batch.add_live(page, 9).unwrap();
        }
        batch.mark_feed(3, 4).unwrap();
        batch.set_heads(&Heads { feed: 50, ..Heads::default() }).unwrap();
        drop(batch);
        writing.commit().unwrap();
        tables
    }

    #[test]
    fn rows_come_back_and_every_table_is_among_them() {
        let (before, after) = (filled(), tables());
        let rows = all(&before);
        assert!(rows.len() > 300, "{}", rows.len());
        for (table, key, value) in &rows {
            after.insert_rows(table, &mut [(&key[..], &value[..])].into_iter()).unwrap();
        }
        assert_eq!(all(&after), rows);
        let transaction = before.database().unwrap().begin_read().unwrap();
        for table in transaction.list_tables().unwrap() {
            let refused = after.insert_rows(table.name(), &mut std::iter::empty());
            assert!(refused.is_ok(), "{refused:?}");
        }
    }

    #[test]
    fn rows_that_cannot_be_are_refused() {
        let rows: [(&str, &[u8], &[u8]); 4] = [
            ("other", b"", b""),
            ("live", b"123", &[0; 8]),
            ("live", b"1234", b"1"),
            ("meta", b"\xff", b"1"),
        ];
        for (table, key, value) in rows {
            assert!(tables().insert_rows(table, &mut [(key, value)].into_iter()).is_err(), "{table}");
        }
    }
}
