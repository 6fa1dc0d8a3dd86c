//! Requests and answers as the engines with a preset document them. These engines were not run.

use serde_json::{Value, json};

use super::proxy;
use super::upstream::{Act, Upstream, json as json_answer};
use crate::client::Answer;
use crate::pages::topic;

/// The texts of an index: every second is a repeat of the one before.
fn text(at: usize) -> String {
    topic(&format!("t{}x", at / 2))
}

fn number(value: &Value, usual: usize) -> usize {
    value.as_u64().map_or(usual, |number| number as usize)
}

/// The parameters of a request, from its query and its body.
fn parameters(request: &super::upstream::Received) -> Value {
    let mut all: Value = serde_json::from_str(&request.body).unwrap_or_else(|_| json!({}));
    let pairs = request.target.split(['?', '&']).chain(request.body.split('&'));
    for (name, value) in pairs.filter(|pair| !pair.contains('{')).filter_map(|pair| pair.split_once('=')) {
        all[name] = value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number));
    }
    all
}

fn ids(answer: &Answer, hits: &str, id: &str) -> Vec<String> {
    let value = answer.with(200);
    let hits = value.pointer(hits).and_then(Value::as_array).unwrap_or_else(|| panic!("{value}")).clone();
    hits.iter().map(|hit| hit.pointer(id).and_then(Value::as_str).expect("an id").to_owned()).collect()
}

/// An engine with 40 pages; `shape` makes an answer from the hits, `window` finds start and size.
fn engine(
    window: impl Fn(&Value) -> (usize, usize) + Send + Sync + 'static,
    hit: impl Fn(usize) -> Value + Send + Sync + 'static,
    shape: impl Fn(Vec<Value>) -> Value + Send + Sync + 'static,
) -> Upstream {
    Upstream::start(move |request| {
        let (start, size) = window(&parameters(request));
        let hits = (start.min(40)..(start + size).min(40)).map(&hit).collect();
        Act::Send(json_answer(shape(hits).to_string()))
    })
}

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

#[test]
fn elasticsearch_and_opensearch() {
    let hit = |at: usize| json!({"_index": "p", "_id": at.to_string(), "_score": 1.5, "_source": {"body": text(at)}});
    let shape = |hits: Vec<Value>| {
        json!({"took": 2, "timed_out": false, "_shards": {"total": 1, "failed": 0},
               "hits": {"total": {"value": 40, "relation": "eq"}, "max_score": 1.5, "hits": hits},
               "aggregations": {"sites": {"buckets": [{"key": "a", "doc_count": 40}]}}})
    };
    let upstream = engine(|all| (number(&all["from"], 0), number(&all["size"], 10)), hit, shape);
    for preset in ["elasticsearch", "opensearch"] {
        let proxy = proxy(&upstream.address, &format!("--preset {preset}"));
        let body = "{\"query\": {\"match_all\": {}}, \"size\": 4}";
        let answer = proxy.ask("POST", "/p/_search", &JSON, body);
        assert_eq!(ids(&answer, "/hits/hits", "/_id"), ["0", "2", "4", "6"]);
        let value = answer.with(200);
        assert_eq!(value["hits"]["total"]["value"], 40);
        assert_eq!(value["aggregations"]["sites"]["buckets"][0]["doc_count"], 40);
        assert_eq!(ids(&proxy.get("/p/_search?q=a"), "/hits/hits", "/_id").len(), 10);
        let next = proxy.ask("POST", "/p/_search?from=38", &JSON, "{\"size\": 4}");
        assert_eq!(ids(&next, "/hits/hits", "/_id"), ["38"]);
    }
}

#[test]
fn several_searches_at_once() {
    let upstream = Upstream::start(|_| {
        let hit = |at: usize| json!({"_id": at.to_string(), "_source": {"body": text(at)}});
        let hits = json!({"hits": {"hits": [hit(0), hit(1), hit(2)]}, "status": 200});
        Act::Send(json_answer(
            json!({"took": 1, "responses": [hits, {"error": {}, "status": 404}, hits]}).to_string(),
        ))
    });
    let proxy = proxy(&upstream.address, "--preset elasticsearch --group");
    let answer = proxy.ask("POST", "/_msearch", &[("Content-Type", "application/x-ndjson")], "{}\n{}\n");
    for at in ["/responses/0/hits/hits", "/responses/2/hits/hits"] {
        assert_eq!(ids(&answer, at, "/_id"), ["0", "2"]);
        assert_eq!(answer.with(200).pointer(at).expect("hits")[0]["onecopy"]["repeats"][0]["id"], "1");
    }
    assert_eq!(answer.with(200)["responses"][1]["status"], 404);
}

