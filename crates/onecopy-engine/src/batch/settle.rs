//! Which contents stay and which are in one group: where their sketches are while they are compared.
//!
//! What is alike, who wins and who is joined is decided by `settle` and `connect` of the core.

pub(crate) mod comparer;
pub(crate) mod components;
pub(crate) mod decisions;
pub(crate) mod gather;

pub(crate) use decisions::{Decisions, Member};
