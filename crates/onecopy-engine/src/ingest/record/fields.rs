//! Maps field names to their meaning: the user's names first, else the usual names of crawlers and corpora.

use crate::job::Fields;

/// The meaning of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Text,
    Html,
    Id,
    Url,
    Time,
    Popularity,
    Redirect,
    Canonical,
    Revisit,
    Links,
}

impl Field {
    /// The words for an error about a column of the wrong type: it cannot be this.
    pub(in crate::ingest) fn called(self) -> &'static str {
        match self {
            Field::Text | Field::Html => "text: it is not a column of text",
            Field::Id => "id: it is neither text nor whole numbers",
            Field::Url | Field::Redirect | Field::Canonical | Field::Revisit => {
                "address: it is not a column of text"
            }
            Field::Time => "time: it has no times",
            Field::Popularity => "popularity: it has no numbers",
            Field::Links => "links: it is not a column of text",
        }
    }
}

/// How many kinds of field there are.
pub(crate) const FIELDS: usize = 10;

/// The usual names, best first within a field.
const USUAL: [(Field, &[&str]); FIELDS] = [
    (Field::Text, &["text", "content", "body", "raw_content", "contents", "page_text"]),
    (Field::Html, &["html", "raw_html", "page_html"]),
    (Field::Id, &["id", "_id", "doc_id", "docid", "page_id", "uuid"]),
    (Field::Url, &["url", "uri", "link", "address", "target_uri", "warc-target-uri"]),
    (
        Field::Time,
        &["time", "date", "timestamp", "fetch_time", "crawl_date", "date_download", "fetched", "warc-date"],
    ),
    (Field::Popularity, &["popularity", "pagerank", "page_rank", "clicks", "score", "rank_score"]),
    (Field::Redirect, &["redirect", "redirect_url", "redirect_to", "redirects_to"]),
    (Field::Canonical, &["canonical", "canonical_url", "canonical_link"]),
    (Field::Revisit, &["revisit"]),
    // Only a ranking asks for links.
    (Field::Links, &[]),
];

/// The names of fields that are looked for if a job names no others: those of text and HTML, and those of the rest.
pub fn usual_field_names() -> [Vec<&'static str>; 2] {
    let is_text = |field: Field| matches!(field, Field::Text | Field::Html);
    [true, false].map(|text| {
        let chosen = USUAL.iter().filter(|(field, _)| is_text(*field) == text);
        chosen.flat_map(|(_, names)| names.iter().copied()).collect()
    })
}

/// The usual names of the fields that name a page, best first: those of ids, and those of addresses.
pub fn usual_naming_fields() -> [&'static [&'static str]; 2] {
    let names =
        |wanted| USUAL.iter().find(|(field, _)| *field == wanted).map_or(&[][..], |(_, names)| *names);
    [names(Field::Id), names(Field::Url)]
}

/// Names and their meanings. If a record uses several names for one meaning, the one listed first wins.
pub(crate) struct FieldNames {
    names: Vec<(String, Field, u8)>,
    asks_text: bool,
}

impl FieldNames {
    pub(crate) fn new(fields: &Fields) -> FieldNames {
        let mut names = Vec::new();
        for (field, usual) in USUAL {
            match given(fields, field) {
                Some(name) => names.push((name.clone(), field, 0)),
                None if field == Field::Html && fields.text.is_some() => {}
                None => {
                    names.extend(
                        usual.iter().enumerate().map(|(place, &name)| (name.to_owned(), field, place as u8)),
                    );
                }
            }
        }
        FieldNames { names, asks_text: fields.links.is_none() }
    }

    /// The meaning of the field `name`, and the rank of that name for the meaning.
    pub(crate) fn meaning(&self, name: &str) -> Option<(Field, u8)> {
        self.names.iter().find(|(known, ..)| known == name).map(|&(_, field, place)| (field, place))
    }

    /// Whether a name is a path through objects, if no field has that very name.
    pub(crate) fn is_nested(&self, name: &str) -> bool {
        name.contains('.') && self.meaning(name).is_some()
    }

    /// The paths that lead through the field `name`, from there on, with their meanings.
    pub(crate) fn below<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, Field)> {
        let rest = move |known: &'a str| known.strip_prefix(name)?.strip_prefix('.');
        self.names.iter().filter_map(move |(known, field, _)| Some((rest(known)?, *field)))
    }

    /// Whether a record is of no use without a text. A ranking reads only links.
    pub(crate) fn asks_text(&self) -> bool {
        self.asks_text
    }

    /// The names of text fields, for an error message.
    pub(crate) fn text_names(&self) -> String {
        let texts = self.names.iter().filter(|(_, field, _)| matches!(field, Field::Text | Field::Html));
        texts.map(|(name, ..)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

fn given(fields: &Fields, field: Field) -> Option<&String> {
    match field {
        Field::Text => fields.text.as_ref(),
        Field::Html | Field::Revisit => None,
        Field::Id => fields.id.as_ref(),
        Field::Url => fields.url.as_ref(),
        Field::Time => fields.time.as_ref(),
        Field::Popularity => fields.popularity.as_ref(),
        Field::Redirect => fields.redirect.as_ref(),
        Field::Canonical => fields.canonical.as_ref(),
        Field::Links => fields.links.as_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_leads_through_objects() {
        let names = FieldNames::new(&Fields { text: Some("data.page.text".into()), ..Default::default() });
        assert!(names.is_nested("data.page.text") && !names.is_nested("text"));
        assert_eq!(names.below("data").collect::<Vec<_>>(), [("page.text", Field::Text)]);
        assert_eq!(names.below("data.page").collect::<Vec<_>>(), [("text", Field::Text)]);
        assert_eq!(names.below("dat").count() + names.below("data.page.text").count(), 0);
    }

    #[test]
    fn given_names_replace_the_usual_ones() {
        let names = FieldNames::new(&Fields { text: Some("t".into()), ..Default::default() });
        assert_eq!(names.meaning("t"), Some((Field::Text, 0)));
        assert_eq!(names.meaning("text"), None);
        assert_eq!(names.meaning("html"), None);
        assert_eq!(names.meaning("uri"), Some((Field::Url, 1)));
        assert_eq!(names.text_names(), "`t`");
    }
}
