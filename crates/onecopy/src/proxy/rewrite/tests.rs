//! Tests of rewriting: what stays keeps its bytes, and broken answers say why.

use super::super::fields::TextFields;
use super::*;

const STORY: &str =
    "Nine pages told the same story about a river and a town, and one of them was kept for good.";

fn path(text: &str) -> JsonPath {
    JsonPath::parse(text).expect("a path")
}

fn rules() -> Rules {
    let fields = HitFields {
        id: path("id"),
        score: path("score"),
        tag: path("tag"),
        html: path("html"),
        text: TextFields::All(vec![path("title"), path("text")]),
    };
    Rules { fields, options: RefineOptions::default() }
}

fn rewrite(first: &str, further: &[&str], treatment: Treatment) -> Result<Rewritten, Unchanged> {
    let answers = Answers { first, further, hits: &path("hits"), most: Some(2) };
    rules().rewrite(&answers, treatment)
}

fn hit(id: u32, text: &str) -> String {
    format!("{{\"id\" : {id},\"score\":1.50, \"text\": \"{text}\"}}")
}

#[test]
fn repeats_leave_and_all_else_keeps_its_bytes() {
    let [a, b, c] = [hit(1, STORY), hit(2, STORY), hit(3, "something else entirely")];
    let answer = format!("{{ \"total\":1.0e2 ,\"hits\" : [ {a} ,\n {b} ,\n {c} ], \"facets\": {{}} }}");
    let rewritten = rewrite(&answer, &[], Treatment::Drop).expect("an answer");
    let wanted = format!("{{ \"total\":1.0e2 ,\"hits\" : [ {a} ,\n {c} ], \"facets\": {{}} }}");
    assert_eq!(rewritten.text.as_deref(), Some(wanted.as_str()));
    assert_eq!((rewritten.before, rewritten.after, rewritten.repeats), (3, 2, 1));
    let grouped = rewrite(&answer, &[], Treatment::Group).expect("an answer").text.expect("a change");
    let repeats =
        "\"onecopy\":{\"repeats\":[{\"id\":2,\"score\":1.50,\"similarity\":1,\"relation\":\"similar\"}]}}";
    assert_eq!(grouped, wanted.replace(&a, &format!("{},{repeats}", a.trim_end_matches('}'))));
}

#[test]
fn an_answer_without_repeats_is_not_touched() {
    let unique = format!("{{\"hits\": [{}, {}]}}", hit(1, STORY), hit(2, "something else entirely"));
    for answer in [unique.as_str(), "{\"hits\": []}", "{\"hits\": [{}, {}, 7, null, \"x\"]}"] {
        assert_eq!(rewrite(answer, &[], Treatment::Group).expect("an answer").text, None, "{answer}");
    }
    // Two hits without text are not copies of each other.
    let empty = "{\"hits\": [{\"id\": 1, \"text\": \"\"}, {\"id\": 2, \"text\": \" \"}]}";
    let rewritten = rewrite(empty, &[], Treatment::Drop).expect("an answer");
    assert_eq!((rewritten.text, rewritten.uncomparable), (None, 2));
}

#[test]
fn further_hits_take_the_free_places() {
    let [a, b, c] = [hit(1, STORY), hit(2, STORY), hit(3, "something else entirely")];
    let first = format!("{{\"hits\":[{a},{b}],\"total\":9}}");
    assert!(rewrite(&first, &[], Treatment::Drop).expect("an answer").is_short_of(2));
    // The index changed in between, so a hit comes again.
    let second = format!("{{\"hits\":[{a},{c},{}],\"total\":8}}", hit(4, "a third text about other things"));
    let rewritten = rewrite(&first, &[&second], Treatment::Drop).expect("an answer");
    assert_eq!(rewritten.text, Some(format!("{{\"hits\":[{a},{c}],\"total\":9}}")));
    assert!(!rewritten.is_short_of(2));
    let last = rewrite(&first, &["{\"hits\":[]}"], Treatment::Drop).expect("an answer");
    assert!(!last.is_short_of(2), "an empty page is the last");
}

#[test]
fn answers_that_cannot_be_read_say_why() {
    for broken in ["", "<html>", "{\"hits\": [{\"id\": 1}", "{\"hits\": [1]} x"] {
        let outcome = rewrite(broken, &[], Treatment::Drop);
        assert!(matches!(outcome, Err(Unchanged::Unparsed(_))), "{broken}: {outcome:?}");
    }
    for other in ["{}", "[]", "{\"hits\": {\"a\": 1}}", "{\"hits\": \"none\"}", "7"] {
        assert_eq!(rewrite(other, &[], Treatment::Drop), Err(Unchanged::NoHits), "{other}");
    }
    let rows = format!("{{\"hits\": [[\"{STORY}\"], [\"{STORY}\"]]}}");
    let mut rules = rules();
    rules.fields.text = TextFields::First(vec![path("0")]);
    let answers = Answers { first: &rows, further: &[], hits: &path("hits"), most: None };
    let text = rules.rewrite(&answers, Treatment::Drop).expect("an answer").text;
    assert_eq!(text, Some(format!("{{\"hits\": [[\"{STORY}\"]]}}")));
    assert!(matches!(rules.rewrite(&answers, Treatment::Group), Err(Unchanged::Unparsed(_))));
}

#[test]
fn tags_are_compared_and_strange_ones_ignored() {
    let tag: onecopy_core::Tag = onecopy_core::Tag::of_text(STORY, &Default::default());
    let hits =
        format!("{{\"hits\": [{{\"tag\": \"{tag}\"}}, {{\"tag\": \"{tag}\"}}, {{\"tag\": \"9:x\"}}]}}");
    let rewritten = rewrite(&hits, &[], Treatment::Drop).expect("an answer");
    assert_eq!((rewritten.repeats, rewritten.uncomparable), (1, 1));
}

#[test]
fn several_lists_are_refined_each_for_itself() {
    let [a, b] = [hit(1, STORY), hit(2, STORY)];
    let answer = format!("{{\"results\": [{{\"hits\": [{a},{b}]}}, {{\"hits\": [{b}]}}, {{\"hits\": []}}]}}");
    let answers = Answers { first: &answer, further: &[], hits: &path("results.*.hits"), most: None };
    let text = rules().rewrite(&answers, Treatment::Drop).expect("an answer").text;
    let wanted = format!("{{\"results\": [{{\"hits\": [{a}]}}, {{\"hits\": [{b}]}}, {{\"hits\": []}}]}}");
    assert_eq!(text, Some(wanted));
}
