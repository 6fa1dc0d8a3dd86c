//! Which server answers each request, and the loads of servers over time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use super::{Layout, Request};

/// The rule that chooses a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The server of the file with the least load so far.
    Greedy,
    /// The servers of the file in turn.
    RoundRobin,
}

/// The servers at some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The requests so far.
    pub requests: u64,
    /// The load of the heaviest server so far.
    pub heaviest: f64,
    /// The mean load of servers so far.
    pub mean: f64,
}

/// The outcome of a log of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The load of each server.
    pub loads: Vec<f64>,
    /// The loads over time, in equal steps. The last is the end of the log.
    pub moments: Vec<Moment>,
}

/// Lets the scheduler choose a server for each request, and looks at the servers `moments` times, or less often if
/// there are fewer requests.
pub fn simulate(layout: &Layout, scheduler: Scheduler, requests: &[Request], moments: usize) -> Simulated {
    let mut choice = Choice::new(layout, scheduler);
    let mut simulated = Simulated { loads: vec![0.0; layout.servers], moments: Vec::new() };
    let steps = moments.clamp(1, requests.len().max(1));
    let (mut at, mut total) = (0, 0.0);
    for step in 1..=steps {
        let end = requests.len() * step / steps;
        for request in &requests[at..end] {
            let server = choice.server(request.file as usize, &simulated.loads);
            simulated.loads[server as usize] += request.load;
            total += request.load;
        }
        at = end;
        let heaviest = simulated.loads.iter().copied().fold(0.0, f64::max);
        simulated.moments.push(Moment {
            requests: end as u64,
            heaviest,
            mean: total / layout.servers as f64,
        });
    }
    simulated
}

/// The state of a scheduler.
enum Choice<'a> {
    /// The servers of each file, lightest first, by the load that each had when it was last at the top. Loads never
    /// fall, so the top is the lightest once its load is up to date. The bits of positive numbers are in their order.
    Greedy(Vec<BinaryHeap<Reverse<(u64, u32)>>>),
    /// The servers of each file, and whose turn it is.
    RoundRobin(&'a Layout, Vec<u32>),
}

impl Choice<'_> {
    fn new(layout: &Layout, scheduler: Scheduler) -> Choice<'_> {
        let queue = |holders: &Vec<u32>| holders.iter().map(|&server| Reverse((0, server))).collect();
        match scheduler {
            Scheduler::Greedy => Choice::Greedy(layout.holders.iter().map(queue).collect()),
            Scheduler::RoundRobin => Choice::RoundRobin(layout, vec![0; layout.holders.len()]),
        }
    }

    /// The server that answers a request for `file`.
    fn server(&mut self, file: usize, loads: &[f64]) -> u32 {
        match self {
            Choice::Greedy(queues) => lightest(&mut queues[file], loads),
            Choice::RoundRobin(layout, turns) => {
                let holders = &layout.holders[file];
                let turn = turns[file] as usize % holders.len();
                turns[file] = turn as u32 + 1;
                holders[turn]
            }
        }
    }
}

fn lightest(queue: &mut BinaryHeap<Reverse<(u64, u32)>>, loads: &[f64]) -> u32 {
    loop {
        let mut top = queue.peek_mut().expect("every file has a server");
        let Reverse((known, server)) = *top;
        let load = loads[server as usize].to_bits();
        if known == load {
            return server;
        }
        top.0.0 = load;
    }
}
