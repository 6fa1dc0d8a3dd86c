//! Tests of the engine as its users see it, in one binary.
//!
//! - `corpora`: every case in `corpora/`, by the engine and by the reference, through one `check`.
//! - `formats`: collections of every released format open, upgraded.
//! - `losses`: Parquet shards of every codec, and shards that cannot be read.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod corpora;
mod formats;
mod losses;
