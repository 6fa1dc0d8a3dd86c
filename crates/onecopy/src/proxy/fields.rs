//! The fields of a hit: its id, its score, and what it is compared by.

use onecopy_core::{Evidence, Tag};
use serde_json::value::RawValue;

use super::path::{JsonPath, text_of, values};

/// Where a hit has its fields.
#[derive(Clone, Debug)]
pub struct HitFields {
    pub id: JsonPath,
    pub score: JsonPath,
    pub tag: JsonPath,
    pub html: JsonPath,
    pub text: TextFields,
}

/// Where a hit has its text.
#[derive(Clone, Debug)]
pub enum TextFields {
    /// All of these, one after the other.
    All(Vec<JsonPath>),
    /// The first of these that a hit has.
    First(Vec<JsonPath>),
}

/// A hit, as slices of the answer that it came in.
pub struct Hit<'a> {
    pub raw: &'a str,
    pub id: Option<&'a str>,
    pub score: Option<&'a str>,
    proof: Proof,
}

/// What a hit is compared by.
enum Proof {
    Nothing,
    Text(String),
    Html(String),
    Tag(Tag),
}

impl HitFields {
    /// Reads a hit.
    pub fn read<'a>(&self, raw: &'a RawValue) -> serde_json::Result<Hit<'a>> {
        let (TextFields::All(texts) | TextFields::First(texts)) = &self.text;
        let fixed = [&self.id, &self.score, &self.tag, &self.html];
        let paths: Vec<&JsonPath> = fixed.into_iter().chain(texts).collect();
        let found = values(raw.get(), &paths)?;
        let raw_text = |value: Option<&'a RawValue>| value.map(RawValue::get);
        let [id, score] = [raw_text(found[0]), raw_text(found[1])];
        Ok(Hit { raw: raw.get(), id, score, proof: self.proof(&found[2..]) })
    }

    /// A tag is compared fastest, HTML has most to say. A tag that cannot be read counts as none.
    fn proof(&self, found: &[Option<&RawValue>]) -> Proof {
        let text = |value: &Option<&RawValue>| value.and_then(text_of).filter(|text| !text.trim().is_empty());
        if let Some(tag) = text(&found[0]).and_then(|tag| tag.parse().ok()) {
            return Proof::Tag(tag);
        }
        if let Some(html) = text(&found[1]) {
            return Proof::Html(html);
        }
        let mut texts = found[2..].iter().filter_map(text);
        let joined = match &self.text {
            TextFields::First(_) => texts.next(),
            TextFields::All(_) => texts.reduce(|all, text| all + "\n" + &text),
        };
        joined.map_or(Proof::Nothing, Proof::Text)
    }
}

impl Hit<'_> {
    /// What the hit is compared by.
    pub fn evidence(&self) -> Evidence<'_> {
        match &self.proof {
            Proof::Nothing => Evidence::Nothing,
            Proof::Text(text) => Evidence::Text(text),
            Proof::Html(html) => Evidence::Html(html),
            Proof::Tag(tag) => Evidence::Tag(tag),
        }
    }

    /// Whether there is something to compare.
    pub fn is_comparable(&self) -> bool {
        !matches!(self.proof, Proof::Nothing)
    }
}
