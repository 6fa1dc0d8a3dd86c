//! Refuses pages that claim more values than they can hold, before memory for these is asked for.
//!
//! The `parquet` crate makes room for as many values as a dictionary, or the lengths in front of texts, say that they
//! are. A page of a few bytes can say any number.

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

/// The most lengths in a page. Writers end a page after some thousands of rows, or after a megabyte.
const LENGTHS: u64 = 16 << 20;
/// The most lengths in a block. Writers have 128 to 2,048.
const BLOCK: u64 = 64 << 10;
/// Bytes of the longest number.
const NUMBER_BYTES: usize = 10;

/// Opens a column of a row group.
pub(crate) fn column_reader(group: &dyn RowGroupReader, leaf: usize) -> Result<ColumnReader> {
    let column = group.metadata().schema_descr().column(leaf);
    let pages = group.get_column_page_reader(leaf)?;
    Ok(get_column_reader(column.clone(), Box::new(Counted { pages, column })))
}

/// The pages of a column, each looked at.
struct Counted {
    pages: Box<dyn PageReader>,
    column: ColumnDescPtr,
}

impl Counted {
    fn checked(&self, page: Option<Page>) -> Result<Option<Page>> {
        let wrong = || ParquetError::General("a page claims more values than it can hold".into());
        match page {
            Some(page) => is_possible(&page, &self.column).then_some(Some(page)).ok_or_else(wrong),
            None => Ok(None),
        }
    }
}

impl Iterator for Counted {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Counted {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        self.checked(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.pages.take_deferred_dictionary()?;
        self.checked(page)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

/// Whether a page can hold as many values as it claims.
fn is_possible(page: &Page, column: &ColumnDescriptor) -> bool {
    match page {
        Page::DictionaryPage { buf, num_values, .. } => {
            u64::from(*num_values) * value_bits(column) <= buf.len() as u64 * 8
        }
        Page::DataPage { buf, num_values, encoding, .. } => {
            let levels = levels_bytes(page, column);
            lengths_are_possible(levels.and_then(|levels| buf.get(levels..)), *num_values, *encoding)
        }
        Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
            lengths_are_possible(buf.get(levels as usize..), *num_values, *encoding)
        }
    }
}

/// The least bits of a value that is written plainly.
fn value_bits(column: &ColumnDescriptor) -> u64 {
    match column.physical_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 32,
        Type::INT64 | Type::DOUBLE => 64,
        Type::INT96 => 96,
        Type::FIXED_LEN_BYTE_ARRAY => column.type_length().max(1) as u64 * 8,
    }
}

/// How many bytes of an older data page are levels, which come before the values.
fn levels_bytes(page: &Page, column: &ColumnDescriptor) -> Option<usize> {
    let Page::DataPage { buf, num_values, def_level_encoding, rep_level_encoding, .. } = page else {
        return None;
    };
    let repeated = level_bytes(buf, column.max_rep_level(), *num_values, *rep_level_encoding)?;
    let defined =
        level_bytes(buf.get(repeated..)?, column.max_def_level(), *num_values, *def_level_encoding)?;
    repeated.checked_add(defined)
}

fn level_bytes(bytes: &[u8], most: i16, values: u32, encoding: Encoding) -> Option<usize> {
    match encoding {
        _ if most == 0 => Some(0),
        Encoding::RLE => Some(4 + u32::from_le_bytes(*bytes.first_chunk()?) as usize),
        // Levels without runs, as the first writers had them: as many bits each as the largest needs.
        _ => Some((values as usize * (16 - most.leading_zeros()) as usize).div_ceil(8)),
    }
}

/// Whether the lengths of texts are not more than a page has values. Other encodings have none, and their decoders make
/// room as values come. Values that are not where they should be are for the decoder to complain about.
fn lengths_are_possible(values: Option<&[u8]>, count: u32, encoding: Encoding) -> bool {
    let most = u64::from(count).min(LENGTHS);
    let Some(values) = values.filter(|values| !values.is_empty()) else { return true };
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => behind_lengths(values, most).is_some(),
        // Lengths that texts share with the one before, and behind them lengths of what differs.
        Encoding::DELTA_BYTE_ARRAY => {
            behind_lengths(values, most).is_some_and(|rest| behind_lengths(rest, most).is_some())
        }
        _ => true,
    }
}

