//! Chooses the columns to read and determines their types.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::ingest::record::{Field, FieldNames};
use crate::job::Fields;

/// A column to read.
#[derive(Debug)]
pub(super) struct Column {
    /// Its name as JSON, with the colon after it.
    pub key: Vec<u8>,
    pub field: Field,
    /// Its index among the leaves of the schema.
    pub leaf: usize,
    pub kind: Kind,
}

impl Column {
    /// Whether this column is ignored in rows where `better` has a value.
    pub(super) fn yields_to(&self, better: &Column) -> bool {
        self.field == better.field || (better.field == Field::Text && self.field == Field::Html)
    }
}

/// How the values of a column are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, or bytes that should be text.
    Text,
    Uuid,
    Signed,
    Unsigned,
    Float,
    /// Days since 1970.
    Days,
    /// Fractions of a second since 1970: how many make a second.
    Time(i64),
    /// The deprecated INT96 timestamp: days and nanoseconds.
    OldTime,
}

/// Chooses the columns to read: those the user named, else those with usual names. They are sorted best first within a
/// field, and text before HTML.
pub(super) fn choose(file: &ParquetMetaData, fields: &Fields) -> Result<Vec<Column>, ParquetError> {
    let schema = file.file_metadata().schema_descr();
    let names = FieldNames::new(fields);
    let mut found = Vec::new();
    for top in schema.root_schema().get_fields() {
        let Some((field, place)) = names.meaning(top.name()) else { continue };
        let leaf = (0..schema.num_columns()).find(|&leaf| is_top(&schema.column(leaf), top.name()));
        let kind = leaf.and_then(|leaf| kind(&schema.column(leaf))).filter(|&kind| suits(field, kind));
        if let (Some(leaf), Some(kind)) = (leaf, kind) {
            found.push((place, Column { key: key(top.name()), field, leaf, kind }));
        } else if fields.named().any(|(_, name)| name == top.name()) {
            return Err(wrong(
                format!("its column `{}` cannot be the {}", top.name(), field.called()),
                schema,
            ));
        }
    }
    found.extend(nested(schema, &names)?);
    found.sort_by_key(|(place, column)| (column.field as u8, *place));
    let columns = without_needless(found.into_iter().map(|(_, column)| column).collect(), file);
    let has_text = columns.iter().any(|column| matches!(column.field, Field::Text | Field::Html));
    if !has_text && names.asks_text() {
        return Err(wrong(
            format!("it has no text: none of the columns {} is there", names.text_names()),
            schema,
        ));
    }
    Ok(columns)
}

/// The fields of structures that the user named, such as `meta.url`. A column of that very name comes before them.
fn nested(schema: &SchemaDescriptor, names: &FieldNames) -> Result<Vec<(u8, Column)>, ParquetError> {
    let mut found = Vec::new();
    for leaf in 0..schema.num_columns() {
        let column = schema.column(leaf);
        let [_, _, ..] = column.path().parts() else { continue };
        let path = column.path().string();
        let Some((field, place)) = names.meaning(&path).filter(|_| names.is_nested(&path)) else { continue };
        let kind = kind(&column).filter(|&kind| suits(field, kind) && column.max_rep_level() == 0);
        let Some(kind) = kind else {
            return Err(wrong(format!("its field `{path}` cannot be the {}", field.called()), schema));
        };
        found.push((place + 1, Column { key: key(&path), field, leaf, kind }));
    }
    Ok(found)
}

/// A name as JSON, with the colon after it.
fn key(name: &str) -> Vec<u8> {
    format!("{}:", serde_json::to_string(name).expect("a string is JSON")).into_bytes()
}

/// Removes columns that always yield to another one with a value in every row. Reading HTML next to a text that is
/// always present would be most of the work.
fn without_needless(columns: Vec<Column>, file: &ParquetMetaData) -> Vec<Column> {
    let mut needed: Vec<Column> = Vec::new();
    for column in columns {
        let needless = needed.iter().any(|better| column.yields_to(better) && never_null(better.leaf, file));
        if !needless {
            needed.push(column);
        }
    }
    needed
}

fn never_null(leaf: usize, file: &ParquetMetaData) -> bool {
    let required = file.file_metadata().schema_descr().column(leaf).max_def_level() == 0;
    let mut nulls = file.row_groups().iter().map(|group| {
        let statistics = group.columns().get(leaf).and_then(|column| column.statistics());
        statistics.and_then(|statistics| statistics.null_count_opt())
    });
    required || nulls.all(|nulls| nulls == Some(0))
}

fn is_top(column: &ColumnDescriptor, name: &str) -> bool {
    matches!(column.path().parts(), [part] if part == name) && column.max_rep_level() == 0
}

fn suits(field: Field, kind: Kind) -> bool {
    match field {
        Field::Text | Field::Html | Field::Url | Field::Redirect | Field::Canonical | Field::Revisit => {
            kind == Kind::Text
        }
        Field::Links => kind == Kind::Text,
        Field::Id => matches!(kind, Kind::Text | Kind::Uuid | Kind::Signed | Kind::Unsigned),
        Field::Time => kind != Kind::Uuid,
        Field::Popularity => matches!(kind, Kind::Signed | Kind::Unsigned | Kind::Float),
    }
}

/// The kind of a column; `None` if a page has no use for its type.
fn kind(column: &ColumnDescriptor) -> Option<Kind> {
    let (logical, converted) = (column.logical_type_ref(), column.converted_type());
    if matches!(logical, Some(LogicalType::Decimal(_))) || converted == ConvertedType::DECIMAL {
        return None;
    }
    let unsigned = matches!(
        converted,
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    Some(match column.physical_type() {
        Type::BYTE_ARRAY => Kind::Text,
        Type::FIXED_LEN_BYTE_ARRAY if matches!(logical, Some(LogicalType::Uuid)) => Kind::Uuid,
        Type::INT32 if converted == ConvertedType::DATE => Kind::Days,
        Type::INT32 | Type::INT64 if unsigned => Kind::Unsigned,
        Type::INT64 => match (logical, converted) {
            (Some(LogicalType::Timestamp(time)), _) => Kind::Time(per_second(&time.unit)),
            (_, ConvertedType::TIMESTAMP_MILLIS) => Kind::Time(1_000),
            (_, ConvertedType::TIMESTAMP_MICROS) => Kind::Time(1_000_000),
            _ => Kind::Signed,
        },
        Type::INT32 => Kind::Signed,
        Type::INT96 => Kind::OldTime,
        Type::FLOAT | Type::DOUBLE => Kind::Float,
        Type::BOOLEAN | Type::FIXED_LEN_BYTE_ARRAY => return None,
    })
}

fn per_second(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

/// The most columns that an error lists.
const SHOWN: usize = 20;

fn wrong(what: String, schema: &SchemaDescriptor) -> ParquetError {
    let fields = schema.root_schema().get_fields();
    let mut shown: Vec<String> =
        fields.iter().take(SHOWN).map(|field| format!("`{}`", field.name())).collect();
    if fields.len() > SHOWN {
        shown.push(format!("{} more", fields.len() - SHOWN));
    }
    ParquetError::General(format!("{what}; its columns are {}", shown.join(", ")))
}
