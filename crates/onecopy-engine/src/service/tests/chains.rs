//! Chains of pages, in which only neighbours are alike: a loser joins two groups.

use super::*;

const TOPICS: usize = 300;
/// Pages of a topic. The first is the best, and comes before the others.
const PAGES: usize = 5;

/// A page of a topic: forty words, of which a few are replaced. Some pages are HTML, and have the words twice.
fn page(number: usize, random: &mut TestRandom) -> String {
    let (topic, place) = (number / PAGES, number % PAGES);
    let mut words: Vec<String> = (0..40).map(|word| format!("t{topic}w{word}")).collect();
    for _ in 0..random.below(4) {
        words[random.below(40)] = format!("other{}", random.below(9));
    }
    let text = words.join(" ");
    let popularity = if place == 0 { 9 } else { random.below(4) };
    let record = match place < 3 {
        true => json!({"html": format!("<ul><li><a href=/>home</a></ul><p>{text}.</p><p>{text}</p>")}),
        false => json!({"text": text}),
    };
    let mut record = record;
    (record["id"], record["popularity"]) = (json!(name(number)), json!(popularity));
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
fn a_first_loser_joins_two_groups_though_it_came_with_the_other_page() {
    let options = ServiceOptions::new("memory");
    let tuning =
        Tuning { batch_changes: 10_000, batch_bytes: 64 << 20, first_generation: 1 << 20, ..Tuning::small() };
    let service = Service::open_tuned(Arc::new(Volatile::new()), options, tuning).unwrap();
    let mut random = TestRandom(7);
    let lines: BTreeMap<usize, String> =
        (0..TOPICS * PAGES).map(|number| (number, page(number, &mut random))).collect();
    for is_first in [true, false] {
        let some = lines.iter().filter(|(number, _)| (*number % PAGES == 0) == is_first);
        let actions: Vec<Action> = some.map(|(_, line)| Action::Put(line.as_bytes())).collect();
        assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
        assert!(service.drain(WAIT), "{:?}", service.stats());
    }
    assert_eq!(by_service(&service, &lines), by_batch(&lines, service.config()));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
}
