//! Errors of a configuration: the setting, its value, and the accepted values.
//!
//! A text names settings as [`Config`](crate::Config) does. It knows nothing of the program's options.

use super::{MARKETS_LIMIT, SHINGLE_LENGTH_LIMIT, ShingleRules};

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Shingles have a length that no page can use.
    #[error(
        "shingle length {length} is out of range: give a length from 1 to {SHINGLE_LENGTH_LIMIT}, such as {}",
        ShingleRules::default().length
    )]
    ShingleLength {
        /// The length, in tokens.
        length: usize,
    },
    /// The method does not read the configured length of shingles.
    #[error("{}", unused_length(.method, *.length, *.has_own))]
    UnusedShingleLength {
        /// The method's name.
        method: String,
        /// The length, in tokens.
        length: usize,
        /// Whether the method has a parameter `k` for it.
        has_own: bool,
    },
    /// A market is not the end of a host name.
    #[error("market {market:?} is not the end of a host name: give one such as uk, gov.uk or com")]
    Market {
        /// The market.
        market: String,
    },
    /// There are more markets than a page has bits for.
    #[error("{count} markets are too many: give at most {MARKETS_LIMIT}")]
    Markets {
        /// How many there are.
        count: usize,
    },
    /// The threshold is not a similarity.
    #[error("threshold {value} is out of range: give a value above 0 and up to 1, such as {usual}")]
    Threshold {
        /// The threshold.
        value: f64,
        /// The method's own.
        usual: f64,
    },
    /// No method has this name.
    #[error("there is no method {name:?}: {}choose one of {}", .hint.map(|hint| format!("{hint}; ")).unwrap_or_default(), .known.join(", "))]
    UnknownMethod {
        /// The name.
        name: String,
        /// The methods that stand for this word, if it is known.
        hint: Option<&'static str>,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The method has no such parameter.
    #[error("method {method} has no parameter {parameter:?}: it has {}", .known.join(", "))]
    UnknownParameter {
        /// The method's name.
        method: String,
        /// The parameter's name.
        parameter: String,
        /// The parameters that it has.
        known: Vec<&'static str>,
    },
    /// A parameter of the method has no value.
    #[error("parameter {parameter:?} of method {method} has no value: write {method}:PARAMETER=VALUE")]
    ParameterWithoutValue {
        /// The method's name.
        method: String,
        /// The parameter's name.
        parameter: String,
    },
    /// A parameter of the method occurs twice.
    #[error("parameter {parameter:?} of method {method} is given twice: give it once")]
    RepeatedParameter {
        /// The method's name.
        method: String,
        /// The parameter's name.
        parameter: String,
    },
    /// A parameter of the method has a wrong value.
    #[error("{method}:{parameter}={value} is not valid: give {allowed}")]
    Parameter {
        /// The method's name.
        method: String,
        /// The parameter's name.
        parameter: &'static str,
        /// The value.
        value: String,
        /// The values that are right, in words.
        allowed: String,
    },
    /// Parameters of the method contradict each other.
    #[error("method {method}: {reason}")]
    Combination {
        /// The method's name.
        method: String,
        /// Why they do not go together, and which do.
        reason: String,
    },
    /// A rule for making filters has a wrong value.
    #[error("filter rule {rule}={value} is not valid: give {allowed}")]
    Filter {
        /// The rule's name in [`FilterRules`](crate::FilterRules).
        rule: &'static str,
        /// The value.
        value: usize,
        /// The values that are right, in words.
        allowed: String,
    },
    /// The least score of mirrors is not a score.
    #[error("mirror score {score} is out of range: give a value from 0 to 1, such as 0.5")]
    MirrorScore {
        /// The score.
        score: f64,
    },
    /// Mirrors would need no path in common.
    #[error("mirrors need at least 1 path with the same content: give a number such as 5, not 0")]
    MirrorPaths,
    /// The chance of a reset is not between 0 and 1.
    #[error("a reset of {reset} is out of range: give a value between 0 and 1, such as 0.125")]
    Reset {
        /// The chance.
        reset: f64,
    },
    /// Scores could never be exact enough, or always would be.
    #[error("a tolerance of {tolerance} is out of range: give a value between 0 and 1, such as 1e-10")]
    Tolerance {
        /// The tolerance.
        tolerance: f64,
    },
    /// A number of a cost profile cannot be used.
    #[error(
        "{name} {value} is out of range: shares are from 0 to below 1, rates above 0, and others from 0 on"
    )]
    CostInput {
        /// The number's name.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// No iteration is allowed.
    #[error("scores need at least 1 iteration: give a number such as 300, not 0")]
    Iterations,
    /// The rules of addresses cannot be used.
    #[error("address rules: {reason}")]
    AddressRules {
        /// Where the mistake is, what it is, and how to fix it.
        reason: String,
    },
}

fn unused_length(method: &str, length: usize, has_own: bool) -> String {
    if has_own {
        return format!("method {method} has a shingle length of its own: give {method}:k={length}");
    }
    format!("method {method} does not use shingles: leave the shingle length {length} out")
}
