//! How alike two pages are: each measure a function with a defined value.

mod decision;
mod jaccard;

pub use decision::{MAIN_PART, Reading, Shared, agreement, main_needed, similarity};
pub use jaccard::{containment, resemblance};
