//! Words that select pages, as flags and parameters give them.

use onecopy_core::Language;
use onecopy_engine::StatusKind;
use serde_json::Value;

/// A status by its name.
pub fn status(text: &str) -> Result<StatusKind, String> {
    serde_json::from_value(Value::from(text))
        .map_err(|_| "give one of: unique, winner, loser, pending, dead, rejected".to_owned())
}

/// A language by its code.
pub fn language(text: &str) -> Result<Language, String> {
    let found = Language::ALL.iter().find(|language| language.code() == text);
    found.copied().ok_or_else(|| "give a code of ISO 639-1, such as en".to_owned())
}
