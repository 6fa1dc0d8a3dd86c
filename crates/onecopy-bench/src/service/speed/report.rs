//! The speeds of a fresh collection and of an aged one, side by side.

use serde::Serialize;

use super::Lookups;
use super::age::Aging;
use crate::measure::Cost;
use crate::service::histogram::Latency;
use crate::service::server::Memory;
use crate::service::updates::{self, Updates};
use crate::table::{Table, count, megabytes};

/// The measurements of a collection at one age.
#[derive(Clone, Debug, Serialize)]
pub struct Speeds {
    pub pages: u64,
    pub connections: u16,
    /// Unanswered lines per stream.
    pub in_flight: u16,
    /// Before the updates; a kept collection includes those of earlier runs.
    pub disk_bytes: u64,
    /// Before and after the updates.
    pub memory: [Memory; 2],
    /// The time from put to settled, one page at a time on an idle server.
    pub settled_alone: Latency,
    pub lookups: Lookups,
    pub lookups_of_100: Lookups,
    /// The results by way of sending.
    pub updates: Vec<Updates>,
}

/// All measurements.
#[derive(Clone, Debug, Serialize)]
pub struct Ages {
    /// The cost of loading and settling the collection; from an earlier run, if it was kept.
    pub import: Cost,
    pub fresh: Speeds,
    /// After all pages were rewritten, if they were.
    pub aged: Option<(Aging, Speeds)>,
}

impl Ages {
    /// The comparison first, if there is one, and then the details of each age.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = self.compared();
        let mut import = Table::new(&["import", "all settled"]);
        let pages_a_second = self.fresh.pages as f64 / self.import.wall_seconds;
        import.push(vec![format!("{} pages", count(self.fresh.pages)), rate(pages_a_second)]);
        tables.push(import);
        let aged = self.aged.iter().map(|(_, speeds)| ("aged", speeds));
        for (age, speeds) in [("fresh", &self.fresh)].into_iter().chain(aged) {
            tables.extend([speeds.table(age), updates::table(&speeds.updates, age)]);
        }
        tables
    }

    fn compared(&self) -> Vec<Table> {
        let Some((aging, aged)) = &self.aged else { return Vec::new() };
        let mut table = Table::new(&["measure", "fresh", "aged", "aged / fresh"]);
        let mut row = |what: &str, values: [f64; 2], shown: fn(f64) -> String| {
            let ratio = format!("{:.2}", values[1] / values[0].max(f64::MIN_POSITIVE));
            table.push(vec![what.to_owned(), shown(values[0]), shown(values[1]), ratio]);
        };
        let both = |of: &dyn Fn(&Speeds) -> f64| [of(&self.fresh), of(aged)];
        for (at, updates) in self.fresh.updates.iter().enumerate() {
            let way = updates.way;
            let both = |of: fn(&Updates) -> f64| both(&|speeds| speeds.updates.get(at).map_or(0.0, of));
            row(&format!("updates accepted, {way}"), both(|updates| updates.accepted_a_second), rate);
            row(&format!("updates settled, {way}"), both(|updates| updates.settled_a_second), rate);
            row(&format!("processor time a change, {way}"), both(|updates| updates.cpu_ms_a_change), time);
        }
        row("look-ups", both(&|speeds| speeds.lookups.pages_a_second), rate);
        row("look-ups, 100 a request", both(&|speeds| speeds.lookups_of_100.pages_a_second), rate);
        row("peak memory", both(&|speeds| speeds.memory[1].peak as f64), size);
        row("disk", both(&|speeds| speeds.disk_bytes as f64), size);
        let rounds = &aging.settled_a_second;
        let ends = [rounds.first(), rounds.last()].map(|round| round.copied().unwrap_or(0.0));
        row("all pages rewritten, first and last round", ends, rate);
        let peak = size(aging.peak_bytes as f64);
        table.push(vec!["peak memory while they were".into(), "-".into(), peak, "-".into()]);
        vec![table]
    }
}

impl Speeds {
    fn table(&self, age: &str) -> Table {
        let mut table = Table::new(&[age, "value", "p50 ms", "p99 ms", "max ms"]);
        let mut row = |what: &str, value: String, latency: Option<&Latency>| {
            let of = |of: fn(&Latency) -> f64| latency.map_or("-".to_owned(), |l| format!("{:.2}", of(l)));
            table.push(vec![what.to_owned(), value, of(|l| l.p50_ms), of(|l| l.p99_ms), of(|l| l.max_ms)]);
        };
        row("pages", count(self.pages), None);
        row("put to settled, alone", count(self.settled_alone.count), Some(&self.settled_alone));
        row("look-ups", rate(self.lookups.pages_a_second), Some(&self.lookups.latency));
        let of_100 = &self.lookups_of_100;
        row("look-ups, 100 a request", rate(of_100.pages_a_second), Some(&of_100.latency));
        row("disk a page", format!("{} B", count(self.disk_bytes / self.pages.max(1))), None);
        for (when, memory) in [("before updates", &self.memory[0]), ("after updates", &self.memory[1])] {
            let Memory { rss, anonymous, peak } = *memory;
            let parts = [rss, anonymous, peak].map(megabytes).join(", ");
            row(&format!("memory {when}: resident, own, peak"), format!("{parts} MB"), None);
        }
        table
    }
}

fn rate(a_second: f64) -> String {
    format!("{}/s", count(a_second as u64))
}

fn time(milliseconds: f64) -> String {
    format!("{milliseconds:.3} ms")
}

fn size(bytes: f64) -> String {
    format!("{} MB", megabytes(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeds(a_second: f64, disk_bytes: u64) -> Speeds {
        let lookups = Lookups { pages_a_second: a_second, latency: Latency::default() };
        Speeds {
            pages: 100,
            connections: 1,
            in_flight: 1,
            disk_bytes,
            memory: [Memory::default(); 2],
            settled_alone: Latency::default(),
            lookups: lookups.clone(),
            lookups_of_100: lookups,
            updates: Vec::new(),
        }
    }

    #[test]
    fn an_aged_collection_is_beside_a_fresh_one() {
        let import = Cost { cpu_seconds: 1.0, system_seconds: 0.0, wall_seconds: 1.0, peak_bytes: 1 };
        let fresh = speeds(2_000.0, 4 << 20);
        assert_eq!(Ages { import, fresh: fresh.clone(), aged: None }.tables().len(), 3);
        let aging = Aging { settled_a_second: vec![50.0, 45.0, 40.0], peak_bytes: 7 << 20 };
        let ages = Ages { import, fresh, aged: Some((aging, speeds(1_500.0, 6 << 20))) };
        assert_eq!(ages.tables().len(), 6);
        let text = ages.tables()[0].markdown();
        let cells = |name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap();
            line.split('|').skip(2).take(3).map(|cell| cell.trim().to_owned()).collect()
        };
        assert_eq!(cells("look-ups"), ["2,000/s", "1,500/s", "0.75"]);
        assert_eq!(cells("disk")[2], "1.50");
        assert_eq!(cells("all pages rewritten, first and last round"), ["50/s", "40/s", "0.80"]);
    }
}