/// The bytes after numbers that are packed as differences; nothing if they are more than `most`, or cut short.
fn behind_lengths(mut bytes: &[u8], most: u64) -> Option<&[u8]> {
    let (block, parts) = (number(&mut bytes)?, number(&mut bytes)?);
    let (count, _first) = (number(&mut bytes)?, number(&mut bytes)?);
    if count > most || block > BLOCK || !(1..=block).contains(&parts) {
        return None;
    }
    let in_part = block / parts;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        number(&mut bytes)?;
        let (widths, mut rest) = bytes.split_at_checked(parts as usize)?;
        // Parts without a number have no bytes, whatever their width is said to be.
        for &width in widths.iter().take(left.div_ceil(in_part) as usize) {
            rest = rest.get((u64::from(width) * in_part / 8) as usize..)?;
        }
        (bytes, left) = (rest, left.saturating_sub(block));
    }
    Some(bytes)
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let length = 1 + bytes.iter().take(NUMBER_BYTES).position(|byte| *byte < 0x80)?;
    let (number, rest) = bytes.split_at(length);
    *bytes = rest;
    Some(number.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use parquet::schema::types::{ColumnPath, Type as SchemaType};

    use super::*;

    fn column(kind: Type, defined: i16) -> ColumnDescriptor {
        let field = SchemaType::primitive_type_builder("text", kind).with_length(3).build().unwrap();
        ColumnDescriptor::new(Arc::new(field), defined, 0, ColumnPath::from("text"))
    }

    fn data(bytes: &[u8], values: u32, encoding: Encoding) -> Page {
        let (def_level_encoding, rep_level_encoding) = (Encoding::RLE, Encoding::RLE);
        let buf = Bytes::copy_from_slice(bytes);
        Page::DataPage {
            buf,
            num_values: values,
            encoding,
            def_level_encoding,
            rep_level_encoding,
            statistics: None,
        }
    }

    fn dictionary(bytes: usize, values: u32) -> Page {
        let buf = vec![0; bytes].into();
        Page::DictionaryPage { buf, num_values: values, encoding: Encoding::PLAIN, is_sorted: false }
    }

    #[test]
    fn a_dictionary_has_room_for_its_values() {
        for (kind, bytes) in [
            (Type::BOOLEAN, 1),
            (Type::INT32, 32),
            (Type::DOUBLE, 64),
            (Type::INT96, 96),
            (Type::BYTE_ARRAY, 32),
            (Type::FIXED_LEN_BYTE_ARRAY, 24),
        ] {
            let column = column(kind, 0);
            assert!(is_possible(&dictionary(bytes, 8), &column), "{kind}");
            assert!(!is_possible(&dictionary(bytes, 9), &column), "{kind}");
        }
    }

    /// So many lengths in blocks of 128 in four parts, the first part of each with a byte a length.
    fn lengths(count: u8) -> Vec<u8> {
        let block = [&[4, 8, 0, 0, 0][..], &[1; 32]].concat();
        [&[0x80, 1, 4, count, 2][..], &block.repeat(usize::from(count.saturating_sub(1)).div_ceil(128))]
            .concat()
    }

    #[test]
    fn there_are_no_more_lengths_than_values() {
        let column = column(Type::BYTE_ARRAY, 0);
        let possible = |bytes: &[u8], values, encoding| is_possible(&data(bytes, values, encoding), &column);
        for count in [0, 1, 2, 33, 127] {
            let (one, some) = (lengths(count), u32::from(count));
            assert!(possible(&[&one[..], b"texts"].concat(), some, Encoding::DELTA_LENGTH_BYTE_ARRAY));
            assert!(possible(&[&one[..], &one, b"texts"].concat(), some, Encoding::DELTA_BYTE_ARRAY));
            let more = lengths(count + 1);
            assert!(!possible(&more, some, Encoding::DELTA_LENGTH_BYTE_ARRAY), "{count}");
            assert!(!possible(&[one, more].concat(), some, Encoding::DELTA_BYTE_ARRAY), "{count}");
        }
        let (many, huge) = ([0xff, 0xff, 0xff, 0xff, 7], [0x80, 0x80, 0x80, 1]);
        for wrong in [
            &[&[0x80, 1, 4][..], &many, &[0]].concat()[..],
            &[&huge[..], &[1, 2, 0, 0, 0]].concat(),
            &[0x80, 1, 0, 2, 0],
            &[0x80, 1, 4, 2],
            &[0x80, 1, 4, 2, 0, 0, 8, 0, 0, 0, 1],
            &[0xff; 20],
        ] {
            assert!(!possible(wrong, u32::MAX, Encoding::DELTA_LENGTH_BYTE_ARRAY), "{wrong:?}");
            assert!(possible(wrong, u32::MAX, Encoding::PLAIN));
        }
    }

    #[test]
    fn lengths_are_found_behind_levels() {
        let column = column(Type::BYTE_ARRAY, 1);
        let (right, wrong) = (lengths(3), lengths(9));
        let check = |page: &Page, expected| assert_eq!(is_possible(page, &column), expected, "{page:?}");
        for (lengths, expected) in [(&right, true), (&wrong, false)] {
            let levels = [&[2, 0, 0, 0, 6, 1][..], lengths].concat();
            check(&data(&levels, 3, Encoding::DELTA_LENGTH_BYTE_ARRAY), expected);
            let page = Page::DataPageV2 {
                buf: [&[6, 1][..], lengths].concat().into(),
                num_values: 3,
                encoding: Encoding::DELTA_LENGTH_BYTE_ARRAY,
                num_nulls: 0,
                num_rows: 3,
                def_levels_byte_len: 2,
                rep_levels_byte_len: 0,
                is_compressed: false,
                statistics: None,
            };
            check(&page, expected);
        }
        assert_eq!(level_bytes(&[], 0, 9, Encoding::RLE), Some(0));
        assert_eq!(level_bytes(&[], 3, 9, Encoding::PLAIN), Some(3));
        assert_eq!(level_bytes(&[1], 1, 9, Encoding::RLE), None);
    }
}
