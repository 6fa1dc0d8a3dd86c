//! The fields of a hit: its id, its score, and what it is compared by.

use onecopy_core::{Evidence, Tag};
use serde_json::value::RawValue;

use super::path::{FoundText, JsonPath, text_of};

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
    proof: Proof<'a>,
}

/// What a hit is compared by.
enum Proof<'a> {
    Nothing,
    /// A text as the answer has it, with its escapes.
    Raw(&'a str),
    Text(String),
    Html(String),
    Tag(Tag),
}

impl HitFields {
    /// All paths, in the order that [`HitFields::hit`] expects their values in.
    pub fn paths(&self) -> Vec<&JsonPath> {
        let (TextFields::All(texts) | TextFields::First(texts)) = &self.text;
        [&self.id, &self.score, &self.tag, &self.html].into_iter().chain(texts).collect()
    }

    /// A hit with these values at the paths.
    pub fn hit<'a>(&self, raw: &'a str, found: &[Option<&'a RawValue>]) -> Hit<'a> {
        let raw_text = |value: Option<&'a RawValue>| value.map(RawValue::get);
        let [id, score] = [raw_text(found[0]), raw_text(found[1])];
        Hit { raw, id, score, proof: self.proof(&found[2..]) }
    }

    /// A tag is compared fastest, HTML has most to say. A tag that cannot be read counts as none.
    fn proof<'a>(&self, found: &[Option<&'a RawValue>]) -> Proof<'a> {
        let text = |value: &Option<&'a RawValue>| value.and_then(text_of);
        if let Some(tag) = text(&found[0]).and_then(|tag| tag.into_plain().parse().ok()) {
            return Proof::Tag(tag);
        }
        if let Some(html) = text(&found[1]) {
            return Proof::Html(html.into_plain());
        }
        let mut texts = found[2..].iter().filter_map(text);
        let first = match texts.next() {
            None => return Proof::Nothing,
            Some(first) => first,
        };
        let others: Vec<FoundText> = match &self.text {
            TextFields::First(_) => Vec::new(),
            TextFields::All(_) => texts.collect(),
        };
        match (first, others.is_empty()) {
            (FoundText::Raw(raw), true) => Proof::Raw(raw),
            (first, _) => {
                let join = |all: String, text: FoundText| all + "\n" + &text.into_plain();
                Proof::Text(others.into_iter().fold(first.into_plain(), join))
            }
        }
    }
}

impl Hit<'_> {
    /// What the hit is compared by.
    pub fn evidence(&self) -> Evidence<'_> {
        match &self.proof {
            Proof::Nothing => Evidence::Nothing,
            Proof::Raw(raw) => Evidence::Json(raw),
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
