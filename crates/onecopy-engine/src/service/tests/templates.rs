//! Many pages of one template, which differ in few words: the answer of a batch run, and a constant cost for each page.

use super::*;

/// A page of a template with `words` words, of which three are its own.
pub(super) fn page(number: usize, version: usize, words: usize) -> String {
    let mut text: Vec<String> = (0..words).map(|word| format!("w{word}")).collect();
    for (place, word) in [(0, "a"), (words / 3, "b"), (words * 2 / 3, "c")] {
        text[place + number % (words / 3)] = format!("{word}{number}v{version}");
    }
    json!({"id": name(number), "text": text.join(" ")}).to_string()
}

/// Puts all pages, a hundred at once, and waits until they are settled.
fn put_all(service: &Service, lines: &BTreeMap<usize, String>) {
    for some in lines.values().collect::<Vec<_>>().chunks(100) {
        let actions: Vec<Action> = some.iter().map(|line| Action::Put(line.as_bytes())).collect();
        assert!(service.accept(&actions).iter().all(|outcome| outcome.is_ok()));
    }
    assert!(service.drain(WAIT), "{:?}", service.stats());
}

/// How many pairs are compared for each page, when so many pages are inserted and when all of them are replaced. Also the
/// postings on disk and in memory for each page.
fn cost(pages: usize) -> [u64; 3] {
    let disk = Volatile::new();
    let options = ServiceOptions { threads: 1, ..ServiceOptions::new("memory") };
    let tuning = Tuning { batch_changes: 100, ..Tuning::small() };
    let service = Service::open_tuned(Arc::new(disk.clone()), options, tuning).unwrap();
    let lines = |version| (0..pages).map(|number| (number, page(number, version, 400))).collect();
    let compared = || service.stats().compared_pairs;
    put_all(&service, &lines(0));
    let inserted = compared();
    put_all(&service, &lines(1));
    let replaced = compared() - inserted;
    let lines = lines(1);
    assert_eq!(by_service(&service, &lines), by_batch(&lines, service.config()));
    assert_eq!(service.check().unwrap().wrong, Vec::<String>::new());
    let postings = service.collection.contents.read().posted();
    [inserted, replaced, postings].map(|number| number.div_ceil(pages as u64))
}

#[test]
fn a_page_of_a_template_costs_the_same_among_many_as_among_few() {
    let (few, many) = (cost(200), cost(800));
    for (few, many) in few.into_iter().zip(many) {
        assert!(many <= few + few / 2 + 2, "{few} for each of 200 pages, {many} for each of 800");
    }
    assert!(many[0] <= 6 && many[1] <= 6, "{many:?}");
}

/// The longest list of a key after pages of three templates came in turn, a few with every batch.
fn longest_list(pages: usize) -> usize {
    let disk = Volatile::new();
    let options = ServiceOptions { threads: 1, ..ServiceOptions::new("memory") };
    let open = || Service::open_tuned(Arc::new(disk.clone()), options.clone(), Tuning::small()).unwrap();
    let mut service = open();
    for number in 0..pages {
        let line = page(number, 0, 400).replace(" w", &format!(" t{}w", number % 3));
        assert!(service.accept(&[Action::Put(line.as_bytes())]).iter().all(|outcome| outcome.is_ok()));
        if number % 4 == 0 {
            assert!(service.drain(WAIT), "{:?}", service.stats());
        }
        if number % 50 == 0 {
            service.close().unwrap();
            service = open();
        }
    }
    assert!(service.drain(WAIT), "{:?}", service.stats());
    service.collection.contents.write().longest_list(service.collection.method()).unwrap()
}

#[test]
fn the_list_of_a_key_stays_short_however_pages_of_a_template_come() {
    let (few, many) = (longest_list(60), longest_list(240));
    assert!(many <= few + few / 2 + 2, "{few} contents among 60 pages, {many} among 240");
}

fn step_with_templates() -> impl Strategy<Value = Step> {
    let template = (0usize..40, 0usize..2, prop::collection::vec(0usize..25, 0..4), 0usize..4);
    let template = template.prop_map(|(page, base, edits, signal)| {
        Step::Put(Draft { page, base, drift: 0, edits, signal, link: PageLink::None, shape: TEMPLATE })
    });
    prop_oneof![
        30 => template,
        2 => (0usize..40).prop_map(Step::Delete),
        3 => Just(Step::Drain),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::PowerLoss),
        3 => step(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases() / 3))]
    #[test]
    fn the_service_says_what_a_batch_run_says_of_templates(
        steps in prop::collection::vec(step_with_templates(), 40..160), setup in setups()
    ) {
        check(steps, &setup);
    }
}
