//! Writes files atomically: after a crash a file has its old or its new contents.

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{Folder, Open, cannot, damaged};
use crate::error::Result;

/// Writes a temporary file, makes it durable, and renames it.
pub fn write_whole(folder: &dyn Folder, name: &str, bytes: &[u8]) -> Result<()> {
    let aside = format!("{name}.part");
    let file = folder.open(&aside, Open::Create).map_err(cannot("create", &aside))?;
    file.set_len(0).map_err(cannot("write", &aside))?;
    file.write_all_at(&xxh3_64(bytes).to_le_bytes(), 0).map_err(cannot("write", &aside))?;
    file.write_all_at(bytes, 8).map_err(cannot("write", &aside))?;
    file.sync().map_err(cannot("write", &aside))?;
    folder.rename(&aside, name).map_err(cannot("write", name))?;
    folder.sync().map_err(cannot("sync", "the folder"))
}

/// Reads a file that [`write_whole`] wrote.
pub fn read_whole(folder: &dyn Folder, name: &str) -> Result<Vec<u8>> {
    let file = folder.open(name, Open::Read).map_err(cannot("read", name))?;
    let length = file.len().map_err(cannot("read", name))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0).map_err(cannot("read", name))?;
    let Some((sum, body)) = bytes.split_first_chunk::<8>() else {
        return Err(damaged(name, 0, "it is cut off"));
    };
    if xxh3_64(body).to_le_bytes() != *sum {
        return Err(damaged(name, 0, "its checksum does not match"));
    }
    bytes.drain(..8);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Volatile;

    #[test]
    fn a_file_is_whole_or_as_before_and_damage_is_found() {
        let disk = Volatile::default();
        write_whole(&disk, "x", b"first").unwrap();
        assert_eq!(read_whole(&disk.power_loss(1), "x").unwrap(), b"first");
        write_whole(&disk, "x", b"2").unwrap();
        assert_eq!(read_whole(&disk.power_loss(2), "x").unwrap(), b"2");
        let file = disk.open("x", Open::Create).unwrap();
        file.write_all_at(b"3", 8).unwrap();
        assert!(read_whole(&disk, "x").unwrap_err().to_string().starts_with("x is damaged"));
        assert!(read_whole(&disk, "y").is_err());
    }
}
