//! Lists containers that this and other programs make, and those that somebody made to do harm.

use std::io::{Seek, SeekFrom, Write};

use ::tar::{Builder, EntryType, Header};
use ::zip::write::SimpleFileOptions;
use ::zip::{CompressionMethod, ZipWriter};

use super::*;

fn section(bytes: &[u8]) -> Section {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    Section::of(file).unwrap()
}

/// The names of members, with their bytes in the container or the reason why they are not read.
fn members(bytes: &[u8], kind: Container) -> (Vec<(String, String)>, Option<String>) {
    let section = section(bytes);
    let listing = list(&section, kind).unwrap();
    let shown = |listed: Listed| match listed.place {
        Err(reason) => (listed.name, format!("refused: {reason}")),
        Ok(place) => {
            let mut text = String::new();
            section.part(place.start, place.bytes).reader().read_to_string(&mut text).unwrap();
            (listed.name, text)
        }
    };
    (listing.members.into_iter().map(shown).collect(), listing.damage)
}

fn entry(name: &[u8], kind: EntryType, bytes: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_size(bytes);
    header.set_entry_type(kind);
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_cksum();
    header
}

#[test]
fn members_of_a_tar_file_are_found_where_they_are() {
    let mut tar = Builder::new(Vec::new());
    let long = format!("{}/a.html", "folder".repeat(40));
    for (name, text) in
        [("x/a.html", "one"), (long.as_str(), "two"), ("empty.txt", ""), ("x/a.html", "three")]
    {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    tar.append_pax_extensions([("path", "from/pax.txt".as_bytes())]).unwrap();
    tar.append(&entry(b"other", EntryType::Regular, 4), &b"four"[..]).unwrap();
    let bytes = tar.into_inner().unwrap();
    assert!(is_tar(&bytes) && !is_tar(b"words"));
    let (found, damage) = members(&bytes, Container::Tar(Packing::Plain));
    let refused = "refused: a later member of this name replaces it";
    let expected = [
        ("x/a.html", refused),
        (&long, "two"),
        ("empty.txt", ""),
        ("x/a.html", "three"),
        ("from/pax.txt", "four"),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    assert_eq!(damage, None);
    // Damage costs the members that follow it.
    let (found, damage) = members(&bytes[..1_500], Container::Tar(Packing::Plain));
    assert!(found.len() == 1 && damage.is_some(), "{found:?} {damage:?}");
    let mut broken = bytes.clone();
    broken[600] = 1;
    broken[1_030] ^= 1;
    assert!(members(&broken, Container::Tar(Packing::Plain)).1.unwrap().contains("no member"));
}

#[test]
fn members_never_leave_their_folder() {
    let mut tar = Builder::new(Vec::new());
    for (name, kind) in [
        (&b"../up.html"[..], EntryType::Regular),
        (b"/root.html", EntryType::Regular),
        (b"a/../../b.html", EntryType::Regular),
        (b"c\\..\\d.html", EntryType::Regular),
        (b"link.html", EntryType::Symlink),
        (b"hard.html", EntryType::Link),
        (b"device", EntryType::Char),
        (b"\xff.html", EntryType::Regular),
        (b"folder/", EntryType::Directory),
        (b"f", EntryType::Regular),
        (b"f/g", EntryType::Regular),
        (b"./fine.html", EntryType::Regular),
    ] {
        tar.append(&entry(name, kind, 0), &b""[..]).unwrap();
    }
    let (found, _) = members(&tar.into_inner().unwrap(), Container::Tar(Packing::Plain));
    let read: Vec<&str> = found
        .iter()
        .filter(|(_, text)| !text.starts_with("refused"))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!((read, found.len()), (vec!["f/g", "fine.html"], 11));
}

#[test]
fn members_of_a_zip_file_are_found_where_they_are() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, method) in
        [("x/a.html", CompressionMethod::Stored), ("../b.html", CompressionMethod::Deflated)]
    {
        zip.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(b"some words").unwrap();
    }
    zip.add_directory("y/", SimpleFileOptions::default()).unwrap();
    zip.add_symlink("l.html", "x/a.html", SimpleFileOptions::default()).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    assert!(is_zip(&bytes));
    let (found, damage) = members(&bytes, Container::Zip);
    let expected = [
        ("x/a.html", "some words"),
        ("../b.html", "refused: its name leads out of the folder: refused"),
        ("l.html", "refused: a link, which is not followed"),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    assert_eq!(damage, None);
    assert!(members(&bytes[..60], Container::Zip).1.is_some());
    // The flag that says that a member is encrypted, in its header and in the directory.
    let mut locked = bytes.clone();
    let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    (locked[6], locked[directory + 8]) = (1, 1);
    assert!(members(&locked, Container::Zip).0[0].1.contains("encrypted"));
}

#[test]
fn names_tell_containers() {
    for (name, kind) in [
        ("a.ZIP", Container::Zip),
        ("a.wacz", Container::Wacz),
        ("a.tar", Container::Tar(Packing::Plain)),
        ("a.tar.gz", Container::Tar(Packing::Gzip)),
        ("a.tgz", Container::Tar(Packing::Gzip)),
        ("a.tar.zst", Container::Tar(Packing::Zstd)),
        ("a.txz", Container::Tar(Packing::Xz)),
        ("a.tar.bz2", Container::Tar(Packing::Bzip2)),
    ] {
        assert_eq!(container_by_name(name), Some(kind), "{name}");
    }
    for name in ["a.jsonl", "tar", "zip", "a.tar.html"] {
        assert_eq!(container_by_name(name), None, "{name}");
    }
}
