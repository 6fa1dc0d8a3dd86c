//! Walks what a Parquet file says about itself, before the `parquet` crate reads it.
//!
//! That crate skips what it does not know element by element, and a boolean in a list takes no byte there: seven bytes
//! can stand for two billion steps. It also reads a known field as its usual type, whatever the file says. So known
//! fields must have their types here, and there are no lists of booleans. All else ends where the bytes do.

mod shape;

use std::io::{self, ErrorKind, Read};

use self::shape::{FILE, Kind, PAGE, Shape};

/// Structures in structures: the `parquet` crate gives up there, too.
const DEPTH: u8 = 64;
/// Bytes of the longest number.
const NUMBER_BYTES: u32 = 10;

/// Checks the metadata at the end of a file.
pub(super) fn check_file(from: impl Read) -> io::Result<()> {
    Walk { from, page_bytes: 0, sizes: PageSizes::default() }.structure(FILE, DEPTH)
}

/// Checks the head of a page, and reads to its end. The page may unpack to `page_bytes`.
pub(super) fn check_page(from: impl Read, page_bytes: u64) -> io::Result<PageSizes> {
    let mut walk = Walk { from, page_bytes, sizes: PageSizes::default() };
    walk.structure(PAGE, DEPTH).map(|()| walk.sizes)
}

/// The sizes that the head of a page states, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageSizes {
    pub unpacked: u64,
    /// Its size in the file, behind its head.
    pub packed: u64,
}

/// A walk through a structure in Thrift's compact protocol. Kinds of values have the numbers that it gives them.
struct Walk<R> {
    from: R,
    page_bytes: u64,
    sizes: PageSizes,
}

impl<R: Read> Walk<R> {
    fn structure(&mut self, shape: Shape, depth: u8) -> io::Result<()> {
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            let kind = head & 15;
            if kind == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.signed()? as i16,
                step => id.checked_add(i16::from(step)).ok_or_else(damaged)?,
            };
            let known = shape.iter().find(|(known, _)| *known == id).map(|(_, kind)| kind);
            if known.is_some_and(|known| !known.is(kind)) {
                return Err(damaged());
            }
            // A boolean is its kind.
            if !matches!(kind, 1 | 2) {
                self.value(kind, known, depth)?;
            }
        }
    }

    /// Skips a value. `known` says more about it than the number of its kind.
    fn value(&mut self, kind: u8, known: Option<&Kind>, depth: u8) -> io::Result<()> {
        let inner = depth.checked_sub(1).ok_or_else(damaged)?;
        match (kind, known) {
            (5, Some(Kind::PageBytes)) => self.unpacked(),
            (5, Some(Kind::PackedBytes)) => {
                self.sizes.packed = u64::try_from(self.signed()?).map_err(|_| damaged())?;
                Ok(())
            }
            (3, _) => self.byte().map(drop),
            (4..=6, _) => self.number().map(drop),
            (7, _) => self.skip(8),
            (8, _) => self.number().and_then(|length| self.skip(length)),
            (9 | 10, Some(Kind::List(of))) => self.list(Some(of), inner),
            (9 | 10, _) => self.list(None, inner),
            (11, _) => self.map(inner),
            (12, Some(Kind::Structure(shape))) => self.structure(shape, inner),
            (12, _) => self.structure(&[], inner),
            (13, _) => self.skip(16),
            _ => Err(damaged()),
        }
    }

    fn list(&mut self, of: Option<&Kind>, depth: u8) -> io::Result<()> {
        let head = self.byte()?;
        let (kind, few) = (head & 15, head >> 4);
        let length = if few == 15 { self.number()? } else { u64::from(few) };
        if length > 0 && of.is_some_and(|of| !of.is(kind)) {
            return Err(damaged());
        }
        // Booleans are none of the kinds of a value.
        (0..length).try_for_each(|_| self.value(kind, of, depth))
    }

    fn map(&mut self, depth: u8) -> io::Result<()> {
        let length = self.number()?;
        let kinds = if length > 0 { self.byte()? } else { 0 };
        (0..length).try_for_each(|_| {
            self.value(kinds >> 4, None, depth)?;
            self.value(kinds & 15, None, depth)
        })
    }

    /// What a page unpacks to.
    fn unpacked(&mut self) -> io::Result<()> {
        let bytes = u64::try_from(self.signed()?).map_err(|_| damaged())?;
        if bytes <= self.page_bytes {
            self.sizes.unpacked = bytes;
            return Ok(());
        }
        Err(invalid(format!("a page of {bytes} bytes: {} is the limit", self.page_bytes)))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte).map_err(cut_short)?;
        Ok(byte[0])
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for place in 0..NUMBER_BYTES {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn signed(&mut self) -> io::Result<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.from.by_ref().take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(damaged()) }
    }
}

