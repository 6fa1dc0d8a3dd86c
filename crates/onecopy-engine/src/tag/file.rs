//! A file of tags: JSON Lines, or Parquet with a column for the names, the filters and their rules.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onecopy_core::Tag;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::error::{At, Result};
use crate::ingest::guarded;

/// The rows of a row group: about 3 MB.
const GROUP_ROWS: usize = 8 << 10;

/// A file of tags that is being written, under another name until it is complete.
pub(super) struct TagFile {
    path: PathBuf,
    aside: PathBuf,
    form: Form,
}

enum Form {
    Lines(BufWriter<File>),
    Table { writer: Box<SerializedFileWriter<File>>, rows: [Vec<ByteArray>; 3] },
}

impl TagFile {
    pub(super) fn create(path: &Path) -> Result<TagFile> {
        let mut aside = path.as_os_str().to_owned();
        aside.push(".part");
        let aside = PathBuf::from(aside);
        let file = File::create(&aside).at("create", &aside)?;
        let is_table = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        let form = match is_table {
            true => {
                let zstd = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(zstd).build();
                let writer =
                    guarded(|| SerializedFileWriter::new(file, Arc::new(schema()?), Arc::new(properties)));
                Form::Table { writer: Box::new(writer.at("write", &aside)?), rows: Default::default() }
            }
            false => Form::Lines(BufWriter::new(file)),
        };
        Ok(TagFile { path: path.to_owned(), aside, form })
    }

    /// Writes the tag of a page; `name` is JSON.
    pub(super) fn write(&mut self, name: &str, tag: &Tag) -> Result<()> {
        match &mut self.form {
            Form::Lines(lines) => {
                writeln!(lines, r#"{{"id":{name},"tag":"{tag}"}}"#).at("write", &self.aside)
            }
            Form::Table { writer, rows } => {
                let name = serde_json::from_str::<String>(name).unwrap_or_else(|_| name.to_owned());
                rows[0].push(name.as_str().into());
                rows[1].push(tag.to_bytes().into());
                rows[2].push(tag.rules_text().as_str().into());
                if rows[0].len() < GROUP_ROWS {
                    return Ok(());
                }
                flush(writer, rows).at("write", &self.aside)
            }
        }
    }

    /// Completes the file and gives it its name.
    pub(super) fn finish(self) -> Result<()> {
        match self.form {
            Form::Lines(mut lines) => lines.flush().at("write", &self.aside)?,
            Form::Table { mut writer, mut rows } => {
                flush(&mut writer, &mut rows).at("write", &self.aside)?;
                guarded(|| writer.close()).map(drop).at("write", &self.aside)?;
            }
        }
        fs::rename(&self.aside, &self.path).at("create", &self.path)
    }
}

/// Writes the collected rows as a row group, and forgets them.
fn flush(writer: &mut SerializedFileWriter<File>, rows: &mut [Vec<ByteArray>; 3]) -> std::io::Result<()> {
    if rows[0].is_empty() {
        return Ok(());
    }
    guarded(|| {
        let mut group = writer.next_row_group()?;
        for values in rows {
            if let Some(mut column) = group.next_column()? {
                column.typed::<ByteArrayType>().write_batch(values, None, None)?;
                column.close()?;
            }
            values.clear();
        }
        group.close().map(drop)
    })
}

fn schema() -> ParquetResult<Type> {
    let columns = [("id", Some(LogicalType::String)), ("tag", None), ("rules", Some(LogicalType::String))];
    let field = |(name, logical): (&str, Option<LogicalType>)| {
        let builder = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.into_iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder("onecopy").with_fields(fields).build()
}
