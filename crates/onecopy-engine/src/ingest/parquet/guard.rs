//! Converts errors and panics of the `parquet` crate into our errors.

use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedFileReader;

use super::pages::Pages;
use super::thrift::check_file;

/// The largest accepted footer. A hundred thousand row groups of a hundred columns need less.
const FOOTER_BYTES: u64 = 1 << 30;

/// Runs code that may read damaged data. The `parquet` crate panics on some kinds of damage. This catches such a panic
/// and reports only that the file is damaged. The reader that `work` used must not be used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> io::Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::External(inner))) => Err(match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => invalid(other.to_string()),
        }),
        Ok(Err(ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text))) => {
            Err(invalid(text))
        }
        Ok(Err(error)) => Err(invalid(error.to_string())),
        Err(_) => Err(invalid("it is damaged: the Parquet reader failed".into())),
    }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// An open Parquet file.
pub(crate) type ParquetFile<R> = SerializedFileReader<Pages<R>>;

/// Opens a Parquet file and reads its footer.
pub(crate) fn open_parquet<R: ChunkReader + 'static>(source: R) -> io::Result<ParquetFile<R>> {
    guarded(|| {
        check_ends(&source)?;
        SerializedFileReader::new(Pages(source))
    })
}

/// Refuses files that are clearly not Parquet, and says why.
fn check_ends<R: ChunkReader>(source: &R) -> Result<(), ParquetError> {
    let wrong = |text: &str| Err(ParquetError::General(text.into()));
    let bytes = source.len();
    if bytes < 12 {
        return wrong("it is too short to be Parquet");
    }
    let (head, tail) = (source.get_bytes(0, 4)?, source.get_bytes(bytes - 8, 8)?);
    match (&head[..], &tail[4..]) {
        (b"PAR1", b"PAR1") => {}
        (_, b"PARE") => return wrong("it is encrypted Parquet, which is not supported"),
        (b"PAR1", _) => return wrong("it is cut short: its end is missing"),
        _ => return wrong("it is not Parquet"),
    }
    let footer = tail[..4].iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    if footer > FOOTER_BYTES || footer + 12 > bytes {
        return wrong("its end is damaged");
    }
    Ok(check_file(&source.get_bytes(bytes - 8 - footer, footer as usize)?[..])?)
}
