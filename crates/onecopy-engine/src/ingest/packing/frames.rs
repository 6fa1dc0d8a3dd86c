//! The windows of the frames of a zstd file, by their heads (RFC 8878).
//!
//! A file is any number of frames, and each says how wide a window it needs. Blocks say how long they are, so the frames
//! of a local file are found without unpacking.

use std::io::{self, BufReader, Read, Seek};

use super::windows::WIDEST;

/// The most bytes of skippable frames before the first frame with data.
const SKIPPED_BYTES: u64 = 32 << 20;
/// The longest head of a frame.
const LONGEST_HEAD: u64 = 18;

/// The window of the first frame of a file. It skips frames without data, such as dictionaries.
pub(super) fn first_window(file: impl Read) -> io::Result<u64> {
    let mut file = BufReader::with_capacity(1 << 12, file);
    let mut skipped = 0;
    while skipped < SKIPPED_BYTES {
        let mut head = Vec::new();
        file.by_ref().take(8).read_to_end(&mut head)?;
        let Some(length) = skippable(&head) else {
            file.take(LONGEST_HEAD - 8).read_to_end(&mut head)?;
            return Ok(frame_window(&head).unwrap_or(0));
        };
        skipped += 8 + length;
        if skipped < SKIPPED_BYTES {
            io::copy(&mut file.by_ref().take(length), &mut io::sink())?;
        }
    }
    Ok(0)
}

/// The widest window of all frames of a file, up to its end or to damage, which the run will meet. The run also stops at a
/// later frame that is wider than any window that is accepted.
pub(super) fn widest_window(file: impl Read + Seek) -> io::Result<u64> {
    let mut file = BufReader::with_capacity(1 << 12, file);
    let mut widest = 0;
    while let Some(window) = skip_frame(&mut file)? {
        if widest > 0 && window > WIDEST {
            break;
        }
        widest = widest.max(window);
    }
    Ok(widest)
}

/// Goes to the end of a frame. Returns its window, which is zero if it has no data; nothing if there is no whole head.
fn skip_frame(file: &mut BufReader<impl Read + Seek>) -> io::Result<Option<u64>> {
    let mut head = Vec::new();
    file.by_ref().take(8).read_to_end(&mut head)?;
    if let Some(length) = skippable(&head) {
        file.seek_relative(length as i64)?;
        return Ok(Some(0));
    }
    let Some(&descriptor) = head.get(4) else { return Ok(None) };
    let length = head_length(descriptor);
    file.by_ref().take(length.saturating_sub(8)).read_to_end(&mut head)?;
    let Some(window) = frame_window(&head) else { return Ok(None) };
    // A short head ends before the eight bytes that were read.
    file.seek_relative(length as i64 - head.len() as i64)?;
    loop {
        let mut block = [0; 4];
        match file.read_exact(&mut block[..3]) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(window)),
            read => read?,
        }
        let block = u32::from_le_bytes(block);
        let (is_last, repeats, length) = (block & 1 == 1, block >> 1 & 3 == 1, i64::from(block >> 3));
        // A block that repeats one byte has only this byte.
        let after = if is_last && descriptor & HAS_CHECKSUM != 0 { 4 } else { 0 };
        file.seek_relative(if repeats { 1 } else { length } + after)?;
        if is_last {
            return Ok(Some(window));
        }
    }
}

const HAS_CHECKSUM: u8 = 1 << 2;
const IS_SINGLE: u8 = 1 << 5;

/// How many bytes follow the head of a frame without data, if `head` begins with one.
fn skippable(head: &[u8]) -> Option<u64> {
    let &[0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d] = head else { return None };
    Some(u64::from(u32::from_le_bytes([a, b, c, d])))
}

/// The length of the number of a dictionary in the head of a frame, and that of the size of its content.
fn lengths(descriptor: u8) -> (usize, usize) {
    let size = [usize::from(descriptor & IS_SINGLE != 0), 2, 4, 8][usize::from(descriptor >> 6)];
    ([0, 1, 2, 4][usize::from(descriptor & 3)], size)
}

