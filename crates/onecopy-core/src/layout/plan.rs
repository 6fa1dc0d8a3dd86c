//! The layout with imaginary loads, and copies of the hottest files in the spare places.
//!
//! The bound holds for any choice of the files with several copies. This takes the hottest, and evens out the expected
//! loads of servers where the bound leaves a choice.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::{IndexFile, Layout, LayoutError, LayoutRules, SPARE_FILES};

/// Places files on servers: every server gets the same imaginary load, and at most [`SPARE_FILES`] files more than
/// its equal share. `files` have finite loads from 0 on.
pub fn plan_layout(files: &[IndexFile], rules: &LayoutRules) -> Result<Layout, LayoutError> {
    let (servers, count) = (rules.servers, files.len());
    if servers == 0 {
        return Err(LayoutError::NoServers);
    }
    if servers > count {
        return Err(LayoutError::FewFiles { servers, files: count });
    }
    let mut hottest: Vec<u32> = (0..count as u32).collect();
    hottest.sort_by(|&a, &b| files[b as usize].load.total_cmp(&files[a as usize].load));
    let (split, whole) = hottest.split_at(count % servers);
    let mut planner = Planner::new(files, rules);
    planner.spread(split);
    planner.deal(whole);
    planner.fits()?;
    // A server then has at most 2·count / servers files, each with at most 1 + α times the least load. So the bound
    // holds for any further copies.
    if (count / servers + SPARE_FILES) * servers <= 2 * count {
        planner.fill(&hottest);
    }
    Ok(planner.layout)
}

struct Planner<'a> {
    files: &'a [IndexFile],
    capacity: u64,
    layout: Layout,
    /// The number of files of each server, their bytes, and the expected load.
    held: Vec<usize>,
    bytes: Vec<u64>,
    expected: Vec<f64>,
}

impl<'a> Planner<'a> {
    fn new(files: &'a [IndexFile], rules: &LayoutRules) -> Planner<'a> {
        let servers = rules.servers;
        Planner {
            files,
            capacity: rules.capacity_bytes.unwrap_or(u64::MAX),
            layout: Layout { servers, holders: vec![Vec::new(); files.len()] },
            held: vec![0; servers],
            bytes: vec![0; servers],
            expected: vec![0.0; servers],
        }
    }

    /// Spreads the imaginary loads of files evenly over all servers, one after the other. The file with number i has
    /// the range from i·m to (i + 1)·m of all imaginary load, and each of m servers takes a range as long as there
    /// are files. A server is thus within at most two files.
    fn spread(&mut self, split: &[u32]) {
        let (servers, count) = (self.layout.servers, split.len());
        for (number, &file) in split.iter().enumerate() {
            let first = number * servers / count;
            let end = ((number + 1) * servers).div_ceil(count);
            (first..end).for_each(|server| self.place(file, server as u32));
        }
    }

    /// Gives each server equally many of these files. They are the hottest first; in each round the hottest file goes
    /// to the lightest server.
    fn deal(&mut self, whole: &[u32]) {
        let mut servers: Vec<u32> = (0..self.layout.servers as u32).collect();
        for round in whole.chunks(self.layout.servers) {
            servers.sort_by(|&a, &b| self.expected[a as usize].total_cmp(&self.expected[b as usize]));
            for (&file, &server) in round.iter().zip(&servers) {
                self.place(file, server);
            }
        }
    }

    /// Fills the spare places: the next copy is of the file with the most load per copy, on the lightest server.
    fn fill(&mut self, hottest: &[u32]) {
        let most = self.files.len() / self.layout.servers + SPARE_FILES;
        let open = (0..self.layout.servers).filter(|&server| self.held[server] < most);
        let mut open: BTreeSet<(u64, u32)> = open.map(|server| self.order(server as u32)).collect();
        let mut wanted: BinaryHeap<(u64, Reverse<u32>)> =
            hottest.iter().map(|&file| (self.part(file).to_bits(), Reverse(file))).collect();
        while let Some((part, Reverse(file))) = wanted.pop() {
            if open.is_empty() || part == 0 {
                break;
            }
            let Some(server) = self.lightest(file, &open) else { continue };
            let before = self.layout.holders[file as usize].clone();
            let was_open: Vec<bool> = before.iter().map(|&held| open.remove(&self.order(held))).collect();
            open.remove(&self.order(server));
            self.place(file, server);
            let still = before.iter().zip(was_open).filter(|(_, was)| *was).map(|(&held, _)| held);
            open.extend(still.map(|held| self.order(held)));
            if self.held[server as usize] < most {
                open.insert(self.order(server));
            }
            wanted.push((self.part(file).to_bits(), Reverse(file)));
        }
    }

    /// The lightest open server that has room for the file and does not have it.
    fn lightest(&self, file: u32, open: &BTreeSet<(u64, u32)>) -> Option<u32> {
        let (holders, bytes) = (&self.layout.holders[file as usize], self.files[file as usize].bytes);
        let fits = |server: u32| self.bytes[server as usize].saturating_add(bytes) <= self.capacity;
        let mut servers = open.iter().map(|&(_, server)| server);
        servers.find(|server| holders.binary_search(server).is_err() && fits(*server))
    }

    /// Servers in this order have ascending expected loads. The bits of positive numbers are in their order.
    fn order(&self, server: u32) -> (u64, u32) {
        (self.expected[server as usize].to_bits(), server)
    }

    /// The load of each copy of a file.
    fn part(&self, file: u32) -> f64 {
        self.files[file as usize].load / self.layout.holders[file as usize].len().max(1) as f64
    }

    /// Puts a copy of a file onto a server. The other copies get lighter.
    fn place(&mut self, file: u32, server: u32) {
        let before = self.part(file);
        let holders = &mut self.layout.holders[file as usize];
        let at = holders.partition_point(|&held| held < server);
        holders.insert(at, server);
        let after = self.part(file);
        for &held in &self.layout.holders[file as usize] {
            let change = if held == server { after } else { after - before };
            let load = &mut self.expected[held as usize];
            *load = (*load + change).max(0.0);
        }
        self.held[server as usize] += 1;
        self.bytes[server as usize] =
            self.bytes[server as usize].saturating_add(self.files[file as usize].bytes);
    }

    fn fits(&self) -> Result<(), LayoutError> {
        let full = self.bytes.iter().zip(0..).find(|(bytes, _)| **bytes > self.capacity);
        match full {
            Some((&needed, server)) => Err(LayoutError::Capacity { server, needed, capacity: self.capacity }),
            None => Ok(()),
        }
    }
}
