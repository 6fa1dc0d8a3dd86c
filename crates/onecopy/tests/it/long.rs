//! Mixed load on an aged collection, with kills, power losses, full disks, damaged files, backups and restores.
//!
//! Clients change pages at a steady rate and remember what was acknowledged. After each incident nothing acknowledged is
//! lost, the answers are those of `dedup` over the same pages, and a reader of the feed knows the status of every page.
//! At the end, memory and disk are compared with those of a new collection of the same pages.
//!
//! `ONECOPY_LONG_TESTS=1` runs it for `ONECOPY_LONG_MINUTES` (60). `ONECOPY_LONG_SEED` draws other incidents.

mod bounds; //    memory and disk, against a new collection
mod damage; //    bits that flip while nothing runs
mod follower; //  a reader of the feed
mod incident; //  what may happen to a server
mod power; //     writes that a power loss takes back
mod room; //      a disk that is full
mod world; //     the clients, their load, and what must hold afterwards

use std::time::{Duration, Instant};

use incident::Incident;
use world::{Plan, World};

const MINUTE: Duration = Duration::from_secs(60);

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{name} is {text}: {error}")))
}

fn run(plan: &Plan) {
    println!("seed {}, {:?}", plan.seed, plan.length);
    let begun = Instant::now();
    let mut world = World::new(plan);
    let mut folder = world.age();
    let mut rounds = 0;
    while begun.elapsed() < plan.length {
        for incident in world.shuffled(Incident::ALL) {
            // Each happens at least once.
            if begun.elapsed() > plan.length && rounds >= Incident::ALL.len() {
                break;
            }
            let (seconds, acknowledged) = (begun.elapsed().as_secs(), world.tally.acknowledged);
            println!("{seconds:>5} s: {incident:?}, {acknowledged} changes acknowledged before");
            folder = incident.happen(&mut world, folder);
            folder = world.verify(folder);
            rounds += 1;
        }
    }
    let folder = world.endure(folder, (plan.length / 8).max(Duration::from_secs(2)));
    let folder = world.verify(folder);
    println!("{:#?}", world.tally);
    bounds::assert_bounded(&mut world, folder);
}

#[test]
fn a_service_loses_nothing_in_a_short_while_of_incidents() {
    let seed = setting("ONECOPY_LONG_SEED").unwrap_or(17);
    run(&Plan { seed, length: Duration::from_secs(5), pages: 40, load: Duration::from_millis(400) });
}

#[test]
fn a_service_loses_nothing_in_a_long_while_of_incidents() {
    if std::env::var_os("ONECOPY_LONG_TESTS").is_none() {
        println!(
            "skipped: it takes an hour; set ONECOPY_LONG_TESTS=1, and ONECOPY_LONG_MINUTES for another time"
        );
        return;
    }
    let minutes = setting("ONECOPY_LONG_MINUTES").unwrap_or(60);
    let seed = setting("ONECOPY_LONG_SEED").unwrap_or(1);
    run(&Plan { seed, length: MINUTE * minutes as u32, pages: 600, load: Duration::from_secs(8) });
}
