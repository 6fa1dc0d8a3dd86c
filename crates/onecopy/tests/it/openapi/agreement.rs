//! The schema of a page and the service agree on which pages are pages.

use serde_json::{Value, json};

use crate::client::serve;

/// Whether a value conforms to a schema that uses only the keywords below.
fn conforms(value: &Value, schema: &Value) -> bool {
    let keywords = schema.as_object().expect("a schema");
    keywords.iter().all(|(keyword, rule)| match keyword.as_str() {
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
            kind => is_a(value, kind),
        },
        "allOf" => rule.as_array().expect("schemas").iter().all(|schema| conforms(value, schema)),
        "anyOf" => rule.as_array().expect("schemas").iter().any(|schema| conforms(value, schema)),
        "not" => !conforms(value, rule),
        "required" => rule.as_array().expect("names").iter().all(|name| value.get(text(name)).is_some()),
        "properties" => rule
            .as_object()
            .expect("schemas")
            .iter()
            .all(|(name, schema)| value.get(name).is_none_or(|value| conforms(value, schema))),
        "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= rule.as_u64().unwrap_or(0)),
        "maxLength" => value.as_str().is_none_or(|text| text.len() as u64 <= rule.as_u64().unwrap_or(0)),
        "description" | "format" | "additionalProperties" => true,
        other => panic!("the test does not know `{other}`"),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match text(kind) {
        "object" => value.is_object(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the test does not know the type `{other}`"),
    }
}

#[test]
fn the_schema_allows_what_the_service_accepts() {
    let server = serve("");
    let document = server.get("/openapi.json").with(200);
    let schema = &document["components"]["schemas"]["Page"];
    let values =
        [json!("words"), json!(""), json!(5), json!(1.5), json!({}), json!([]), json!(null), json!(true)];
    let mut pages = vec![json!([]), json!("a"), json!({}), json!({"text": "a"})];
    pages.push(json!({"id": "a"}));
    pages.push(json!({"id": "x".repeat(9_000), "text": "a"}));
    for value in &values {
        for name in ["id", "_id", "uuid", "url", "uri"] {
            pages.push(json!({name: value, "text": "words"}));
            pages.push(json!({"id": "a", name: value, "text": "words"}));
            pages.push(json!({"url": "http://a.example/", name: value, "html": "words"}));
        }
        for name in ["text", "content", "page_text", "html", "raw_html", "time", "popularity", "canonical"] {
            pages.push(json!({"id": "a", name: value}));
            pages.push(json!({"id": "a", "text": "words", name: value}));
            pages.push(json!({"id": "a", "html": "words", name: value}));
            pages.push(json!({"id": "a", "redirect": "http://a.example/", name: value}));
        }
    }
    let (mut accepted, mut refused) = (0, 0);
    for page in &pages {
        let answer = server.post("/query", &page.to_string());
        let is_accepted = match answer.code {
            200 => true,
            400 => false,
            other => panic!("{other} for {page}: {}", answer.text()),
        };
        assert_eq!(conforms(page, schema), is_accepted, "{page}: {}", answer.text());
        *(if is_accepted { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(accepted > 50 && refused > 50, "{accepted} accepted, {refused} refused");
}
