//! Reads rows as lines, from files made here and files made by pyarrow.

use std::fs::File;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;
use crate::ingest::{FieldNames, lines, read_line};

/// Two columns, `text` and `id`, in row groups of `group` rows.
fn pages(rows: &[Option<&[u8]>], group: usize, compression: Compression) -> Bytes {
    let schema = "message pages { optional binary text (UTF8); required int64 id; }";
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for (number, rows) in rows.chunks(group).enumerate() {
        let mut target = writer.next_row_group().unwrap();
        let values: Vec<ByteArray> = rows.iter().flatten().map(|text| text.to_vec().into()).collect();
        let levels: Vec<i16> = rows.iter().map(|text| i16::from(text.is_some())).collect();
        let mut column = target.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let ids: Vec<i64> = (0..rows.len()).map(|row| (number * group + row) as i64).collect();
        let mut column = target.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        target.close().unwrap();
    }
    writer.into_inner().unwrap().into()
}

fn limits(page_bytes: usize) -> Limits {
    Limits { page_bytes, ..Limits::default() }
}

fn chunks<R: ChunkReader + 'static>(source: R, chunk: usize, limits: &Limits) -> io::Result<Vec<Chunk>> {
    let mut chunks = ParquetChunks::open(source, &Fields::default(), limits, chunk)?;
    let mut found = Vec::new();
    while let Some(chunk) = chunks.next(vec![1, 2, 3])? {
        found.push(chunk);
    }
    Ok(found)
}

fn text(source: Bytes) -> String {
    let found = chunks(source, 1 << 20, &Limits::default()).unwrap();
    assert!(found.iter().all(|chunk| chunk.trouble.is_none()), "{found:?}");
    found.iter().map(|chunk| String::from_utf8_lossy(&chunk.bytes).into_owned()).collect()
}

