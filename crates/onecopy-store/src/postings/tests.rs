//! Tests postings against a list: through seals, merges, reopening, power loss, a full disk and damage.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::disk::{Disk, Open, Volatile};

fn open(disk: &Volatile) -> Result<Postings> {
    Postings::open(Arc::new(disk.clone()))
}

/// Keys are a few small numbers with many holders, or hashes.
fn postings(seed: u32, count: u32) -> Vec<Posting> {
    let posting = |at: u32| {
        let hash = xxh3_64(&(u64::from(seed) << 32 | u64::from(at)).to_le_bytes());
        let key = if hash.is_multiple_of(3) { hash >> 8 & 3 } else { xxh3_64(&(hash % 2000).to_le_bytes()) };
        Posting { key, content: (hash >> 20) as u32 % 40, rest: (hash >> 40) as u32 % 5 }
    };
    (0..count).map(posting).collect()
}

fn find(postings: &Postings, keys: &[u64]) -> Result<BTreeSet<Posting>> {
    let mut found = BTreeSet::new();
    postings.find(keys, &mut |at, content, rest| {
        found.insert(Posting { key: keys[at], content, rest });
    })?;
    Ok(found)
}

/// Knows all postings of live contents, and counts the reads.
struct Asked<'a> {
    keys: &'a [u64],
    known: &'a BTreeSet<Posting>,
    dead: &'a BTreeSet<u32>,
    found: BTreeSet<Posting>,
    read: usize,
}

impl Seeker for Asked<'_> {
    fn found(&mut self, at: usize, content: u32, rest: u32) {
        self.read += 1;
        self.found.insert(Posting { key: self.keys[at], content, rest });
    }

    fn holds(&mut self, content: u32, held: &mut Vec<usize>) {
        if self.dead.contains(&content) {
            return;
        }
        for posting in self.known.iter().filter(|posting| posting.content == content) {
            self.found.insert(*posting);
            held.extend(self.keys.binary_search(&posting.key));
        }
        held.sort_unstable();
        held.dedup();
    }
}

/// All keys that `postings` uses, and as many others.
fn all_keys() -> Vec<u64> {
    let mut keys: Vec<u64> = (0..4000_u64).map(|at| xxh3_64(&at.to_le_bytes())).chain(0..8).collect();
    keys.sort_unstable();
    keys
}

#[derive(Debug, Clone)]
enum Deed {
    Add(u32),
    Kill(u32),
    Seal(Option<u64>),
    /// In steps, with postings added while the part is written.
    SealAside(u32),
    Merge(Option<u64>),
    Reopen,
    LosePower(u64),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let full = || prop_oneof![Just(None), (0..12_u64).prop_map(Some)];
    let deed = prop_oneof![
        6 => prop_oneof![0..10_u32, 0..900_u32].prop_map(Deed::Add),
        1 => (0..40_u32).prop_map(Deed::Kill),
        5 => full().prop_map(Deed::Seal),
        2 => (0..300_u32).prop_map(Deed::SealAside),
        3 => full().prop_map(Deed::Merge),
        1 => Just(Deed::Reopen),
        2 => any::<u64>().prop_map(Deed::LosePower),
    ];
    prop::collection::vec(deed, 1..50)
}

/// The postings and their expected contents.
struct Model {
    disk: Volatile,
    postings: Postings,
    keys: Vec<u64>,
    /// All additions; `covered` counts them.
    added: Vec<Vec<Posting>>,
    dead: BTreeSet<u32>,
    /// The possible values of `covered` after a loss: the last seal, and those that failed since.
    covered: Vec<u64>,
}

impl Model {
    fn new() -> Model {
        let disk = Volatile::new();
        let postings = open(&disk).unwrap();
        Model { disk, postings, keys: all_keys(), added: vec![], dead: BTreeSet::new(), covered: vec![0] }
    }

    fn carry_out(&mut self, deed: Deed) {
        match deed {
            Deed::Add(count) => self.add(count),
            Deed::Kill(content) => {
                self.dead.insert(content);
            }
            Deed::Seal(full) => self.seal(full),
            Deed::SealAside(count) => {
                let plan = self.postings.plan_seal(self.added.len() as u64);
                let covered = self.added.len() as u64;
                self.add(count);
                self.check();
                let sealed = plan.run().unwrap();
                self.add(count / 2);
                self.postings.install_seal(sealed).unwrap();
                self.covered = vec![covered];
            }
            Deed::Merge(full) => self.merge(full),
            Deed::Reopen => self.reopen(),
            Deed::LosePower(seed) => {
                self.disk = self.disk.power_loss(seed);
                self.reopen();
            }
        }
        self.check();
    }

