//! A reader of the feed that keeps its cursor through every incident.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::client::Server;
use crate::results::plain;

/// The most answers of one look.
const MOST: usize = 10_000;

/// What the feed said.
#[derive(Default)]
pub struct Follower {
    cursor: Option<String>,
    /// The number and the status of the last change of each page.
    told: BTreeMap<String, (u64, Value)>,
    /// The number of the last change of each group.
    regrouped: BTreeMap<u64, u64>,
    /// Up to here the feed had the status of each page at its time, and the changes of groups may have expired.
    begun_at: u64,
    /// How often it had to begin again.
    pub restarts: u64,
}

impl Follower {
    /// Reads to the end of the feed. Begins again if the service says so.
    pub fn follow(&mut self, server: &Server) {
        for _ in 0..MOST {
            let cursor = self.cursor.as_deref().unwrap_or("0");
            let answer = server.get(&format!("/feed?limit=500&after={cursor}"));
            if answer.code == 410 {
                *self = Follower { restarts: self.restarts + 1, ..Follower::default() };
                continue;
            }
            assert_eq!(answer.code, 200, "{}", answer.text());
            let lines = answer.lines();
            let next = answer.header("onecopy-cursor").expect("a cursor").to_owned();
            // A cursor of the first pass has a third part.
            let is_first_pass = self.cursor.as_ref().is_none_or(|cursor| cursor.split('-').count() == 3);
            lines.iter().for_each(|line| self.hear(line));
            if let Some(last) = lines.last().filter(|_| is_first_pass) {
                self.begun_at = number(last);
            }
            self.cursor = Some(next);
            if lines.is_empty() {
                return;
            }
        }
        panic!("the feed does not end");
    }

    fn hear(&mut self, line: &Value) {
        match line["status"].as_str() {
            Some("regrouped") => {
                self.regrouped.insert(line["group"].as_u64().expect("a group"), number(line));
            }
            _ => drop(self.told.insert(plain(&line["page"]), (number(line), line.clone()))),
        }
    }

    /// Asserts that it knows the status of each page. All others that it knows are gone.
    pub fn assert_knows(&self, statuses: &BTreeMap<String, Value>) {
        for (page, status) in statuses {
            let Some((number, told)) = self.told.get(page) else { panic!("the feed never told {status}") };
            assert_eq!((&told["status"], &told["reason"]), (&status["status"], &status["reason"]), "{page}");
            let details =
                |status: &Value| ["winner", "similarity", "kind", "group"].map(|name| status[name].clone());
            let regrouped = status["group"].as_u64().and_then(|group| self.regrouped.get(&group));
            let may_differ = *number <= self.begun_at || regrouped.is_some_and(|at| at > number);
            assert!(may_differ || details(told) == details(status), "{told} was not told to be {status}");
        }
        let others = self.told.iter().filter(|(page, _)| !statuses.contains_key(*page));
        others.for_each(|(page, (_, told))| assert_eq!(told["status"], "dead", "{page} is gone, but {told}"));
    }
}

fn number(line: &Value) -> u64 {
    line["sequence"].as_u64().unwrap_or_else(|| panic!("no number in {line}"))
}
