//! Pages of hits: what a request asks for, and the request for the hits after those.

use super::path::{JsonPath, offset, values};

/// How an engine is asked for a page of hits.
#[derive(Clone, Copy, Debug)]
pub struct Paging {
    /// The last is used if a request has none of the names.
    pub styles: &'static [PageStyle],
    /// How many hits a request without a size gets.
    pub usual_size: Option<usize>,
    /// A request with one of these names has no pages that can be counted.
    pub never_with: &'static [&'static str],
}

/// Two names: where the page starts, and its size.
#[derive(Clone, Copy, Debug)]
pub struct PageStyle {
    pub start: &'static str,
    pub size: &'static str,
    pub count: Count,
    /// The parts of a request that may have the names.
    pub parts: &'static [Part],
}

/// What the start counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Hits to skip, from 0.
    Hits,
    /// Pages, from 1.
    Pages,
}

/// A part of a request with parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The query of the address.
    Query,
    /// A body that is a form.
    Form,
    /// A body that is a JSON object.
    Json,
}

/// The parts of a request that say what is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub query: String,
    pub body: String,
    pub kind: BodyKind,
}

/// The kind of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyKind {
    #[default]
    None,
    Form,
    Json,
    Other,
}

/// A page that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    style: PageStyle,
    part: Part,
    start: usize,
    /// The number of hits that were asked for.
    pub size: usize,
}

impl Asked {
    /// The page that this request asks for; `None` if there is no way to ask for the next.
    pub fn page(&self, paging: &Paging) -> Option<Page> {
        let parts = [Part::Query, Part::Form, Part::Json];
        let is_in = |name: &str| parts.iter().any(|&part| self.get(part, name).is_some());
        if paging.never_with.iter().any(|name| is_in(name)) {
            return None;
        }
        let named = paging.styles.iter().find_map(|style| {
            let has = |part: &&Part| self.get(**part, style.size).or(self.get(**part, style.start)).is_some();
            Some((*style, *style.parts.iter().find(has)?))
        });
        let (style, part) = named.or_else(|| {
            let has_room = |part: &&Part| self.has(**part);
            let style = |style: &PageStyle| Some((*style, *style.parts.iter().rev().find(has_room)?));
            paging.styles.iter().rev().find_map(style)
        })?;
        let number = |name| style.parts.iter().find_map(|&part| self.get(part, name));
        let size = number(style.size).map_or(paging.usual_size, |size| size.parse().ok())?;
        let first = if style.count == Count::Pages { "1" } else { "0" };
        let start = number(style.start).unwrap_or(first).parse().ok()?;
        (size > 0).then_some(Page { style, part, start, size })
    }

    /// The request for the page that follows a page by `further`.
    pub fn further(&self, page: &Page, further: usize) -> Asked {
        let step = if page.style.count == Count::Pages { 1 } else { page.size };
        let start = page.start.saturating_add(step.saturating_mul(further)).to_string();
        let part = |name| page.style.parts.iter().copied().find(|&part| self.get(part, name).is_some());
        let mut next = self.clone();
        let name = page.style.start;
        match part(name).unwrap_or(page.part) {
            Part::Query => next.query = with_pair(&self.query, name, &start),
            Part::Form => next.body = with_pair(&self.body, name, &start),
            Part::Json => next.body = with_member(&self.body, name, &start),
        }
        next
    }

    fn has(&self, part: Part) -> bool {
        match part {
            Part::Query => true,
            Part::Form => self.kind == BodyKind::Form,
            Part::Json => self.kind == BodyKind::Json && self.body.trim_start().starts_with('{'),
        }
    }

    /// The value of a name in a part of the request.
    fn get(&self, part: Part, name: &str) -> Option<&str> {
        let pair = |text: &'_ str| -> Option<std::ops::Range<usize>> {
            let pair = text.split('&').find(|pair| pair.split('=').next() == Some(name))?;
            let value = pair.split_once('=').map_or("", |(_, value)| value);
            let at = if value.is_empty() { 0 } else { offset(text, value) };
            Some(at..at + value.len())
        };
        match part {
            _ if !self.has(part) => None,
            Part::Query => pair(&self.query).map(|at| &self.query[at]),
            Part::Form => pair(&self.body).map(|at| &self.body[at]),
            Part::Json => member(&self.body, name),
        }
    }
}

