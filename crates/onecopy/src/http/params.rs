//! Query parameters. An unknown, repeated or malformed one is an error: a mistyped `verfiy=true` must not look like an
//! answer.

use std::ops::RangeInclusive;

use super::failure::Failure;

/// The largest number, so that it fits in a signed 64-bit integer.
pub const LARGEST: u64 = i64::MAX as u64;

/// The parameters of a request.
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Parses a query that may contain only `known` names.
    pub fn parse(query: Option<&str>, known: &[&str]) -> Result<Params, Failure> {
        let mut found: Vec<(String, String)> = Vec::new();
        for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if !known.contains(&name.as_str()) {
                return Err(unknown(&name, known));
            } else if found.iter().any(|(other, _)| *other == name) {
                let remedy = "give it once; write a `&` inside a value as %26";
                return Err(Failure::bad(format!("the parameter `{name}` is given twice"), remedy));
            }
            found.push((name, value));
        }
        Ok(Params(found))
    }

    /// The same parameters, of which only some may be given together.
    pub fn only(self, known: &[&str]) -> Result<Params, Failure> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => {
                let error = format!("the parameter `{name}` does not go with the others");
                Err(Failure::bad(error, format!("these go together: {}", known.join(", "))))
            }
            None => Ok(self),
        }
    }

    /// An optional text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A required text.
    pub fn needed(&self, name: &str) -> Result<&str, Failure> {
        let found = self.text(name).filter(|text| !text.is_empty());
        let error = || format!("the parameter `{name}` is missing or empty");
        found.ok_or_else(|| Failure::bad(error(), format!("add ?{name}=... to the address")))
    }

    /// A number, or `usual` if it is absent.
    pub fn number(&self, name: &str, within: RangeInclusive<u64>, usual: u64) -> Result<u64, Failure> {
        let Some(text) = self.text(name) else { return Ok(usual) };
        number(text).filter(|number| within.contains(number)).ok_or_else(|| {
            let error = format!("the parameter `{name}` is not a number in its range");
            Failure::bad(error, format!("give a number from {} to {}", within.start(), within.end()))
        })
    }

    /// A boolean; absent means false.
    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.text(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => {
                let error = format!("the parameter `{name}` must be true or false");
                Err(Failure::bad(error, format!("write {name}=true or {name}=false")))
            }
        }
    }
}

/// Parses digits only; `parse` would also accept a sign.
pub fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number <= LARGEST)
}

fn unknown(name: &str, known: &[&str]) -> Failure {
    let shown: String = name.chars().take(100).collect();
    let remedy = match known {
        [] => "give none here".to_owned(),
        _ => format!("known parameters: {}; write a `&` inside a value as %26", known.join(", ")),
    };
    Failure::bad(format!("unknown parameter `{shown}`"), remedy)
}

/// Decodes form encoding: `+` is a space, `%` starts two hexadecimal digits.
fn decoded(text: &str) -> Result<String, Failure> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| char::from(digit?).to_digit(16));
                let [Some(high), Some(low)] = digits else {
                    let error = "a `%` in the query is not followed by two hexadecimal digits";
                    return Err(Failure::bad(error, "write a literal `%` as %25"));
                };
                bytes.push((high * 16 + low) as u8);
            }
            other => bytes.push(other),
        }
    }
    let error = "the query is not UTF-8";
    String::from_utf8(bytes).map_err(|_| Failure::bad(error, "percent-encode the bytes of the UTF-8 form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        let query = "page=http%3A%2F%2Fa.example%2F%3Fx%3D1%26y&verify=true&after=7&search=a+b%2Bc";
        let params = Params::parse(Some(query), &["page", "verify", "after", "search"]).expect("parameters");
        assert_eq!(params.needed("page").expect("a page"), "http://a.example/?x=1&y");
        assert!(params.flag("verify").expect("a flag"));
        assert_eq!(params.number("after", 0..=9, 1).expect("a number"), 7);
        assert_eq!(params.number("limit", 0..=9, 3).expect("the usual"), 3);
        assert_eq!(params.text("search"), Some("a b+c"));
    }

    #[test]
    fn wrong_parameters_are_named() {
        let wrong = |query| Params::parse(Some(query), &["page"]).map(|_| ()).expect_err(query).error;
        assert!(wrong("page=a&y=2").contains("`y`"));
        assert!(wrong("page=a&page=b").contains("twice"));
        assert!(wrong("page=%4").contains('%') && wrong("page=%g0").contains('%'));
        assert!(wrong("page=%ff").contains("UTF-8"));
        for query in ["n=+1", "n=-1", "n=10", "n=", "n=x", "n=99999999999999999999", "n=%2B1"] {
            let params = Params::parse(Some(query), &["n"]).expect(query);
            assert!(params.number("n", 0..=9, 1).is_err(), "{query}");
            assert!(params.flag("n").is_err(), "{query}");
        }
        assert!(Params::parse(None, &["page"]).expect("none").needed("page").is_err());
    }
}
