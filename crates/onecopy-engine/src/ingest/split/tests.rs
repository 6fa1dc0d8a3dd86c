//! Splits tables and arrays, however their bytes arrive, and copies kept records back.

use std::io::{self, Read};

use proptest::prelude::*;

use super::*;
use crate::ingest::record::FieldNames;
use crate::job::Fields;

/// Yields bytes in pieces of a size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(self.1).min(self.0.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn table(text: &[u8], page_bytes: usize) -> Box<dyn Split> {
    Box::new(TableSplit::new(text, FieldNames::new(&Fields::default()), page_bytes))
}

fn array(_: &[u8], page_bytes: usize) -> Box<dyn Split> {
    Box::new(ArraySplit::new(page_bytes))
}

type Make = fn(&[u8], usize) -> Box<dyn Split>;

/// The lines of a file, with the problems in their places.
fn lines(make: Make, text: &[u8], page_bytes: usize, piece: usize) -> Vec<String> {
    let mut chunks = SplitChunks::new(Pieces(text, piece), make(text, page_bytes), 64, Gate::new(1));
    let mut found = Vec::new();
    while let Some(chunk) = chunks.next(vec![1, 2]).unwrap() {
        found.extend(String::from_utf8_lossy(&chunk.bytes).lines().map(str::to_owned));
        found.extend(chunk.trouble.map(|trouble| format!("{trouble:?}")));
    }
    found
}

