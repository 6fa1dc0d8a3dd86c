//! The cursor of a search engine, in a file beside the collection.
//!
//! It is replaced after the engine has confirmed the rows. After a crash between the two, the same rows are sent again,
//! which changes nothing.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use onecopy_engine::FeedCursor;
use serde::{Deserialize, Serialize};

use crate::commands::{WrongCall, at};
use crate::sync::Cursor;
use crate::sync::failures::replace;

pub struct CursorFile {
    path: PathBuf,
    target: String,
}

#[derive(Serialize, Deserialize)]
struct Content {
    target: String,
    collection: String,
    after: u64,
    begun: u64,
}

impl CursorFile {
    pub fn new(path: PathBuf, target: String) -> CursorFile {
        CursorFile { path, target }
    }

    pub fn read(&self) -> Result<Option<Cursor>> {
        let text = match fs::read(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(at("read", &self.path))?,
        };
        let Ok(found) = serde_json::from_slice::<Content>(&text) else {
            let path = self.path.display();
            return Err(
                WrongCall(format!("{path} is damaged: delete it, and all pages are sent again")).into()
            );
        };
        let at = FeedCursor { after: found.after, begun: found.begun };
        Ok(Some(Cursor { collection: found.collection, at }))
    }

    pub fn write(&self, cursor: &Cursor) -> Result<()> {
        let (collection, FeedCursor { after, begun }) = (cursor.collection.clone(), cursor.at);
        let content = Content { target: self.target.clone(), collection, after, begun };
        let mut text = serde_json::to_vec(&content)?;
        text.push(b'\n');
        replace(&self.path, |out| out.write_all(&text))
    }
}
