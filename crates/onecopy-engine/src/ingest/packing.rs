//! Compression: opening and writing plain, gzip and zstd files alike.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

/// The widest zstd window that is accepted: 128 MiB, as `zstd --long=27` makes.
const ZSTD_WINDOW_LOG: u32 = 27;
/// No file is a bomb before it has grown to this.
const HARMLESS_BYTES: u64 = 64 << 20;

/// A reader of what a file holds, and a counter of the bytes that were taken from the file itself.
pub(crate) type Opened = (Box<dyn Read + Send>, Arc<AtomicU64>);

/// Opens a file and undoes its compression: all members of a gzip file, all frames of a zstd file.
/// Fails while reading, with no system error, if it is corrupt or grows by more than `expansion`.
pub(crate) fn open(path: &Path, packing: Packing, expansion: u64) -> io::Result<Opened> {
    let taken = Arc::new(AtomicU64::new(0));
    let file = Counted { inner: File::open(path)?, bytes: taken.clone() };
    let inner: Box<dyn Read + Send> = match packing {
        Packing::Plain => return Ok((Box::new(file), taken)),
        Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 17, file))),
        Packing::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(BufReader::with_capacity(1 << 17, file))?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
    };
    Ok((Box::new(Guarded { inner, packed: taken.clone(), unpacked: 0, expansion }), taken))
}

/// How much memory unpacking a zstd file takes: the window of its first frame (RFC 8878, 3.1.1.1).
pub(crate) fn zstd_window(path: &Path) -> io::Result<u64> {
    let mut head = Vec::new();
    File::open(path)?.take(18).read_to_end(&mut head)?;
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, ref rest @ ..] = head.as_slice() else { return Ok(0) };
    if descriptor & 0x20 == 0 {
        let window = rest.first().copied().unwrap_or(0);
        let base = 1u64 << (10 + (window >> 3));
        return Ok(base + base / 8 * u64::from(window & 7));
    }
    // A single segment: the window is the size of what is in it.
    let after = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let (length, add) = [(1, 0), (2, 256), (4, 0), (8, 0)][usize::from(descriptor >> 6)];
    let mut size = [0; 8];
    for (to, from) in size.iter_mut().zip(rest.iter().skip(after).take(length)) {
        *to = *from;
    }
    Ok((u64::from_le_bytes(size) + add).min(1 << ZSTD_WINDOW_LOG))
}

/// Opens a file for writing with the given compression. `Finish` must be called at the end.
pub(crate) fn write(file: File, packing: Packing) -> io::Result<Box<dyn Finish + Send>> {
    let file = BufWriter::with_capacity(1 << 18, file);
    Ok(match packing {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(GzEncoder::new(file, Compression::default())),
        Packing::Zstd => Box::new(zstd::Encoder::new(file, 0)?),
    })
}

/// A writer whose last bytes come when it is told that there are no more.
pub(crate) trait Finish: Write {
    /// Writes what is still held back, and hands the file on to disk.
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

/// Counts what is read.
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

/// Refuses to unpack a bomb.
struct Guarded<R> {
    inner: R,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    expansion: u64,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.unpacked += n as u64;
        let allowed = self.packed.load(Ordering::Relaxed).saturating_mul(self.expansion);
        if self.unpacked > HARMLESS_BYTES && self.unpacked > allowed {
            return Err(io::Error::other(format!(
                "it grows more than {} times when unpacked: refused as a decompression bomb (raise --max-expansion if it is right)",
                self.expansion
            )));
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_from_the_frame() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zst");
        for (log, size) in [(20, 3 << 20), (27, 1 << 10), (23, 9 << 20)] {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(&vec![b' '; size]).unwrap();
            std::fs::write(&path, encoder.finish().unwrap()).unwrap();
            assert_eq!(zstd_window(&path).unwrap(), 1 << log);
        }
        std::fs::write(&path, zstd::encode_all(&b"short"[..], 1).unwrap()).unwrap();
        assert!(zstd_window(&path).unwrap() < 1 << 24);
        std::fs::write(&path, b"(\xb5/\xfd").unwrap();
        assert_eq!(zstd_window(&path).unwrap(), 0);
    }
}
