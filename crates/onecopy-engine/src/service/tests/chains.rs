//! Pages of a topic, of which only some are alike: losers join groups, and move as pages are replaced.

use super::*;

const NAMES: usize = 1_800;
const TOPICS: usize = 75;
/// Changes are accepted in parts of this many.
const PART: usize = 150;

/// A page of a topic: forty words, of which a few are replaced. One in eight is HTML, and has the words twice.
fn page(number: usize, random: &mut TestRandom) -> String {
    let topic = random.below(TOPICS);
    let mut words: Vec<String> = (0..40).map(|word| format!("t{topic}w{word}")).collect();
    for _ in 0..random.below(4) {
        words[random.below(40)] = format!("other{}", random.below(9));
    }
    let text = words.join(" ");
    let mut record = match random.below(8) {
        0 => json!({"html": format!("<ul><li><a href=/>home</a></ul><p>{text}.</p><p>{text}</p>")}),
        _ => json!({"text": text}),
    };
    (record["id"], record["popularity"]) = (json!(name(number)), json!(random.below(5)));
    record.to_string()
}

/// A small generator: the same numbers each time.
struct TestRandom(u64);

impl TestRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

#[test]
fn a_winner_that_gets_its_first_loser_is_found_by_what_comes_with_it() {
    for seed in 0..6 {
        let mut random = TestRandom(seed);
        let service = {
            let disk = Arc::new(Volatile::new());
            Service::open_tuned(disk, ServiceOptions::new("memory"), Tuning::default()).unwrap()
        };
        let mut lines = BTreeMap::new();
        for _ in 0..60 {
            let part: BTreeMap<usize, String> = (0..PART)
                .map(|_| random.below(NAMES))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|number| (number, page(number, &mut random)))
                .collect();
            let actions: Vec<Action> = part.values().map(|line| Action::Put(line.as_bytes())).collect();
            assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
            lines.extend(part);
            if random.below(2) == 0 {
                assert!(service.drain(WAIT), "{:?}", service.stats());
            }
        }
        assert!(service.drain(WAIT), "{:?}", service.stats());
        assert_eq!(service.check().unwrap().wrong, Vec::<String>::new(), "seed {seed}");
        assert_eq!(by_service(&service, &lines), by_batch(&lines, service.config()), "seed {seed}");
    }
}
