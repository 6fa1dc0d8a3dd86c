//! Inputs of unusual shape keep the memory limit, or are refused before the run with a number that works.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::tempdir;

use crate::pages::{Random, corpus_lines, topic, write_file};
use crate::program::dedup;
use crate::results::{assert_memory_within, assert_same_answer, json_lines, report};

/// The code of a build for debugging takes more memory than that of a release.
const LIMIT: u64 = (64 << 20) + if cfg!(debug_assertions) { 18 << 20 } else { 3 << 20 };

/// A page, and others that lead to it: `field` names its address.
fn leading(folder: &Path, field: &str, pages: usize, text: &str) -> PathBuf {
    let mut lines = format!("{{\"url\":\"https://a.example/\",\"text\":\"{}\"}}\n", topic("a"));
    for page in 0..pages {
        let url = format!("https://a.example/{}/{page}", (page * 7_919) % 1_000);
        writeln!(lines, "{{\"url\":\"{url}\",\"{field}\":\"https://a.example/\"{text}}}")
            .expect("a text grows");
    }
    write_file(folder, &format!("{field}.jsonl"), lines)
}

/// The number of megabytes that a refused run asks for.
fn advice(text: &str) -> String {
    let after = text.split("--memory ").nth(1).unwrap_or_else(|| panic!("no advice: {text}"));
    after.split_whitespace().next().expect("a number").trim_end_matches('.').to_owned()
}

#[test]
fn many_redirects_to_one_page_keep_the_limit_or_say_what_they_need() {
    let folder = tempdir().expect("a folder");
    let some = leading(folder.path(), "redirect", 120_000, "");
    let (tight, ample) = (folder.path().join("tight"), folder.path().join("ample"));
    dedup(&some, &tight).args("--memory 64M --quiet").succeed();
    assert_memory_within(&tight, LIMIT);
    dedup(&some, &ample).args("--memory 1G --quiet").succeed();
    assert_same_answer(&tight, &ample, "redirects in little memory");
    let group = &json_lines(&tight.join("groups.jsonl"))[0];
    let members = group["members"].as_array().expect("members");
    assert_eq!(members.len(), 120_001);
    assert!(members[1..].is_sorted_by_key(|name| name.as_str().map(str::to_owned)), "redirects are by name");
    let many = leading(folder.path(), "redirect", 320_000, "");
    let out = folder.path().join("many");
    let refused = dedup(&many, &out).args("--memory 64M --quiet").fail(1);
    refused.says(&["for the links between pages"]);
    let enough = advice(&refused.stderr);
    dedup(&many, &out).args(&format!("--memory {enough} --quiet")).succeed();
    assert_eq!(report(&out)["removed"], 320_000);
}

#[test]
fn many_canonical_links_to_one_page_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let text = format!(",\"text\":\"{}\"", topic("a"));
    let input = leading(folder.path(), "canonical", 200_000, &text);
    let out = folder.path().join("out");
    dedup(&input, &out).args("--memory 64M --quiet").succeed();
    assert_eq!(report(&out)["removed"], 200_000);
    assert_memory_within(&out, LIMIT);
}

#[test]
fn more_threads_than_memory_has_room_for_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let input = write_file(folder.path(), "pages.jsonl", corpus_lines(12_000).collect::<String>());
    let (many, few) = (folder.path().join("many"), folder.path().join("few"));
    dedup(&input, &many).args("--memory 64M --threads 256 --quiet").succeed();
    dedup(&input, &few).args("--memory 64M --threads 2 --quiet").succeed();
    assert_same_answer(&many, &few, "many threads");
    assert_memory_within(&many, LIMIT);
    assert_eq!(report(&many)["threads"], 25);
}

/// Writes texts as one page of one column.
fn write_page(path: &Path, texts: &[ByteArray]) {
    let schema =
        Arc::new(parse_message_type("message pages { required binary text (utf8); }").expect("a schema"));
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::UNCOMPRESSED)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX)
        .build();
    let file = File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("a column").expect("one column");
    column.typed::<ByteArrayType>().write_batch(texts, None, None).expect("a batch");
    column.close().expect("a column ends");
    group.close().expect("a group ends");
    writer.close().expect("a file ends");
}

#[test]
fn a_large_page_of_parquet_is_refused_with_a_number_that_works() {
    let folder = tempdir().expect("a folder");
    let mut random = Random::new(3);
    let text = |seed: u64| -> String { (0..40).map(|word| format!("{seed}x{word} ")).collect() };
    let texts: Vec<ByteArray> =
        (0..60_000).map(|_| (text(random.below(500)) + &"-".repeat(1_000)).into_bytes().into()).collect();
    let site = folder.path().join("site");
    fs::create_dir_all(&site).expect("a folder");
    for name in ["a.parquet", "b.parquet"] {
        write_page(&site.join(name), &texts);
    }
    let out = folder.path().join("out");
    let refused = dedup(&site, &out).args("--memory 64M --threads 2 --quiet").fail(1);
    refused.says(&["to unpack", ".parquet"]);
    let enough = advice(&refused.stderr);
    let megabytes: u64 = enough.trim_end_matches('M').parse().expect("a number");
    assert!((150..600).contains(&megabytes), "{enough}");
    // Two files at once would need twice as much, so one waits for the other.
    dedup(&site, &out).args(&format!("--memory {enough} --threads 2 --quiet")).succeed();
    assert_eq!(report(&out)["kept"], 500);
    assert_memory_within(&out, (megabytes + 18) << 20);
}

#[test]
fn large_pages_of_one_letter_words_keep_the_limit() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    let mut random = Random::new(5);
    // Nearly every shingle of such a page is its own, and it has as many as half its bytes.
    for (name, tag) in [("one", ""), ("many", "</p><p>")] {
        for page in 0..2 {
            let mut text = String::from("<html><body><p>");
            for word in 0..1_930_000 {
                text.push(char::from(b'a' + random.below(26) as u8));
                text.push_str(if word % 500 == 0 { tag } else { " " });
            }
            write_file(&site, &format!("{name}-{page}.html"), text + "</p></body></html>");
        }
    }
    let out = folder.path().join("out");
    dedup(&site, &out).args("--memory 64M --threads 2 --quiet --lists-only").succeed();
    assert_eq!(report(&out)["kept"], 4);
    assert_memory_within(&out, LIMIT);
}

#[test]
fn many_files_keep_the_limit_or_say_what_they_need() {
    let folder = tempdir().expect("a folder");
    let site = folder.path().join("site");
    for page in 0..30_000 {
        let name = format!("{:02}/{}-{page}.txt", page % 50, "long".repeat(12));
        write_file(&site, &name, topic(&format!("t{}x", page % 9_000)));
    }
    let out = folder.path().join("out");
    dedup(&site, &out).args("--memory 64M --quiet --lists-only").succeed();
    assert_eq!((&report(&out)["kept"], &report(&out)["removed"]), (&9_000.into(), &21_000.into()));
    assert_memory_within(&out, LIMIT);
}
