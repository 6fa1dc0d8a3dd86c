//! Opens plain and compressed files: gzip, zstd, xz, bzip2 and LZ4.

mod dictionary;
mod frames;
mod lz4;
mod members;
mod windows;
mod write;
mod xz;

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::read::MultiBzDecoder;
use flate2::bufread::DeflateDecoder;
use serde::{Deserialize, Serialize};

use self::dictionary::dictionary;
use self::lz4::{Unlz4, is_lz4};
pub(crate) use self::members::Members;
use self::members::Ungzip;
use self::windows::Unzstd;
pub(crate) use self::windows::{WIDEST, Window, Windows, window, window_of_all};
pub(crate) use self::write::{MemberPacker, write, write_member};
use self::xz::Unxz;
use super::remote::is_transport;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Lz4,
}

/// The compression that the ending of a file name indicates, in lower case, and the name without the ending.
pub(crate) fn by_ending(name: &str) -> (&str, Packing) {
    match name.rsplit_once('.') {
        Some((stem, "gz")) => (stem, Packing::Gzip),
        Some((stem, "zst" | "zstd")) => (stem, Packing::Zstd),
        Some((stem, "xz")) => (stem, Packing::Xz),
        Some((stem, "bz2")) => (stem, Packing::Bzip2),
        Some((stem, "lz4")) => (stem, Packing::Lz4),
        _ => (name, Packing::Plain),
    }
}

/// How many bytes are unpacked at a time.
const PIECE_BYTES: usize = 32 << 10;
/// Below this unpacked size, no file counts as a decompression bomb.
const HARMLESS_BYTES: u64 = 64 << 20;

/// A reader of the unpacked bytes, and a counter of the packed bytes read from the file.
pub(crate) type Opened = (Box<dyn Read + Send>, Arc<AtomicU64>);

/// Opens a file and unpacks it: all members, frames or streams that it has. If the file is corrupt or
/// expands more than `expansion` times, reading fails with an error that is not a system error.
pub(crate) fn open(path: &Path, packing: Packing, expansion: u64) -> io::Result<Opened> {
    unpack(Box::new(File::open(path)?), packing, expansion)
}

/// Unpacks the bytes of `file`, as [`open`] does.
pub(crate) fn unpack(file: Box<dyn Read + Send>, packing: Packing, expansion: u64) -> io::Result<Opened> {
    unpack_by(file, packing, Unpacking { expansion, ..Unpacking::default() })
}

/// How a file is unpacked.
pub(crate) struct Unpacking {
    /// How many times its size it may have unpacked.
    pub expansion: u64,
    /// How much a zstd frame or an xz block may need.
    pub window: Window,
    /// Learns where gzip members and zstd frames begin.
    pub members: Option<Members>,
}

impl Default for Unpacking {
    fn default() -> Unpacking {
        Unpacking { expansion: u64::MAX, window: Window::default(), members: None }
    }
}

/// As [`unpack`], in the given way.
pub(crate) fn unpack_by(
    file: Box<dyn Read + Send>,
    packing: Packing,
    Unpacking { expansion, window, members }: Unpacking,
) -> io::Result<Opened> {
    let taken = Arc::new(AtomicU64::new(0));
    let file = Counted { inner: file, bytes: taken.clone() };
    let inner: Box<dyn Read + Send> = match packing {
        Packing::Plain => return Ok((Box::new(file), taken)),
        Packing::Gzip => Box::new(Ungzip::new(buffered(file), members)),
        Packing::Xz => Box::new(Unxz::new(buffered(file), window)),
        Packing::Bzip2 => Box::new(MultiBzDecoder::new(buffered(file))),
        Packing::Lz4 => Box::new(Unlz4::new(buffered(file))),
        Packing::Zstd => {
            let mut file = buffered(file);
            match dictionary(&mut file).and_then(|it| Unzstd::new(file, &it, window, members)) {
                Ok(reader) => Box::new(reader),
                Err(error) if is_no_damage(&error) => return Err(error),
                Err(error) => Box::new(Damaged(error.to_string())),
            }
        }
    };
    let inner = BufReader::with_capacity(PIECE_BYTES, inner);
    Ok((Box::new(Guarded { inner, packed: taken.clone(), unpacked: 0, expansion }), taken))
}

/// Unpacks Deflate without a frame, as members of ZIP files are packed, within the same limit.
pub(crate) fn inflate(file: Box<dyn Read + Send>, expansion: u64) -> Box<dyn Read + Send> {
    let packed = Arc::new(AtomicU64::new(0));
    let file = Counted { inner: file, bytes: packed.clone() };
    let inner = BufReader::with_capacity(PIECE_BYTES, DeflateDecoder::new(buffered(file)));
    Box::new(Guarded { inner, packed, unpacked: 0, expansion })
}

fn buffered<R: Read>(file: R) -> BufReader<R> {
    BufReader::with_capacity(1 << 17, file)
}

/// The compression of a file that begins with `head`.
pub(crate) fn sniff(head: &[u8]) -> Packing {
    match head {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
        // A block, or the end of an empty file.
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Packing::Bzip2,
        head if is_lz4(head) => Packing::Lz4,
        _ => Packing::Plain,
    }
}

/// Whether reading failed although the file is whole: the system, the network or the memory limit is at fault. Then the
/// run must stop, and the same command can continue.
pub(crate) fn is_no_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_some() || is_transport(error) || error.kind() == ErrorKind::OutOfMemory
}

/// Counts the bytes read.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A file that is damaged at its start. Like any damaged file it opens and then fails to read.
struct Damaged(String);

impl Read for Damaged {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(self.0.clone()))
    }
}

