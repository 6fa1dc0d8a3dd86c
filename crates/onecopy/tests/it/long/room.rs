//! A disk that is full: the small disk shrinks, or files may not grow.

use std::fs;

use crate::client::Server;
use crate::operate::limit_files;
use crate::results::files_below;
use crate::small_disk::SmallDisk;

/// Leaves almost no room for a running server.
pub fn take(disk: Option<&SmallDisk>, server: &Server, kilobytes: u64) {
    match disk {
        Some(disk) => disk.shrink(kilobytes),
        None => {
            let data = server.data();
            let length = |name: &String| fs::metadata(data.join(name)).map_or(0, |found| found.len());
            let longest = files_below(&data).iter().map(length).max().unwrap_or(0);
            limit_files(server, &(longest + (kilobytes << 10)).to_string());
        }
    }
}

/// Gives the room back.
pub fn give(disk: Option<&SmallDisk>, server: &Server) {
    match disk {
        Some(disk) => disk.grow(),
        None => limit_files(server, "unlimited"),
    }
}
