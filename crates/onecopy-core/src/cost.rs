//! The machines for serving pages with their duplicates, or for removing them first.
//!
//! Two tiers of machines serve pages. Every query asks the first tier, and some also ask the second. A scheme decides
//! how many pages are served, how well each query is answered, and which machines look for duplicates (Zhu et al. 2011,
//! section 6.4 and Figure 9).

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;

/// The measured facts and the prices that a comparison of schemes needs. Rates are those of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CostProfile {
    /// The share of pages that a careful removal takes out before serving, in scheme `online`.
    pub careful_share: f64,
    /// The share of pages that a complete removal takes out.
    pub removed_share: f64,
    /// Pages that one machine of the first tier serves.
    pub pages_per_machine: f64,
    /// How many machines have each page.
    pub replicas: f64,
    /// The pages of the first tier, or their share if it is at most 1. All others are in the second.
    pub first_tier: f64,
    /// The share of queries that also ask the second tier. A machine there serves that much more pages.
    pub second_tier_traffic: f64,
    /// How much more traffic the first tier answers if it has few duplicates.
    pub unique_gain: f64,
    /// How much more queries a machine answers if results need not be searched for duplicates.
    pub filter_gain: f64,
    /// Pages per second of a batch run.
    pub batch_rate: f64,
    /// Changes per second of a service.
    pub service_rate: f64,
    /// Days between two looks at each page.
    pub cycle_days: f64,
    /// The price of a machine for a month.
    pub machine_price: f64,
}

impl Default for CostProfile {
    /// The inputs of Zhu et al. as far as they are published. They name neither machines nor prices: a machine serves 10
    /// million pages and costs 1.
    fn default() -> CostProfile {
        CostProfile {
            careful_share: 0.05,
            removed_share: 0.33,
            pages_per_machine: 10e6,
            replicas: 2.0,
            first_tier: 0.25,
            second_tier_traffic: 1.0 / 3.0,
            unique_gain: 0.1,
            filter_gain: 0.006,
            batch_rate: 10_000.0,
            service_rate: 1_000.0,
            cycle_days: 30.0,
            machine_price: 1.0,
        }
    }
}

impl CostProfile {
    /// Refuses numbers that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        let shares = [
            ("careful share", self.careful_share),
            ("removed share", self.removed_share),
            ("second tier's traffic", self.second_tier_traffic),
        ];
        let rates = [
            ("pages per machine", self.pages_per_machine),
            ("replicas", self.replicas),
            ("batch rate", self.batch_rate),
            ("service rate", self.service_rate),
            ("cycle", self.cycle_days),
        ];
        let others = [
            ("first tier", self.first_tier),
            ("unique gain", self.unique_gain),
            ("filter gain", self.filter_gain),
            ("price", self.machine_price),
        ];
        let wrong = |(_, value): &&(&'static str, f64)| !value.is_finite() || *value < 0.0;
        let share = shares.iter().find(|share| wrong(share) || share.1 >= 1.0);
        let rate = rates.iter().find(|rate| wrong(rate) || rate.1 == 0.0);
        match share.or(rate).or(others.iter().find(wrong)) {
            Some(&(name, value)) => Err(ConfigError::CostInput { name, value }),
            None => Ok(()),
        }
    }
}

/// When duplicates are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Few before serving, the others from the results of each query.
    Online,
    /// As many as possible by batch runs; results are not searched.
    Offline,
    /// As many as possible by a service, and the rest from the results of each query.
    Both,
}

impl Scheme {
    /// All schemes. Savings are those over the first.
    pub const ALL: [Scheme; 3] = [Scheme::Online, Scheme::Offline, Scheme::Both];
}

/// The machines of a scheme, as parts of whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Machines {
    /// Machines that serve pages.
    pub serving: f64,
    /// Machines that look for duplicates before that.
    pub removing: f64,
}

impl Machines {
    /// All machines.
    pub fn total(&self) -> f64 {
        self.serving + self.removing
    }
}

/// The configurations of Figure 9: its name, and the profile. The sizes of the first tier, the shares of removed pages and
/// the replicas are published. The traffic of the second tier (1/4 to 1/3) and the gain of the first (5 to 10 %) are
/// published as ranges, whose ends we take. The
/// pairing of these ends, the first tier's fixed size, and the gain from searching fewer results are not published: we
/// chose them so that the savings match.
pub fn published_profiles() -> [(&'static str, CostProfile); 4] {
    let profile = |first_tier, second_tier_traffic, unique_gain| CostProfile {
        first_tier,
        second_tier_traffic,
        unique_gain,
        ..CostProfile::default()
    };
    [
        ("T1.4, busy", profile(1.4e9, 1.0 / 3.0, 0.1)),
        ("T1.4, quiet", profile(1.4e9, 0.25, 0.05)),
        ("T2.5, busy", profile(2.5e9, 1.0 / 3.0, 0.1)),
        ("T2.5, quiet", profile(2.5e9, 0.25, 0.05)),
    ]
}

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The machines of a scheme for this number of crawled pages without exact copies.
pub fn machines(profile: &CostProfile, scheme: Scheme, pages: f64) -> Machines {
    let looks = pages / (profile.cycle_days * DAY);
    let removing = match scheme {
        Scheme::Online => 0.0,
        Scheme::Offline => looks / profile.batch_rate,
        Scheme::Both => looks / profile.service_rate,
    };
    let (share, gain, filter) = match scheme {
        Scheme::Online => (profile.careful_share, 0.0, 0.0),
        Scheme::Offline | Scheme::Both => (profile.removed_share, profile.unique_gain, profile.filter_gain),
    };
    // The first tier has a fixed number of machines, and gets other pages instead of duplicates.
    let tier = if profile.first_tier <= 1.0 { profile.first_tier * pages } else { profile.first_tier };
    let first = tier.min(pages * (1.0 - profile.careful_share));
    let second = (pages * (1.0 - share) - first).max(0.0);
    let load = first / (1.0 + gain) + second * profile.second_tier_traffic;
    Machines { serving: profile.replicas * load / (1.0 + filter) / profile.pages_per_machine, removing }
}

/// The share of machines that a scheme saves over [`Scheme::Online`].
pub fn saving(profile: &CostProfile, scheme: Scheme, pages: f64) -> f64 {
    1.0 - machines(profile, scheme, pages).total() / machines(profile, Scheme::Online, pages).total()
}

#[cfg(test)]
mod tests;
