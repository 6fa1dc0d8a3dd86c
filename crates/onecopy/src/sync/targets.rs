//! Where statuses go: a table of PostgreSQL, or the documents of a search engine.

pub mod address;
mod cursor_file;
mod elastic;
mod index;
mod meilisearch;
mod postgres;
mod solr;
mod typesense;

use std::path::PathBuf;

use anyhow::Result;
use reqwest::header::{AUTHORIZATION, HeaderName};

use super::{Cursor, Failures, Parts, Patience, Row, Web};
use address::{Address, Kind};
use index::{Engine, FieldNames, Index};

/// Takes the statuses of pages, and remembers how far.
pub trait Target {
    /// Its name for people, without secrets.
    fn name(&self) -> &str;
    /// Checks that the target is there, and that it can take the fields.
    fn prepare(&mut self) -> Result<()>;
    /// The cursor behind the last rows that were written.
    fn cursor(&mut self) -> Result<Option<Cursor>>;
    /// Begins with all pages, whatever was there.
    fn restart(&mut self, cursor: &Cursor) -> Result<()>;
    /// Writes rows, each page once, then moves the cursor. Pages that it refuses enter the list before. Returns how
    /// many these are.
    fn write(&mut self, rows: &[Row], from: &Cursor, to: &Cursor, failures: &mut Failures) -> Result<u64>;
}

/// How to write to a target.
pub struct Settings {
    /// Comes before the names of fields.
    pub prefix: String,
    /// What is written of each page.
    pub parts: Parts,
    /// The field of the documents with their id, where that has a name.
    pub id_field: Option<String>,
    /// The key that a search engine asks for.
    pub key: Option<String>,
    /// The password of a database that its address does not have.
    pub password: Option<String>,
    /// Rows per request.
    pub batch: usize,
    /// The file with the cursor of a search engine.
    pub cursor: PathBuf,
    pub patience: Patience,
}

/// Opens a target.
pub fn open(address: &Address, settings: Settings) -> Result<Box<dyn Target>> {
    if address.kind == Kind::Postgres {
        return Ok(Box::new(postgres::Postgres::new(address, settings)?));
    }
    let mut web = Web::new(address.base.clone(), settings.patience.clone())?;
    if let Some(key) = &settings.key {
        web = match address.kind {
            Kind::Typesense => web.with_secret(HeaderName::from_static("x-typesense-api-key"), key)?,
            Kind::Meilisearch => web.with_secret(AUTHORIZATION, &format!("Bearer {key}"))?,
            _ => web.with_secret(AUTHORIZATION, &format!("ApiKey {key}"))?,
        };
    }
    let (name, patience) = (address.index.clone(), settings.patience);
    let (fields, id_field) =
        (FieldNames::of(address.kind, &settings.prefix, settings.parts), settings.id_field);
    let engine: Box<dyn Engine> = match address.kind {
        Kind::Solr => Box::new(solr::Solr::new(web, name, fields, id_field)),
        Kind::Meilisearch => Box::new(meilisearch::Meilisearch::new(web, name, fields, id_field)),
        Kind::Typesense => Box::new(typesense::Typesense { web, collection: name, fields }),
        _ => Box::new(elastic::Elastic { web, index: name, fields }),
    };
    let cursor = cursor_file::CursorFile::new(settings.cursor, address.to_string());
    Ok(Box::new(Index { engine, cursor, batch: settings.batch, patience, name: address.to_string() }))
}
