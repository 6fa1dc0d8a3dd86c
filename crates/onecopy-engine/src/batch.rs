//! The batch stages: from input files to decisions, each stage a folder.
//!
//! Each stage writes its result to disk before the next long stage begins, so that a killed run can continue. Segments
//! go to disk once they no longer fit in memory, decisions when they are made. `crate::dedup` runs the stages and
//! writes the results; this module does not know the output formats.

pub(crate) mod budget;
pub(crate) mod candidates;
pub(crate) mod decide;
pub(crate) mod order;
pub(crate) mod read;
pub(crate) mod recall;
pub(crate) mod settle;
pub(crate) mod sketches;
pub(crate) mod work;

pub(crate) use order::Link;
pub(crate) use read::facts;
pub(crate) use read::{Loaded, Losses, Row, Segment, Segments};
pub(crate) use settle::{Decisions, Grouped};
pub(crate) use work::Work;