/// Refuses decompression bombs. It always unpacks pieces of one size: damage loses a whole piece, and the lost piece
/// must not depend on where chunks are cut.
struct Guarded<R> {
    inner: BufReader<R>,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    expansion: u64,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.inner.buffer().is_empty() {
            self.unpacked += self.inner.fill_buf()?.len() as u64;
            self.check()?;
        }
        let n = self.inner.buffer().len().min(buffer.len());
        buffer[..n].copy_from_slice(&self.inner.buffer()[..n]);
        self.inner.consume(n);
        Ok(n)
    }
}

impl<R> Guarded<R> {
    fn check(&self) -> io::Result<()> {
        let allowed = self.packed.load(Ordering::Relaxed).saturating_mul(self.expansion);
        if self.unpacked > HARMLESS_BYTES && self.unpacked > allowed {
            let text = format!(
                "it grows more than {} times when unpacked: refused as a decompression bomb",
                self.expansion
            );
            return Err(io::Error::new(ErrorKind::FileTooLarge, text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::dictionary::DICTIONARY_MAGIC;
    use super::*;

    fn opened(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        let mut out = Vec::new();
        let read = open(&path, sniff(bytes), 1_000)?.0.read_to_end(&mut out);
        read.map(|_| out)
    }

    #[test]
    fn a_dictionary_serves_all_frames() {
        let words: Vec<u8> = (0..2_000).flat_map(|n| format!("word{n} ").into_bytes()).collect();
        let frame = |text: &[u8]| {
            let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 3, &words).unwrap();
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let (one, two) = (frame(&words[..5_000]), frame(&words[3_000..]));
        assert!(one.len() < 100, "the dictionary is not used: {}", one.len());
        let packed = zstd::encode_all(words.as_slice(), 3).unwrap();
        for dictionary in [&words, &packed] {
            let length = (dictionary.len() as u32).to_le_bytes();
            let file = [&DICTIONARY_MAGIC, &length[..], dictionary, &one, &two].concat();
            assert_eq!(opened(&file).unwrap(), [&words[..5_000], &words[3_000..]].concat());
            assert!(opened(&file[..dictionary.len()]).is_err());
        }
        let mut huge = [DICTIONARY_MAGIC, [0xff; 4]].concat();
        assert!(opened(&huge).unwrap_err().to_string().contains("too large"));
        huge.truncate(6);
        assert!(opened(&huge).is_err());
    }

    #[test]
    fn a_damaged_dictionary_is_met_while_reading() {
        let file = [&DICTIONARY_MAGIC, &12u32.to_le_bytes()[..], b"\x37\xa4\x30\xecdamaged!", b"x"].concat();
        let (mut reader, _) = unpack(Box::new(io::Cursor::new(file)), Packing::Zstd, 1_000).unwrap();
        assert!(reader.read(&mut [0; 9]).unwrap_err().raw_os_error().is_none());
    }

    #[test]
    fn damage_costs_the_same_however_it_is_read() {
        let mut state = 1u32;
        let noise = |_| {
            state = state.wrapping_mul(0x915f_77f5).wrapping_add(1);
            b'a' + (state >> 28) as u8
        };
        let text: Vec<u8> = (0..300_000).map(noise).collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&text).unwrap();
        let mut packed = encoder.finish().unwrap();
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        let got = [1, 1_000, 1 << 20].map(|size| {
            let (mut reader, _) =
                unpack(Box::new(io::Cursor::new(packed.clone())), Packing::Gzip, 99).unwrap();
            let (mut got, mut buffer) = (Vec::new(), vec![0; size]);
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                got.extend_from_slice(&buffer[..n]);
            }
            got
        });
        assert!(got[0].len() > 90_000 && text.starts_with(&got[0][..90_000]), "{}", got[0].len());
        assert!(got[0] == got[1] && got[1] == got[2]);
    }

    /// `text` in a compression, as one member.
    fn packed(text: &[u8], packing: Packing) -> Vec<u8> {
        let mut out = Vec::new();
        write_member(&mut out, packing, |out| out.write_all(text)).unwrap();
        out
    }

    const ALL: [Packing; 6] =
        [Packing::Plain, Packing::Gzip, Packing::Zstd, Packing::Xz, Packing::Bzip2, Packing::Lz4];

    #[test]
    fn every_compression_is_recognised_and_undone() {
        for packing in ALL {
            let (one, two) = (packed(b"WARC/1.0 ", packing), packed(b"twice", packing));
            assert_eq!(sniff(&one), packing);
            assert_eq!(opened(&[&one[..], &two].concat()).unwrap(), b"WARC/1.0 twice", "{packing:?}");
            assert_eq!(opened(&packed(b"", packing)).unwrap(), b"", "{packing:?}");
        }
        assert_eq!(sniff(b"\x5d\x2a\x4d\x18"), Packing::Zstd);
        assert_eq!(
            (sniff(b"WARC/1.0"), sniff(b""), sniff(b"BZh")),
            (Packing::Plain, Packing::Plain, Packing::Plain)
        );
        assert_eq!(opened(b"").unwrap(), b"");
    }

    #[test]
    fn damage_and_bombs_are_errors_that_are_not_the_systems() {
        let text: Vec<u8> = (0..20_000u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
        for packing in ALL.into_iter().filter(|packing| *packing != Packing::Plain) {
            let whole = packed(&text, packing);
            let error = opened(&whole[..whole.len() - 9]).unwrap_err();
            assert!(!is_no_damage(&error), "{packing:?}: {error}");
            let bomb = packed(&vec![0; 70 << 20], packing);
            let (mut reader, _) = unpack(Box::new(io::Cursor::new(bomb)), packing, 10).unwrap();
            let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
            assert!(error.to_string().contains("decompression bomb"), "{packing:?}: {error}");
        }
    }
}
