//! Unpacks xz files of any number of streams, with dictionaries of a limited size.

use std::io::{self, ErrorKind, Read};

use lzma_rust2::XzReader;

use super::windows::{WIDEST, Window};
use crate::error::MoreMemory;

/// The memory of the decoder besides its dictionary, in KiB.
const OVERHEAD_KB: u64 = 256;

/// Unpacks all streams of a file.
pub(super) struct Unxz<R: Read> {
    decoder: XzReader<R>,
    window: Window,
}

impl<R: Read> Unxz<R> {
    pub(super) fn new(file: R, window: Window) -> Unxz<R> {
        let limit_kb = u32::try_from(window.bytes / 1_024 + OVERHEAD_KB).unwrap_or(u32::MAX);
        Unxz { decoder: XzReader::new_mem_limit(file, true, limit_kb), window }
    }

    /// The error of a block that needs more memory than the limit leaves for it. The decoder does not say how much.
    fn too_wide(&self) -> io::Error {
        let Window { bytes, share, limit } = self.window;
        if bytes >= WIDEST {
            return io::Error::other("a later part needs a larger dictionary than the first: refused");
        }
        io::Error::new(ErrorKind::OutOfMemory, MoreMemory { needed: WIDEST * share, limit })
    }
}

impl<R: Read> Read for Unxz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => self.too_wide(),
            _ => error,
        })
    }
}

/// How large a dictionary the first block of an xz file needs (The .xz File Format, 3.1 and 5.3.1); zero if there is no
/// block.
pub(super) fn xz_window(file: impl Read) -> io::Result<u64> {
    let mut head = Vec::new();
    file.take(12 + 1_024).read_to_end(&mut head)?;
    Ok(dictionary(&head).unwrap_or(0))
}

fn dictionary(head: &[u8]) -> Option<u64> {
    let block = head.get(12..).filter(|_| head.starts_with(b"\xfd7zXZ\0"))?;
    let (&[size, flags], mut rest) = block.split_first_chunk()?;
    if size == 0 {
        return None;
    }
    for sizes in [0x40, 0x80] {
        if flags & sizes != 0 {
            number(&mut rest)?;
        }
    }
    for _ in 0..=flags & 3 {
        let (filter, length) = (number(&mut rest)?, number(&mut rest)?);
        let (properties, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        rest = behind;
        if let (0x21, &[bits]) = (filter, properties) {
            return Some((2 | u64::from(bits & 1)) << (u32::from(bits & 0x3f) / 2 + 11));
        }
    }
    None
}

/// Takes a number of variable length from the front.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    /// A stream with a dictionary of so many bytes.
    fn stream(text: &[u8], dictionary: u32) -> Vec<u8> {
        let mut options = XzOptions::with_preset(0);
        options.lzma_options.dict_size = dictionary;
        let mut writer = XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn the_dictionary_is_read_from_the_first_block() {
        for size in [1 << 16, 1 << 20, 3 << 20, 64 << 20] {
            assert_eq!(xz_window(stream(b"text", size).as_slice()).unwrap(), u64::from(size));
        }
        assert_eq!(xz_window(&b"\xfd7zXZ\0"[..]).unwrap(), 0);
        assert_eq!(xz_window(&b""[..]).unwrap(), 0);
    }

    #[test]
    fn later_streams_are_read_within_the_limit() {
        let read = |file: &[u8], bytes: u64| {
            let mut text = Vec::new();
            let window = Window { bytes, share: 16, limit: 64 << 20 };
            Unxz::new(file, window).read_to_end(&mut text).map(|_| text)
        };
        let file = [stream(b"one ", 1 << 16), stream(b"two", 8 << 20)].concat();
        assert_eq!(read(&file, 8 << 20).unwrap(), b"one two");
        assert_eq!(read(&file, 1 << 20).unwrap_err().kind(), ErrorKind::OutOfMemory);
        assert!(read(&file[..file.len() - 20], 8 << 20).is_err());
    }
}
