//! The Python package: a thin shell over the engine, the core and the program.
//!
//! Columns come and go as Arrow streams, without a copy of the text. Python threads run while Rust works.

mod arrow;
mod cluster;
mod collection;
mod dedup;
mod error;
mod export;
mod lists;
mod pages;
mod program;
mod progress;
mod refine;
mod rows;
mod stages;

/// The compiled part of the package `onecopy`. Use `import onecopy`.
#[pyo3::pymodule]
mod _onecopy {
    #[pymodule_export]
    use super::arrow::ArrowTable;
    #[pymodule_export]
    use super::cluster::{
        FreshKeys, alike_sketches, appraise_pages, connect_nodes, count_sketches, fold_rarity, follow_links,
        fresh_edges, key_edges, key_parts, link_edges, make_plan, naming_fields, open_rarity, pack_sketches,
        planned_machines, read_partitions, set_bins, settle_pages, unpack_sketches,
    };
    #[pymodule_export]
    use super::collection::RawCollection;
    #[pymodule_export]
    use super::dedup::{dedup_files, dedup_rows, field_names};
    #[pymodule_export]
    use super::error::OnecopyError;
    #[pymodule_export]
    use super::lists::columns;
    #[pymodule_export]
    use super::pages::{compare, extract};
    #[pymodule_export]
    use super::program::{methods, options, run};
    #[pymodule_export]
    use super::refine::refine;
    #[pymodule_export]
    use super::stages::{Rarity, keys, sketch, verdicts};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("ANSWER_VERSION", onecopy_core::ANSWER_VERSION)
    }
}
