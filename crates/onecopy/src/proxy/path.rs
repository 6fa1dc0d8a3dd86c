//! JSON paths: where an answer has its hits, and a hit its id and its text.
//!
//! Values are slices of the answer, so what is not changed stays as the engine wrote it.

use std::fmt;

use onecopy_core::unescape;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The most steps of a path.
const STEPS: usize = 16;

/// A path such as `hits.hits` or `results.*.hits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of an object, or the element of an array if the name is a number.
    Name(String),
    /// Every member or element.
    All,
}

impl JsonPath {
    /// Reads a path: names with dots between them. `\.` is a dot within a name, `.` alone the whole value.
    pub fn parse(text: &str) -> Result<JsonPath, String> {
        if text == "." {
            return Ok(JsonPath(Vec::new()));
        }
        let mut names = vec![String::new()];
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let last = names.len() - 1;
            match letter {
                '.' => names.push(String::new()),
                '\\' => names[last].extend(letters.next()),
                letter => names[last].push(letter),
            }
        }
        if names.len() > STEPS || names.iter().any(String::is_empty) {
            return Err(format!("`{text}` is not a path: write names with dots between, such as hits.hits"));
        }
        let step = |name: String| if name == "*" { Step::All } else { Step::Name(name) };
        Ok(JsonPath(names.into_iter().map(step).collect()))
    }

    /// The path to a member of an object, whatever its name.
    pub fn member(name: &str) -> JsonPath {
        JsonPath(vec![Step::Name(name.to_owned())])
    }

    /// Whether it leads to one value at most.
    pub fn is_single(&self) -> bool {
        !self.0.contains(&Step::All)
    }

    /// The steps from the whole value on.
    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl Step {
    /// Whether the step leads to this member or position.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Step::Name(wanted) => wanted == name,
            Step::All => true,
        }
    }
}

/// The first values that several paths lead to, found in one pass.
pub fn values<'a>(json: &'a str, paths: &[&JsonPath]) -> serde_json::Result<Vec<Option<&'a RawValue>>> {
    let mut found = vec![None; paths.len()];
    Walk::new(paths, &mut found).deserialize(&mut serde_json::Deserializer::from_str(json))?;
    Ok(found)
}

/// A text in an answer that has more than white space.
pub enum FoundText<'a> {
    /// The inside of a string, with its escapes.
    Raw(&'a str),
    Plain(String),
}

impl FoundText<'_> {
    /// The text without escapes.
    pub fn into_plain(self) -> String {
        match self {
            FoundText::Raw(raw) => unescape(raw),
            FoundText::Plain(text) => text,
        }
    }
}

/// The text of a string, or of an array of strings. `None` if it is blank, or is no text: half of a surrogate pair.
pub fn text_of(value: &RawValue) -> Option<FoundText<'_>> {
    let json = value.get();
    if let Some(raw) = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'))
        && !raw.trim_start().is_empty()
        && !raw.trim_start().starts_with('\\')
        && !may_have_surrogates(raw)
    {
        return Some(FoundText::Raw(raw));
    }
    let text = match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str(json).ok()?,
        Some(b'[') => serde_json::from_str::<Vec<String>>(json).ok()?.join("\n"),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(FoundText::Plain(text))
}

fn may_have_surrogates(raw: &str) -> bool {
    // Most texts have neither, and are searched only once.
    raw.contains("\\u") && (raw.contains("\\ud") || raw.contains("\\uD"))
}

/// Where a part begins in the text that it is a slice of.
pub fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// The rest of a path, below the value that is being read.
#[derive(Clone, Copy)]
struct Wanted<'p> {
    slot: usize,
    rest: &'p [Step],
}

/// Reads a value and follows the paths into it.
pub(super) struct Walk<'p, 's, 'de> {
    wanted: Vec<Wanted<'p>>,
    /// The first value at the end of each path.
    found: &'s mut [Option<&'de RawValue>],
}

