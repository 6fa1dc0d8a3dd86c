//! The columns of each list, in the order of their fields.

use super::cell::Column;
use super::cell::ColumnKind::{Number, Real, Text};

pub(super) const REMOVED: &[Column] = &[
    ("page", Text),
    ("source", Text),
    ("line", Number),
    ("record", Number),
    ("row", Number),
    ("winner", Text),
    ("winner_source", Text),
    ("winner_line", Number),
    ("winner_record", Number),
    ("winner_row", Number),
    ("similarity", Real),
    ("kind", Text),
];

/// The first fields of a group, as JSON.
pub(super) const GROUP: [&str; 6] =
    ["group", "winner", "winner_source", "winner_line", "winner_record", "winner_row"];

/// As a table: one row for each page of a group.
pub(super) const GROUPS: &[Column] = &[
    ("group", Number),
    ("page", Text),
    ("source", Text),
    ("line", Number),
    ("record", Number),
    ("row", Number),
    ("status", Text),
];

/// A page of a group, as JSON.
pub(super) const PLACE: [&str; 5] = ["source", "line", "record", "row", "status"];

pub(super) const PAGES: &[Column] = &[
    ("page", Text),
    ("source", Text),
    ("line", Number),
    ("record", Number),
    ("row", Number),
    ("status", Text),
    ("url", Text),
    ("language", Text),
    ("group", Number),
];

pub(super) const REJECTED: &[Column] = &[
    ("page", Text),
    ("source", Text),
    ("line", Number),
    ("record", Number),
    ("row", Number),
    ("reason", Text),
];
