//! PostgreSQL: a row for each page, in the same transaction as the cursor.
//!
//! Each change is written exactly once. If the connection breaks during a commit, the cursor in the database says
//! whether it happened. A second sync into the same table finds that the cursor moved, and stops.

mod rows;
mod tls;

use anyhow::{Result, anyhow};
use onecopy_engine::FeedCursor;
use postgres::error::SqlState;
use postgres::{Client, Config};

use super::address::Address;
use super::{Settings, Target};
use crate::commands::WrongCall;
use crate::sync::trust::{REMEDY, distrust};
use crate::sync::{Cursor, Failures, Parts, Patience, Row};

const TABLES: &str = "
CREATE TABLE onecopy_pages (
    id text PRIMARY KEY,
    group_id bigint,
    winner text,
    status text NOT NULL,
    feed bigint NOT NULL
);
CREATE INDEX onecopy_pages_winner ON onecopy_pages (winner);
CREATE INDEX onecopy_pages_group_id ON onecopy_pages (group_id);
CREATE TABLE onecopy_cursor (
    collection text PRIMARY KEY,
    feed bigint NOT NULL,
    begun bigint NOT NULL
);";

/// Asked before the column is added: that needs a lock of the table, even if the column is there.
const TAGS: &str = "
DO $$ BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = 'onecopy_pages'::regclass AND attname = 'tag' AND NOT attisdropped
    ) THEN
        ALTER TABLE onecopy_pages ADD COLUMN tag text;
    END IF;
END $$";

pub struct Postgres {
    config: Config,
    tls: tls::Tls,
    client: Option<Client>,
    patience: Patience,
    name: String,
    parts: Parts,
}

/// Why rows were not written.
enum Trouble {
    /// The database could not be reached, or ended the transaction.
    Database(postgres::Error),
    Other(anyhow::Error),
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Trouble {
        Trouble::Database(error)
    }
}

impl Postgres {
    pub fn new(address: &Address, settings: Settings) -> Result<Postgres> {
        let mut config: Config = address
            .base
            .as_str()
            .parse()
            .map_err(|error| WrongCall(format!("{address} is no address of PostgreSQL: {error}")))?;
        if let Some(password) = settings.password.filter(|_| config.get_password().is_none()) {
            config.password(password);
        }
        config.application_name("onecopy sync").connect_timeout(std::time::Duration::from_secs(10));
        Ok(Postgres {
            config,
            tls: tls::Tls::new()?,
            client: None,
            patience: settings.patience,
            name: address.to_string(),
            parts: settings.parts,
        })
    }

    /// Does something with a connection. Connects again and repeats it while the database is down or busy.
    fn with<T>(&mut self, mut work: impl FnMut(&mut Client) -> Result<T, Trouble>) -> Result<T> {
        let (patience, mut attempts) = (self.patience.clone(), 0);
        let mut waits = patience.waits();
        loop {
            attempts += 1;
            let error = match self.connected().map_err(Trouble::from).and_then(&mut work) {
                Ok(done) => return Ok(done),
                Err(Trouble::Other(error)) => return Err(error),
                Err(Trouble::Database(error)) => error,
            };
            if error.is_closed() || error.code().is_none() {
                self.client = None;
            }
            if !is_transient(&error) || !waits.wait(None)? {
                return Err(self.explained(&error, attempts));
            }
        }
    }

    fn connected(&mut self) -> Result<&mut Client, postgres::Error> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = Some(self.tls.connect(&self.config)?);
        }
        Ok(self.client.as_mut().expect("it was just connected"))
    }

    fn explained(&self, error: &postgres::Error, attempts: u32) -> anyhow::Error {
        let said = match error.as_db_error() {
            Some(error) => error.message().to_owned(),
            None => {
                let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
                format!("{error}{}", cause.unwrap_or_default())
            }
        };
        let remedy = match error.code() {
            Some(&SqlState::INVALID_CATALOG_NAME) => "; create the database first (createdb)",
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                "; give the user in the address, and the password in PGPASSWORD"
            }
            None if distrust(error).is_some() => {
                return anyhow!(
                    "{}: {said}: {REMEDY}, or connect without TLS by ?sslmode=disable",
                    self.name
                );
            }
            None if !is_transient(error) => "; give the user in the address, and the password in PGPASSWORD",
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                "; the user needs to write onecopy_pages and onecopy_cursor, and to create them at first"
            }
            Some(&SqlState::UNDEFINED_COLUMN) => {
                "; another program made onecopy_pages: give another database or schema"
            }
            _ if attempts > 1 => "; --retry-for tries longer",
            _ => "",
        };
        anyhow!("{}: {said}{remedy}", self.name)
    }
}

