//! Lists the members of a ZIP file from its directory.

use std::io;

use zip::{CompressionMethod, ZipArchive};

use super::{ENCRYPTED, Listed, Listing, Place, Section};
use crate::ingest::packing::is_no_damage;

/// The most members that are listed. Their names are held in memory.
const MEMBERS: usize = 10_000_000;

/// Lists the members of a ZIP file.
pub(super) fn list(section: &Section) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut archive = match ZipArchive::new(io::BufReader::with_capacity(1 << 16, section.reader())) {
        Ok(archive) => archive,
        Err(error) => return damaged(error.into(), listing),
    };
    if archive.len() > MEMBERS {
        listing.damage = Some(format!("it has {} members, more than are read", archive.len()));
        return Ok(listing);
    }
    for number in 0..archive.len() {
        let member = match archive.by_index_raw(number) {
            Ok(member) => member,
            Err(error) => return damaged(error.into(), listing),
        };
        let Ok(name) = member.name().map(|name| name.trim_end_matches('/').to_owned()) else {
            let name = String::from_utf8_lossy(member.name_raw()).into_owned();
            listing.members.push(Listed { name, place: Err("its name is not text") });
            continue;
        };
        if member.is_dir() {
            continue;
        }
        let deflated = member.compression() == CompressionMethod::Deflated;
        let place = match member.data_start() {
            _ if member.encrypted() => Err(ENCRYPTED),
            _ if member.is_symlink() => Err("a link, which is not followed"),
            _ if !deflated && member.compression() != CompressionMethod::Stored => {
                Err("it is compressed in a way that is not read: unpack the ZIP file first (7z x FILE)")
            }
            Some(start) => Ok(Place {
                start,
                bytes: member.compressed_size(),
                unpacked_bytes: member.size(),
                deflated,
                crc32: Some(member.crc32()),
            }),
            None => Err("its place in the ZIP file is unknown"),
        };
        listing.members.push(Listed { name, place });
    }
    Ok(listing)
}

fn damaged(error: io::Error, mut listing: Listing) -> io::Result<Listing> {
    if is_no_damage(&error) {
        return Err(error);
    }
    listing.damage = Some(error.to_string());
    Ok(listing)
}
