//! Parses an address into a store and the wanted objects.

use glob::{MatchOptions, Pattern};

/// The supported stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    S3,
    Google,
    Azure,
    Http,
    Https,
}

const SCHEMES: [(&str, Scheme); 5] = [
    ("s3", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Https),
];

impl Scheme {
    fn name(self) -> &'static str {
        SCHEMES.iter().find(|(_, scheme)| *scheme == self).map_or("", |(name, _)| name)
    }

    pub(super) fn is_web(self) -> bool {
        matches!(self, Scheme::Http | Scheme::Https)
    }

    /// The prefix of its environment variables. Web servers have none.
    pub(super) fn variables(self) -> Option<&'static str> {
        match self {
            Scheme::S3 => Some("AWS_"),
            Scheme::Google => Some("GOOGLE_"),
            Scheme::Azure => Some("AZURE_"),
            Scheme::Http | Scheme::Https => None,
        }
    }
}

/// A parsed address.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoreAddress {
    pub scheme: Scheme,
    /// The bucket or container; for a web address, the whole address.
    pub bucket: String,
    pub wanted: Wanted,
}

/// The wanted objects of a bucket.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    /// One object, by its key. A web address has no key.
    Object(String),
    /// All objects below this prefix.
    Below(String),
    /// The objects below this prefix that match.
    Matching(String, Pattern),
}

/// Whether an input is an address rather than a path.
pub(crate) fn is_remote(input: &str) -> bool {
    split(input).is_some()
}

/// Whether an input is a web address rather than an object store address.
pub(crate) fn is_web(input: &str) -> bool {
    split(input).is_some_and(|(scheme, _)| scheme.is_web())
}

fn split(input: &str) -> Option<(Scheme, &str)> {
    let (name, rest) = input.split_once("://")?;
    let scheme = SCHEMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1;
    Some((scheme, rest))
}

/// Parses an address, or says what is wrong with it.
pub(super) fn parse(input: &str) -> Result<StoreAddress, String> {
    let (scheme, rest) = split(input).ok_or("it is not an address")?;
    if scheme.is_web() {
        return web(scheme, rest);
    }
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() || bucket.contains(is_special) {
        return Err(format!("name a bucket, such as {}://bucket/crawl/*.jsonl.gz", scheme.name()));
    }
    Ok(StoreAddress { scheme, bucket: bucket.into(), wanted: wanted(key)? })
}

fn web(scheme: Scheme, rest: &str) -> Result<StoreAddress, String> {
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    if path.contains(['*', '[']) || path.ends_with('/') || !path.contains('/') {
        return Err("a web server cannot list its files: give the full address of each".into());
    }
    let whole = format!("{}://{rest}", scheme.name());
    Ok(StoreAddress { scheme, bucket: whole, wanted: Wanted::Object(String::new()) })
}

fn wanted(key: &str) -> Result<Wanted, String> {
    let Some(special) = key.find(is_special) else {
        let folder = key.is_empty() || key.ends_with('/');
        return Ok(if folder { Wanted::Below(key.into()) } else { Wanted::Object(key.into()) });
    };
    let pattern = Pattern::new(key).map_err(|error| format!("it is no pattern: {}", error.msg))?;
    let fixed = key[..special].rfind('/').map_or(0, |end| end + 1);
    Ok(Wanted::Matching(key[..fixed].into(), pattern))
}

fn is_special(c: char) -> bool {
    matches!(c, '*' | '?' | '[')
}

/// As in the file system: `*` does not cross a `/`, `**` does.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl StoreAddress {
    /// Whether a listed key is one of the wanted objects.
    pub(super) fn takes(&self, key: &str) -> bool {
        match &self.wanted {
            Wanted::Object(wanted) => wanted == key,
            Wanted::Below(_) => true,
            Wanted::Matching(_, pattern) => pattern.matches_with(key, MATCHING),
        }
    }

    /// The address of one object of this bucket.
    pub(super) fn of(&self, key: &str) -> String {
        if self.scheme.is_web() {
            return self.bucket.clone();
        }
        format!("{}://{}/{key}", self.scheme.name(), self.bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        for address in ["s3://b/k", "GS://b", "az://c/x", "http://h/x", "https://h/x"] {
            assert!(is_remote(address), "{address}");
        }
        for path in ["crawl/*.jsonl", "file:///x", "-", "s3:/b", "C:\\x", "ftp://h/x", "s3"] {
            assert!(!is_remote(path), "{path}");
        }
    }

    #[test]
    fn keys_are_one_object_a_folder_or_a_pattern() {
        let wanted = |text: &str| parse(text).unwrap().wanted;
        assert_eq!(wanted("s3://b/a/x.jsonl"), Wanted::Object("a/x.jsonl".into()));
        assert_eq!(wanted("s3://b/a/"), Wanted::Below("a/".into()));
        assert_eq!(wanted("s3://b"), Wanted::Below("".into()));
        let Wanted::Matching(fixed, _) = wanted("gs://b/a/c*/x.gz") else { panic!("a pattern") };
        assert_eq!(fixed, "a/");
        assert_eq!(wanted("https://h/a?b=*/"), Wanted::Object("".into()));
        assert_eq!(parse("HTTPS://h/a?b").unwrap().of(""), "https://h/a?b");
    }

    #[test]
    fn a_star_stays_within_a_folder() {
        let takes = |pattern: &str, key: &str| parse(&format!("s3://b/{pattern}")).unwrap().takes(key);
        assert!(takes("a/*.gz", "a/x.gz") && !takes("a/*.gz", "a/b/x.gz"));
        assert!(takes("a/**/*.gz", "a/b/c/x.gz") && takes("a/**/*.gz", "a/x.gz"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for address in
            ["s3://", "s3:///k", "s3://b*/k", "s3://b/[", "http://h/*.gz", "https://h/", "https://h"]
        {
            assert!(parse(address).is_err(), "{address}");
        }
    }
}
