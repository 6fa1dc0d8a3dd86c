//! How alike two pages are: each measure a function with a defined value.

mod jaccard;

pub use jaccard::{containment, resemblance};
