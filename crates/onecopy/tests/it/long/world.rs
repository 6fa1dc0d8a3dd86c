//! The clients, their load, and what must hold after each incident.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir, tempdir_in};

use super::bounds::{disk_bytes, peak_bytes, resident_bytes};
use super::follower::Follower;
use super::power::Power;
use crate::client::{Server, serve_in};
use crate::clients::{Client, Shift, assert_remembered, assert_right};
use crate::collection::statuses;
use crate::pages::Random;
use crate::program::Finished;
use crate::small_disk::SmallDisk;

/// A small feed, so that it is trimmed, and little memory.
pub const ARGS: &str = "--feed-keep 7d,64K --memory 256M --threads 2";
const CLIENTS: u64 = 3;
/// Changes per second of all clients.
const RATE: u64 = 150;
/// How often every page is written before the first incident.
const AGE: u64 = 10;
const DISK_MEGABYTES: u64 = 1_000;

/// How long, how large, and which incidents.
pub struct Plan {
    pub seed: u64,
    pub length: Duration,
    /// Pages per client.
    pub pages: u64,
    /// The average time of load before an incident.
    pub load: Duration,
}

/// What happened so far.
#[derive(Debug, Default)]
pub struct Tally {
    pub acknowledged: u64,
    pub refused: u64,
    /// How often each incident happened, and with which end.
    pub incidents: BTreeMap<String, u64>,
    pub lost_writes: u64,
    pub verified: u64,
    pub feed_restarts: u64,
    /// The most memory of any server under load.
    pub peak_bytes: u64,
    /// The largest collection after a round.
    pub most_disk_bytes: u64,
}

/// Everything outside of the server.
pub struct World {
    pub clients: Vec<Client>,
    pub follower: Follower,
    pub random: Random,
    pub tally: Tally,
    pub power: Option<Power>,
    pub disk: Option<SmallDisk>,
    pages: u64,
    load: Duration,
}

impl World {
    pub fn new(plan: &Plan) -> World {
        let mut random = Random::new(plan.seed);
        let mut clients: Vec<Client> = (0..CLIENTS).map(|number| Client::new(number, plan.pages)).collect();
        clients.iter_mut().for_each(|client| client.reseed(random.below(u64::MAX)));
        let (power, disk) = (Power::new(), SmallDisk::new(DISK_MEGABYTES));
        if power.is_none() {
            println!("skipped: power losses, which need a C compiler and the C library of GNU");
        }
        if disk.is_none() {
            println!("only root may mount a small disk; a limit on the size of files replaces full disks");
        }
        let (follower, tally) = (Follower::default(), Tally::default());
        World { clients, follower, random, tally, power, disk, pages: plan.pages, load: plan.load }
    }

    /// A new folder on the small disk, if there is one.
    pub fn folder(&self) -> TempDir {
        self.disk.as_ref().map_or_else(tempdir, |disk| tempdir_in(disk.path())).expect("a folder")
    }

    /// Items in another order.
    pub fn shuffled<T: Copy, const N: usize>(&mut self, mut items: [T; N]) -> [T; N] {
        (1..N).for_each(|at| items.swap(at, self.random.below(at as u64 + 1) as usize));
        items
    }

    /// A time of load, at most twice the average.
    pub fn some_time(&mut self) -> Duration {
        Duration::from_micros(self.random.below(2 * self.load.as_micros() as u64))
    }

    /// A collection whose pages were all rewritten several times.
    pub fn age(&mut self) -> TempDir {
        let server = serve_in(self.folder(), ARGS);
        let enough = AGE * CLIENTS * self.pages;
        let begun = Instant::now();
        self.load(&server, |follower, shift| {
            while shift.acknowledged.load(Ordering::Relaxed) < enough {
                assert!(begun.elapsed() < Duration::from_secs(600), "it does not age");
                follow_for(follower, &server, Duration::from_millis(100));
            }
        });
        server.settle();
        let pace = Duration::from_secs(CLIENTS) / RATE as u32;
        self.clients.iter_mut().for_each(|client| client.pace = pace);
        self.finish(server, "TERM")
    }

    /// Lets the clients change pages while something else happens.
    pub fn load(&mut self, server: &Server, act: impl FnOnce(&mut Follower, &Shift)) {
        let (shift, follower) = (Shift::default(), &mut self.follower);
        std::thread::scope(|scope| {
            let (over, address) = (OverAtEnd(&shift), &server.address);
            for client in &mut self.clients {
                client.mark();
                let shift = &shift;
                scope.spawn(move || client.work(address, shift));
            }
            act(follower, &shift);
            drop(over);
        });
        self.tally.acknowledged += shift.acknowledged.into_inner();
        self.tally.refused += shift.refused.into_inner();
    }

    /// Ends a server by a signal, which must be the reason of its end.
    pub fn finish(&mut self, server: Server, signal: &str) -> TempDir {
        self.tally.peak_bytes = self.tally.peak_bytes.max(peak_bytes(&server));
        server.send_signal(signal);
        let (finished, folder) = server.finish();
        assert_ended(&finished, signal);
        folder
    }

    /// Asserts what must hold after any incident.
    pub fn verify(&mut self, folder: TempDir) -> TempDir {
        let server = serve_in(folder, ARGS);
        server.settle();
        self.follower.follow(&server);
        let data = server.data();
        let path = data.parent().expect("the folder around it");
        assert_remembered(path, &self.clients);
        assert_right(path);
        self.follower.assert_knows(&statuses(path));
        self.tally.feed_restarts = self.follower.restarts;
        self.tally.verified += 1;
        self.tally.most_disk_bytes = self.tally.most_disk_bytes.max(disk_bytes(&data));
        self.finish(server, "TERM")
    }

    /// Keeps one process under load. Its memory must not grow.
    pub fn endure(&mut self, folder: TempDir, time: Duration) -> TempDir {
        let server = serve_in(folder, ARGS);
        let (mut halves, begun) = ([0, 0], Instant::now());
        self.load(&server, |follower, _| {
            while begun.elapsed() < time {
                let half = usize::from(begun.elapsed() > time / 2);
                halves[half] = halves[half].max(resident_bytes(&server));
                follow_for(follower, &server, time / 20);
            }
        });
        println!("memory under load, first and second half of {time:?}: {halves:?}");
        assert!(halves[1] < halves[0] + halves[0] / 4 + (32 << 20), "memory grows: {halves:?}");
        self.finish(server, "TERM")
    }
}

/// Reads the feed now and then.
pub fn follow_for(follower: &mut Follower, server: &Server, time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        follower.follow(server);
        std::thread::sleep((time - begun.elapsed().min(time)).min(Duration::from_millis(300)));
    }
}

pub fn assert_ended(finished: &Finished, signal: &str) {
    assert_eq!(finished.was_killed(), signal == "KILL", "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

/// Ends the shift even if an assertion fails, so that the clients stop, too.
struct OverAtEnd<'a>(&'a Shift);

impl Drop for OverAtEnd<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}
