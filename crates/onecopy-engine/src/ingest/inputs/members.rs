//! Turns the members of a container into sources.

use std::io::ErrorKind;

use super::classify::kind_of;
use super::{Finder, Source};
use crate::error::{At, Error, Result};
use crate::ingest::container::{Container, ENCRYPTED, Listed, Listing, Member, Place, list};
use crate::ingest::format::{Asked, FileKind, UNKNOWN};
use crate::ingest::packing::is_no_damage;
use crate::ingest::reason::DAMAGED;

impl Finder<'_> {
    /// Adds the members of a container.
    pub(super) fn members(&mut self, file: &Source, kind: Container) -> Result<()> {
        let (reach, progress) = (self.planning.reach, self.planning.progress);
        let stopped = || progress.stopped();
        let opened = reach.container(&file.path, file.remote().as_ref(), kind.packing(), &stopped);
        let opened = match opened {
            Err(error) if error.kind() == ErrorKind::Interrupted && stopped() => return Err(Error::Stopped),
            opened => opened.at("read", &file.path)?,
        };
        let Listing { members, damage } = list(&opened.section, kind).at("read", &file.path)?;
        let kind = if is_wacz(&members) { Container::Wacz } else { kind };
        for Listed { name, place } in members {
            if is_hidden(&name) {
                continue;
            }
            if kind == Container::Wacz && !name.starts_with("archive/") {
                self.no_pages += 1;
                continue;
            }
            match place {
                Ok(place) => self.member(file, kind, name, place)?,
                Err(reason @ ENCRYPTED) => self.lose(&format!("{}/{name}", file.name), reason),
                Err(reason) => self.refuse(&format!("{}/{name}", file.name), reason),
            }
        }
        if let Some(damage) = opened.damage.or(damage) {
            self.lose(&file.name, format!("{DAMAGED}{damage}"));
        }
        Ok(())
    }

    /// Adds a member, if it has pages.
    fn member(&mut self, file: &Source, kind: Container, name: String, place: Place) -> Result<()> {
        let Place { start, bytes, unpacked_bytes, deflated, crc32 } = place;
        let container = kind.packing();
        let member = Member { name, container, file_bytes: file.bytes, start, bytes, deflated, crc32 };
        // The sizes in a container need not be true, and they are added up.
        let size = unpacked_bytes.min(bytes.saturating_mul(1_032)).min(1 << 48);
        let name = format!("{}/{}", file.name, member.name);
        let mut source = Source { name, bytes: size, member: Some(Box::new(member)), ..file.clone() };
        let found = match kind_of(&source, Asked::ByFolder, self.planning.reach) {
            Err(error) if is_no_damage(&error) => return Err(error).at("read", &file.path),
            Err(error) => {
                self.lose(&source.name, format!("damaged: {error}"));
                return Ok(());
            }
            Ok(found) => found,
        };
        match found {
            FileKind::Pages(format) => {
                source.format = format;
                self.found.sources.push(source);
            }
            FileKind::NoPage => self.no_pages += 1,
            FileKind::Foreign(reason) => self.refuse(&source.name, reason),
            FileKind::Container(_) => {
                let reason = "a container inside a container, which is not read: unpack the outer one first";
                self.refuse(&source.name, reason);
            }
            FileKind::Unknown => self.refuse(&source.name, UNKNOWN),
        }
        Ok(())
    }
}

/// Whether a member is hidden, or is what a Mac adds to a ZIP file.
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| (part.starts_with('.') && part != "." && part != "..") || part == "__MACOSX")
}

/// Whether these are the members of a WACZ file, whatever its name.
fn is_wacz(members: &[Listed]) -> bool {
    let has = |wanted: fn(&str) -> bool| members.iter().any(|member| wanted(&member.name));
    has(|name| name == "datapackage.json")
        && has(|name| name.starts_with("archive/") && name.contains(".warc"))
}
