//! Layouts against the optimum by brute force, and against its lower bound.

use proptest::prelude::*;

use super::*;

fn files(loads: &[f64]) -> Vec<IndexFile> {
    loads.iter().map(|&load| IndexFile { load, bytes: 10 }).collect()
}

fn rules(servers: usize) -> LayoutRules {
    LayoutRules { servers, capacity_bytes: None }
}

fn heaviest(layout: &Layout, scheduler: Scheduler, requests: &[Request]) -> f64 {
    simulate(layout, scheduler, requests, 1).moments[0].heaviest
}

/// The least load of the heaviest server, by trying all servers for all requests. A server may be asked for at most as
/// many files as it can have, so that this covers every layout.
fn optimum(requests: &[Request], servers: usize, most_files: usize) -> f64 {
    struct Tried<'a> {
        requests: &'a [Request],
        loads: Vec<f64>,
        asked: Vec<Vec<u32>>,
        most_files: usize,
        best: f64,
    }
    fn go(tried: &mut Tried, at: usize) {
        let now = tried.loads.iter().copied().fold(0.0, f64::max);
        if now >= tried.best {
            return;
        }
        let Some(&Request { file, load }) = tried.requests.get(at) else {
            tried.best = now;
            return;
        };
        for server in 0..tried.loads.len() {
            let first = !tried.asked[server].contains(&file);
            if first && tried.asked[server].len() == tried.most_files {
                continue;
            }
            if first {
                tried.asked[server].push(file);
            }
            let before = tried.loads[server];
            tried.loads[server] += load;
            go(tried, at + 1);
            tried.loads[server] = before;
            if first {
                tried.asked[server].pop();
            }
            // Servers without load are all alike.
            if before == 0.0 {
                break;
            }
        }
    }
    let (loads, asked) = (vec![0.0; servers], vec![Vec::new(); servers]);
    let mut tried = Tried { requests, loads, asked, most_files, best: f64::INFINITY };
    go(&mut tried, 0);
    tried.best
}

/// Every file of a plan has a server, and no server has too many files.
fn assert_planned(layout: &Layout, files: usize) {
    let most = files / layout.servers + SPARE_FILES;
    assert!(layout.holders.iter().all(|holders| !holders.is_empty() && holders.is_sorted_by(|a, b| a < b)));
    let held = layout.files_of_servers();
    assert!(held.iter().all(|&held| (files / layout.servers..=most).contains(&(held as usize))), "{held:?}");
}

#[test]
fn imaginary_loads_spread_the_hottest_files() {
    // Five files on four servers: the hottest has a quarter of its imaginary load on each.
    let layout = plan_layout(&files(&[1.0, 1.0, 9.0, 1.0, 1.0]), &rules(4)).unwrap();
    assert_eq!(layout.holders[2], [0, 1, 2, 3]);
    assert_eq!(layout.copies(), 3);
    // Seven files on five servers: the third server has a part of both.
    let layout = plan_layout(&files(&[3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0]), &rules(5)).unwrap();
    assert_eq!((&layout.holders[0][..], &layout.holders[1][..]), (&[0, 1, 2][..], &[2, 3, 4][..]));
    assert_eq!(layout.files_of_servers(), [2, 2, 3, 2, 2]);
}

#[test]
fn spare_places_have_copies_of_hot_files() {
    let even = plan_layout(&files(&[8.0, 1.0, 1.0, 1.0, 1.0, 1.0]), &rules(3)).unwrap();
    assert_eq!(even.holders[0], [0, 1, 2], "the hottest file is everywhere");
    assert_eq!(even.files_of_servers(), [4, 4, 4]);
    let small = LayoutRules { servers: 3, capacity_bytes: Some(20) };
    assert_eq!(plan_layout(&files(&[8.0, 1.0, 1.0, 1.0, 1.0, 1.0]), &small).unwrap().copies(), 0);
    let cold = plan_layout(&files(&[0.0; 6]), &rules(3)).unwrap();
    assert_eq!(cold.copies(), 0, "a file without load needs no copy");
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    let three = files(&[1.0; 3]);
    assert_eq!(plan_layout(&three, &rules(0)), Err(LayoutError::NoServers));
    assert_eq!(plan_layout(&three, &rules(4)), Err(LayoutError::FewFiles { servers: 4, files: 3 }));
    let small = LayoutRules { servers: 3, capacity_bytes: Some(9) };
    let refused = LayoutError::Capacity { server: 0, needed: 10, capacity: 9 };
    assert_eq!(plan_layout(&three, &small), Err(refused));
}