/// A file that pyarrow made with the script next to it.
fn made(name: &str) -> Bytes {
    let path = format!("{}/tests/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap().into()
}

fn refusal(source: Bytes, fields: &Fields) -> String {
    let refused = ParquetChunks::open(source, fields, &Limits::default(), 100).err().unwrap();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    refused.to_string()
}

#[test]
fn a_row_is_a_line() {
    let rows: [Option<&[u8]>; 4] =
        [Some(b"one"), None, Some("\"2\"\\\n\r\t\u{1}\u{7f}é".as_bytes()), Some(b"")];
    let expected = concat!(
        "{\"text\":\"one\",\"id\":0}\n",
        "{\"id\":1}\n",
        "{\"text\":\"\\\"2\\\"\\\\\\n\\r\\t\\u0001\u{7f}é\",\"id\":2}\n",
        "{\"text\":\"\",\"id\":3}\n"
    );
    for group in [1, 3, 9] {
        assert_eq!(text(pages(&rows, group, Compression::SNAPPY)), expected);
    }
    assert_eq!(text(pages(&[], 1, Compression::SNAPPY)), "");
}

#[test]
fn every_compression_is_read() {
    let rows = vec![Some(&b"the same text again and again"[..]); 100];
    let plain = text(pages(&rows, 40, Compression::UNCOMPRESSED));
    for compression in [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ] {
        assert_eq!(text(pages(&rows, 40, compression)), plain, "{compression:?}");
    }
}

#[test]
fn bytes_that_are_no_text_cost_their_row_only() {
    let found = text_lines(&pages(&[Some(b"a"), Some(b"b\xffc"), Some(b"d")], 9, Compression::SNAPPY));
    let names = FieldNames::new(&Fields::default());
    let read: Vec<_> = found
        .iter()
        .map(|line| {
            let read = read_line(line, &names, &onecopy_core::Needs::default());
            read.map(|record| record.id.to_owned()).map_err(|reason| reason.text)
        })
        .collect();
    assert_eq!(read, [Ok("0".into()), Err("invalid UTF-8 at byte 10".into()), Ok("2".into())]);
}

fn text_lines(source: &Bytes) -> Vec<Vec<u8>> {
    let found = chunks(source.clone(), 1 << 20, &Limits::default()).unwrap();
    found
        .iter()
        .flat_map(|chunk| lines(&chunk.bytes).map(|(_, line)| line.to_vec()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn an_overlong_row_is_told_in_its_place() {
    let long = vec![b'x'; 300];
    let quotes = vec![b'"'; 90];
    let rows = [Some(&b"a"[..]), Some(&long), Some(b"b"), Some(&quotes), Some(b"c")];
    let found = chunks(pages(&rows, 2, Compression::SNAPPY), 1 << 20, &limits(100)).unwrap();
    let troubles: Vec<_> = found.iter().map(|chunk| chunk.trouble.as_ref()).collect();
    assert_eq!(troubles, [Some(&Trouble::Overlong), Some(&Trouble::Overlong), None]);
    let kept: Vec<u8> = found.into_iter().flat_map(|chunk| chunk.bytes).collect();
    assert_eq!(
        String::from_utf8(kept).unwrap(),
        "{\"text\":\"a\",\"id\":0}\n{\"text\":\"b\",\"id\":2}\n{\"text\":\"c\",\"id\":4}\n"
    );
}

#[test]
fn a_small_file_does_not_become_endless() {
    let long = vec![b'x'; 1 << 20];
    let rows = vec![Some(&long[..]); 100];
    let source = pages(&rows, 100, Compression::SNAPPY);
    let narrow = Limits { expansion: 20, ..Limits::default() };
    let found = chunks(source, 1 << 20, &narrow).unwrap();
    let Some(Trouble::Bomb(why)) = &found.last().unwrap().trouble else { panic!("it was read") };
    assert!(why.contains("decompression bomb"), "{why}");
}

#[test]
fn what_is_no_parquet_is_refused_in_words() {
    let fields = Fields::default();
    let whole = pages(&[Some(b"a")], 1, Compression::SNAPPY);
    assert!(refusal(Bytes::new(), &fields).contains("too short"));
    assert!(refusal(Bytes::from_static(b"{\"text\":\"no parquet\"}\n"), &fields).contains("not Parquet"));
    assert!(refusal(whole.slice(..whole.len() - 1), &fields).contains("cut short"));
    let mut footer = whole.to_vec();
    let at = footer.len() - 5;
    footer[at] = 0x7f;
    assert!(refusal(footer.into(), &fields).contains("end is damaged"));
}

#[test]
fn a_file_without_text_is_refused_with_its_columns() {
    let fields = Fields { text: Some("story".into()), ..Fields::default() };
    let reason = refusal(pages(&[Some(b"a")], 1, Compression::SNAPPY), &fields);
    assert!(reason.contains("`story`") && reason.contains("`text`, `id`"), "{reason}");
    let fields = Fields { text: Some("id".into()), ..Fields::default() };
    let reason = refusal(pages(&[Some(b"a")], 1, Compression::SNAPPY), &fields);
    assert!(reason.contains("`id` cannot be the text"), "{reason}");
    let fields = Fields { url: Some("meta".into()), ..Fields::default() };
    assert!(refusal(made("types"), &fields).contains("`meta` cannot be the address"));
}

#[test]
fn types_are_read_as_what_they_mean() {
    let found = text(made("types"));
    let expected = [
        r#"{"text":"first","id":18446744073709551615,"url":"http://a.example/","time":86399,"score":0.5}"#,
        r#"{"html":"<p>second</p>","id":2,"url":"http://b.example/","time":-1}"#,
        r#"{"text":"thïrd","time":1700000000,"score":-3}"#,
    ];
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn strings_are_read_however_they_were_written() {
    for name in ["string", "large_string", "string_view", "binary", "dictionary", "delta"] {
        let found = text(made(name));
        assert_eq!(
            found, "{\"text\":\"one\"}\n{}\n{\"text\":\"\"}\n{\"text\":\"one\"}\n{\"text\":\"zwölf\"}\n",
            "{name}"
        );
    }
}

#[test]
fn times_are_unix_seconds_whatever_the_unit() {
    for name in ["time_s", "time_ms", "time_us", "time_ns", "time_zone", "time_old", "time_days"] {
        assert_eq!(
            text(made(name)),
            "{\"text\":\"a\",\"date\":1582934400}\n{\"text\":\"b\",\"date\":-86400}\n",
            "{name}"
        );
    }
}

#[test]
fn a_better_column_without_nulls_spares_the_others() {
    let file = open_parquet(made("types")).unwrap();
    let nullable = choose(file.metadata(), &Fields::default()).unwrap();
    assert_eq!(nullable.len(), 6);
    let file = open_parquet(made("full")).unwrap();
    let spared = choose(file.metadata(), &Fields::default()).unwrap();
    assert_eq!(spared.iter().map(|column| &column.key[..]).collect::<Vec<_>>(), [b"\"text\":"]);
}

/// Reads a possibly damaged file to its end. The result does not matter, only that reading ends.
fn survives(bytes: Vec<u8>) {
    let narrow = Limits { page_bytes: 1 << 16, expansion: 50 };
    let found = chunks(Bytes::from(bytes), 1 << 16, &narrow);
    if let Ok(found) = found {
        assert!(found.len() < 10_000);
    }
}

#[test]
fn damage_anywhere_is_survived() {
    let rows: Vec<String> = (0..60).map(|n| format!("text number {n} of this file")).collect();
    let rows: Vec<_> = rows.iter().map(|text| Some(text.as_bytes())).collect();
    let files = [
        pages(&rows, 25, Compression::ZSTD(Default::default())),
        made("types"),
        made("delta"),
        made("nested"),
    ];
    for file in files {
        // Every byte of a small file, a sample of a large one.
        let step = 1 + file.len() / 3_000;
        for at in (0..file.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = file.to_vec();
                bytes[at] ^= flip;
                survives(bytes);
            }
        }
        for end in (0..file.len()).step_by(step) {
            survives(file[..end].to_vec());
            // The same, with a valid end of file.
            survives([&file[..end], &file[file.len() - 8..]].concat());
        }
    }
}

#[test]
fn damage_costs_the_rows_behind_it() {
    let rows: Vec<String> = (0..50).map(|n| format!("text number {n}")).collect();
    let rows: Vec<_> = rows.iter().map(|text| Some(text.as_bytes())).collect();
    let mut bytes = pages(&rows, 10, Compression::SNAPPY).to_vec();
    let group = bytes.windows(14).position(|part| part == b"text number 30").unwrap();
    bytes[group - 8..group].fill(0xff);
    let found = chunks(Bytes::from(bytes), 100, &Limits::default()).unwrap();
    let rows: usize = found.iter().map(|chunk| lines(&chunk.bytes).count()).sum();
    assert_eq!(rows, 30);
    assert!(matches!(found.last().unwrap().trouble, Some(Trouble::Corrupt(_))));
}

#[test]
fn files_are_read_as_bytes_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let source = pages(&[Some(b"a"), None], 1, Compression::SNAPPY);
    std::fs::write(&path, &source).unwrap();
    let found = chunks(File::open(&path).unwrap(), 1, &Limits::default()).unwrap();
    assert_eq!(found.iter().map(|chunk| chunk.index).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(found.concat_bytes(), text(source).into_bytes());
}

trait Concat {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl Concat for Vec<Chunk> {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|chunk| chunk.bytes.clone()).collect()
    }
}

#[test]
fn numbers_that_json_lacks_are_left_out() {
    let schema =
        "message m { required binary text; required double score; required int32 id (INTEGER(32,false)); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&["a".into(), "b".into()], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&[f64::NAN, 1e300], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[-1, 0], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let found = text_lines(&writer.into_inner().unwrap().into());
    assert_eq!(found[0], b"{\"text\":\"a\",\"id\":4294967295}");
    assert!(found[1].starts_with(b"{\"text\":\"b\",\"id\":0,\"score\":1"));
    assert!(serde_json::from_slice::<serde_json::Value>(&found[1]).is_ok());
}

proptest! {
    #[test]
    fn cuts_do_not_change_the_rows(texts in prop::collection::vec(prop::option::of(".{0,20}"), 0..40), group in 1usize..12, chunk in 1usize..200) {
        let rows: Vec<_> = texts.iter().map(|text| text.as_deref().map(str::as_bytes)).collect();
        let source = pages(&rows, group, Compression::SNAPPY);
        let whole = text_lines(&source);
        prop_assert_eq!(whole.len(), rows.len());
        let names = FieldNames::new(&Fields::default());
        for (line, text) in whole.iter().zip(&texts) {
            prop_assert_eq!(read_line(line, &names, &onecopy_core::Needs::default()).is_ok(), text.is_some());
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            prop_assert_eq!(value.get("text").and_then(|text| text.as_str()), text.as_deref());
        }
        let cut = chunks(source, chunk, &Limits::default()).unwrap();
        prop_assert!(cut.iter().all(|chunk| chunk.bytes.ends_with(b"\n")));
        prop_assert_eq!(cut.concat_bytes(), whole.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect::<Vec<_>>());
    }
}

#[test]
fn a_path_leads_into_structures_unless_a_column_has_its_name() {
    let schema = "message pages {
        optional group data { optional binary text (UTF8); repeated binary tags (UTF8); }
        optional group meta { required group page { optional binary url (UTF8); } }
        optional binary id (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (values, levels, repeated) in [
        (&["one", "two"][..], &[2, 0, 2][..], None),
        (&[], &[1, 0, 1], Some(&[0, 0, 0][..])),
        (&["u"], &[2, 1, 0], None),
        (&["a", "b", "c"], &[1, 1, 1], None),
    ] {
        let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(*value)).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(levels), repeated).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    let file: Bytes = writer.into_inner().unwrap().into();
    let fields = |text: &str, url: &str| Fields {
        text: Some(text.into()),
        url: Some(url.into()),
        ..Fields::default()
    };
    let open = |fields: &Fields| ParquetChunks::open(file.clone(), fields, &Limits::default(), 1 << 20);
    let chunk = open(&fields("data.text", "meta.page.url")).unwrap().next(Vec::new()).unwrap().unwrap();
    let lines = [
        r#"{"data.text":"one","id":"a","meta.page.url":"u"}"#,
        r#"{"id":"b"}"#,
        r#"{"data.text":"two","id":"c"}"#,
    ];
    assert_eq!(String::from_utf8(chunk.bytes).unwrap(), lines.join("\n") + "\n");
    for wrong in ["data.tags", "data.absent", "data"] {
        assert!(open(&fields(wrong, "x")).is_err(), "{wrong}");
    }
}
