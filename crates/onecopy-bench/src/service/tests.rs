//! Helpers of the tests in this folder.

pub mod played;
