//! The figures of a plan: balance, communication and comparisons (Zhu and others 2012, section 6.1).

use serde::Serialize;

use super::LengthVector;
use super::plan::{PartitionPlan, Reach, imbalance};

/// The figures of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlanFigures {
    /// Cells with pages.
    pub cells: u64,
    /// Machines with pages.
    pub machines_used: u64,
    /// The pages of the fullest machine over the mean.
    pub imbalance: f64,
    /// The machines for the throughput of one, if comparing takes time in proportion to the pages of a machine.
    pub speedup: f64,
    /// How many machines a page visits, its own included.
    pub replication: f64,
    /// The share of visits to other machines that is saved over sending every page to all.
    pub communication_saved: f64,
    /// The share of all pages that a page is compared with.
    pub pages_met: f64,
    /// The comparisons of the busiest machine over the mean.
    pub work_imbalance: f64,
}

/// The figures of `plan` if cells have so many pages, and pages like those of `sample` arrive.
pub fn plan_figures(
    plan: &PartitionPlan,
    counts: &[u64],
    sample: &[LengthVector],
    reach: &Reach,
) -> PlanFigures {
    let loads = plan.loads(counts);
    let total: u64 = loads.iter().sum();
    let mut visits = Visits::new(plan, counts);
    sample.iter().for_each(|page| visits.visit(page, reach));
    let pages = sample.len().max(1) as f64;
    let replication = visits.machines as f64 / pages;
    let others = plan.machines.saturating_sub(1).max(1) as f64;
    let imbalance_of_pages = imbalance(&loads);
    PlanFigures {
        cells: counts.iter().filter(|count| **count > 0).count() as u64,
        machines_used: loads.iter().filter(|load| **load > 0).count() as u64,
        imbalance: imbalance_of_pages,
        speedup: plan.machines as f64 / imbalance_of_pages,
        replication,
        communication_saved: if plan.machines > 1 { 1.0 - (replication - 1.0) / others } else { 0.0 },
        pages_met: visits.work.iter().sum::<u64>() as f64 / pages / total.max(1) as f64,
        work_imbalance: imbalance(&visits.work),
    }
}

/// Counts the machines that pages visit, and the pages that they meet there.
struct Visits<'a> {
    plan: &'a PartitionPlan,
    /// The pages before each cell.
    before: Vec<u64>,
    /// The pages that visiting pages met, by machine.
    work: Vec<u64>,
    /// All visits, and which page visited each machine last.
    machines: u64,
    last: Vec<u64>,
    page: u64,
}

impl<'a> Visits<'a> {
    fn new(plan: &'a PartitionPlan, counts: &[u64]) -> Visits<'a> {
        let mut before = Vec::with_capacity(counts.len() + 1);
        before.push(0);
        for &count in counts {
            before.push(before[before.len() - 1] + count);
        }
        let (work, last) = (vec![0; plan.machines], vec![0; plan.machines]);
        Visits { plan, before, work, machines: 0, last, page: 0 }
    }

    fn visit(&mut self, page: &LengthVector, reach: &Reach) {
        self.page += 1;
        let plan = self.plan;
        plan.cells.reached(page, reach, |first, last| {
            for machine in plan.machine(first)..=plan.machine(last) {
                let start = plan.starts[machine].max(first);
                let end = plan.starts.get(machine + 1).map_or(last + 1, |&next| next.min(last + 1));
                self.work[machine] += self.before[end as usize] - self.before[start as usize];
                if self.last[machine] != self.page {
                    self.last[machine] = self.page;
                    self.machines += 1;
                }
            }
        });
    }
}