    fn add(&mut self, count: u32) {
        let added = postings(self.added.len() as u32, count);
        self.postings.add(&added);
        self.added.push(added);
    }

    fn seal(&mut self, full: Option<u64>) {
        let before = (self.postings.covered(), self.postings.memory_postings(), self.postings.parts());
        self.disk.fail_after(full);
        match self.postings.seal(self.added.len() as u64) {
            Ok(()) => {
                self.covered = vec![self.added.len() as u64];
                assert_eq!(self.postings.memory_postings(), 0);
            }
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::StorageFull => {
                let after = (self.postings.covered(), self.postings.memory_postings(), self.postings.parts());
                assert_eq!(before, after, "a failed seal changed something");
                self.covered.push(self.added.len() as u64);
            }
            Err(error) => panic!("{error}"),
        }
        self.disk.fail_after(None);
    }

    fn merge(&mut self, full: Option<u64>) {
        let parts = self.postings.parts();
        self.disk.fail_after(full);
        let dead = self.dead.clone();
        match self.postings.merge(&|posting, _| !dead.contains(&posting.content)) {
            Ok(done) => {
                assert_eq!(done, parts >= 4);
                // The new manifest overrides any left by a failed seal.
                self.covered.truncate(if done { 1 } else { usize::MAX });
            }
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::StorageFull => {
                assert_eq!(self.postings.parts(), parts);
            }
            Err(error) => panic!("{error}"),
        }
        self.disk.fail_after(None);
    }

    fn reopen(&mut self) {
        self.postings = open(&self.disk).unwrap();
        let covered = self.postings.covered();
        assert!(self.covered.contains(&covered), "{covered} is covered, not one of {:?}", self.covered);
        self.covered = vec![covered];
        for newer in &self.added[covered as usize..] {
            self.postings.add(newer);
        }
        let named = self.postings.parts();
        let files = self.disk.names().unwrap().iter().filter(|name| part_number(name).is_some()).count();
        assert_eq!(files, named, "files that are no parts stayed");
    }

