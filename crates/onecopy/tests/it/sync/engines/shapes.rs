//! An index in memory, and the requests and answers of each engine as its documentation describes them: Elasticsearch
//! 8 (bulk API), Solr 9 (atomic updates, real-time get), Meilisearch 1.14 (documents, tasks), Typesense 27 (import).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};

use crate::sync::Entry;
use crate::sync::fixture::{Reply, Request};

#[derive(Clone, Copy, Debug)]
pub enum Engine {
    Elasticsearch,
    Solr,
    Meilisearch,
    Typesense,
}

/// An index: documents by id, and what it does not take.
#[derive(Clone)]
pub struct Index(Arc<Mutex<Content>>, [&'static str; 3]);

#[derive(Default)]
struct Content {
    documents: BTreeMap<String, Map<String, Value>>,
    refused: BTreeSet<String>,
    busy: BTreeSet<String>,
    /// The result of each task of Meilisearch, and how often somebody asked.
    tasks: Vec<(Option<String>, u32)>,
    is_started: bool,
}

impl Index {
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().expect("no test panics with it")
    }

    pub fn add(&self, ids: impl IntoIterator<Item = String>) {
        let mut content = self.lock();
        for id in ids {
            content.documents.insert(id, [("title".to_owned(), json!("words"))].into_iter().collect());
        }
    }

    pub fn has(&self, id: &str) -> bool {
        self.lock().documents.contains_key(id)
    }

    pub fn refuse(&self, id: &str) {
        self.lock().refused.insert(id.into());
    }

    pub fn accept(&self, id: &str) {
        self.lock().refused.remove(id);
    }

    /// Makes the engine too busy for a row, once.
    pub fn be_busy_for(&self, id: &str) {
        self.lock().busy.insert(id.into());
    }

    /// A field of all documents that have it.
    pub fn field(&self, name: &str) -> BTreeMap<String, String> {
        let value = |document: &Map<String, Value>| Some(document.get(name)?.as_str()?.to_owned());
        let content = self.lock();
        content.documents.iter().filter_map(|(id, document)| Some((id.clone(), value(document)?))).collect()
    }

    /// The fields that a sync wrote.
    pub fn entries(&self) -> BTreeMap<String, Entry> {
        let [group, winner, status] = self.1;
        let entry = |document: &Map<String, Value>| {
            assert_eq!(document["title"], "words", "other fields stay");
            let status = document.get(status)?.as_str()?.to_owned();
            let winner = document.get(winner).and_then(Value::as_str).map(str::to_owned);
            Some((document.get(group).and_then(Value::as_i64), winner, status))
        };
        let content = self.lock();
        content.documents.iter().filter_map(|(id, document)| Some((id.clone(), entry(document)?))).collect()
    }
}

impl Content {
    fn set(&mut self, id: &str, fields: &Map<String, Value>) {
        let document = self.documents.entry(id.to_owned()).or_default();
        for (name, value) in fields.iter().filter(|(name, _)| *name != "id") {
            match value {
                Value::Null => document.remove(name),
                value => document.insert(name.clone(), value.clone()),
            };
        }
    }

    /// The code of an update of one row, and the reason.
    fn update(&mut self, id: &str, fields: &Map<String, Value>) -> (u16, &'static str) {
        if self.busy.remove(id) {
            (429, "rejected execution")
        } else if !self.documents.contains_key(id) {
            (404, "missing")
        } else if self.refused.contains(id) {
            (400, "failed to parse: mapping conflict")
        } else {
            self.set(id, fields);
            (200, "")
        }
    }
}

impl Engine {
    pub const ALL: [Engine; 4] =
        [Engine::Elasticsearch, Engine::Solr, Engine::Meilisearch, Engine::Typesense];

    pub fn index(self) -> Index {
        let names = match self {
            Engine::Solr => ["onecopy_group_l", "onecopy_winner_s", "onecopy_status_s"],
            _ => ["onecopy_group", "onecopy_winner", "onecopy_status"],
        };
        Index(Arc::default(), names)
    }

    pub fn target(self, address: &str) -> String {
        match self {
            Engine::Elasticsearch => format!("elasticsearch://{address}/web"),
            Engine::Solr => format!("solr://{address}/solr/web"),
            Engine::Meilisearch => format!("meilisearch://{address}/web"),
            Engine::Typesense => format!("typesense://{address}/web"),
        }
    }

    pub fn answer(self, index: &Index, request: &Request) -> Reply {
        let mut content = index.lock();
        if !std::mem::replace(&mut content.is_started, true) {
            return Reply(503, "Retry-After: 1\r\n", "starting".into());
        }
        match self {
            Engine::Elasticsearch => elasticsearch(&mut content, request),
            Engine::Solr => solr(&mut content, request),
            Engine::Meilisearch => meilisearch(&mut content, request),
            Engine::Typesense => typesense(&mut content, request),
        }
    }

    /// Checks the requests of a first sync.
    pub fn check_first(self, requests: &[Request]) {
        assert_eq!(requests[0].path, requests[1].path, "the first request is repeated after 503");
        if let Engine::Elasticsearch = self {
            let bulks: Vec<&Request> =
                requests.iter().filter(|request| request.path == "/web/_bulk").collect();
            // 43 pages, 30 in a request, and the row for which the engine was too busy.
            let sizes: Vec<usize> = bulks.iter().map(|bulk| bulk.lines().len() / 2).collect();
            assert!(sizes.iter().all(|size| *size <= 30) && sizes.contains(&1), "{sizes:?}");
            assert!(bulks[0].headers.contains("content-type: application/x-ndjson"));
            assert!(bulks[0].body.ends_with('\n'), "the last line must end");
        }
    }
}

fn json_reply(code: u16, value: Value) -> Reply {
    Reply(code, "Content-Type: application/json\r\n", value.to_string())
}

fn unknown(request: &Request) -> Reply {
    panic!("no such request: {} {}", request.method, request.path)
}

fn elasticsearch(content: &mut Content, request: &Request) -> Reply {
    match (request.method.as_str(), request.path.as_str()) {
        ("HEAD", "/web") => Reply(200, "", String::new()),
        ("PUT", "/web/_mapping") => json_reply(200, json!({"acknowledged": true})),
        ("POST", "/web/_bulk") => {
            let (lines, mut items) = (request.lines(), Vec::new());
            for pair in lines.chunks(2) {
                let id = pair[0]["update"]["_id"].as_str().expect("an id");
                let (status, reason) = content.update(id, pair[1]["doc"].as_object().expect("a document"));
                let kind = match status {
                    429 => "es_rejected_execution_exception",
                    404 => "document_missing_exception",
                    _ => "document_parsing_exception",
                };
                let mut update = json!({"_index": "web", "_id": id, "status": status});
                match status {
                    200 => update["result"] = json!("updated"),
                    _ => {
                        update["error"] =
                            json!({"type": kind, "reason": reason, "index": "web", "shard": "0"})
                    }
                }
                items.push(json!({"update": update}));
            }
            let errors = items.iter().any(|item| !item["update"]["error"].is_null());
            json_reply(200, json!({"took": 7, "errors": errors, "items": items}))
        }
        _ => unknown(request),
    }
}

fn solr(content: &mut Content, request: &Request) -> Reply {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match (request.method.as_str(), path) {
        ("GET", "/solr/web/schema/uniquekey") => {
            json_reply(200, json!({"responseHeader": {"status": 0}, "uniqueKey": "id"}))
        }
        ("POST", "/solr/web/get") => {
            let asked = url::form_urlencoded::parse(request.body.as_bytes());
            let asked: Vec<String> =
                asked.filter(|(name, _)| name == "id").map(|(_, id)| id.into()).collect();
            let found = asked.iter().filter(|id| content.documents.contains_key(*id));
            let docs: Vec<Value> = found.map(|id| json!({"id": id})).collect();
            match asked.len() {
                1 => json_reply(200, json!({"doc": docs.first()})),
                _ => json_reply(200, json!({"response": {"numFound": docs.len(), "start": 0, "docs": docs}})),
            }
        }
        ("POST", "/solr/web/update") => {
            assert!(query.contains("commitWithin=1000"), "{query}");
            let rows: Vec<Map<String, Value>> = serde_json::from_str(&request.body).expect("documents");
            for row in rows {
                let id = row["id"].as_str().expect("an id").to_owned();
                let set = |(name, value): (&String, &Value)| (name.clone(), value["set"].clone());
                let fields = row.iter().filter(|(name, _)| *name != "id").map(set).collect();
                // One bad document ends the request. Those before it are written.
                let (status, reason) = content.update(&id, &fields);
                match status {
                    200 => {}
                    429 => return json_reply(503, json!({"error": {"msg": reason, "code": 503}})),
                    _ => {
                        let said = format!("ERROR: [doc={id}] {reason}");
                        return json_reply(
                            400,
                            json!({"responseHeader": {"status": 400}, "error": {"msg": said, "code": 400}}),
                        );
                    }
                }
            }
            json_reply(200, json!({"responseHeader": {"status": 0, "QTime": 3}}))
        }
        _ => unknown(request),
    }
}

fn meilisearch(content: &mut Content, request: &Request) -> Reply {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/indexes/web") => json_reply(200, json!({"uid": "web", "primaryKey": "id"})),
        ("POST", "/indexes/web/documents/fetch") => {
            let asked: Value = serde_json::from_str(&request.body).expect("JSON");
            let ids = asked["ids"].as_array().expect("ids").iter().filter_map(Value::as_str);
            let found: Vec<Value> =
                ids.filter(|id| content.documents.contains_key(*id)).map(|id| json!({"id": id})).collect();
            assert_eq!(asked["fields"], json!(["id"]));
            json_reply(
                200,
                json!({"results": found, "offset": 0, "limit": asked["limit"], "total": found.len()}),
            )
        }
        ("PUT", "/indexes/web/documents") => {
            let rows: Vec<Map<String, Value>> = serde_json::from_str(&request.body).expect("documents");
            let ids: Vec<String> =
                rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect();
            if ids.iter().any(|id| content.busy.remove(id)) {
                return json_reply(
                    503,
                    json!({"message": "too many search requests", "code": "too_many_search_requests"}),
                );
            }
            // A task is done as a whole, or not at all.
            let bad = ids.iter().find(|id| content.refused.contains(*id)).cloned();
            if bad.is_none() {
                ids.iter().zip(&rows).for_each(|(id, row)| content.set(id, row));
            }
            content.tasks.push((bad.map(|id| format!("mapping of document `{id}`")), 0));
            let task = content.tasks.len() - 1;
            json_reply(
                202,
                json!({"taskUid": task, "indexUid": "web", "status": "enqueued", "type": "documentAdditionOrUpdate"}),
            )
        }
        ("GET", path) if path.starts_with("/tasks/") => {
            let task: usize = path["/tasks/".len()..].parse().expect("a number");
            let (result, asked) = &mut content.tasks[task];
            *asked += 1;
            let (status, error) = match (*asked, result) {
                (1, _) => ("processing", Value::Null),
                (_, None) => ("succeeded", Value::Null),
                (_, Some(why)) => (
                    "failed",
                    json!({"message": why, "code": "invalid_document_fields", "type": "invalid_request"}),
                ),
            };
            json_reply(200, json!({"uid": task, "status": status, "error": error}))
        }
        _ => unknown(request),
    }
}

fn typesense(content: &mut Content, request: &Request) -> Reply {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/collections/web") => {
            json_reply(200, json!({"name": "web", "fields": [{"name": "onecopy_group", "type": "int64"}]}))
        }
        ("PATCH", "/collections/web") => {
            let change: Value = serde_json::from_str(&request.body).expect("JSON");
            let fields = change["fields"].as_array().expect("fields");
            assert!(
                fields.len() == 2
                    && fields.iter().all(|field| field["facet"] == true && field["optional"] == true)
            );
            json_reply(200, change)
        }
        ("POST", "/collections/web/documents/import?action=update") => {
            let answer = |row: &Value| {
                let id = row["id"].as_str().expect("an id");
                let (code, reason) = content.update(id, row.as_object().expect("a document"));
                match code {
                    200 => json!({"success": true}),
                    404 => json!({"success": false, "code": 404, "error": format!("Could not find a document with id: {id}"), "document": row.to_string()}),
                    code => json!({"success": false, "code": code, "error": reason, "document": row.to_string()}),
                }
                .to_string()
            };
            Reply(200, "", request.lines().iter().map(answer).collect::<Vec<_>>().join("\n"))
        }
        _ => unknown(request),
    }
}
