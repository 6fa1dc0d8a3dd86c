//! Unpacks LZ4 files of any number of frames: a `.warc.lz4` file has one for each record.
//!
//! The library's decoder stops at the end of a frame. It also takes a file that is cut inside a frame for a whole one.

use std::io::{self, ErrorKind, Read};

use lz4_flex::frame::FrameDecoder;

/// The first bytes of a frame.
const FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// The first bytes of a legacy frame. It has no end mark: the file ends with it.
const LEGACY: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

/// Whether a file begins as an LZ4 file does.
pub(super) fn is_lz4(head: &[u8]) -> bool {
    head.starts_with(&FRAME) || head.starts_with(&LEGACY)
}

/// Unpacks all frames of a file.
pub(super) struct Unlz4<R: Read> {
    decoder: FrameDecoder<Input<R>>,
    /// The magic number of the frame that is being read.
    frame: Option<[u8; 4]>,
}

impl<R: Read> Unlz4<R> {
    pub(super) fn new(file: R) -> Unlz4<R> {
        let input = Input { file, magic: [0; 4], unread: 0, ended: false };
        Unlz4 { decoder: FrameDecoder::new(input), frame: None }
    }

    /// Finds the next frame with data; `None` at the end of the file.
    fn next_frame(&mut self) -> io::Result<Option<[u8; 4]>> {
        let input = self.decoder.get_mut();
        loop {
            let mut magic = Vec::new();
            input.file.by_ref().take(4).read_to_end(&mut magic)?;
            let Ok(magic) = <[u8; 4]>::try_from(magic.as_slice()) else {
                return if magic.is_empty() { Ok(None) } else { Err(cut()) };
            };
            if is_lz4(&magic) {
                (input.magic, input.unread) = (magic, 4);
                return Ok(Some(magic));
            }
            if !matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18]) {
                return Err(io::Error::other("there are bytes that are no LZ4 frame"));
            }
            let mut length = [0; 4];
            input.file.read_exact(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            if io::copy(&mut input.file.by_ref().take(length), &mut io::sink())? < length {
                return Err(cut());
            }
        }
    }
}

impl<R: Read> Read for Unlz4<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.frame.is_none() {
                self.frame = self.next_frame()?;
            }
            let Some(frame) = self.frame else { return Ok(0) };
            let n = self.decoder.read(buffer)?;
            if n > 0 {
                return Ok(n);
            }
            if self.decoder.get_ref().ended && frame == FRAME {
                return Err(cut());
            }
            self.frame = None;
        }
    }
}

fn cut() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "it ends inside an LZ4 frame")
}

/// The file from the magic number of a frame on.
struct Input<R> {
    file: R,
    magic: [u8; 4],
    /// How many bytes of the magic number are still to be read.
    unread: usize,
    /// Whether a read met the end of the file.
    ended: bool,
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unread > 0 {
            let n = buffer.len().min(self.unread);
            let start = self.magic.len() - self.unread;
            buffer[..n].copy_from_slice(&self.magic[start..start + n]);
            self.unread -= n;
            return Ok(n);
        }
        let n = self.file.read(buffer)?;
        self.ended |= n == 0 && !buffer.is_empty();
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lz4_flex::frame::FrameEncoder;

    use super::*;

    fn frame(text: &[u8]) -> Vec<u8> {
        let mut encoder = FrameEncoder::new(Vec::new());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Unlz4::new(file).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn all_frames_are_read() {
        let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
        let file = [&frame(b"one "), &skippable[..], &frame(b""), &frame(b"two")].concat();
        assert_eq!(unpacked(&file).unwrap(), b"one two");
        assert_eq!(unpacked(b"").unwrap(), b"");
    }

    #[test]
    fn a_cut_file_is_not_taken_for_a_whole_one() {
        let (one, two) = (frame(b"one"), frame(b"two"));
        let file = [&one[..], &two].concat();
        for length in (1..file.len()).filter(|&length| length != one.len()) {
            assert!(unpacked(&file[..length]).is_err(), "{length} of {} bytes", file.len());
        }
        assert!(unpacked(&[&one[..], b"rubbish"].concat()).is_err());
    }
}
