//! The layout that people make by hand, to compare with.

use super::{IndexFile, Layout};

/// Deals the files to servers in their order, and adds `copies` copies of the files that a person would pick. These are
/// the files with the highest expected load, and no file gets a second copy before all have one. Each copy goes to the server
/// after the last that got one. A file on all servers gets none.
pub fn hand_picked(files: &[IndexFile], servers: usize, copies: usize) -> Layout {
    let dealt = |file: usize| vec![(file % servers) as u32];
    let mut layout = Layout { servers, holders: (0..files.len()).map(dealt).collect() };
    let mut hottest: Vec<usize> = (0..files.len()).collect();
    hottest.sort_by(|&a, &b| files[b].load.total_cmp(&files[a].load));
    let mut next = 0;
    for &file in hottest.iter().cycle().take(copies) {
        let holders = &mut layout.holders[file];
        let free = (0..servers).map(|step| ((next + step) % servers) as u32);
        if let Some(server) = free.into_iter().find(|server| !holders.contains(server)) {
            holders.push(server);
            next = (server as usize + 1) % servers;
        }
    }
    layout.holders.iter_mut().for_each(|holders| holders.sort_unstable());
    layout
}
