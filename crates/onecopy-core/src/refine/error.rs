//! Why results cannot be refined.

use crate::config::{ConfigError, REFINE_METHOD};
use crate::similarity::filter::FilterRules;

/// Why results cannot be refined. Results are numbered from 0, in the order of their ranks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RefineError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No group would be kept.
    #[error("0 groups cannot be kept: give a number such as 10")]
    KeepsNothing,
    /// Two tags were made by different rules.
    #[error("{}", different(.rules, .others))]
    TagRules {
        /// The result.
        result: usize,
        /// The rules of its tag.
        rules: FilterRules,
        /// The rules of the first tag.
        others: FilterRules,
    },
    /// A method other than `bloom` was chosen for tags.
    #[error(
        "method {method} cannot compare tags: choose {REFINE_METHOD} or bloom, or give texts instead of tags"
    )]
    TagMethod {
        /// The method.
        method: String,
    },
    /// One result has a tag and another has only a sketch.
    #[error("a tag and a sketch cannot be compared: give the texts of all results, or their tags")]
    TagBesideSketch {
        /// The result with the sketch.
        result: usize,
    },
}

fn different(rules: &FilterRules, others: &FilterRules) -> String {
    format!(
        "tags of {rules} and of {others} cannot be compared: make all of them with the same version and parameters"
    )
}