fn cut_short(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::UnexpectedEof { damaged() } else { error }
}

fn damaged() -> io::Error {
    invalid("what it says about itself is damaged".into())
}

fn invalid(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of 9,000 bytes with a checksum, and the head of its data with statistics.
    const HEAD: &[u8] =
        &[0x15, 0, 0x15, 0xd0, 0x8c, 1, 0x15, 2, 0x15, 1, 0x1c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c];

    fn check(behind: &[u8]) -> io::Result<PageSizes> {
        check_page(&[HEAD, behind].concat()[..], 9_000)
    }

    #[test]
    fn what_is_right_passes_with_all_that_follows() {
        let sizes = check(&[0x58, 1, b'a', 0x18, 0, 0x11, 0, 0, 0]).unwrap();
        assert_eq!(sizes, PageSizes { unpacked: 9_000, packed: 1 });
        // Fields that nobody knows: a list, a list of lists, a map, a byte, a double, a set, an identifier, a long number.
        let unknown: [&[u8]; 8] = [
            &[0x09, 0x30, 0x25, 1, 2],
            &[0x19, 0x19, 0x13, 7],
            &[0x1b, 1, 0x85, 1, b'x', 4],
            &[0x13, 9],
            &[0x17, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x1a, 0],
            &[0x1d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            &[0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ];
        check(&[&[0, 0][..], &unknown.concat(), &[0]].concat()).unwrap();
    }

    #[test]
    fn nothing_can_keep_the_reader_busy_or_take_its_memory() {
        let most = [0xff, 0xff, 0xff, 0xff, 7];
        for behind in [
            // A list, a set and a map of booleans, alone and in a list.
            &[&[0, 0, 0x09, 0x30, 0xf1][..], &most, &[0]].concat()[..],
            &[&[0, 0, 0x0a, 0x30, 0xf2][..], &most, &[0]].concat(),
            &[&[0, 0, 0x0b, 0x30][..], &most, &[0x11, 0]].concat(),
            &[&[0, 0, 0x09, 0x30, 0x19, 0xf1][..], &most, &[0]].concat(),
            // A known field that hides such a list: the size as a list, statistics as a list.
            &[&[0, 0, 0x09, 4, 0xf5][..], &most].concat(),
            &[&[0, 0x09, 10, 0xf1][..], &most].concat(),
            // The size again, and now another.
            &[&[0, 0, 0x05, 4, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0][..]].concat(),
            &[0, 0, 0x05, 4, 1, 0],
            // More bytes than there are, a number without an end, a kind that there is not, no end.
            &[0, 0, 0x08, 0x30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0],
            &[&[0, 0, 0x06, 0x30][..], &[0xff; 30]].concat(),
            &[0, 0, 0x0e, 0x30, 0],
            &[0, 0],
        ] {
            assert!(check(behind).is_err(), "{behind:?}");
        }
        let deep = [&[0, 0, 0x0c, 0x30][..], &[0x1c; 70], &[0; 75]].concat();
        assert!(check(&deep).is_err());
    }
}
