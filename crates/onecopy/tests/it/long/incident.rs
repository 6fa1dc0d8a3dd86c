//! Incidents that happen to a server under load. Each leaves a collection without a server.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::world::{ARGS, World, assert_ended, follow_for};
use super::{damage, power, room};
use crate::client::{Server, serve_changed, serve_in};
use crate::clients::{assert_right, assert_since_mark};
use crate::collection::on;
use crate::pages::Random;

/// Far longer than a full disk takes to be noticed.
const LIMIT: Duration = Duration::from_secs(60);

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Incident {
    /// The process is killed.
    Kill,
    /// The process is asked to stop.
    Stop,
    /// The machine loses power, and with it a part of the writes that were not synced.
    PowerLoss,
    /// The disk is full for a while.
    FullDisk,
    /// The process is killed while the disk is full.
    KillOnFullDisk,
    /// Bits flip in a file while nothing runs.
    Damage,
    /// A backup is made under load and restored elsewhere.
    Backup,
    /// Nobody changes anything, so that the service tidies up.
    Idle,
}

impl Incident {
    pub const ALL: [Incident; 8] = [
        Incident::Kill,
        Incident::Stop,
        Incident::PowerLoss,
        Incident::FullDisk,
        Incident::KillOnFullDisk,
        Incident::Damage,
        Incident::Backup,
        Incident::Idle,
    ];

    /// Lets it happen to a server on this folder, under load.
    pub fn happen(self, world: &mut World, folder: TempDir) -> TempDir {
        let time = world.some_time();
        let end = match self {
            Incident::Kill => signal(world, serve_in(folder, ARGS), time, "KILL"),
            Incident::Stop => signal(world, serve_in(folder, ARGS), time, "TERM"),
            Incident::PowerLoss => power_loss(world, folder, time),
            Incident::FullDisk | Incident::KillOnFullDisk => {
                let server = serve_in(folder, ARGS);
                full_disk(self, world, &server, time);
                let (finished, folder) = server.finish();
                assert_ended(&finished, if matches!(self, Incident::FullDisk) { "TERM" } else { "KILL" });
                folder
            }
            Incident::Damage => damage::happen(world, folder, time),
            Incident::Backup => backup(world, folder, time),
            Incident::Idle => idle(world, folder, time),
        };
        *world.tally.incidents.entry(format!("{self:?}")).or_default() += 1;
        end
    }
}

/// Sends a signal under load.
fn signal(world: &mut World, server: Server, time: Duration, name: &str) -> TempDir {
    world.load(&server, |follower, _| {
        follow_for(follower, &server, time);
        server.send_signal(name);
    });
    let (finished, folder) = server.finish();
    assert_ended(&finished, name);
    folder
}

fn power_loss(world: &mut World, folder: TempDir, time: Duration) -> TempDir {
    let Some(recorder) = world.power.take() else { return folder };
    let server = serve_changed(folder, ARGS, |call, folder| recorder.record(call, folder));
    world.power = Some(recorder);
    let folder = signal(world, server, time, "KILL");
    let lost = power::lose(folder.path(), &mut Random::new(world.random.below(u64::MAX)));
    world.tally.lost_writes += lost;
    folder
}

/// Fills the disk under load until changes are refused, and either frees it or kills the server meanwhile.
fn full_disk(incident: Incident, world: &mut World, server: &Server, time: Duration) {
    let kilobytes = 4 + world.random.below(400);
    world.load(server, |follower, _| follow_for(follower, server, time / 2));
    let disk = world.disk.take();
    room::take(disk.as_ref(), server, kilobytes);
    let is_killed = matches!(incident, Incident::KillOnFullDisk);
    world.load(server, |follower, shift| {
        let begun = Instant::now();
        while shift.refused.load(Ordering::Relaxed) == 0 {
            let since = shift.acknowledged.load(Ordering::Relaxed);
            assert!(
                begun.elapsed() < LIMIT,
                "the disk is full, nobody says so, and {since} were acknowledged"
            );
            // The server frees room, too.
            disk.iter().for_each(|disk| disk.shrink(kilobytes));
            follow_for(follower, server, Duration::from_millis(500));
        }
        follow_for(follower, server, time / 4);
        if is_killed {
            server.send_signal("KILL");
        }
    });
    room::give(disk.as_ref(), server);
    world.disk = disk;
    if !is_killed {
        server.wait_for("/ready", 200);
        world.load(server, |follower, _| follow_for(follower, server, time / 2));
        server.signal();
    }
}

/// Makes a backup under load. The copy has what was acknowledged before, and it is consistent.
fn backup(world: &mut World, folder: TempDir, time: Duration) -> TempDir {
    let server = serve_in(folder, ARGS);
    let data = server.data();
    let around = data.parent().expect("the folder around it");
    world.load(&server, |follower, _| follow_for(follower, &server, time));
    world.load(&server, |follower, _| {
        on("backup", around).args("--quiet --keep 2 --to").arg(around.join("backups")).succeed();
        follow_for(follower, &server, time / 4);
    });
    let copy = world.folder();
    on("restore", copy.path()).args("--quiet --from").arg(around.join("backups")).succeed();
    let folder = world.finish(server, "TERM");
    let server = serve_in(copy, ARGS);
    server.settle();
    let copy = world.finish(server, "TERM");
    on("check", copy.path()).succeed();
    assert_since_mark(copy.path(), &world.clients);
    assert_right(copy.path());
    folder
}

fn idle(world: &mut World, folder: TempDir, time: Duration) -> TempDir {
    let server = serve_in(folder, ARGS);
    world.load(&server, |follower, _| follow_for(follower, &server, time));
    server.settle();
    std::thread::sleep(Duration::from_secs(2) + time / 2);
    let folder = world.finish(server, "TERM");
    on("check", folder.path()).succeed();
    folder
}
