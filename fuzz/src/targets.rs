//! The fuzz targets: one file each, with a function that takes any bytes.

mod address;
pub mod body;
mod charset;
mod html;
mod json;
mod markup;
mod parquet;
mod split;
mod store;
mod tables;
mod warc;

/// Checks one input, and panics if it finds a defect.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: [(&str, Target); 11] = [
    ("address", address::run),
    ("body", body::run),
    ("charset", charset::run),
    ("html", html::run),
    ("json", json::run),
    ("markup", markup::run),
    ("parquet", parquet::run),
    ("split", split::run),
    ("store", store::run),
    ("tables", tables::run),
    ("warc", warc::run),
];