#[test]
fn greedy_takes_the_lightest_and_round_robin_the_next() {
    let layout = Layout { servers: 2, holders: vec![vec![0, 1], vec![0]] };
    let asked = [(0, 3.0), (0, 1.0), (0, 1.0), (0, 1.0), (1, 2.0), (0, 1.0)];
    let requests = asked.map(|(file, load)| Request { file, load });
    assert_eq!(simulate(&layout, Scheduler::Greedy, &requests, 1).loads, [5.0, 4.0]);
    assert_eq!(simulate(&layout, Scheduler::RoundRobin, &requests, 1).loads, [7.0, 2.0]);
    let moments = simulate(&layout, Scheduler::Greedy, &requests, 3).moments;
    let shown: Vec<(u64, f64, f64)> =
        moments.iter().map(|moment| (moment.requests, moment.heaviest, moment.mean)).collect();
    assert_eq!(shown, [(2, 3.0, 2.0), (4, 3.0, 3.0), (6, 5.0, 4.5)]);
    let few = simulate(&layout, Scheduler::Greedy, &requests[..2], 100);
    assert_eq!(few.moments.len(), 2);
}

#[test]
fn hands_pick_the_hottest_files() {
    let layout = hand_picked(&files(&[1.0, 5.0, 2.0, 1.0]), 2, 2);
    assert_eq!(layout.holders, [vec![0], vec![0, 1], vec![0, 1], vec![1]]);
    assert_eq!(hand_picked(&files(&[1.0; 2]), 1, 5).copies(), 0);
}

#[test]
fn generated_requests_follow_the_loads() {
    let requests = generated_requests(&files(&[0.0, 1.0, 3.0]), 40_000, 0.0, 7);
    let load =
        |file| requests.iter().filter(|request| request.file == file).map(|request| request.load).sum();
    let [none, one, three]: [f64; 3] = [load(0), load(1), load(2)];
    assert_eq!(none, 0.0);
    assert!((three / one - 3.0).abs() < 0.2 && ((one + three) / 40_000.0 - 1.0).abs() < 0.05);
    assert_eq!(requests, generated_requests(&files(&[0.0, 1.0, 3.0]), 40_000, 0.0, 7));
    assert_ne!(requests, generated_requests(&files(&[0.0, 1.0, 3.0]), 40_000, 0.5, 7));
}

#[test]
fn the_bound_needs_load_on_every_file() {
    let bound = load_bound(&[Request { file: 0, load: 6.0 }, Request { file: 1, load: 2.0 }], 2, 2);
    assert_eq!((bound.alpha, bound.beta, bound.optimum_least), (Some(2.0), 6.0, 6.0));
    assert_eq!(bound.limit, Some(48.0));
    assert_eq!(load_bound(&[Request { file: 0, load: 6.0 }], 2, 2).limit, None);
}

/// A few files, servers and requests. Every file is asked for at least once.
fn small_case() -> impl Strategy<Value = (Vec<f64>, usize, Vec<Request>)> {
    (1..=4usize).prop_flat_map(|servers| (Just(servers), servers..=6usize)).prop_flat_map(
        |(servers, count)| {
            let asked = (0..count as u32, 1..=5u32);
            let expected = prop::collection::vec((0..9u32).prop_map(f64::from), count);
            let once = prop::collection::vec(1..=5u32, count);
            let more = prop::collection::vec(asked, 0..=9 - count);
            (expected, once, more).prop_flat_map(move |(expected, once, more)| {
                let all: Vec<Request> = (0..)
                    .zip(once)
                    .chain(more)
                    .map(|(file, load)| Request { file, load: f64::from(load) })
                    .collect();
                (Just(expected), Just(servers), Just(all).prop_shuffle())
            })
        },
    )
}

proptest! {
    #[test]
    fn the_bound_holds_against_the_optimum((expected, servers, requests) in small_case()) {
        let layout = plan_layout(&files(&expected), &rules(servers)).unwrap();
        assert_planned(&layout, expected.len());
        let best = optimum(&requests, servers, expected.len() / servers + SPARE_FILES);
        let LoadBound { alpha, beta, optimum_least, .. } = load_bound(&requests, expected.len(), servers);
        let found = heaviest(&layout, Scheduler::Greedy, &requests);
        prop_assert!(optimum_least <= best && best <= found, "{optimum_least} {best} {found}");
        prop_assert!(found <= 2.0 * (1.0 + alpha.unwrap()) * best + 2.0 * beta, "{found} {best}");
    }

    #[test]
    fn the_bound_holds_on_large_layouts(
        servers in 1..60usize,
        more in 0..120usize,
        seed in any::<u64>(),
        skew in 0..40u32,
        ordered in any::<bool>(),
    ) {
        let count = servers + more;
        let load = |file: usize| 1.0 + f64::from(skew) / (1.0 + file as f64);
        let files = files(&(0..count).map(load).collect::<Vec<_>>());
        let layout = plan_layout(&files, &rules(servers)).unwrap();
        assert_planned(&layout, count);
        let mut requests = generated_requests(&files, 40 * count, 0.5, seed);
        if ordered {
            requests.sort_by_key(|request| request.file);
        }
        let bound = load_bound(&requests, count, servers);
        let found = heaviest(&layout, Scheduler::Greedy, &requests);
        prop_assert!(bound.optimum_least <= found + 1e-9);
        prop_assert!(bound.limit.is_none_or(|limit| found <= limit), "{found} {bound:?}");
    }
}
