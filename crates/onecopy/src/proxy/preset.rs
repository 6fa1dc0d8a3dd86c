//! Facts about search engines: which requests search, where the answer has its hits, and how to ask for more.
//!
//! The names come from the engines' documentation. A preset only fills in what the command line leaves out.

use clap::ValueEnum;

use super::paging::{Count, PageStyle, Paging, Part};

/// A search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Elasticsearch: `_search` and `_msearch`
    Elasticsearch,
    /// OpenSearch: as Elasticsearch
    Opensearch,
    /// Solr: `select` and `query`
    Solr,
    /// Meilisearch: `search` and `multi-search`
    Meilisearch,
    /// Typesense: `documents/search` and `multi_search`
    Typesense,
    /// Any other engine with JSON: --hits says where the hits are
    Generic,
}

/// The facts about an engine.
pub struct Facts {
    /// Which paths search, and where their answers have the hits. A star matches anything.
    pub searches: &'static [(&'static str, &'static str)],
    /// Where a hit has its id and its score.
    pub id: &'static str,
    pub score: &'static str,
    /// The text that precedes the name of a field in a hit.
    pub fields: &'static str,
    pub paging: Paging,
}

/// The names of fields that usually have the text of a page, the most telling first.
pub const TEXT_FIELDS: [&str; 6] = ["content", "text", "body", "description", "summary", "snippet"];
/// The name of the field with HTML.
pub const HTML_FIELD: &str = "html";
/// The name of the field with a tag from `onecopy tag`.
pub const TAG_FIELD: &str = "onecopy_tag";

const ELASTICSEARCH: Facts = Facts {
    searches: &[
        ("*/_search", "hits.hits"),
        ("*/_msearch", "responses.*.hits.hits"),
        ("*/_search/template", "hits.hits"),
    ],
    id: "_id",
    score: "_score",
    fields: "_source.",
    paging: Paging {
        styles: &[PageStyle {
            start: "from",
            size: "size",
            count: Count::Hits,
            parts: &[Part::Query, Part::Json],
        }],
        usual_size: Some(10),
        never_with: &["search_after", "scroll"],
    },
};

const SOLR: Facts = Facts {
    searches: &[("*/select", "response.docs"), ("*/query", "response.docs")],
    id: "id",
    score: "score",
    fields: "",
    paging: Paging {
        styles: &[
            PageStyle { start: "start", size: "rows", count: Count::Hits, parts: &[Part::Query, Part::Form] },
            PageStyle { start: "offset", size: "limit", count: Count::Hits, parts: &[Part::Json] },
        ],
        usual_size: Some(10),
        never_with: &["cursorMark"],
    },
};

const MEILISEARCH: Facts = Facts {
    searches: &[("/indexes/*/search", "hits"), ("/multi-search", "results.*.hits")],
    id: "id",
    score: "_rankingScore",
    fields: "",
    paging: Paging {
        styles: &[
            PageStyle {
                start: "page",
                size: "hitsPerPage",
                count: Count::Pages,
                parts: &[Part::Query, Part::Json],
            },
            PageStyle {
                start: "offset",
                size: "limit",
                count: Count::Hits,
                parts: &[Part::Query, Part::Json],
            },
        ],
        usual_size: Some(20),
        never_with: &[],
    },
};

const TYPESENSE: Facts = Facts {
    searches: &[("/collections/*/documents/search", "hits"), ("/multi_search", "results.*.hits")],
    id: "document.id",
    score: "text_match",
    fields: "document.",
    paging: Paging {
        styles: &[
            PageStyle { start: "offset", size: "limit", count: Count::Hits, parts: &[Part::Query] },
            PageStyle { start: "page", size: "per_page", count: Count::Pages, parts: &[Part::Query] },
        ],
        usual_size: Some(10),
        never_with: &[],
    },
};

const GENERIC: Facts = Facts {
    searches: &[("*", "hits")],
    id: "id",
    score: "score",
    fields: "",
    paging: Paging { styles: &[], usual_size: None, never_with: &[] },
};

impl Preset {
    /// The facts about the engine.
    pub fn facts(self) -> &'static Facts {
        match self {
            Preset::Elasticsearch | Preset::Opensearch => &ELASTICSEARCH,
            Preset::Solr => &SOLR,
            Preset::Meilisearch => &MEILISEARCH,
            Preset::Typesense => &TYPESENSE,
            Preset::Generic => &GENERIC,
        }
    }
}

/// Whether a path matches a pattern. A star matches any text.
pub fn matches(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_told_from_other_requests() {
        let is_search =
            |preset: Preset, path| preset.facts().searches.iter().any(|(pattern, _)| matches(pattern, path));
        for (preset, path, wanted) in [
            (Preset::Elasticsearch, "/_search", true),
            (Preset::Elasticsearch, "/pages/_search", true),
            (Preset::Opensearch, "/a,b/_msearch", true),
            (Preset::Elasticsearch, "/_search/scroll", false),
            (Preset::Elasticsearch, "/pages/_doc/1", false),
            (Preset::Solr, "/solr/pages/select", true),
            (Preset::Solr, "/solr/pages/update", false),
            (Preset::Meilisearch, "/indexes/pages/search", true),
            (Preset::Meilisearch, "/indexes/pages/documents", false),
            (Preset::Meilisearch, "/multi-search", true),
            (Preset::Typesense, "/collections/pages/documents/search", true),
            (Preset::Typesense, "/collections/pages/documents/1", false),
            (Preset::Generic, "/anything", true),
        ] {
            assert_eq!(is_search(preset, path), wanted, "{preset:?} {path}");
        }
        assert!(matches("/a*b*c", "/a1b2c") && !matches("/a*b*c", "/a1c") && !matches("/a", "/ab"));
    }
}
