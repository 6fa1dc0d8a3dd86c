//! The stages that a cluster runs on its machines, over Arrow columns. `onecopy.spark` moves the rows between them.

mod appraise;
mod columns;
mod edges;
mod entries;
mod fresh;
mod links;
mod machines;
mod pack;
mod part;
mod plan;
mod sets;
mod settle;

pub use appraise::appraise_pages;
pub use edges::key_edges;
pub use fresh::{FreshKeys, fresh_edges};
pub use links::{follow_links, link_edges};
pub use machines::{planned_machines, read_partitions};
pub use pack::{pack_sketches, unpack_sketches};
pub use part::{count_sketches, fold_rarity, key_parts, open_rarity};
pub use plan::{make_plan, naming_fields};
pub use sets::{connect_nodes, set_bins};
pub use settle::{alike_sketches, settle_pages};
