//! The stages that a cluster runs on its machines, over Arrow columns. `onecopy.spark` moves the rows between them.

mod appraise;
mod columns;
mod edges;
mod links;
mod part;
mod plan;
mod settle;

pub use appraise::appraise_pages;
pub use edges::{connect_nodes, fresh_edges, key_edges};
pub use links::{follow_links, link_edges};
pub use part::{count_sketches, key_parts, open_rarity};
pub use plan::{make_plan, naming_fields};
pub use settle::{alike_sketches, settle_pages};
