//! Measures the speed of log and postings on this disk:
//! `cargo run --release -p onecopy-store --example speed -- FOLDER 100`, with the number of postings in millions.
//!
//! The folder is created and kept. If it already has postings, they are only searched. The output shows wall time and,
//! if the system reports it, CPU time. They differ if the machine is busy or waits for the disk.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use onecopy_store::{Disk, Folder, Log, Posting, Postings, SEGMENT_BYTES};

type Outcome = Result<(), Box<dyn Error>>;

const SEAL_POSTINGS: u64 = 1_000_000;
const KEYS_PER_PAGE: usize = 120;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, millions] = &arguments[..] else { return Err("usage: speed FOLDER MILLIONS".into()) };
    let folder: Arc<dyn Folder> = Arc::new(Disk::create(Path::new(folder))?);
    measure_log(folder.clone())?;
    measure_postings(folder, millions.parse()?)
}

fn measure_log(folder: Arc<dyn Folder>) -> Outcome {
    let record: Vec<u8> = (0..5000_u64).map(|at| mix(at) as u8).collect();
    let mut log = Log::open(folder.clone(), SEGMENT_BYTES)?;
    let (mut places, start) = (Vec::new(), Watch::start());
    for _ in 0..500 {
        for _ in 0..64 {
            places.push(log.append(&record)?);
        }
        log.sync()?;
    }
    tell("append and sync a record of 5 KB in groups of 64", places.len(), start);
    let (reader, mut bytes, start) = (log.reader(), Vec::new(), Watch::start());
    for at in 0..places.len() {
        reader.read(places[mix(at as u64) as usize % places.len()], &mut bytes)?;
    }
    tell("read one anywhere", places.len(), start);
    let start = Watch::start();
    let log = Log::open(folder, SEGMENT_BYTES)?;
    tell("open the log", 1, start);
    let (mut count, start) = (0, Watch::start());
    log.replay(Default::default(), &mut |_, _| {
        count += 1;
        Ok(())
    })?;
    tell("replay a record", count, start);
    Ok(())
}

fn measure_postings(folder: Arc<dyn Folder>, millions: u64) -> Outcome {
    if Postings::open(folder.clone())?.covered() == 0 {
        build(&mut Postings::open(folder.clone())?, millions)?;
    }
    let watch = Watch::start();
    let postings = Postings::open(folder)?;
    tell("open the postings", 1, watch);
    measure_find(&postings, "parts", millions * SEAL_POSTINGS)
}

fn build(postings: &mut Postings, millions: u64) -> Outcome {
    let (mut adding, mut sealing, mut merging) = (Total::default(), Total::default(), Total::default());
    for seal in 0..millions {
        let page = |at: u64| Posting { key: mix(at), content: (at / KEYS_PER_PAGE as u64) as u32, rest: 0 };
        let batch: Vec<Posting> = (seal * SEAL_POSTINGS..(seal + 1) * SEAL_POSTINGS).map(page).collect();
        let watch = Watch::start();
        batch.chunks(KEYS_PER_PAGE).for_each(|page| postings.add(page));
        adding.add(SEAL_POSTINGS, watch);
        if seal == 0 {
            measure_find(postings, "memory", SEAL_POSTINGS)?;
        }
        let watch = Watch::start();
        postings.seal(seal)?;
        sealing.add(SEAL_POSTINGS, watch);
        while let Some(plan) = postings.plan_merge() {
            let watch = Watch::start();
            let count = plan.postings();
            let merged = plan.run(&|posting, _| posting.content != 7)?;
            postings.install(merged)?;
            merging.add(count, watch);
        }
    }
    adding.tell("add");
    sealing.tell("seal");
    merging.tell("merge");
    println!("{} parts, {} MB on disk", postings.parts(), postings.bytes() >> 20);
    Ok(())
}

/// A repeated kind of work.
#[derive(Default)]
struct Total {
    postings: u64,
    clock: Duration,
    processor: Duration,
    longest: Duration,
}

impl Total {
    fn add(&mut self, postings: u64, watch: Watch) {
        self.postings += postings;
        self.clock += watch.elapsed();
        self.processor += watch.processor();
        self.longest = self.longest.max(watch.elapsed());
    }

    fn tell(&self, what: &str) {
        let millions = self.postings as f64 / 1e6;
        let rate = |time: Duration| millions / time.as_secs_f64();
        let (clock, processor, longest) = (rate(self.clock), rate(self.processor), self.longest);
        println!(
            "{what}: {millions} M postings, {clock:.1} M/s, {processor:.1} by the processor; longest {longest:?}"
        );
    }
}

fn measure_find(postings: &Postings, place: &str, total: u64) -> Outcome {
    let present = |at: u64| mix(mix(at ^ 0xABCD) % total);
    let absent = |at: u64| mix(at + (1 << 60));
    let kinds: [(&str, &dyn Fn(u64) -> u64); 2] = [("absent", &absent), ("present", &present)];
    for (kind, key) in kinds {
        let pages = if place == "memory" { 2000 } else { 10_000 };
        let mut keys: Vec<u64> = (0..pages * KEYS_PER_PAGE as u64).map(key).collect();
        keys.chunks_mut(KEYS_PER_PAGE).for_each(|page| page.sort_unstable());
        // The first round fills the page cache.
        for round in ["cold", "warm"] {
            let (mut found, start) = (0, Watch::start());
            for page in keys.chunks(KEYS_PER_PAGE) {
                postings.find(page, &mut |_, _, _| found += 1)?;
            }
            tell(&format!("find {kind} keys in {place}, {round} ({found} found), a key"), keys.len(), start);
        }
    }
    Ok(())
}

fn tell(what: &str, count: usize, watch: Watch) {
    let clock = watch.elapsed().as_secs_f64();
    let processor = watch.processor().as_secs_f64() * 1e6 / count as f64;
    let each = clock * 1e6 / count as f64;
    println!("{what}: {each:.3} µs, {processor:.3} of the processor; {:.0} a second", count as f64 / clock);
}

struct Watch {
    started: Instant,
    processor: Duration,
}

impl Watch {
    fn start() -> Watch {
        Watch { started: Instant::now(), processor: processor_time() }
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn processor(&self) -> Duration {
        processor_time() - self.processor
    }
}

/// CPU time of this thread; zero if the system does not report it.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(first.unwrap_or_default())
}

/// Scrambles a number; no two numbers give the same result.
fn mix(number: u64) -> u64 {
    let number =
        (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}
