//! Opens and writes plain, gzip and zstd files.
//!
//! A `.warc.zst` file may begin with a dictionary that all its frames need. It is stored in a special skippable frame
//! and may itself be compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::remote::is_transport;
use super::windows::{Unzstd, Window};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// How many bytes are unpacked at a time.
const PIECE_BYTES: usize = 32 << 10;
/// Below this unpacked size, no file counts as a decompression bomb.
const HARMLESS_BYTES: u64 = 64 << 20;

/// The magic number of a dictionary frame.
const DICTIONARY_MAGIC: [u8; 4] = 0x184d_2a5d_u32.to_le_bytes();
/// The magic number of a data frame.
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The largest accepted dictionary. Archives use about a megabyte.
const DICTIONARY_BYTES: u64 = 16 << 20;

/// A reader of the unpacked bytes, and a counter of the packed bytes read from the file.
pub(crate) type Opened = (Box<dyn Read + Send>, Arc<AtomicU64>);

/// Opens a file and unpacks it: all members of a gzip file, all frames of a zstd file. If the file is corrupt or
/// expands more than `expansion` times, reading fails with an error that is not a system error.
pub(crate) fn open(path: &Path, packing: Packing, expansion: u64) -> io::Result<Opened> {
    unpack(Box::new(File::open(path)?), packing, expansion)
}

/// Unpacks the bytes of `file`, as [`open`] does.
pub(crate) fn unpack(file: Box<dyn Read + Send>, packing: Packing, expansion: u64) -> io::Result<Opened> {
    unpack_within(file, packing, expansion, Window::default())
}

/// As [`unpack`], and fails where a frame of a zstd file is wider than `window`.
pub(crate) fn unpack_within(
    file: Box<dyn Read + Send>,
    packing: Packing,
    expansion: u64,
    window: Window,
) -> io::Result<Opened> {
    let taken = Arc::new(AtomicU64::new(0));
    let file = Counted { inner: file, bytes: taken.clone() };
    let inner: Box<dyn Read + Send> = match packing {
        Packing::Plain => return Ok((Box::new(file), taken)),
        Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 17, file))),
        Packing::Zstd => {
            let mut file = BufReader::with_capacity(1 << 17, file);
            match dictionary(&mut file).and_then(|dictionary| Unzstd::new(file, &dictionary, window)) {
                Ok(reader) => Box::new(reader),
                Err(error) if is_no_damage(&error) => return Err(error),
                Err(error) => Box::new(Damaged(error.to_string())),
            }
        }
    };
    let inner = BufReader::with_capacity(PIECE_BYTES, inner);
    Ok((Box::new(Guarded { inner, packed: taken.clone(), unpacked: 0, expansion }), taken))
}

/// The compression of a file that begins with `head`, or why the file cannot be read.
pub(crate) fn sniff(head: &[u8]) -> Result<Packing, &'static str> {
    match head {
        [0x1f, 0x8b, ..] => Ok(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Ok(Packing::Zstd),
        [0x04 | 0x02, 0x22 | 0x21, 0x4d | 0x4c, 0x18, ..] => {
            Err("compressed with LZ4, which is not supported: unpack it first (lz4 -d)")
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => {
            Err("a ZIP or WACZ file, which is not supported: unpack it and give the files inside")
        }
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            Err("compressed with XZ, which is not supported: unpack it first (xz -d)")
        }
        [b'B', b'Z', b'h', ..] => {
            Err("compressed with bzip2, which is not supported: unpack it first (bzip2 -d)")
        }
        _ => Ok(Packing::Plain),
    }
}

/// Reads the dictionary at the start of a zstd file; empty if there is none. `file` then continues after it.
fn dictionary(file: &mut impl BufRead) -> io::Result<Vec<u8>> {
    // The first fill of the buffer returns the magic number whole, unless the file is shorter than a frame.
    if !file.fill_buf()?.starts_with(&DICTIONARY_MAGIC) {
        return Ok(Vec::new());
    }
    let mut head = [0; 8];
    file.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    let refused = || io::Error::other("its dictionary is too large: refused");
    if u64::from(length) > DICTIONARY_BYTES {
        return Err(refused());
    }
    let mut held = vec![0; length as usize];
    file.read_exact(&mut held)?;
    if !held.starts_with(&ZSTD_MAGIC) {
        return Ok(held);
    }
    let mut unpacked = Vec::new();
    zstd::Decoder::with_buffer(held.as_slice())?.take(DICTIONARY_BYTES + 1).read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 > DICTIONARY_BYTES { Err(refused()) } else { Ok(unpacked) }
}

/// Whether reading failed although the file is whole: the system, the network or the memory limit is at fault. Then the
/// run must stop, and the same command can continue.
pub(crate) fn is_no_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_some() || is_transport(error) || error.kind() == ErrorKind::OutOfMemory
}

/// Opens a file for writing with the given compression. The caller must call `Finish::finish` at the end.
pub(crate) fn write(file: File, packing: Packing) -> io::Result<Box<dyn Finish + Send>> {
    let file = BufWriter::with_capacity(1 << 18, file);
    Ok(match packing {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(Even::new(GzEncoder::new(file, Compression::default()))),
        Packing::Zstd => Box::new(Even::new(zstd::Encoder::new(file, 0)?)),
    })
}

/// A writer that must be told when the last byte was written.
pub(crate) trait Finish: Write {
    /// Writes all buffered bytes and syncs the file to disk.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Finish for BufWriter<File> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.into_inner().map_err(|error| error.into_error())?.sync_data()
    }
}

impl Finish for GzEncoder<BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Finish::finish(Box::new(GzEncoder::finish(*self)?))
    }
}

impl Finish for zstd::Encoder<'static, BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Finish::finish(Box::new(zstd::Encoder::finish(*self)?))
    }
}

/// Passes on blocks of one size. The output of a compressor may depend on how its input is split, and that split
/// depends on the memory limit.
struct Even<W> {
    out: W,
    held: Vec<u8>,
}

/// The size of those blocks.
const EVEN_BYTES: usize = 64 << 10;

impl<W> Even<W> {
    fn new(out: W) -> Even<W> {
        Even { out, held: Vec::with_capacity(EVEN_BYTES) }
    }
}

impl<W: Write> Write for Even<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(EVEN_BYTES - self.held.len());
        self.held.extend_from_slice(&bytes[..n]);
        if self.held.len() == EVEN_BYTES {
            self.out.write_all(&self.held)?;
            self.held.clear();
        }
        Ok(n)
    }

    /// Does nothing: a partial block would make the blocks uneven.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Finish> Finish for Even<W> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.write_all(&self.held)?;
        Finish::finish(Box::new(self.out))
    }
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
    use super::*;

    fn opened(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        let mut out = Vec::new();
        let read = open(&path, sniff(bytes).unwrap(), 1_000)?.0.read_to_end(&mut out);
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

    #[test]
    fn other_packings_are_named() {
        for (head, word) in
            [(&b"\x04\x22\x4d\x18"[..], "LZ4"), (b"PK\x03\x04", "WACZ"), (b"\xfd7zXZ\0", "XZ")]
        {
            assert!(sniff(head).unwrap_err().contains(word));
        }
        assert_eq!(sniff(b"\x5d\x2a\x4d\x18"), Ok(Packing::Zstd));
        assert_eq!((sniff(b"WARC/1.0"), sniff(b"")), (Ok(Packing::Plain), Ok(Packing::Plain)));
        assert_eq!(opened(b"").unwrap(), b"");
    }
}
