//! `onecopy.compare` and `onecopy.extract`: single pages.

use std::fs;
use std::path::PathBuf;

use onecopy_core::{Content, html_to_text};
use onecopy_engine::Comparing;
use pyo3::prelude::*;

use crate::error::{failed, refused};

/// The text of HTML: its main content (`main`), all text (`all`), or main content if there is enough (`auto`).
#[pyfunction]
pub fn extract(py: Python<'_>, html: &str, content: &str) -> PyResult<String> {
    let content = content_of(content)?;
    Ok(py.detach(|| {
        let mut text = String::new();
        html_to_text(html, content, &mut text);
        text
    }))
}

fn content_of(name: &str) -> PyResult<Content> {
    match name {
        "auto" => Ok(Content::Auto),
        "main" => Ok(Content::Main),
        "all" => Ok(Content::All),
        _ => Err(refused(format!("content is \"auto\", \"main\" or \"all\", not {name:?}"))),
    }
}

/// Compares two pages, given as text or as the paths of files. Returns what `onecopy compare --json` prints.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    a: Page,
    b: Page,
    methods: Vec<String>,
    content: Option<&str>,
) -> PyResult<String> {
    let content = content.map(content_of).transpose()?;
    let folder = tempfile::tempdir().map_err(|error| refused(format!("cannot create a folder: {error}")))?;
    let [a, b] = [(a, "a"), (b, "b")].map(|(page, name)| page.file(folder.path().join(name)));
    let mut job = Comparing::default();
    (job.a, job.b, job.methods, job.content) = (a?, b?, methods, content);
    let found = py.detach(|| onecopy_engine::compare(&job)).map_err(failed)?;
    serde_json::to_string(&found).map_err(|error| refused(error.to_string()))
}

/// A page to compare.
#[derive(FromPyObject)]
pub enum Page {
    /// Its text.
    Text(String),
    /// Its file.
    File(PathBuf),
}

impl Page {
    /// The path of a file with the page. Text is written to `path` first.
    fn file(self, path: PathBuf) -> PyResult<String> {
        let path = match self {
            Page::File(path) => path,
            Page::Text(text) => {
                let start = text.trim_start().get(..14).unwrap_or(text.trim_start()).to_ascii_lowercase();
                let is_html = start.starts_with("<!doctype html") || start.starts_with("<html");
                let path = path.with_extension(if is_html { "html" } else { "txt" });
                fs::write(&path, text).map_err(|error| refused(format!("cannot write {path:?}: {error}")))?;
                path
            }
        };
        path.into_os_string().into_string().map_err(|path| refused(format!("{path:?} is not a valid path")))
    }
}
