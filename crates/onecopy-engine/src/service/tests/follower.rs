//! Who copies the pages that changed, a few at a time, has the status of every page.

use super::*;

/// A copy of all statuses: winner, similarity, kind and group of each page by name.
#[derive(Default)]
pub(super) struct Follower {
    cursor: FeedCursor,
    known: BTreeMap<String, Copied>,
}

type Copied = (StatusKind, Option<String>, Option<f64>, Option<&'static str>, Option<u64>);

fn copied(status: &Status) -> Copied {
    let winner = status.winner.as_ref().map(|name| name.get().to_owned());
    (status.status, winner, status.similarity, status.kind, status.group)
}

impl Follower {
    /// Copies all changes that are settled.
    pub(super) fn follow(&mut self, service: &Service) {
        loop {
            let found = match service.changed_pages(self.cursor, 3) {
                // It was away for too long, and begins again.
                Err(Refusal::Gone(_)) => {
                    *self = Follower::default();
                    continue;
                }
                found => found.unwrap(),
            };
            self.known
                .extend(found.pages.iter().map(|(_, status)| (status.page.get().to_owned(), copied(status))));
            self.cursor = found.next;
            if found.next.after == found.last {
                return;
            }
        }
    }

    /// Asserts that the copy has the status of every page, also of those that were never settled. The others are dead.
    pub(super) fn assert_knows(&self, service: &Service) {
        let mut all = BTreeMap::new();
        service
            .pages(&mut |page| {
                all.insert(page.status.page.get().to_owned(), copied(&page.status));
                Ok(())
            })
            .unwrap();
        let rejected = PageFilter { status: Some(StatusKind::Rejected), ..PageFilter::default() };
        for page in listing::all(service, &rejected, 9).0 {
            all.entry(page.status.page.get().to_owned()).or_insert(copied(&page.status));
        }
        let (known, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.known.clone().into_iter().partition(|(name, _)| all.contains_key(name));
        assert_eq!(known, all);
        assert!(others.values().all(|known| known.0 == StatusKind::Dead), "{others:?}");
    }
}

#[test]
fn a_copy_is_right_after_the_changes_of_groups_have_expired() {
    let keep = |days: u64| ServiceOptions {
        feed_keep: Duration::from_secs(86_400 * days),
        ..ServiceOptions::new("memory")
    };
    let disk = Volatile::new();
    let open = |days| Service::open_tuned(Arc::new(disk.clone()), keep(days), Tuning::small()).unwrap();
    let service = open(30);
    let put = |service: &Service, page: usize, text: &str| {
        let line = json!({"id": format!("p{page}"), "text": text, "popularity": 100 - page}).to_string();
        service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
        assert!(service.drain(WAIT));
    };
    (1..9).for_each(|page| put(&service, page, "the same words on every page of this group of copies"));
    // The others get another winner, which the feed says of their group only.
    put(&service, 0, "the same words on every page of this group of copies");
    service.close().unwrap();
    let service = open(0);
    put(&service, 9, "one more page, after which the change of the group is forgotten");
    let (told, groups) = by_feed(&service);
    assert_eq!(groups.len(), 0, "it is forgotten");
    assert_eq!(
        told["\"p5\""].1.winner.as_ref().map(|name| name.get()),
        Some("\"p1\""),
        "the feed has the past"
    );
    let mut follower = Follower::default();
    follower.follow(&service);
    follower.assert_knows(&service);
    assert_eq!(follower.known["\"p5\""].1.as_deref(), Some("\"p0\""));
}
