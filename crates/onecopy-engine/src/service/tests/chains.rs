//! Chains of pages, in which only neighbours are alike: a pair joins two groups though neither page stays.

use super::*;

const CHAINS: usize = 400;
/// Pages of a chain. The outer two win over the inner two, which are alike.
const LINKS: usize = 4;

/// A page of a chain: forty words, of which neighbours share all but three.
fn link(page: usize) -> String {
    let (chain, link) = (page / LINKS, page % LINKS);
    let words = (3 * link..3 * link + 40).map(|word| format!("c{chain}w{word}"));
    let popularity = if link == 0 || link == LINKS - 1 { 9 } else { 1 };
    let text = words.collect::<Vec<_>>().join(" ");
    json!({"id": name(page), "text": text, "popularity": popularity}).to_string()
}

#[test]
fn a_pair_of_losers_joins_two_groups_if_both_come_in_one_batch() {
    let options = ServiceOptions::new("memory");
    let tuning =
        Tuning { batch_changes: 10_000, batch_bytes: 64 << 20, first_generation: 1 << 20, ..Tuning::small() };
    let service = Service::open_tuned(Arc::new(Volatile::new()), options, tuning).unwrap();
    let lines: BTreeMap<usize, String> = (0..CHAINS * LINKS).map(|page| (page, link(page))).collect();
    let is_outer = |page: usize| page % LINKS == 0 || page % LINKS == LINKS - 1;
    for outer in [true, false] {
        let some = lines.iter().filter(|(page, _)| is_outer(**page) == outer);
        let actions: Vec<Action> = some.map(|(_, line)| Action::Put(line.as_bytes())).collect();
        assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
        assert!(service.drain(WAIT), "{:?}", service.stats());
    }
    assert_eq!(by_service(&service, &lines), by_batch(&lines, service.config()));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
}
