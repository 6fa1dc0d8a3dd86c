//! Decides which contents stay and which share a group: provides the sketches that are compared.
//!
//! `settle` and `connect` of the core decide which contents are alike, which win, and which join.

pub(crate) mod comparer;
pub(crate) mod components;
pub(crate) mod decisions;
pub(crate) mod gather;

pub(crate) use decisions::{Decisions, Grouped};
