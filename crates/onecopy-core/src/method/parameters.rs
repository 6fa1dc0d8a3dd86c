//! The parameters of a method: `name:parameter=value:parameter=value`.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A method's name and its parameters, which the method takes out one by one.
#[derive(Debug)]
pub(crate) struct Parameters {
    name: String,
    given: Vec<(String, String)>,
    /// The parameters that the method asked for, and the default value of each.
    known: Vec<(&'static str, String)>,
}

impl Parameters {
    pub(crate) fn parse(choice: &str) -> Result<Parameters, String> {
        let mut parts = choice.split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        let mut given: Vec<(String, String)> = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!(
                    "{part:?} in method {choice:?} has no value: write {name}:PARAMETER=VALUE"
                ));
            };
            if given.iter().any(|(other, _)| other == key) {
                return Err(format!("parameter {key} is given twice in method {choice:?}: give it once"));
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
    ) -> Result<usize, String> {
        self.number(key, usual, range)
    }

    /// A count in `range`, if it is given. The error message suggests `such_as`.
    pub(crate) fn count_if_given(
        &mut self,
        key: &'static str,
        such_as: usize,
        range: RangeInclusive<usize>,
    ) -> Result<Option<usize>, String> {
        let given = self.given.iter().any(|(given, _)| given == key);
        let value = self.number(key, such_as, range)?;
        Ok(given.then_some(value))
    }

    /// A power of two in `range`.
    pub(crate) fn power(
        &mut self,
        key: &'static str,
        usual: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, String> {
        let value = self.number(key, usual, range)?;
        if value.is_power_of_two() {
            return Ok(value);
        }
        Err(format!("{}:{key}={value} is no power of two: give one, such as {usual}", self.name))
    }

    /// The similarity that makes duplicates: `usual` unless the choice or the configuration gives one.
    pub(crate) fn threshold(&mut self, configured: Option<f64>, usual: f64) -> Result<f64, String> {
        let value: f64 = self.value("threshold", configured.unwrap_or(usual))?;
        if value > 0.0 && value <= 1.0 {
            return Ok(value);
        }
        Err(format!("threshold {value} is out of range: give a value above 0 and up to 1, such as {usual}"))
    }

    /// A number in `range`.
    pub(crate) fn number<T: FromStr + PartialOrd + Display + Copy>(
        &mut self,
        key: &'static str,
        usual: T,
        range: RangeInclusive<T>,
    ) -> Result<T, String> {
        let value = self.value(key, usual)?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (from, to) = (range.start(), range.end());
        let name = &self.name;
        Err(format!("{name}:{key}={value} makes no sense: give a value from {from} to {to}, such as {usual}"))
    }

    /// One of some words; the first is the default.
    pub(crate) fn word(&mut self, key: &'static str, words: &[&'static str]) -> Result<&'static str, String> {
        let value: String = self.value(key, words[0].to_owned())?;
        let found = words.iter().find(|word| **word == value);
        found.copied().ok_or_else(|| {
            format!("{}:{key}={value} is not known: give one of {}", self.name, words.join(", "))
        })
    }

    fn value<T: FromStr + Display>(&mut self, key: &'static str, usual: T) -> Result<T, String> {
        self.known.push((key, usual.to_string()));
        let Some(place) = self.given.iter().position(|(given, _)| given == key) else { return Ok(usual) };
        let (_, value) = self.given.remove(place);
        value.parse().map_err(|_| format!("{}:{key}={value} is not a number", self.name))
    }

    /// Refuses parameters that the method did not take. Returns those that it knows, with their default values.
    pub(crate) fn finish(self) -> Result<Vec<(&'static str, String)>, String> {
        let Some((key, _)) = self.given.first() else { return Ok(self.known) };
        let known: Vec<&str> = self.known.iter().map(|known| known.0).collect();
        let (name, known) = (&self.name, known.join(", "));
        Err(format!("method {name} has no parameter {key:?}: it has {known}"))
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
        assert_eq!(
            refused("x:k=1"),
            Err("method x has no parameter \"k\": it has m, threshold, search".into())
        );
    }
}
