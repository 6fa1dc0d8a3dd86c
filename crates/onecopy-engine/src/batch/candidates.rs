//! Finds pages that may be alike: contents, the keys they share, and outlines that prove two contents different without
//! a comparison.

pub(crate) mod contents;
pub(crate) mod key;
pub(crate) mod key_lists;
pub(crate) mod keys;
pub(crate) mod known;
pub(crate) mod neighbours;
pub(crate) mod outlines;
pub(crate) mod pile;
pub(crate) mod sets;
pub(crate) mod sorter;
