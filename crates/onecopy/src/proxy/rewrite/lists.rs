//! The lists of hits in an answer, and the fields of each hit, read in one pass.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny};
use serde_json::value::RawValue;

use crate::proxy::path::{JsonPath, Step, Walk};

/// An element of a list.
pub struct Element<'a> {
    /// Its own bytes.
    pub raw: &'a str,
    /// The first value at each path.
    pub found: Vec<Option<&'a RawValue>>,
}

/// The elements of the arrays that `path` leads to, with their values at `fields`. Fails if the text is not JSON.
pub fn lists<'a>(
    json: &'a str,
    path: &JsonPath,
    fields: &[&JsonPath],
) -> serde_json::Result<Vec<Vec<Element<'a>>>> {
    let mut reader = Reader { json, at: 0, fields, lists: Vec::new() };
    reader.value(path.steps())?;
    match reader.next() {
        None => Ok(reader.lists),
        Some(_) => Err(reader.unexpected("the end")),
    }
}

struct Reader<'a, 'p> {
    json: &'a str,
    at: usize,
    fields: &'p [&'p JsonPath],
    lists: Vec<Vec<Element<'a>>>,
}

impl<'a> Reader<'a, '_> {
    /// Reads a value and follows the path into it.
    fn value(&mut self, path: &[Step]) -> serde_json::Result<()> {
        match (self.next(), path.split_first()) {
            (Some(b'['), None) => {
                self.lists.push(Vec::new());
                self.members(b']', &mut |reader, _| reader.element())
            }
            (Some(b'['), Some(step)) => {
                self.members(b']', &mut |reader, index| reader.member(&index.to_string(), step))
            }
            (Some(b'{'), Some(step)) => self.members(b'}', &mut |reader, _| {
                let name: Cow<str> = reader.read(PhantomData)?;
                reader.pass(b':')?;
                reader.member(&name, step)
            }),
            _ => self.read(PhantomData).map(|IgnoredAny| ()),
        }
    }

    /// Reads the members of an array or object, up to its end.
    fn members(
        &mut self,
        end: u8,
        read: &mut dyn FnMut(&mut Self, usize) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        self.at += 1;
        if self.next() == Some(end) {
            return self.pass(end);
        }
        for number in 0.. {
            read(self, number)?;
            if self.next() == Some(end) {
                break;
            }
            self.pass(b',')?;
        }
        self.pass(end)
    }

    fn member(&mut self, name: &str, (step, rest): (&Step, &[Step])) -> serde_json::Result<()> {
        match step.matches(name) {
            true => self.value(rest),
            false => self.read(PhantomData).map(|IgnoredAny| ()),
        }
    }

    fn element(&mut self) -> serde_json::Result<()> {
        self.next();
        let (start, mut found) = (self.at, vec![None; self.fields.len()]);
        self.read(Walk::new(self.fields, &mut found))?;
        let element = Element { raw: &self.json[start..self.at], found };
        self.lists.last_mut().map(|list| list.push(element)).ok_or_else(|| self.unexpected("a list"))
    }

    /// Reads a whole value.
    fn read<T: DeserializeSeed<'a>>(&mut self, seed: T) -> serde_json::Result<T::Value> {
        let mut reader = serde_json::Deserializer::from_str(&self.json[self.at..]);
        let value = seed.deserialize(&mut reader)?;
        self.at += reader.into_iter::<IgnoredAny>().byte_offset();
        Ok(value)
    }

    /// The next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.json.as_bytes()[self.at..];
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        self.at += rest.iter().take_while(|byte| is_space(byte)).count();
        self.json.as_bytes().get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> serde_json::Result<()> {
        if self.next() != Some(byte) {
            return Err(self.unexpected(&format!("`{}`", byte as char)));
        }
        self.at += 1;
        Ok(())
    }

    fn unexpected(&self, wanted: &str) -> serde_json::Error {
        serde_json::Error::custom(format!("expected {wanted} at byte {}", self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> JsonPath {
        JsonPath::parse(text).expect("a path")
    }

    fn raw(json: &str, at: &str) -> Vec<Vec<String>> {
        let lists = lists(json, &path(at), &[]).expect("JSON");
        let texts = |list: Vec<Element>| list.iter().map(|element| element.raw.to_owned()).collect();
        lists.into_iter().map(texts).collect()
    }

    #[test]
    fn lists_are_found_with_their_own_bytes() {
        let json = r#"{"took": 1, "hits": {"total": 1e2, "hits": [ {"a" : 1.50}, [2 ] ]}, "x": [[1]]} "#;
        assert_eq!(raw(json, "hits.hits"), [[r#"{"a" : 1.50}"#, "[2 ]"]]);
        assert_eq!(raw(json, "x.0"), [["1"]]);
        assert!(raw(json, "hits.total").is_empty() && raw(json, "took.hits").is_empty());
        assert_eq!(raw("[1, 2]", "."), [["1", "2"]]);
        assert_eq!(raw("{\"\\u0068its\": [-1.5e3,2]}", "hits"), [["-1.5e3", "2"]]);
        let many = r#"{"results": [{"hits": [1]}, {"error": "no"}, {"hits": []}, {}]}"#;
        assert_eq!(raw(many, "results.*.hits"), [vec!["1"], vec![]]);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let broken = [
            "",
            "{\"hits\": [1",
            "[1] [2]",
            "{\"hits\": [1,]}",
            "nope",
            "{\"hits\" [1]}",
            "{\"hits\": [1 2]}",
        ];
        let outside =
            ["{\"hits\": [1],}", "{hits: [1]}", "{\"hits\": [1]", "{\"a\": tru, \"hits\": [1]}", "{,}"];
        for json in broken.into_iter().chain(outside) {
            assert!(lists(json, &path("hits"), &[]).is_err(), "{json}");
        }
    }

    #[test]
    fn hits_come_with_their_fields() {
        let fields = ["id", "_source.text"].map(path);
        let json = r#"{"hits": [{"id": 1, "_source": {"text": "a"}}, {"id": "b"}, 3]}"#;
        let lists = lists(json, &path("hits"), &fields.each_ref()).expect("JSON");
        let found: Vec<&[Option<&RawValue>]> = lists[0].iter().map(|element| &element.found[..]).collect();
        let found = found.iter().map(|values| values.iter().map(|value| value.map(RawValue::get)).collect());
        let found: Vec<Vec<Option<&str>>> = found.collect();
        assert_eq!(found, [[Some("1"), Some("\"a\"")], [Some("\"b\""), None], [None, None]]);
    }
}
