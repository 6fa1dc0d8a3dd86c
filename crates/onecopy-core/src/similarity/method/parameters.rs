//! The parameters of a method: `name:parameter=value:parameter=value`.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::config::ConfigError;

/// A method's name and its parameters, which the method takes out one by one.
#[derive(Debug)]
pub(crate) struct Parameters {
    name: String,
    given: Vec<(String, String)>,
    /// The parameters that the method asked for, and the default value of each.
    known: Vec<(&'static str, String)>,
}

impl Parameters {
    pub(crate) fn parse(choice: &str) -> Result<Parameters, ConfigError> {
        let mut parts = choice.split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        let mut given: Vec<(String, String)> = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(ConfigError::ParameterWithoutValue { method: name, parameter: part.into() });
            };
            if given.iter().any(|(other, _)| other == key) {
                return Err(ConfigError::RepeatedParameter { method: name, parameter: key.into() });
            }
            given.push((key.to_owned(), value.to_owned()));
        }
        Ok(Parameters { name, given, known: Vec::new() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A count in `range`.
    pub(crate) fn count(
        &mut self,
        key: &'static str,
        usual: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, ConfigError> {
        self.number(key, usual, range)
    }

    /// A count in `range`, if it is given. The error message suggests `such_as`.
    pub(crate) fn count_if_given(
        &mut self,
        key: &'static str,
        such_as: usize,
        range: RangeInclusive<usize>,
    ) -> Result<Option<usize>, ConfigError> {
        let given = self.given.iter().any(|(given, _)| given == key);
        let value = self.number(key, such_as, range)?;
        if let Some((_, usual)) = self.known.last_mut() {
            *usual = "off".into();
        }
        Ok(given.then_some(value))
    }

    /// The most pages of a method whose time grows with their square.
    pub(crate) fn most_pages(&mut self) -> Result<usize, ConfigError> {
        /// So many real pages take about a minute.
        const SLOW: usize = 50_000;
        self.count("pages", SLOW, 1..=u32::MAX as usize)
    }

    /// A power of two in `range`.
    pub(crate) fn power(
        &mut self,
        key: &'static str,
        usual: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, ConfigError> {
        let allowed = format!("a power of two from {} to {}, such as {usual}", range.start(), range.end());
        self.accepted(key, usual, allowed, |value| range.contains(value) && value.is_power_of_two())
    }

    /// The similarity that makes duplicates: `usual` unless the choice or the configuration gives one.
    pub(crate) fn threshold(&mut self, configured: Option<f64>, usual: f64) -> Result<f64, ConfigError> {
        let allowed = format!("a value above 0 and up to 1, such as {usual}");
        let value = self.accepted("threshold", configured.unwrap_or(usual), allowed, |_| true)?;
        if value > 0.0 && value <= 1.0 { Ok(value) } else { Err(ConfigError::Threshold { value, usual }) }
    }

    /// A number in `range`.
    pub(crate) fn number<T: FromStr + PartialOrd + Display + Copy>(
        &mut self,
        key: &'static str,
        usual: T,
        range: RangeInclusive<T>,
    ) -> Result<T, ConfigError> {
        let allowed = format!("a value from {} to {}, such as {usual}", range.start(), range.end());
        self.accepted(key, usual, allowed, |value| range.contains(value))
    }

    /// One of some words; the first is the default.
    pub(crate) fn word(
        &mut self,
        key: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, ConfigError> {
        let Some(value) = self.take(key, words[0]) else { return Ok(words[0]) };
        let found = words.iter().find(|word| **word == value);
        found.copied().ok_or_else(|| self.refused(key, value, format!("one of {}", words.join(", "))))
    }

    /// The given value, or the default. It must be `right`; `allowed` says in words which values are.
    fn accepted<T: FromStr + Display>(
        &mut self,
        key: &'static str,
        usual: T,
        allowed: String,
        right: impl Fn(&T) -> bool,
    ) -> Result<T, ConfigError> {
        let (value, text) = match self.take(key, &usual) {
            Some(text) => (text.parse().ok(), text),
            None => {
                let text = usual.to_string();
                (Some(usual), text)
            }
        };
        match value.filter(|value| right(value)) {
            Some(value) => Ok(value),
            None => Err(self.refused(key, text, allowed)),
        }
    }

    /// Takes the value given for `key`, if any.
    fn take(&mut self, key: &'static str, usual: impl Display) -> Option<String> {
        self.known.push((key, usual.to_string()));
        let place = self.given.iter().position(|(given, _)| given == key)?;
        Some(self.given.remove(place).1)
    }

    /// The error for a refused value. `allowed` says in words which values are accepted.
    pub(crate) fn refused(&self, key: &'static str, value: impl Display, allowed: String) -> ConfigError {
        ConfigError::Parameter {
            method: self.name.clone(),
            parameter: key,
            value: value.to_string(),
            allowed,
        }
    }

    /// The error for values that conflict.
    pub(crate) fn conflict(&self, reason: String) -> ConfigError {
        ConfigError::Combination { method: self.name.clone(), reason }
    }

    /// Refuses parameters that the method did not take. Returns those that it knows, with their default values.
    pub(crate) fn finish(self) -> Result<Vec<(&'static str, String)>, ConfigError> {
        let Some((parameter, _)) = self.given.into_iter().next() else { return Ok(self.known) };
        let known = self.known.into_iter().map(|known| known.0).collect();
        Err(ConfigError::UnknownParameter { method: self.name, parameter, known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_or_usual() {
        let mut parameters = Parameters::parse("lcs:m=9:threshold=0.7:search=b").unwrap();
        assert_eq!(parameters.name(), "lcs");
        assert_eq!(parameters.count("m", 7, 1..=64), Ok(9));
        assert_eq!(parameters.count("n", 3, 1..=64), Ok(3));
        assert_eq!(parameters.threshold(Some(0.2), 0.8), Ok(0.7));
        assert_eq!(parameters.word("search", &["a", "b"]), Ok("b"));
        assert_eq!(parameters.finish().unwrap()[0], ("m", "7".to_owned()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |choice: &str| {
            let mut parameters = Parameters::parse(choice)?;
            parameters.count("m", 7, 1..=64)?;
            parameters.threshold(None, 0.8)?;
            parameters.word("search", &["a", "b"])?;
            parameters.finish().map(|_| ())
        };
        for choice in [
            "x:m",
            "x:m=0",
            "x:m=65",
            "x:m=x",
            "x:m=1:m=2",
            "x:threshold=0",
            "x:threshold=1.1",
            "x:threshold=NaN",
            "x:search=c",
            "x:k=1",
        ] {
            assert!(refused(choice).is_err(), "{choice}");
        }
        let said = |choice: &str| refused(choice).unwrap_err().to_string();
        assert_eq!(said("x:k=1"), "method x has no parameter \"k\": it has m, threshold, search");
        assert_eq!(said("x:m=65"), "x:m=65 is not valid: give a value from 1 to 64, such as 7");
        assert_eq!(said("x:m=x"), "x:m=x is not valid: give a value from 1 to 64, such as 7");
    }
}
