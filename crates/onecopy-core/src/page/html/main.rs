//! Which blocks are main content: blocks as numbers, the model that judges them, and the choice.

pub(super) mod alike;
pub(super) mod article;
pub(super) mod choice;
pub(super) mod context;
pub(super) mod feature;
pub(super) mod frame;
pub(super) mod model;
pub(super) mod repeat;
pub(super) mod section;
pub(super) mod sums;
pub(super) mod words;
