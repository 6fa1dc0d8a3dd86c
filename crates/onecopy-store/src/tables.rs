//! The tables of a collection.
