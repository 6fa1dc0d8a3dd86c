//! Parquet shards of every codec are read and written back, and a shard that cannot be read is counted.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use onecopy_engine::{Job, Report, Silent, Unreadable, dedup};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Writes a shard with one column of texts, in pages of ten rows.
fn write(path: &Path, column: &str, texts: &[String], compression: Compression) {
    let schema = format!("message pages {{ required binary {column} (UTF8); }}");
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_write_batch_size(10)
        .set_data_page_row_count_limit(10);
    let (schema, file) = (parse_message_type(&schema).unwrap(), File::create(path).unwrap());
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut target = group.next_column().unwrap().unwrap();
    let values: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
    target.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
    target.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// Texts that resemble no other, made from a word.
fn texts(word: &str, count: usize) -> Vec<String> {
    let text = |page: usize| (0..99).map(|n| format!("{word}{page}x{} ", n * n * 7_919 % 10_007)).collect();
    (0..count).map(text).collect()
}

fn run(folder: &Path) -> Report {
    let job = Job::new([folder.join("in").to_str().unwrap()], folder.join("out"));
    let report = dedup(&job, &Silent).unwrap().report().clone();
    let written = fs::read_to_string(folder.join("out/report.json")).unwrap();
    let written = serde_json::from_str::<Report>(&written).unwrap();
    // Seconds may lose their last digit on the way.
    assert_eq!((&written.counts, &written.unreadable), (&report.counts, &report.unreadable));
    report
}

fn rows(path: &Path) -> (i64, Compression) {
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let mut read = 0;
    for row in file.get_row_iter(None).unwrap() {
        row.unwrap();
        read += 1;
    }
    assert_eq!(file.metadata().file_metadata().num_rows(), read);
    (read, file.metadata().row_group(0).column(0).compression())
}

#[test]
fn every_codec_of_parquet_is_read_and_written_back() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    let codecs = [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("gzip", Compression::GZIP(GzipLevel::default())),
        ("brotli", Compression::BROTLI(BrotliLevel::default())),
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
        ("lz4", Compression::LZ4),
        ("raw", Compression::LZ4_RAW),
    ];
    for (name, codec) in codecs {
        let mut texts = texts(name, 40);
        texts.push(texts[7].clone());
        write(&folder.path().join(format!("in/{name}.parquet")), "text", &texts, codec);
    }
    let report = run(folder.path());
    assert_eq!((report.counts.kept, report.counts.removed, report.counts.rejected), (280, 7, 0));
    assert_eq!(report.unreadable, []);
    for (name, codec) in codecs {
        let expected = if codec == Compression::LZ4 { Compression::LZ4_RAW } else { codec };
        assert_eq!(rows(&folder.path().join(format!("out/kept/{name}.parquet"))), (40, expected), "{name}");
    }
}

#[test]
fn rows_of_a_shard_without_the_text_column_are_counted_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    write(&folder.path().join("in/a.parquet"), "text", &texts("a", 5), Compression::SNAPPY);
    write(&folder.path().join("in/b.parquet"), "prose", &texts("b", 17), Compression::SNAPPY);
    fs::write(folder.path().join("in/c.parquet"), "PAR1 and then nothing").unwrap();
    let report = run(folder.path());
    let [b, c] = &report.unreadable[..] else { panic!("{:?}", report.unreadable) };
    assert_eq!((b.source.as_str(), b.pages, b.lost, &b.kept), ("b.parquet", 0, Some(17), &None));
    assert!(b.reason.contains("its columns are `prose`"), "{}", b.reason);
    assert_eq!((c.source.as_str(), c.lost), ("c.parquet", None));
    let kept: Vec<_> = fs::read_dir(folder.path().join("out/kept")).unwrap().collect();
    assert_eq!(kept.len(), 1, "an unreadable shard has no file in kept/");
}

#[test]
fn a_damaged_page_in_the_middle_costs_the_rows_from_there_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    let path = folder.path().join("in/a.parquet");
    write(&path, "text", &texts("a", 100), Compression::ZSTD(ZstdLevel::default()));
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let report = run(folder.path());
    let [Unreadable { pages, lost, kept, .. }] = &report.unreadable[..] else { panic!("{report:?}") };
    assert!((10..100).contains(pages), "{report:?}");
    assert_eq!((*lost, kept.as_deref()), (Some(100 - pages), Some("a.parquet.incomplete")));
    assert_eq!((report.counts.kept, report.counts.rejected), (*pages, 1));
    assert_eq!(rows(&folder.path().join("out/kept/a.parquet.incomplete")).0 as u64, *pages);
    assert!(!folder.path().join("out/kept/a.parquet").exists());
}
