//! Files that onecopy does not read: those that another program can convert, and those that are no pages at all.

/// Endings of names, and why such a file is not read. Each reason names a program that helps.
const BY_NAME: [(&[&str], &str); 12] = [
    (&["pdf"], PDF),
    (&["mhtml", "mht"], MHTML),
    (
        &["epub"],
        "an EPUB book, which is not read: convert it first (pandoc book.epub -o book.html), or unzip it and give the folder",
    ),
    (
        &["docx", "odt", "rtf"],
        "a word processor document, which is not read: convert it first (pandoc FILE -o FILE.html)",
    ),
    (&["doc", "ppt", "pptx", "odp"], OFFICE),
    (
        &["xls", "xlsx", "ods"],
        "a spreadsheet, which is not read: save it as CSV first (LibreOffice: soffice)",
    ),
    (&["7z"], SEVEN_ZIP),
    (&["rar"], RAR),
    (
        &["z", "lzma", "lz", "br", "sz", "lzo"],
        "compressed in a way that is not read: unpack it, or use gzip, zstd or xz",
    ),
    (
        &["avro", "orc", "arrow", "feather"],
        "a table that is not read: convert it to Parquet first (pyarrow or duckdb)",
    ),
    (
        &["sqlite", "sqlite3", "db", "duckdb"],
        "a database, which is not read: export its rows as Parquet or CSV first",
    ),
    (&["eml", "mbox"], "mail, which is not read: extract its pages first (munpack FILE)"),
];

const PDF: &str = "a PDF document, which is not read: convert it first (pdftotext FILE.pdf)";
const MHTML: &str =
    "an MHTML page, which is not read: extract its HTML first (munpack FILE, of the mpack package)";
const OFFICE: &str = "an office document, which is not read: save it as HTML first (LibreOffice: soffice)";
const SEVEN_ZIP: &str = "a 7-Zip file, which is not read: unpack it first (7z x FILE) and give the folder";
const RAR: &str = "a RAR file, which is not read: unpack it first (unrar x FILE) and give the folder";

/// First bytes of a file, and why it is not read.
const BY_CONTENT: [(&[u8], &str); 6] = [
    (b"%PDF-", PDF),
    (b"From: <Saved by ", MHTML),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OFFICE),
    (b"7z\xbc\xaf\x27\x1c", SEVEN_ZIP),
    (b"Rar!\x1a\x07", RAR),
    (b"{\\rtf", "an RTF document, which is not read: convert it first (pandoc FILE -o FILE.html)"),
];

/// Endings of files that accompany pages.
const NO_PAGES: [&str; 45] = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "svgz", "ico", "cur", "bmp", "tif", "tiff", "heic",
    "psd", "css", "scss", "less", "js", "mjs", "map", "wasm", "woff", "woff2", "ttf", "otf", "eot", "mp3",
    "mp4", "m4a", "m4v", "ogg", "oga", "ogv", "opus", "wav", "flac", "webm", "avi", "mov", "mkv", "swf",
    "cdx", "cdxj", "idx",
];

/// Why a file of this name is not read, if another program can convert it.
pub(crate) fn foreign_by_name(name: &str) -> Option<&'static str> {
    let ending = ending(name)?;
    BY_NAME.iter().find(|(endings, _)| endings.contains(&ending.as_str())).map(|(_, reason)| *reason)
}

/// Why a file with these first bytes is not read, if another program can convert it.
pub(super) fn foreign_by_content(head: &[u8]) -> Option<&'static str> {
    BY_CONTENT.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, reason)| *reason)
}

/// Whether a file of this name is no page: an image, a style sheet, an index.
pub(crate) fn is_no_page(name: &str) -> bool {
    ending(name).is_some_and(|ending| NO_PAGES.contains(&ending.as_str()))
}

/// The ending of a name, in lower case, without the query that `wget` appends.
fn ending(name: &str) -> Option<String> {
    let file = name.rsplit('/').next()?;
    let path = file.split(['?', '@']).next().filter(|path| path.contains('.')).unwrap_or(file);
    Some(path.rsplit_once('.')?.1.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_found_behind_queries_and_folders() {
        assert!(is_no_page("site/a.PNG") && is_no_page("style.css?ver=1.2") && is_no_page("x.js@v=3"));
        assert!(!is_no_page("page/x") && !is_no_page("view.php?p=a.png") && !is_no_page("css"));
        for (name, tool) in
            [("a.pdf", "pdftotext"), ("B.EPUB", "pandoc"), ("x.mhtml", "munpack"), ("y.7z", "7z x")]
        {
            assert!(foreign_by_name(name).unwrap().contains(tool), "{name}");
        }
        assert_eq!(foreign_by_name("pdf"), None);
        assert!(foreign_by_content(b"%PDF-1.7").unwrap().contains("pdftotext"));
    }
}