    fn check(&self) {
        let found = find(&self.postings, &self.keys).unwrap();
        let added: BTreeSet<Posting> = self.added.iter().flatten().copied().collect();
        assert!(found.is_subset(&added), "found what was never added");
        let mut asked =
            Asked { keys: &self.keys, known: &added, dead: &self.dead, found: BTreeSet::new(), read: 0 };
        self.postings.find(&self.keys, &mut asked).unwrap();
        for found in [found, asked.found] {
            let missing = added.difference(&found).find(|posting| !self.dead.contains(&posting.content));
            assert_eq!(missing, None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_posting_is_missed(deeds in deeds()) {
        let mut model = Model::new();
        for deed in deeds {
            model.carry_out(deed);
        }
        model.postings.check(&mut |error| panic!("{error}")).unwrap();
    }
}

/// Five parts on a new disk, and their postings.
fn five_parts(disk: &Volatile) -> (Postings, Vec<Posting>) {
    let mut all = Vec::new();
    let mut sealed = open(disk).unwrap();
    for seed in 0..5 {
        all.extend(postings(seed, 1000));
        sealed.add(&postings(seed, 1000));
        sealed.seal(u64::from(seed)).unwrap();
    }
    all.sort_unstable();
    all.dedup();
    (sealed, all)
}

#[test]
fn what_a_content_is_known_to_hold_alone_is_not_read() {
    let hash = |at: u64| xxh3_64(&at.to_le_bytes());
    let mut keys: Vec<u64> = (0..100).map(hash).collect();
    keys.sort_unstable();
    // The first two contents have all keys, the third has one in ten, and the others have none.
    let mut all = BTreeSet::new();
    all.extend(keys.iter().flat_map(|&key| [1, 2].map(|content| Posting { key, content, rest: 0 })));
    all.extend(keys.iter().step_by(10).map(|&key| Posting { key, content: 3, rest: 0 }));
    all.extend((100..2_000).map(|at| Posting { key: hash(at), content: at as u32, rest: 0 }));
    let mut sealed = open(&Volatile::new()).unwrap();
    for half in [0, 1] {
        sealed.add(&all.iter().filter(|posting| posting.content % 2 == half).copied().collect::<Vec<_>>());
        sealed.seal(1).unwrap();
    }
    let wanted: BTreeSet<Posting> = all.iter().filter(|posting| posting.content <= 3).copied().collect();
    let (known, dead) = (&all, &BTreeSet::new());
    let mut asked = Asked { keys: &keys, known, dead, found: BTreeSet::new(), read: 0 };
    sealed.find(&keys, &mut asked).unwrap();
    assert_eq!(asked.found, wanted);
    // The third is not worth asking, so its keys are read.
    assert!(asked.read < 40, "{} of {} were read", asked.read, wanted.len());
}

#[test]
fn merging_drops_the_dead_and_nothing_else() {
    let disk = Volatile::new();
    let (mut merged, all) = five_parts(&disk);
    assert!(merged.merge(&|posting, _| posting.content % 2 == 0).unwrap());
    assert!(!merged.merge(&|_, _| true).unwrap());
    let alive: BTreeSet<Posting> = all.into_iter().filter(|posting| posting.content % 2 == 0).collect();
    assert_eq!((merged.parts(), merged.part_postings()), (1, alive.len() as u64));
    assert_eq!(find(&merged, &all_keys()).unwrap(), alive);
    let reopened = open(&disk.power_loss(1)).unwrap();
    assert_eq!(find(&reopened, &all_keys()).unwrap(), alive);
    assert_eq!((reopened.covered(), reopened.bytes()), (4, merged.bytes()));
}

/// The disk is full after any write. Then power is lost, or the process ends and the next one loses power.
fn check_full(change: fn(&mut Postings) -> Result<()>) {
    for count in 0..40 {
        for seed in 0..12 {
            let disk = Volatile::new();
            let (mut now, all) = five_parts(&disk);
            now.add(&postings(9, 300));
            disk.fail_after(Some(count));
            let done = change(&mut now).is_ok();
            disk.fail_after(None);
            if seed % 2 == 0 {
                drop(open(&disk).unwrap());
            }
            let found = open(&disk.power_loss(seed)).unwrap();
            let sealed = if found.covered() == 9 { postings(9, 300) } else { Vec::new() };
            let expected: BTreeSet<Posting> = all.into_iter().chain(sealed).collect();
            assert_eq!(find(&found, &all_keys()).unwrap(), expected);
            if done {
                return;
            }
        }
    }
    panic!("the disk was full each time");
}

#[test]
fn a_seal_that_fails_loses_nothing_whatever_comes_next() {
    check_full(|postings| postings.seal(9));
}

#[test]
fn a_merge_that_fails_loses_nothing_whatever_comes_next() {
    check_full(|postings| postings.merge(&|_, _| true).map(drop));
}

#[test]
fn where_all_are_dead_no_part_is_left() {
    let disk = Volatile::new();
    let (mut merged, _) = five_parts(&disk);
    merged.merge(&|_, _| false).unwrap();
    assert_eq!((merged.parts(), merged.bytes()), (0, 0));
    assert_eq!(disk.names().unwrap(), [manifest::NAME]);
    assert_eq!(open(&disk).unwrap().covered(), 4);
}

#[test]
fn postings_are_added_sealed_and_found_while_others_are_merged() {
    let disk = Volatile::new();
    let (mut now, mut all) = five_parts(&disk);
    let plan = now.plan_merge().unwrap();
    let late = now.plan_merge().unwrap();
    assert_eq!(plan.postings(), now.part_postings());
    let merging = std::thread::spawn(move || plan.run(&|_, _| true));
    now.add(&postings(9, 500));
    now.seal(9).unwrap();
    all.extend(postings(9, 500));
    let all: BTreeSet<Posting> = all.into_iter().collect();
    assert_eq!(find(&now, &all_keys()).unwrap(), all);
    now.install(merging.join().unwrap().unwrap()).unwrap();
    assert_eq!(now.parts(), 2);
    assert!(matches!(now.install(late.run(&|_, _| true).unwrap()), Err(Error::Refused(_))));
    drop(now.plan_seal(10).run().unwrap());
    assert_eq!(disk.names().unwrap().len(), 3, "what was not installed is removed");
    assert_eq!(find(&now, &all_keys()).unwrap(), all);
    assert_eq!(find(&open(&disk.power_loss(5)).unwrap(), &all_keys()).unwrap(), all);
}

#[test]
fn each_damaged_byte_is_found_and_named() {
    let disk = Volatile::new();
    let mut sealed = open(&disk).unwrap();
    sealed.add(&postings(1, 600));
    sealed.seal(1).unwrap();
    for name in disk.names().unwrap() {
        let file = disk.open(&name, Open::Create).unwrap();
        for offset in (0..file.len().unwrap()).step_by(11) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, offset).unwrap();
            file.write_all_at(&[byte[0] ^ 16], offset).unwrap();
            let mut told = Vec::new();
            match open(&disk) {
                Ok(opened) => opened.check(&mut |error| told.push(error)).unwrap(),
                Err(error) => told.push(error),
            }
            assert!(
                matches!(&told[..], [Error::Damaged { file, .. }] if *file == name),
                "{offset}: {told:?}"
            );
            file.write_all_at(&byte, offset).unwrap();
        }
    }
    let file = disk.open(&part_name(1), Open::Create).unwrap();
    file.write_all_at(&[0xA5], 4096 + 500).unwrap();
    let error = find(&open(&disk).unwrap(), &all_keys()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "postings-00000001 is damaged at byte 4096: the block's checksum does not match"
    );
}

#[test]
fn a_part_that_is_missing_or_cut_is_an_error_and_nothing_is_removed() {
    let disk = Volatile::new();
    five_parts(&disk);
    let file = disk.open(&part_name(2), Open::Create).unwrap();
    for length in [0, 10, 64, 4096, 9000] {
        file.set_len(length).unwrap();
        assert!(matches!(open(&disk), Err(Error::Damaged { .. })), "{length}");
    }
    disk.remove(&part_name(2)).unwrap();
    assert!(open(&disk).unwrap_err().to_string().starts_with("postings-00000002 is damaged"));
    assert_eq!(disk.names().unwrap().len(), 5);
}

#[test]
fn a_key_that_many_hold_is_found_over_many_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Arc::new(Disk::open(folder.path()).unwrap());
    let mut sealed = Postings::open(folder).unwrap();
    let keys = [0, 7, u64::MAX - 1, u64::MAX];
    let mut expected = BTreeMap::new();
    for (key, count) in keys.into_iter().zip([255, 1000, 1, 510]) {
        let held: Vec<Posting> = (0..count).map(|content| Posting { key, content, rest: content }).collect();
        sealed.add(&held);
        expected.insert(key, count as usize);
    }
    for _ in 0..2 {
        let found = find(&sealed, &[0, 1, 7, 8, u64::MAX - 1, u64::MAX]).unwrap();
        for (key, count) in &expected {
            assert_eq!(found.iter().filter(|posting| posting.key == *key).count(), *count);
        }
        assert_eq!(found.len(), 1766);
        sealed.seal(1).unwrap();
    }
}

