//! Text → words, shingles, sentences and chunks. Every method starts from the same canonical text.

pub(crate) mod canonical;
pub(crate) mod chunk;
pub(crate) mod rabin;
pub(crate) mod sentence;
pub(crate) mod shingle;
