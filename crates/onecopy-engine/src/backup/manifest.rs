//! The manifest of a snapshot: what the collection said about itself, its files and tables, and their pieces.

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::service::collection::facts::is_part;

/// The version of the layout of backups.
pub(super) const LAYOUT: u32 = 1;
/// The characters of a manifest's checksum in its name.
const SEAL: usize = 16;

/// All that a snapshot consists of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The version of the layout.
    pub layout: u32,
    /// The version of onecopy.
    pub version: String,
    /// When the snapshot was made, in UTC.
    pub made: String,
    #[serde(flatten)]
    pub facts: SnapshotFacts,
    /// The bytes of all pieces, unpacked.
    pub bytes: u64,
    pub files: Vec<FileEntry>,
    pub tables: Vec<TableEntry>,
}

/// The collection at the moment of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SnapshotFacts {
    /// The collection's name.
    pub collection: String,
    pub format: u32,
    pub answers: u32,
    pub pages: u64,
    /// The last number of the feed.
    pub feed: u64,
    /// The number of the last settled change.
    pub settled: u64,
    /// The number of the last accepted change.
    pub accepted: u64,
}

/// A file: its pieces, in their order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileEntry {
    pub name: String,
    pub bytes: u64,
    pub pieces: Vec<Piece>,
}

/// A table: its rows, sorted by key, as pieces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TableEntry {
    pub name: String,
    pub rows: u64,
    pub pieces: Vec<Piece>,
}

/// Bytes that are stored once, whoever names them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Piece {
    /// The checksum of the bytes, which is the name of the piece.
    pub sha256: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The number of bytes as stored, compressed.
    pub stored: u64,
}

/// A snapshot in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SnapshotLine {
    /// Its name, which begins with the time.
    pub snapshot: String,
    /// When it was made, in UTC.
    pub made: String,
    /// The name of the collection.
    pub collection: String,
    /// The format of the collection.
    pub format: u32,
    /// The version of the collection's answers.
    pub answers: u32,
    /// The number of pages.
    pub pages: u64,
    /// The last number of the feed.
    pub feed: u64,
    /// The number of the last accepted change.
    pub accepted: u64,
    /// Its bytes, unpacked.
    pub bytes: u64,
    /// Why it cannot be used; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

impl Manifest {
    /// All pieces.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        let files = self.files.iter().flat_map(|file| &file.pieces);
        files.chain(self.tables.iter().flat_map(|table| &table.pieces))
    }

    /// The name of the snapshot, and its bytes. The name has the time and a checksum.
    pub(super) fn to_bytes(&self) -> (String, Vec<u8>) {
        let mut bytes = serde_json::to_vec(self).expect("our own types are JSON");
        bytes.push(b'\n');
        let time: String = self.made.chars().filter(|c| !matches!(c, '-' | ':')).collect();
        (format!("{time}-{}", &sha256(&bytes)[..SEAL]), bytes)
    }

    /// Reads a manifest, or says what is wrong with it.
    pub(super) fn from_bytes(name: &str, bytes: &[u8]) -> Result<Manifest, String> {
        if !name.ends_with(&sha256(bytes)[..SEAL]) {
            return Err("its manifest is damaged: its checksum does not match".into());
        }
        let manifest: Manifest =
            serde_json::from_slice(bytes).map_err(|error| format!("its manifest cannot be read: {error}"))?;
        if manifest.layout != LAYOUT {
            let found = manifest.layout;
            return Err(format!("it has layout {found}, and this version of onecopy reads layout {LAYOUT}"));
        }
        let is_sum = |piece: &Piece| {
            piece.sha256.len() == 64 && piece.sha256.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        if !manifest.files.iter().all(|file| is_part(&file.name)) || !manifest.pieces().all(is_sum) {
            return Err("its manifest names files that no collection has".into());
        }
        Ok(manifest)
    }

    /// The snapshot in a list.
    pub(super) fn line(&self, name: String) -> SnapshotLine {
        let SnapshotFacts { collection, format, answers, pages, feed, accepted, .. } = self.facts.clone();
        let (snapshot, made, bytes, damaged) = (name, self.made.clone(), self.bytes, None);
        SnapshotLine { snapshot, made, collection, format, answers, pages, feed, accepted, bytes, damaged }
    }
}

impl SnapshotLine {
    /// A snapshot that cannot be read.
    pub(super) fn unreadable(snapshot: String, reason: String) -> SnapshotLine {
        SnapshotLine {
            snapshot,
            made: String::new(),
            collection: String::new(),
            format: 0,
            answers: 0,
            pages: 0,
            feed: 0,
            accepted: 0,
            bytes: 0,
            damaged: Some(reason),
        }
    }
}

impl Piece {
    /// Where the piece is.
    pub(super) fn path(&self) -> String {
        format!("{PIECES}/{}/{}", &self.sha256[..2], self.sha256)
    }
}

/// The folder of all pieces.
pub(super) const PIECES: &str = "pieces";

/// A checksum as text.
pub(super) fn sha256(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
