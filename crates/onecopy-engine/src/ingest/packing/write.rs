//! Writes plain and compressed files.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::GzEncoder;
use lz4_flex::frame::FrameEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use zstd::zstd_safe::{CCtx, CParameter};

use super::Packing;

/// The preset of xz: its dictionary has a megabyte. A usual one takes a hundred times as much memory to fill.
const XZ_PRESET: u32 = 1;

/// Opens a file for writing with the given compression. The caller must call `Finish::finish` at the end.
pub(crate) fn write(file: File, packing: Packing) -> io::Result<Box<dyn Finish + Send>> {
    let file = BufWriter::with_capacity(1 << 18, file);
    Ok(match packing {
        Packing::Plain => Box::new(file),
        Packing::Gzip => Box::new(Even::new(GzEncoder::new(file, Compression::default()))),
        Packing::Zstd => Box::new(Even::new(zstd::Encoder::new(file, 0)?)),
        Packing::Xz => Box::new(Even::new(XzWriter::new(file, XzOptions::with_preset(XZ_PRESET))?)),
        Packing::Bzip2 => Box::new(Even::new(BzEncoder::new(file, bzip2::Compression::default()))),
        Packing::Lz4 => Box::new(Even::new(FrameEncoder::new(file))),
    })
}

/// Writes one gzip member, or one frame or stream, that `fill` fills. Many of them in a row are a file.
pub(crate) fn write_member<T>(
    out: &mut dyn Write,
    packing: Packing,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> io::Result<T> {
    Ok(match packing {
        Packing::Plain => fill(out)?,
        Packing::Gzip => {
            let mut encoder = GzEncoder::new(out, Compression::default());
            let filled = fill(&mut encoder)?;
            encoder.finish()?;
            filled
        }
        Packing::Zstd => {
            let mut encoder = zstd::Encoder::new(out, 0)?;
            let filled = fill(&mut encoder)?;
            encoder.finish()?;
            filled
        }
        Packing::Xz => {
            let mut encoder = XzWriter::new(out, XzOptions::with_preset(XZ_PRESET))?;
            let filled = fill(&mut encoder)?;
            encoder.finish()?;
            filled
        }
        Packing::Bzip2 => {
            let mut encoder = BzEncoder::new(out, bzip2::Compression::default());
            let filled = fill(&mut encoder)?;
            encoder.finish()?;
            filled
        }
        Packing::Lz4 => {
            let mut encoder = FrameEncoder::new(out);
            let filled = fill(&mut encoder)?;
            encoder.finish()?;
            filled
        }
    })
}

/// Writes members like [`write_member`], one after the other. It keeps the memory of the compressor: for small members,
/// new memory costs more than packing.
pub(crate) struct MemberPacker {
    packing: Packing,
    zstd: Option<CCtx<'static>>,
}

impl MemberPacker {
    pub(crate) fn new(packing: Packing) -> MemberPacker {
        MemberPacker { packing, zstd: None }
    }

    /// Appends a member with these bytes.
    pub(crate) fn pack(&mut self, parts: [&[u8]; 2], out: &mut Vec<u8>) -> io::Result<()> {
        let fill = |out: &mut dyn Write| parts.iter().try_for_each(|part| out.write_all(part));
        if self.packing != Packing::Zstd {
            return write_member(out, self.packing, fill);
        }
        let context = match &mut self.zstd {
            Some(context) => context,
            none => {
                let mut context = CCtx::create();
                let level = context.set_parameter(CParameter::CompressionLevel(0));
                level.map_err(|code| io::Error::other(zstd::zstd_safe::get_error_name(code)))?;
                none.insert(context)
            }
        };
        let mut encoder = zstd::Encoder::with_context(out, context);
        fill(&mut encoder)?;
        encoder.finish().map(drop)
    }
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

impl Finish for XzWriter<BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Finish::finish(Box::new(XzWriter::finish(*self)?))
    }
}

impl Finish for BzEncoder<BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Finish::finish(Box::new(BzEncoder::finish(*self)?))
    }
}

impl Finish for FrameEncoder<BufWriter<File>> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Finish::finish(Box::new(FrameEncoder::finish(*self)?))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_does_not_depend_on_those_before_it() {
        let text: Vec<u8> = (0..60_000u32).flat_map(|n| (n.wrapping_mul(n) >> 9).to_le_bytes()).collect();
        let packings =
            [Packing::Plain, Packing::Gzip, Packing::Zstd, Packing::Xz, Packing::Bzip2, Packing::Lz4];
        for packing in packings {
            let mut packer = MemberPacker::new(packing);
            for length in [240_000, 0, 7, 150_000, 40_000, 3, 240_000] {
                let (mut packed, mut alone) = (b"before".to_vec(), b"before".to_vec());
                packer.pack([&text[..length], b"\r\n"], &mut packed).unwrap();
                let fill = |out: &mut dyn Write| {
                    out.write_all(&text[..length]).and_then(|()| out.write_all(b"\r\n"))
                };
                write_member(&mut alone, packing, fill).unwrap();
                assert!(packed == alone, "{packing:?} {length}");
            }
        }
    }
}