#[test]
fn solr() {
    // Fields with several values are arrays.
    let hit =
        |at: usize| json!({"id": at.to_string(), "title": ["Page"], "content": [text(at)], "score": 1.0});
    let shape = |hits: Vec<Value>| {
        json!({"responseHeader": {"status": 0, "QTime": 1}, "facet_counts": {"facet_fields": {"site": ["a", 40]}},
               "response": {"numFound": 40, "start": 0, "numFoundExact": true, "docs": hits}})
    };
    let window = |all: &Value| match all["limit"].is_null() {
        true => (number(&all["start"], 0), number(&all["rows"], 10)),
        false => (number(&all["offset"], 0), number(&all["limit"], 10)),
    };
    let upstream = engine(window, hit, shape);
    let proxy = proxy(&upstream.address, "--preset solr");
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    for answer in [
        proxy.get("/solr/p/select?q=*:*&rows=3"),
        proxy.ask("POST", "/solr/p/select", &form, "q=*:*&rows=3"),
        proxy.ask("POST", "/solr/p/query", &JSON, "{\"query\": \"*:*\", \"limit\": 3}"),
    ] {
        assert_eq!(ids(&answer, "/response/docs", "/id"), ["0", "2", "4"]);
        assert_eq!(answer.with(200)["facet_counts"]["facet_fields"]["site"][1], 40);
        assert_eq!(answer.with(200)["response"]["numFound"], 40);
    }
}

#[test]
fn meilisearch() {
    let hit = |at: usize| json!({"id": at.to_string(), "title": "Page", "content": text(at)});
    let shape = |hits: Vec<Value>| json!({"hits": hits, "query": "a", "estimatedTotalHits": 40, "processingTimeMs": 0});
    let window = |all: &Value| match all["hitsPerPage"].as_u64() {
        Some(size) => ((number(&all["page"], 1) - 1) * size as usize, size as usize),
        None => (number(&all["offset"], 0), number(&all["limit"], 20)),
    };
    let upstream = engine(window, hit, shape);
    let proxy = proxy(&upstream.address, "--preset meilisearch");
    for answer in [
        proxy.ask("POST", "/indexes/p/search", &JSON, "{\"q\": \"a\", \"limit\": 3}"),
        proxy.ask("POST", "/indexes/p/search", &JSON, "{\"q\": \"a\", \"hitsPerPage\": 3}"),
        proxy.get("/indexes/p/search?q=a&limit=3"),
    ] {
        assert_eq!(ids(&answer, "/hits", "/id"), ["0", "2", "4"]);
        assert_eq!(answer.with(200)["estimatedTotalHits"], 40);
    }
    assert_eq!(ids(&proxy.ask("POST", "/indexes/p/search", &JSON, "{}"), "/hits", "/id").len(), 20);
}

#[test]
fn typesense() {
    let hit = |at: usize| json!({"document": {"id": at.to_string(), "text": text(at)}, "text_match": 7});
    let shape = |hits: Vec<Value>| json!({"facet_counts": [], "found": 40, "page": 1, "hits": hits});
    let window = |all: &Value| match all["limit"].as_u64() {
        Some(size) => (number(&all["offset"], 0), size as usize),
        None => ((number(&all["page"], 1) - 1) * number(&all["per_page"], 10), number(&all["per_page"], 10)),
    };
    let upstream = engine(window, hit, shape);
    let proxy = proxy(&upstream.address, "--preset typesense");
    for path in ["per_page=3", "limit=3", "per_page=3&page=1"] {
        let answer = proxy.get(&format!("/collections/p/documents/search?q=a&query_by=text&{path}"));
        assert_eq!(ids(&answer, "/hits", "/document/id"), ["0", "2", "4"], "{path}");
        assert_eq!(answer.with(200)["found"], 40);
    }
}