impl Target for Postgres {
    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&mut self) -> Result<()> {
        let parts = self.parts;
        self.with(|client| {
            let known = client.query_one("SELECT to_regclass('onecopy_pages')::text, to_regclass('onecopy_cursor')::text", &[])?;
            let (pages, cursor): (Option<String>, Option<String>) = (known.get(0), known.get(1));
            match (pages, cursor) {
                (Some(_), Some(_)) => {}
                (None, None) => client.batch_execute(TABLES)?,
                _ => {
                    let why = "the database has one of onecopy_pages and onecopy_cursor: drop it, or give another schema";
                    return Err(Trouble::Other(anyhow!(why)));
                }
            }
            if parts == Parts::StatusAndTag {
                client.batch_execute(TAGS)?;
            }
            Ok(())
        })
    }

    fn cursor(&mut self) -> Result<Option<Cursor>> {
        self.with(read_cursor)
    }

    /// Rows keep their old status until the pass reaches them. Those that it does not reach are dead at its end.
    fn restart(&mut self, cursor: &Cursor) -> Result<()> {
        self.with(|client| {
            let mut work = client.transaction()?;
            work.execute("DELETE FROM onecopy_cursor", &[])?;
            work.execute("INSERT INTO onecopy_cursor VALUES ($1, 0, 0)", &[&cursor.collection])?;
            work.execute("UPDATE onecopy_pages SET feed = 0 WHERE feed <> 0", &[])?;
            Ok(work.commit()?)
        })
    }

    fn write(&mut self, rows: &[Row], from: &Cursor, to: &Cursor, failures: &mut Failures) -> Result<u64> {
        let (name, parts, mut is_repeated, mut refused) = (self.name.clone(), self.parts, false, 0);
        self.with(|client| {
            // The commit of the attempt before may have happened although nobody heard of it.
            if is_repeated && from != to && read_cursor(client)?.as_ref() == Some(to) {
                return Ok(refused);
            }
            is_repeated = true;
            let mut work = client.transaction()?;
            if !rows::move_cursor(&mut work, from, to)? {
                return Err(Trouble::Other(anyhow!("another sync writes to {name}: let only one run")));
            }
            let failed = rows::upsert(&mut work, rows, parts)?;
            if from.is_full_pass() && to.at.begun == 0 && to.at.after > 0 {
                rows::bury_others(&mut work, parts)?;
            }
            refused = failed.len() as u64;
            failures.record(rows, &failed).map_err(Trouble::Other)?;
            work.commit()?;
            Ok(refused)
        })
    }
}

fn read_cursor(client: &mut Client) -> Result<Option<Cursor>, Trouble> {
    let found = client.query("SELECT collection, feed, begun FROM onecopy_cursor", &[])?;
    let number = |row: &postgres::Row, at| row.get::<_, i64>(at).cast_unsigned();
    let cursor = |row: &postgres::Row| Cursor {
        collection: row.get(0),
        at: FeedCursor { after: number(row, 1), begun: number(row, 2) },
    };
    match &found[..] {
        [] => Ok(None),
        [row] => Ok(Some(cursor(row))),
        _ => Err(Trouble::Other(several())),
    }
}

fn several() -> anyhow::Error {
    anyhow!(
        "onecopy_cursor has several rows: give another database or schema, or --restart after emptying it"
    )
}

/// Whether the same may work a little later.
fn is_transient(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else {
        // The connection broke, or was not made. A login that cannot work is another error.
        let is_io = std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>());
        return error.is_closed() || is_io && distrust(error).is_none();
    };
    let class = &code.code()[..2];
    // Connections, transactions that met another, too few resources, and a server that starts or stops.
    ["08", "40", "53", "57"].contains(&class) && *code != SqlState::QUERY_CANCELED
}
