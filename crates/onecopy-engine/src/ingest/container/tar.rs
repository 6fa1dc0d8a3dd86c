//! Lists the members of a tar file: ustar, GNU and pax.
//!
//! It reads the headers itself. The library's own iterator holds long names of any length in memory.

use std::io;

use tar::{EntryType, Header, PaxExtensions};

use super::{Listed, Listing, Place, Section};

/// The size of a header. Members start at a multiple of it.
const BLOCK: u64 = 512;
/// The most bytes of a long name or of extended attributes.
const EXTENDED_BYTES: u64 = 1 << 20;

/// The facts in extended headers about the next member.
#[derive(Default)]
struct Extended {
    name: Option<Vec<u8>>,
    bytes: Option<u64>,
    sparse: bool,
}

/// Lists the members of a tar file.
pub(super) fn list(section: &Section) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let (mut at, mut extended) = (0, Extended::default());
    while at < section.bytes {
        let mut header = Header::new_old();
        let read = fill(section, header.as_mut_bytes(), at)?;
        // Two blocks of zeros end the file; other files may follow, as `cat` makes them.
        if read == BLOCK as usize && header.as_bytes().iter().all(|&byte| byte == 0) {
            at += BLOCK;
            continue;
        }
        let bytes = match size(&header).filter(|_| read == BLOCK as usize) {
            Some(bytes) => extended.bytes.unwrap_or(bytes),
            None => return Ok(damaged(listing, "there are bytes that are no member of a tar file")),
        };
        let start = at + BLOCK;
        let Some(end) = start.checked_add(bytes).filter(|&end| end <= section.bytes) else {
            return Ok(damaged(listing, "it ends inside a member"));
        };
        at = end.next_multiple_of(BLOCK);
        let kind = header.entry_type();
        if matches!(kind, EntryType::GNULongName | EntryType::XHeader) {
            if bytes > EXTENDED_BYTES {
                return Ok(damaged(listing, "a name is longer than any that is read"));
            }
            let mut text = vec![0; bytes as usize];
            fill(section, &mut text, start)?;
            extended.take(kind, &text);
            continue;
        }
        let extended = std::mem::take(&mut extended);
        let name = extended.name.unwrap_or_else(|| header.path_bytes().into_owned());
        let place = Place { start, bytes, unpacked_bytes: bytes, deflated: false, crc32: None };
        listing.members.extend(listed(name, kind, extended.sparse).map(|place_of| place_of(place)));
    }
    Ok(listing)
}

/// A member of this name and kind, once its place is given; `None` if it holds no file.
fn listed(name: Vec<u8>, kind: EntryType, sparse: bool) -> Option<impl FnOnce(Place) -> Listed> {
    let refusal = match kind {
        EntryType::Directory | EntryType::XGlobalHeader | EntryType::GNULongLink => return None,
        // The label of a volume.
        kind if kind.as_byte() == b'V' => return None,
        EntryType::Link | EntryType::Symlink => Some("a link, which is not followed"),
        EntryType::GNUSparse => Some(SPARSE),
        EntryType::Regular | EntryType::Continuous if sparse => Some(SPARSE),
        EntryType::Regular | EntryType::Continuous => None,
        _ => Some("not a regular file"),
    };
    let (name, refusal) = match String::from_utf8(name) {
        Ok(name) => (name, refusal),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some("its name is not UTF-8")),
    };
    // Old tar files mark a folder by its name only.
    if name.ends_with('/') && refusal.is_none() {
        return None;
    }
    let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
    Some(move |place| Listed { name, place: refusal.map_or(Ok(place), Err) })
}

const SPARSE: &str = "a file with holes, which is not read: unpack the tar file first";

impl Extended {
    fn take(&mut self, kind: EntryType, text: &[u8]) {
        if kind == EntryType::GNULongName {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            self.name = Some(text[..end].to_vec());
            return;
        }
        for attribute in PaxExtensions::new(text).flatten() {
            let value = attribute.value_bytes();
            match attribute.key_bytes() {
                b"path" => self.name = Some(value.to_vec()),
                b"size" => self.bytes = std::str::from_utf8(value).ok().and_then(|size| size.parse().ok()),
                key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                _ => {}
            }
        }
    }
}

/// The size of a member; `None` if the header is none.
fn size(header: &Header) -> Option<u64> {
    let bytes = header.as_bytes();
    let sum: u32 = bytes[..148].iter().chain(&bytes[156..]).map(|&byte| u32::from(byte)).sum();
    let is_header = header.cksum().is_ok_and(|written| written == sum + 8 * 32);
    let holds_bytes = !matches!(
        header.entry_type(),
        EntryType::Link | EntryType::Symlink | EntryType::Directory | EntryType::Char | EntryType::Block
    );
    is_header.then(|| if holds_bytes { header.entry_size().ok() } else { Some(0) })?
}

/// Reads at an offset until the buffer is full or the file ends.
fn fill(section: &Section, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match section.read_at(&mut buffer[length..], at + length as u64)? {
            0 => break,
            n => length += n,
        }
    }
    Ok(length)
}

fn damaged(mut listing: Listing, what: &str) -> Listing {
    listing.damage = Some(what.into());
    listing
}
