//! The statements of one transaction: the cursor, the rows, and the pages that are gone.

use std::collections::HashMap;

use postgres::error::SqlState;
use postgres::{Error, Transaction};

use crate::sync::{Cursor, Parts, Row};

const UPSERT: &str = "
INSERT INTO onecopy_pages (id, group_id, winner, status, feed)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
ON CONFLICT (id) DO UPDATE
SET group_id = excluded.group_id, winner = excluded.winner, status = excluded.status, feed = excluded.feed";

const UPSERT_TAGGED: &str = "
INSERT INTO onecopy_pages (id, group_id, winner, status, feed, tag)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[])
ON CONFLICT (id) DO UPDATE
SET group_id = excluded.group_id, winner = excluded.winner, status = excluded.status, feed = excluded.feed,
    tag = excluded.tag";

const MOVE: &str = "
UPDATE onecopy_cursor SET feed = $1, begun = $2 WHERE collection = $3 AND feed = $4 AND begun = $5";

/// Pages that a full pass did not reach are in the collection no more.
const BURY: &str = "
UPDATE onecopy_pages SET status = 'dead', group_id = NULL, winner = NULL WHERE feed = 0 AND status <> 'dead'";

const BURY_TAGS: &str = "UPDATE onecopy_pages SET tag = NULL WHERE feed = 0 AND tag IS NOT NULL";

/// Moves the cursor. Returns false if somebody else moved it.
pub fn move_cursor(work: &mut Transaction, from: &Cursor, to: &Cursor) -> Result<bool, Error> {
    let [after, begun, was_after, was_begun] =
        [to.at.after, to.at.begun, from.at.after, from.at.begun].map(u64::cast_signed);
    Ok(work.execute(MOVE, &[&after, &begun, &to.collection, &was_after, &was_begun])? == 1)
}

/// Marks the pages as dead that have not been written since the pass began.
pub fn bury_others(work: &mut Transaction, parts: Parts) -> Result<(), Error> {
    if parts == Parts::StatusAndTag {
        work.execute(BURY_TAGS, &[])?;
    }
    work.execute(BURY, &[]).map(|_| ())
}

/// Writes rows, and returns those that the database refuses: names that no text or no key of it can hold.
pub fn upsert(work: &mut Transaction, rows: &[Row], parts: Parts) -> Result<Vec<(usize, String)>, Error> {
    // Two names may be the same text, such as the number 7 and the string "7". The last one stays.
    let last: HashMap<&str, usize> = rows.iter().zip(0..).map(|(row, at)| (row.id.as_str(), at)).collect();
    let mut failed = Vec::new();
    let is_written = |at: &usize| last[rows[*at].id.as_str()] == *at;
    let (good, bad): (Vec<usize>, Vec<usize>) = (0..rows.len()).filter(is_written).partition(|at| {
        !rows[*at].id.contains('\0') && !rows[*at].winner.as_deref().unwrap_or("").contains('\0')
    });
    failed.extend(
        bad.into_iter().map(|at| (at, "a text of PostgreSQL cannot have the character 0".to_owned())),
    );
    divided(work, (rows, parts), &good, &mut failed)?;
    Ok(failed)
}

/// Writes rows in one statement. If the database refuses it for a row, divides it until that row is alone.
fn divided(
    work: &mut Transaction,
    (rows, parts): (&[Row], Parts),
    chosen: &[usize],
    failed: &mut Vec<(usize, String)>,
) -> Result<(), Error> {
    if chosen.is_empty() {
        return Ok(());
    }
    let mut savepoint = work.transaction()?;
    let refused = match write(&mut savepoint, rows, chosen, parts) {
        Ok(()) => return savepoint.commit(),
        Err(error) if is_of_a_row(&error) => error,
        Err(error) => return Err(error),
    };
    savepoint.rollback()?;
    if let [at] = chosen {
        let said =
            refused.as_db_error().map_or_else(|| refused.to_string(), |error| error.message().to_owned());
        failed.push((*at, said));
        return Ok(());
    }
    let (first, second) = chosen.split_at(chosen.len() / 2);
    divided(work, (rows, parts), first, failed)?;
    divided(work, (rows, parts), second, failed)
}

fn write(work: &mut Transaction, rows: &[Row], chosen: &[usize], parts: Parts) -> Result<(), Error> {
    let chosen = || chosen.iter().map(|at| &rows[*at]);
    let ids: Vec<&str> = chosen().map(|row| row.id.as_str()).collect();
    let groups: Vec<Option<i64>> = chosen().map(|row| row.group.map(u64::cast_signed)).collect();
    let winners: Vec<Option<&str>> = chosen().map(|row| row.winner.as_deref()).collect();
    let statuses: Vec<&str> = chosen().map(Row::word).collect();
    let numbers: Vec<i64> = chosen().map(|row| row.number.cast_signed()).collect();
    let written = match parts {
        Parts::Status => work.execute(UPSERT, &[&ids, &groups, &winners, &statuses, &numbers]),
        Parts::StatusAndTag => {
            let tags: Vec<Option<&str>> = chosen().map(|row| row.tag.as_deref()).collect();
            work.execute(UPSERT_TAGGED, &[&ids, &groups, &winners, &statuses, &numbers, &tags])
        }
    };
    written.map(|_| ())
}

/// Whether one row is to blame: its data, a key that is too long for an index, or a constraint that somebody added.
fn is_of_a_row(error: &Error) -> bool {
    let Some(code) = error.code() else { return false };
    ["22", "23"].contains(&&code.code()[..2]) || *code == SqlState::PROGRAM_LIMIT_EXCEEDED
}
