//! Arguments that decide which pages are duplicates and which copy wins.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_core::{AddressRules, Config, WinnerRule};

use super::text::{ShingleArgs, TextArgs, read_text};
use crate::commands::WrongCall;

#[derive(ClapArgs)]
pub struct ChoiceArgs {
    /// The method that compares pages; `onecopy methods` lists all, with their parameters
    #[arg(long, value_name = "NAME[:PARAMETER=VALUE]...", default_value_t = Config::default().method)]
    pub method: String,
    /// Treat pages at least this similar as duplicates. Higher: fewer pages removed [default: the method's own, 0.8 for auto]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    #[command(flatten)]
    pub shingles: ShingleArgs,
    /// The rules that choose the winner among duplicates, most important first
    #[arg(long, value_enum, value_delimiter = ',', value_name = "RULE,...",
          default_value = default_winner())]
    pub winner: Vec<WinnerArg>,
    /// Prefer pages on hosts with this ending, such as uk or gov.uk. Several markets get separate lists of winners
    #[arg(long, value_delimiter = ',', value_name = "SUFFIX,...")]
    pub market: Vec<String>,
    /// Use the address rules in this file instead of those that `onecopy rules` prints
    #[arg(long, value_name = "FILE")]
    pub address_rules: Option<PathBuf>,
}

impl ChoiceArgs {
    /// The configuration from these arguments and those about text.
    pub fn config(&self, text: &TextArgs) -> anyhow::Result<Config> {
        refuse_second_threshold(self.threshold, &self.method)?;
        let mut config =
            Config { method: self.method.clone(), threshold: self.threshold, ..Config::default() };
        config.winner = self.winner.iter().map(|&rule| rule.into()).collect();
        config.markets = self.market.iter().map(|market| market.trim_matches('.').to_lowercase()).collect();
        if let Some(path) = &self.address_rules {
            let rules = AddressRules::parse(&read_text(path, "address rules")?);
            config.addresses = rules.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        }
        self.shingles.apply(&mut config);
        text.apply(&mut config)?;
        Ok(config)
    }
}

/// Parameters of methods that set the threshold.
const THRESHOLDS: [&str; 3] = ["threshold", "distance", "agree"];

/// Refuses a second threshold for a method: only one can count.
pub fn refuse_second_threshold(given: Option<f64>, method: &str) -> Result<(), WrongCall> {
    let is_threshold = |part: &&str| THRESHOLDS.contains(&part.split('=').next().unwrap_or_default());
    let own = method.split(':').skip(1).filter(is_threshold).map(|part| format!("`{part}` of --method"));
    let all: Vec<String> = given.map(|given| format!("--threshold {given}")).into_iter().chain(own).collect();
    match &all[..] {
        [first, second, ..] => {
            Err(WrongCall(format!("the threshold is given twice, by {first} and {second}: leave one out")))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum WinnerArg {
    /// The more popular page
    Popularity,
    /// An address without a query before one with
    Static,
    /// The shorter address
    ShortUrl,
    /// The earlier page
    Older,
    /// The later page
    Newer,
    /// The longer text
    Longer,
}

fn default_winner() -> String {
    let rules = Config::default().winner.into_iter().map(WinnerArg::from);
    let names = rules.filter_map(|rule| rule.to_possible_value().map(|value| value.get_name().to_owned()));
    names.collect::<Vec<_>>().join(",")
}

impl From<WinnerRule> for WinnerArg {
    fn from(rule: WinnerRule) -> WinnerArg {
        match rule {
            WinnerRule::Popularity => WinnerArg::Popularity,
            WinnerRule::Static => WinnerArg::Static,
            WinnerRule::ShortUrl => WinnerArg::ShortUrl,
            WinnerRule::Older => WinnerArg::Older,
            WinnerRule::Newer => WinnerArg::Newer,
            WinnerRule::Longer => WinnerArg::Longer,
        }
    }
}

impl From<WinnerArg> for WinnerRule {
    fn from(rule: WinnerArg) -> WinnerRule {
        match rule {
            WinnerArg::Popularity => WinnerRule::Popularity,
            WinnerArg::Static => WinnerRule::Static,
            WinnerArg::ShortUrl => WinnerRule::ShortUrl,
            WinnerArg::Older => WinnerRule::Older,
            WinnerArg::Newer => WinnerRule::Newer,
            WinnerArg::Longer => WinnerRule::Longer,
        }
    }
}