/// The kept bytes, if the records with these numbers are kept.
fn kept(make: Make, text: &[u8], numbers: &[u64], piece: usize) -> String {
    let mut out = Vec::new();
    copy_kept(Pieces(text, piece), &mut *make(text, 100), |number| numbers.contains(&number), &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn rows_become_lines() {
    for (text, expected) in [
        ("id,text\n7,one two\n", &[r#"{"text":"one two","id":"7"}"#][..]),
        (
            "\u{feff}text\tpopularity\tx\r\na\t3.5\t\r\n\r\nb\thigh\t1\r\n",
            &[r#"{"text":"a","popularity":3.5}"#, r#"{"text":"b","popularity":"high"}"#],
        ),
        ("text;url\n\"a;\"\"b\"\"\nc\";u", &[r#"{"text":"a;\"b\"\nc","url":"u"}"#]),
        ("html,text\n<p>,\n,x\n,\n", &[r#"{"html":"<p>"}"#, r#"{"text":"x"}"#, r#"{"html":""}"#]),
        (
            "text,url\na\nb,c,d\ne,f\n",
            &[
                "!it has 1 fields, and the header has 2",
                "!it has 3 fields, and the header has 2",
                r#"{"text":"e","url":"f"}"#,
            ],
        ),
        ("text\n", &[]),
        ("", &["Refused(\"it is empty: it has no header\")"]),
        (
            "a,b\n1,2\n",
            &[
                "Refused(\"it has no text: none of the columns `text`, `content`, `body`, `raw_content`, `contents`, `page_text`, `html`, `raw_html`, `page_html` is there; its columns are `a`, `b`\")",
            ],
        ),
        ("text\n\"0123456789012345678901234567890123456789\"\nshort\n", &["Overlong", r#"{"text":"short"}"#]),
    ] {
        for piece in [1, 2, 7, 1_000] {
            assert_eq!(lines(table, text.as_bytes(), 30, piece), expected, "{text:?} by {piece}");
        }
    }
    assert!(lines(table, b"\xff\xfet\0", 30, 9)[0].contains("UTF-16"));
}

#[test]
fn kept_rows_are_the_same_bytes() {
    for (text, expected) in [
        ("id,text\n1,\"a\nb\"\n2,b\n3,c\n4,d", "id,text\n1,\"a\nb\"\n4,d\n"),
        ("\u{feff}id,text\r\n1,a\r\n\r\n2,b\r\n3,c\r\n4,\"d\"\r\n", "\u{feff}id,text\r\n1,a\r\n4,\"d\"\r\n"),
        ("id,text\n", "id,text\n"),
    ] {
        for piece in [1, 3, 1_000] {
            let text = text.as_bytes();
            // The delimiter and the byte order mark are found in the first bytes, which are read at once.
            let piece = if text.starts_with(b"\xef") { 1_000 } else { piece };
            assert_eq!(kept(table, text, &[0, 3], piece), expected, "by {piece}");
        }
    }
}

#[test]
fn elements_become_lines() {
    for (text, expected) in [
        (r#"[{"a":1},{"b":"]}\"\\"}]"#, &[r#"{"a":1}"#, r#"{"b":"]}\"\\"}"#][..]),
        ("\u{feff} [\n  {\n    \"a\": [1,\n 2]\n  }\n ]\n", &["{     \"a\": [1,  2]   }"]),
        ("[1, \"x,]\" ,null]", &["1", "\"x,]\"", "null"]),
        ("[]", &[]),
        ("{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n", &["{  \"a\": 1 }", "{  \"a\": 2 }"]),
        ("[{\"a\":1},{\"b\"", &["{\"a\":1}", "Corrupt(\"it ends inside a record\")"]),
        ("[{\"a\":1},", &["{\"a\":1}", "Corrupt(\"it ends before its array does\")"]),
        ("[{}] x", &["{}", "Corrupt(\"there is more after its array\")"]),
        ("[\"0123456789012345678901234567890123456789\",{}]", &["Overlong", "{}"]),
        ("[\"a\nb\"]", &["\"a\u{1}b\""]),
    ] {
        for piece in [1, 2, 5, 1_000] {
            assert_eq!(lines(array, text.as_bytes(), 30, piece), expected, "{text:?} by {piece}");
        }
    }
}

#[test]
fn kept_elements_are_an_array_again() {
    let text = b" [ {\"a\" :1},\n{\"b\":[\n2]} , {\"c\":3}] ";
    for piece in [1, 4, 1_000] {
        assert_eq!(kept(array, text, &[0, 1], piece), "[\n{\"a\" :1},\n{\"b\":[\n2]}\n]\n");
        assert_eq!(kept(array, text, &[2], piece), "[\n{\"c\":3}\n]\n");
        assert_eq!(kept(array, text, &[], piece), "[]\n");
        assert_eq!(kept(array, b"{\n\"a\":1\n}\n{\n}", &[0, 1], piece), "{\n\"a\":1\n}\n{\n}\n");
    }
}

proptest! {
    #[test]
    fn reading_does_not_depend_on_how_bytes_arrive(text in "[a,;\"\\n\\r\\[\\]{}\\\\ 1]{0,80}", piece in 1usize..9) {
        let csv = format!("text,url\n{text}");
        prop_assert_eq!(lines(table, csv.as_bytes(), 20, piece), lines(table, csv.as_bytes(), 20, 999));
        prop_assert_eq!(kept(table, csv.as_bytes(), &[0, 2], piece), kept(table, csv.as_bytes(), &[0, 2], 999));
        let json = format!("[{text}");
        prop_assert_eq!(lines(array, json.as_bytes(), 20, piece), lines(array, json.as_bytes(), 20, 999));
        prop_assert_eq!(kept(array, json.as_bytes(), &[0, 2], piece), kept(array, json.as_bytes(), &[0, 2], 999));
    }

    #[test]
    fn rows_that_python_would_write_are_read_back(rows in prop::collection::vec("[ab,;\"\\n\\r\\t ]{1,12}", 0..6)) {
        let quoted = |cell: &String| format!("\"{}\",u\n", cell.replace('"', "\"\""));
        let csv = format!("text,url\n{}", rows.iter().map(quoted).collect::<String>());
        let found = lines(table, csv.as_bytes(), 100, 5);
        let expected: Vec<String> = rows
            .iter()
            .map(|cell| format!("{{\"text\":{},\"url\":\"u\"}}", serde_json::to_string(cell).unwrap()))
            .collect();
        prop_assert_eq!(found, expected);
        let all: Vec<u64> = (0..rows.len() as u64).collect();
        prop_assert_eq!(kept(table, csv.as_bytes(), &all, 5), csv);
    }
}
