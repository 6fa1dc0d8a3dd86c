//! HTML as browsers read it: tags, attributes, character references, and which text is shown.

pub(super) mod attribute;
pub(super) mod entity;
pub(super) mod scan;
pub(super) mod tag;
pub(super) mod visible;
