//! The files of an index on servers, and which server answers each request (Henzinger 2007, section 4).
//!
//! An index is cut into files. A request asks one file, and any server that has the file can answer. A layout decides
//! which servers have copies, a scheduler which of them answers. Both want the heaviest server to be as light as
//! possible.
//!
//! [`plan_layout`] gives each file an imaginary load of one, and each server the same sum of imaginary loads. Files
//! whose load is on several servers have several copies. With the greedy scheduler the heaviest server has at most
//! 2(1 + α)·Opt + 2β ([`load_bound`]). Opt is the best that any layout allows. The loads of two files differ by at most
//! the factor 1 + α, and no request is heavier than β.

mod baseline;
mod plan;
mod requests;
mod schedule;
#[cfg(test)]
mod tests;

pub use baseline::hand_picked;
pub use plan::plan_layout;
pub use requests::generated_requests;
pub use schedule::{Moment, Scheduler, Simulated, simulate};

use serde::Serialize;

/// A server may have this many files more than its equal share. The proof of the bound needs two.
pub const SPARE_FILES: usize = 2;

/// A file of an index: all entries for a part of the documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexFile {
    /// The expected load of all its requests, in any unit.
    pub load: f64,
    /// Its size.
    pub bytes: u64,
}

/// The servers that a layout may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutRules {
    /// How many there are.
    pub servers: usize,
    /// The most bytes that one may have; no limit if absent.
    pub capacity_bytes: Option<u64>,
}

/// Which servers have which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of servers.
    pub servers: usize,
    /// The servers of each file, ascending.
    pub holders: Vec<Vec<u32>>,
}

/// A request for a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The number of the file.
    pub file: u32,
    /// The load that it puts on the server that answers it.
    pub load: f64,
}

/// Why there is no layout.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// There is no server.
    #[error("a layout needs at least 1 server")]
    NoServers,
    /// There are more servers than files.
    #[error(
        "{servers} servers are too many for {files} files: give at most {files}, or cut the index into more files"
    )]
    FewFiles {
        /// The number of servers.
        servers: usize,
        /// The number of files.
        files: usize,
    },
    /// A server has too little room for its files.
    #[error(
        "server {server} needs {needed} bytes for its files, and has {capacity}: give more servers or smaller files"
    )]
    Capacity {
        /// The number of the server.
        server: u32,
        /// The bytes of its files.
        needed: u64,
        /// The bytes that it may have.
        capacity: u64,
    },
}

impl Layout {
    /// How many files each server has.
    pub fn files_of_servers(&self) -> Vec<u32> {
        let mut files = vec![0; self.servers];
        self.holders.iter().flatten().for_each(|&server| files[server as usize] += 1);
        files
    }

    /// The bytes of each server.
    pub fn bytes_of_servers(&self, files: &[IndexFile]) -> Vec<u64> {
        let mut bytes = vec![0u64; self.servers];
        for (holders, file) in self.holders.iter().zip(files) {
            holders.iter().for_each(|&server| bytes[server as usize] += file.bytes);
        }
        bytes
    }

    /// The load of each server if all copies of a file have the same part of its load.
    pub fn expected_loads(&self, files: &[IndexFile]) -> Vec<f64> {
        let mut loads = vec![0.0; self.servers];
        for (holders, file) in self.holders.iter().zip(files) {
            let part = file.load / holders.len() as f64;
            holders.iter().for_each(|&server| loads[server as usize] += part);
        }
        loads
    }

    /// Copies beside the first of each file.
    pub fn copies(&self) -> usize {
        self.holders.iter().map(|holders| holders.len() - 1).sum()
    }
}

/// The guarantee for the heaviest server under these requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadBound {
    /// The heaviest file has at most 1 + α times the load of the lightest. Absent if a file has no load.
    pub alpha: Option<f64>,
    /// The heaviest request.
    pub beta: f64,
    /// The heaviest server has at least this load in any layout and by any scheduler.
    pub optimum_least: f64,
    /// 2(1 + α)·Opt + 2β, with `optimum_least` in place of Opt. Absent with α.
    pub limit: Option<f64>,
}

/// The guarantee for requests to these `files` on these servers. Opt is at least the mean load of servers, and at
/// least the heaviest request.
pub fn load_bound(requests: &[Request], files: usize, servers: usize) -> LoadBound {
    let (mut loads, mut beta) = (vec![0.0; files], 0f64);
    for request in requests {
        loads[request.file as usize] += request.load;
        beta = beta.max(request.load);
    }
    let least = loads.iter().copied().fold(f64::INFINITY, f64::min);
    let most = loads.iter().copied().fold(0.0, f64::max);
    let alpha = (least > 0.0 && least.is_finite()).then(|| most / least - 1.0);
    let optimum_least = (loads.iter().sum::<f64>() / servers as f64).max(beta);
    let limit = alpha.map(|alpha| 2.0 * (1.0 + alpha) * optimum_least + 2.0 * beta);
    LoadBound { alpha, beta, optimum_least, limit }
}