impl<'p, 's, 'de> Walk<'p, 's, 'de> {
    /// Follows all paths from the whole value on.
    pub(super) fn new(paths: &[&'p JsonPath], found: &'s mut [Option<&'de RawValue>]) -> Walk<'p, 's, 'de> {
        let wanted = paths.iter().enumerate().map(|(slot, path)| Wanted { slot, rest: &path.0 }).collect();
        Walk { wanted, found }
    }

    /// The paths that continue below a name or a position.
    fn below(&self, name: &str) -> Vec<Wanted<'p>> {
        let next = |wanted: &Wanted<'p>| match wanted.rest.split_first()? {
            (step, rest) if step.matches(name) => Some(Wanted { slot: wanted.slot, rest }),
            _ => None,
        };
        self.wanted.iter().filter_map(next).collect()
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        if self.wanted.is_empty() {
            return reader.deserialize_ignored_any(IgnoredAny).map(|_| ());
        }
        let ends = |wanted: &Wanted| wanted.rest.is_empty();
        if !self.wanted.iter().any(ends) {
            return reader.deserialize_any(self);
        }
        let value: &'de RawValue = serde::Deserialize::deserialize(reader)?;
        let (ended, deeper): (Vec<Wanted>, Vec<Wanted>) = self.wanted.into_iter().partition(ends);
        for wanted in ended {
            self.found[wanted.slot].get_or_insert(value);
        }
        if deeper.is_empty() {
            return Ok(());
        }
        let mut reader = serde_json::Deserializer::from_str(value.get());
        Walk { wanted: deeper, found: self.found }.deserialize(&mut reader).map_err(serde::de::Error::custom)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(wanted) = map.next_key_seed(Below(&self))? {
            map.next_value_seed(Walk { wanted, found: &mut *self.found })?;
        }
        Ok(())
    }

    fn visit_seq<Q: SeqAccess<'de>>(self, mut seq: Q) -> Result<(), Q::Error> {
        for index in 0_usize.. {
            let wanted = self.below(&index.to_string());
            if seq.next_element_seed(Walk { wanted, found: &mut *self.found })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a key: which paths continue below it.
struct Below<'a, 'p, 's, 'v>(&'a Walk<'p, 's, 'v>);

impl<'p, 'de> DeserializeSeed<'de> for Below<'_, 'p, '_, '_> {
    type Value = Vec<Wanted<'p>>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'p, 'de> Visitor<'de> for Below<'_, 'p, '_, '_> {
    type Value = Vec<Wanted<'p>>;

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.below(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> JsonPath {
        JsonPath::parse(text).expect("a path")
    }

    #[test]
    fn values_are_found_in_one_pass() {
        let hit = r#"{"_id": "7", "_source": {"a.b": "x", "text": ["p", "q"]}, "n": [1, 2], "_id": "8"}"#;
        let paths = ["_id", "_source.text", "_source", r"_source.a\.b", "n.1", "none.here"].map(path);
        let found = values(hit, &paths.each_ref()).expect("JSON");
        let found: Vec<Option<&str>> = found.iter().map(|value| value.map(RawValue::get)).collect();
        let source = r#"{"a.b": "x", "text": ["p", "q"]}"#;
        let wanted = [Some("\"7\""), Some(r#"["p", "q"]"#), Some(source), Some("\"x\""), Some("2"), None];
        assert_eq!(found, wanted);
        let text = values(hit, &[&paths[1]]).expect("JSON")[0].and_then(text_of);
        assert_eq!(text.map(FoundText::into_plain).as_deref(), Some("p\nq"));
    }

    #[test]
    fn a_text_is_what_serde_reads() {
        let texts = [
            r#""plain""#,
            r#"" a \" b \\ c \u00e9 \/""#,
            r#""\n\n text""#,
            r#""\ud83d\ude00 smile""#,
            r#""words \uD83D\uDE00""#,
            r#""half \ud83d of a pair""#,
            r#""""#,
            r#"" \t\n ""#,
            r#""\u0020""#,
            "\"\u{a0}\u{2003}\"",
            r#"["a", "b"]"#,
            r#"[]"#,
            r#"["", " "]"#,
            r#"["a", 1]"#,
            "7",
            "null",
            r#"{"a": "b"}"#,
        ];
        for json in texts {
            let value: &RawValue = serde_json::from_str(json).expect("JSON");
            let joined = || serde_json::from_str::<Vec<String>>(json).map(|parts| parts.join("\n"));
            let read = serde_json::from_str::<String>(json).or_else(|_| joined()).ok();
            let read = read.filter(|text| !text.trim().is_empty());
            assert_eq!(text_of(value).map(FoundText::into_plain), read, "{json}");
        }
    }

    #[test]
    fn paths_without_names_are_refused() {
        for wrong in ["", "a..b", ".a", "a."] {
            assert!(JsonPath::parse(wrong).is_err(), "{wrong}");
        }
        assert!(!path("a.*.b").is_single() && path("a.b").is_single());
    }
}