#[test]
fn first_keys_that_are_not_those_of_the_blocks_are_found() {
    let disk = Volatile::default();
    let mut sealed = open(&disk).unwrap();
    sealed.add(&postings(1, 200));
    sealed.seal(1).unwrap();
    for block in 0..3 {
        let mut part = Part::open(&disk, sealed.parts[0].number).unwrap();
        assert!(part.fence.len() > block);
        part.fence[block] += 1;
        let part = Arc::new(part);
        assert!(part.check().is_err(), "block {block}");
    }
}

/// Contents of which all postings are replaced again and again, under the same number.
#[test]
fn what_was_superseded_is_in_no_part_after_a_seal_and_a_cleaning() {
    let disk = Volatile::new();
    let mut postings = open(&disk).unwrap();
    let version = |content: u32, born: u32| {
        let key = |at: u32| xxh3_64(&(u64::from(born) << 8 | u64::from(at)).to_le_bytes());
        (0..8).map(|at| Posting { key: key(at), content, rest: born }).collect::<Vec<_>>()
    };
    let mut born = vec![0; 10];
    for round in 1..=30_u32 {
        for content in 0..10 {
            born[content as usize] = round * 10 + content;
            postings.supersede(content);
            postings.add(&version(content, round * 10 + content));
        }
        // Three rounds to a part.
        if round % 3 == 0 {
            postings.seal(u64::from(round * 10 + 9)).unwrap();
        }
        let now = born.clone();
        let alive = |posting: Posting, covered: u64| u64::from(now[posting.content as usize]) <= covered;
        if let Some(plan) = postings.plan_cleaning(20) {
            let merged = plan.run(&alive).unwrap();
            postings.install(merged).unwrap();
        }
        assert!(postings.part_postings() <= 2 * 80, "{} in round {round}", postings.part_postings());
        let mut keys: Vec<u64> = version(3, born[3]).iter().map(|posting| posting.key).collect();
        keys.sort_unstable();
        assert_eq!(find(&postings, &keys).unwrap().len(), 8);
    }
    let reopened = open(&disk).unwrap();
    assert!(reopened.plan_cleaning(30).is_none() && reopened.plan_cleaning(9).is_some());
}
