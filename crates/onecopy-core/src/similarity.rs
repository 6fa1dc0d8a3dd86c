//! Sketches of pages, and when two pages are similar. Each method is one file in `method/`.

pub(crate) mod elsewhere;
pub(crate) mod filter;
pub(crate) mod hamming;
pub(crate) mod measure;
pub(crate) mod method;
pub(crate) mod myers;
pub(crate) mod outline;
pub(crate) mod sketch;
pub(crate) mod verify;
