//! Temporary: loads a file into a collection.
use onecopy_engine::*;
use std::io::BufRead;
use std::time::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let (data, file) = (args.next().unwrap(), args.next().unwrap());
    let limit: usize = args.next().map_or(usize::MAX, |n| n.parse().unwrap());
    let service = Service::open(ServiceOptions::new(&data)).unwrap();
    let begun = Instant::now();
    let mut lines = std::io::BufReader::new(std::fs::File::open(file).unwrap()).lines();
    let (mut count, mut waited) = (0, Duration::ZERO);
    let mut next = begun;
    loop {
        let group: Vec<String> = lines.by_ref().take(256).map(|l| l.unwrap()).collect();
        if group.is_empty() || count >= limit {
            break;
        }
        count += group.len();
        let mut actions: Vec<Action> = group.iter().map(|l| Action::Put(l.as_bytes())).collect();
        loop {
            let outcomes = service.accept(&actions);
            if matches!(outcomes[0], Err(Refusal::Full(_))) {
                let w = Instant::now();
                std::thread::sleep(Duration::from_millis(20));
                waited += w.elapsed();
                continue;
            }
            for o in outcomes {
                o.unwrap();
            }
            break;
        }
        actions.clear();
        if next.elapsed() > Duration::from_secs(5) {
            next = Instant::now();
            let s = service.stats();
            println!(
                "{:.0}s accepted {} settled {} waiting {} ({:.0}/s) pairs {} disk {} MB waited {:.1}",
                begun.elapsed().as_secs_f64(),
                s.accepted,
                s.settled,
                s.waiting,
                s.settled as f64 / begun.elapsed().as_secs_f64(),
                s.compared_pairs,
                s.disk_bytes >> 20,
                waited.as_secs_f64()
            );
        }
    }
    service.drain(Duration::from_secs(3600));
    let s = service.stats();
    println!("{:.1}s {:?}", begun.elapsed().as_secs_f64(), s);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    for l in status
        .lines()
        .filter(|l| l.starts_with("VmRSS") || l.starts_with("VmHWM") || l.starts_with("RssAnon"))
    {
        println!("{l}");
    }
    let c = Instant::now();
    service.close().unwrap();
    println!("closed {:.1}", c.elapsed().as_secs_f64());
}
