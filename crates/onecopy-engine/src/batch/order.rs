//! Decides which of two pages is better: winner rules, redirects and canonical links, preferred markets.

pub(crate) mod links;
pub(crate) mod preferences;
pub(crate) mod rank;

pub(crate) use links::Link;
