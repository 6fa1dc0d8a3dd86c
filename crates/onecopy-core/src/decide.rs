//! Which pages stay: candidates, the best-first order, winners and groups. Nothing here looks at text.

pub(crate) mod candidate;
pub(crate) mod connect;
pub mod graph;
pub(crate) mod group;
pub(crate) mod order;
pub(crate) mod partition;
pub(crate) mod search;
pub mod settle;
pub(crate) mod winner;
