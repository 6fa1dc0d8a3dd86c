//! Finds out what a file is: by its name, else by its first bytes.

use std::io::{self, Read};

use super::{Source, is_web};
use crate::ingest::container::{Reach, container_by_name};
use crate::ingest::format::{
    Asked, FileKind, Format, HEAD_BYTES, UNKNOWN, UNKNOWN_BY_CONTENT, by_content, by_name, foreign_by_name,
    is_array_file, is_no_page, may_be_array,
};
use crate::ingest::packing::{Packing, sniff};

/// Whether a name tells what the file is.
pub(super) fn name_tells(name: &str) -> bool {
    kind_by_name(name, Asked::ByFolder).is_some()
}

/// The kind of a file by its name, as far as that tells.
pub(super) fn kind_by_name(name: &str, asked: Asked) -> Option<FileKind> {
    let no_page = || (asked == Asked::ByFolder && is_no_page(name)).then_some(FileKind::NoPage);
    by_name(name)
        .map(FileKind::Pages)
        .or_else(|| container_by_name(name).map(FileKind::Container))
        .or_else(|| foreign_by_name(name).map(FileKind::Foreign))
        .or_else(no_page)
}

/// Why a file of this kind is not read.
pub(super) fn reason(kind: FileKind, file: &Source, asked: Asked) -> &'static str {
    match kind {
        FileKind::Foreign(reason) => reason,
        _ if asked == Asked::ByName && file.version.is_none() => UNKNOWN_BY_CONTENT,
        _ => UNKNOWN,
    }
}

/// What a source is. Its first bytes are read if its name does not tell, or tells only that it is JSON.
pub(super) fn kind_of(source: &Source, asked: Asked, reach: &Reach) -> io::Result<FileKind> {
    let head = || {
        let mut head = Vec::new();
        reach.bytes(source)?.take(HEAD_BYTES).read_to_end(&mut head).map(|_| head)
    };
    Ok(match kind_by_name(told(source), asked) {
        Some(FileKind::Pages(Format::Lines(packing)))
            if may_be_array(told(source)) && is_array_file(&head()?) =>
        {
            FileKind::Pages(Format::Array(packing))
        }
        Some(FileKind::Pages(format @ (Format::Lines(Packing::Plain) | Format::Records(Packing::Plain))))
            if source.version.is_none() =>
        {
            FileKind::Pages(packed_after_all(format, &head()?))
        }
        Some(kind) => kind,
        // A listing of a store may have very many files.
        None if source.version.is_some() && source.member.is_none() => FileKind::Unknown,
        None => by_content(&head()?, asked),
    })
}

/// The format of a file whose name tells no compression. Some tools write compressed archives as `.warc`.
fn packed_after_all(format: Format, head: &[u8]) -> Format {
    match format {
        Format::Lines(_) => Format::Lines(sniff(head)),
        Format::Records(_) => Format::Records(sniff(head)),
        other => other,
    }
}

/// The part of a name that tells the format. A web address ends its path at `?`; elsewhere that is an ordinary character.
fn told(source: &Source) -> &str {
    let is_address = source.version.is_some() && is_web(&source.path.to_string_lossy());
    if is_address { source.name.split('?').next().unwrap_or_default() } else { &source.name }
}
