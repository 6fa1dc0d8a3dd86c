//! Steps that change a collection or disturb it, and the answers that are right after them.

use std::collections::BTreeSet;

use super::backups::Shelter;
use super::fragile::{POISON, open_fragile};
use super::*;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Put(Draft),
    Dead(usize),
    Delete(usize),
    /// Deletes the pages whose names begin with that of a page, so many at once.
    Sweep(usize, usize),
    /// Waits until all accepted changes are settled.
    Drain,
    /// Closes the collection and opens it again.
    Restart,
    /// Loses power, with a seed that selects the lost writes.
    PowerLoss(u64),
    /// Puts a version that Tier 2 cannot settle.
    Poison(usize),
    /// Repairs a group.
    Repair(usize),
    /// Makes a snapshot.
    Snapshot,
    /// Goes back to the last snapshot.
    Restore,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => made().prop_map(Step::Put),
        2 => (0..PAGES).prop_map(Step::Dead),
        2 => (0..PAGES).prop_map(Step::Delete),
        1 => (0..PAGES, 1usize..4).prop_map(|(page, limit)| Step::Sweep(page, limit)),
        4 => Just(Step::Drain),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::PowerLoss),
        1 => (0..PAGES).prop_map(Step::Poison),
        1 => (0usize..5).prop_map(Step::Repair),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Restore),
    ]
}

/// How pages are compared, and how much of the feed is kept.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) feed_bytes: u64,
}

pub(super) fn setups() -> impl Strategy<Value = Setup> {
    let feed_bytes = prop_oneof![2 => Just(u64::MAX), 1 => Just(0), 1 => Just(500)];
    (configs(), feed_bytes).prop_map(|(config, feed_bytes)| Setup { config, feed_bytes })
}

fn configs() -> impl Strategy<Value = Config> {
    let method =
        prop_oneof![4 => Just("auto"), 1 => Just("jaccard"), 1 => Just("containment"), 1 => Just("simhash")];
    (method, prop_oneof![3 => Just(None), 1 => Just(Some("h1.example"))], prop_oneof![Just(2usize), Just(5)])
        .prop_map(|(method, market, length)| {
            let mut config = Config { method: method.into(), ..Config::default() };
            config.markets.extend(market.map(str::to_owned));
            if method != "simhash" {
                config.shingles.length = length;
            }
            config
        })
}

/// The collection after some steps, and what is known of it.
struct Run<'a> {
    setup: &'a Setup,
    disk: Volatile,
    /// Absent only while it is replaced.
    service: Option<Service>,
    /// The version of each page that counts.
    lines: BTreeMap<usize, String>,
    /// The pages whose last change was poison. They stay as they were before.
    quarantined: BTreeSet<usize>,
    follower: Follower,
    shelter: Shelter,
    /// The state at the last snapshot.
    snapshot: Option<(BTreeMap<usize, String>, BTreeSet<usize>)>,
}

/// Takes all steps, and compares the answers with those of a batch run.
pub(super) fn check(steps: Vec<Step>, setup: &Setup) {
    let disk = Volatile::new();
    let mut run = Run {
        setup,
        service: Some(open_fragile(&disk, setup)),
        disk,
        lines: BTreeMap::new(),
        quarantined: BTreeSet::new(),
        follower: Follower::default(),
        shelter: Shelter::default(),
        snapshot: None,
    };
    for step in steps {
        run.take(step);
    }
    run.assert_right();
}