/// The member of an object, as it is written there.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let path = JsonPath::member(name);
    Some(values(json, &[&path]).ok()?[0]?.get())
}

/// The object with another value of a member.
fn with_member(json: &str, name: &str, value: &str) -> String {
    if let Some(old) = member(json, name) {
        let at = offset(json, old);
        return format!("{}{value}{}", &json[..at], &json[at + old.len()..]);
    }
    let (before, after) = json.split_once('{').unwrap_or_default();
    let comma = if after.trim_start().starts_with('}') { "" } else { "," };
    format!("{before}{{\"{name}\":{value}{comma}{after}")
}

/// The pairs of a query or a form with another value of a name.
fn with_pair(pairs: &str, name: &str, value: &str) -> String {
    let is_other = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some(name);
    let others = pairs.split('&').filter(is_other);
    let own = format!("{name}={value}");
    others.chain([own.as_str()]).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::super::preset::Preset;
    use super::*;

    fn asked(query: &str, kind: BodyKind, body: &str) -> Asked {
        Asked { query: query.into(), body: body.into(), kind }
    }

    /// The size of the page that is asked for, and the request for the page after the next.
    fn third(preset: Preset, asked: Asked) -> Option<(usize, String, String)> {
        let page = asked.page(&preset.facts().paging)?;
        let next = asked.further(&page, 2);
        Some((page.size, next.query, next.body))
    }

    #[track_caller]
    fn check(preset: Preset, (query, kind, body): (&str, BodyKind, &str), wanted: (usize, &str, &str)) {
        let (size, query, body) = third(preset, asked(query, kind, body)).expect("a page");
        assert_eq!((size, query.as_str(), body.as_str()), wanted);
    }

    #[test]
    fn the_next_page_is_asked_for_as_the_first() {
        use BodyKind::{Form, Json, None};
        let elastic = Preset::Elasticsearch;
        check(elastic, ("q=a&size=5", None, ""), (5, "q=a&size=5&from=10", ""));
        check(elastic, ("from=5&size=5&q=a", None, ""), (5, "size=5&q=a&from=15", ""));
        check(elastic, ("", Json, "{ }"), (10, "", "{\"from\":20 }"));
        let body = "{\"query\": {\"from\": 1}, \"from\" : 3 ,\"size\":4}";
        let next = "{\"query\": {\"from\": 1}, \"from\" : 11 ,\"size\":4}";
        check(elastic, ("", Json, body), (4, "", next));
        check(elastic, ("size=7", Json, "{\"from\": 1}"), (7, "size=7", "{\"from\": 15}"));
        check(Preset::Solr, ("q=a", None, ""), (10, "q=a&start=20", ""));
        check(Preset::Solr, ("", Form, "q=a&rows=3&start=3"), (3, "", "q=a&rows=3&start=9"));
        check(Preset::Solr, ("", Json, "{\"limit\": 3}"), (3, "", "{\"offset\":6,\"limit\": 3}"));
        check(Preset::Solr, ("", Json, "{\"query\": \"a\"}"), (10, "", "{\"offset\":20,\"query\": \"a\"}"));
        check(Preset::Meilisearch, ("", Json, "{\"q\":\"a\"}"), (20, "", "{\"offset\":40,\"q\":\"a\"}"));
        check(
            Preset::Meilisearch,
            ("", Json, "{\"hitsPerPage\":4}"),
            (4, "", "{\"page\":3,\"hitsPerPage\":4}"),
        );
        check(Preset::Typesense, ("q=a&page=2&per_page=6", None, ""), (6, "q=a&per_page=6&page=4", ""));
        check(Preset::Typesense, ("q=a&limit=6", None, ""), (6, "q=a&limit=6&offset=12", ""));
    }

    #[test]
    fn some_requests_have_no_next_page() {
        let none = |preset, query: &str, kind, body: &str| third(preset, asked(query, kind, body)).is_none();
        assert!(none(Preset::Elasticsearch, "scroll=1m", BodyKind::None, ""));
        assert!(none(Preset::Elasticsearch, "", BodyKind::Json, "{\"search_after\": [1]}"));
        assert!(none(Preset::Elasticsearch, "size=0", BodyKind::None, ""));
        assert!(none(Preset::Elasticsearch, "size=many", BodyKind::None, ""));
        assert!(none(Preset::Solr, "cursorMark=*", BodyKind::None, ""));
        assert!(none(Preset::Generic, "size=4", BodyKind::None, ""));
    }
}