/// The length of the head of a frame.
fn head_length(descriptor: u8) -> u64 {
    let (dictionary, size) = lengths(descriptor);
    (5 + usize::from(descriptor & IS_SINGLE == 0) + dictionary + size) as u64
}

/// The window of the frame that `head` begins with; nothing if there is none.
pub(super) fn frame_window(head: &[u8]) -> Option<u64> {
    let &[0x28, 0xb5, 0x2f, 0xfd, descriptor, ref rest @ ..] = head else { return None };
    if descriptor & IS_SINGLE == 0 {
        let window = *rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // A single segment: the window is the size of what is in it.
    let (dictionary, length) = lengths(descriptor);
    let mut size = [0; 8];
    for (to, from) in size.iter_mut().zip(rest.iter().skip(dictionary).take(length)) {
        *to = *from;
    }
    let add = if length == 2 { 256 } else { 0 };
    Some((u64::from_le_bytes(size).saturating_add(add)).min(WIDEST))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    /// A frame whose window is `1 << log` bytes.
    fn frame(text: &[u8], log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        encoder.include_checksum(log.is_multiple_of(2)).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn widest(file: &[u8]) -> u64 {
        widest_window(Cursor::new(file)).unwrap()
    }

    #[test]
    fn windows_are_read_from_the_frame() {
        for (log, size) in [(20, 3 << 20), (27, 1 << 10), (23, 9 << 20)] {
            let frame = frame(&vec![b' '; size], log);
            // Behind a dictionary and a frame that says nothing.
            let behind =
                [b"\x5d\x2a\x4d\x18\x03\0\0\0abc\x50\x2a\x4d\x18\0\0\0\0", frame.as_slice()].concat();
            for file in [frame.as_slice(), &behind] {
                assert_eq!((first_window(file).unwrap(), widest(file)), (1 << log, 1 << log));
            }
        }
        let short = zstd::encode_all(&b"short"[..], 1).unwrap();
        assert!(first_window(short.as_slice()).unwrap() < 1 << 24);
        for nothing in [&b"(\xb5/\xfd"[..], b"\x5d\x2a\x4d\x18\xff\xff\xff\xff", b"", b"(\xb5/\xfd\x20"] {
            assert_eq!((first_window(nothing).unwrap(), widest(nothing)), (0, 0));
        }
    }

    #[test]
    fn later_frames_are_found_behind_blocks_of_every_kind() {
        // Text that packs, text that does not, and one byte many times.
        let mut mixed = 7u64;
        let random = std::iter::repeat_with(|| {
            mixed = mixed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (mixed >> 56) as u8
        });
        let noise: Vec<u8> = random.take(400_000).collect();
        let text = [&noise[..], &vec![b' '; 700_000], &b"some words ".repeat(9_000)].concat();
        let single = |text: &[u8]| zstd::bulk::compress(text, 1).unwrap();
        let heads = [single(b"few"), single(&text[..300]), single(&text[..70_000]), frame(&text, 19)];
        for first in &heads {
            for log in [23, 26, 27] {
                let file = [first.as_slice(), &heads.concat(), &frame(b"later", log), b"junk"].concat();
                assert_eq!(widest(&file), 1 << log);
                // Frames behind damage are never unpacked.
                assert!(widest(&[first.as_slice(), b"damage", &frame(b"later", log)].concat()) < 1 << 23);
                assert!(widest(&file[..first.len() - 2]) < 1 << 23, "a file that was cut off");
            }
        }
    }

    #[test]
    fn a_frame_that_no_run_unpacks_ends_the_search() {
        let (wide, wider) = (frame(b"x", 27), b"(\xb5/\xfd\0\xa8\x01\0\0");
        assert_eq!(widest(wider), 1 << 31, "the run says so of the first frame");
        assert_eq!(widest(&[&frame(b"x", 20), &wider[..], &wide].concat()), 1 << 20);
    }
}