impl Run<'_> {
    fn service(&self) -> &Service {
        self.service.as_ref().expect("it is open")
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Put(made) => {
                let line = line(&made);
                fragile::accept(self.service(), Action::Put(line.as_bytes())).unwrap();
                self.quarantined.remove(&made.page);
                self.lines.insert(made.page, line);
            }
            Step::Poison(page) => {
                let line = json!({"id": name(page), "url": address(page), "text": POISON}).to_string();
                fragile::accept(self.service(), Action::Put(line.as_bytes())).unwrap();
                self.quarantined.insert(page);
            }
            Step::Dead(page) => self.forget(page, Action::Dead(PageName::Json(&json_name(page)))),
            Step::Delete(page) => self.forget(page, Action::Delete(PageName::Json(&json_name(page)))),
            Step::Sweep(page, limit) => {
                let prefix = name(page);
                listing::sweep(self.service(), &prefix, limit);
                let is_swept = |page: &usize| name(*page).starts_with(&prefix);
                self.quarantined.retain(|page| !is_swept(page));
                self.lines.retain(|page, _| !is_swept(page));
            }
            Step::Repair(nth) => self.repair(nth),
            Step::Drain => {
                assert!(self.service().drain(WAIT), "{:?}", self.service().stats());
                self.follow();
            }
            Step::Restart => {
                self.follower.follow(self.service.as_ref().expect("it is open"));
                self.service.take().expect("it is open").close().unwrap();
                self.open(self.disk.clone());
            }
            // The new disk does not see later writes of the old service.
            Step::PowerLoss(seed) => self.open(self.disk.power_loss(seed)),
            Step::Snapshot => {
                self.shelter.save(&self.disk.power_loss(0));
                self.snapshot = Some((self.lines.clone(), self.quarantined.clone()));
            }
            Step::Restore => self.restore(),
        }
    }

    fn forget(&mut self, page: usize, action: Action) {
        let outcome = fragile::accept(self.service(), action);
        assert!(outcome.is_ok() || !(self.lines.contains_key(&page) || self.quarantined.contains(&page)));
        self.lines.remove(&page);
        self.quarantined.remove(&page);
    }

    /// Nothing is wrong with any group, so a repair changes nothing.
    fn repair(&mut self, nth: usize) {
        assert!(self.service().drain(WAIT), "{:?}", self.service().stats());
        if let Some(line) = self.service().groups(0, usize::MAX, 2, None).unwrap().get(nth) {
            assert_eq!(self.service().repair(line.group).unwrap(), Some(0));
        }
    }

    fn open(&mut self, disk: Volatile) {
        self.service = Some(open_fragile(&disk, self.setup));
        self.disk = disk;
    }

    fn restore(&mut self) {
        let Some((lines, quarantined)) = self.snapshot.clone() else { return };
        let id = self.service().id().to_owned();
        let disk = self.shelter.restore();
        self.open(disk);
        assert_ne!(self.service().id(), id, "readers of the feed must begin again");
        (self.lines, self.quarantined, self.follower) = (lines, quarantined, Follower::default());
    }

    fn follow(&mut self) {
        self.follower.follow(self.service.as_ref().expect("it is open"));
        self.follower.assert_knows(self.service());
    }

    fn assert_right(&mut self) {
        let Run { lines, quarantined, setup, .. } = self;
        let is_judged = |page: &usize| !quarantined.contains(page);
        let mut batch = by_batch(lines, &setup.config);
        quarantined.iter().for_each(|page| drop(batch.remove(&name(*page))));
        let judged: BTreeMap<usize, String> = lines
            .iter()
            .filter(|(page, _)| is_judged(page))
            .map(|(page, line)| (*page, line.clone()))
            .collect();
        assert_eq!(by_service(self.service(), &judged), batch);
        self.follow();
        self.assert_quarantined();
        if self.setup.feed_bytes == u64::MAX {
            self.assert_feed(&judged);
        }
        listing::assert_all_listed(self.service(), self.lines.keys().chain(&self.quarantined).copied());
        let stats = self.service().stats();
        assert_eq!(stats.kept + stats.losers + stats.rejected, self.lines.len() as u64);
        let report = self.service().check().unwrap();
        assert_eq!(report.wrong, Vec::<String>::new());
    }

    fn assert_quarantined(&self) {
        let (told, _) = by_feed(self.service());
        assert_eq!(self.service().stats().quarantined, self.quarantined.len() as u64);
        for page in &self.quarantined {
            let status =
                self.service().status(&[&*name(*page)], false).unwrap().swap_remove(0).expect("it was put");
            assert_eq!(status.status, StatusKind::Rejected, "{status:?}");
            if !self.lines.contains_key(page) {
                assert_eq!(json!(told[&json_name(*page)].1), json!(status), "the feed keeps it");
            }
            assert!(status.reason.is_some_and(|reason| reason.contains("this page is poison")));
        }
    }

    /// The feed has the status of every page.
    fn assert_feed(&self, lines: &BTreeMap<usize, String>) {
        let (told, groups) = by_feed(self.service());
        for page in lines.keys() {
            let status = self.service().status(&[&*name(*page)], false).unwrap().swap_remove(0).unwrap();
            assert_told(&status, &told[&json_name(*page)], &groups);
        }
    }
}
