//! Mirrors on small webs.
