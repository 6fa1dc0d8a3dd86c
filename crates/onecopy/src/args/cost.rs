//! The arguments of `onecopy cost`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::CostProfile;

pub const EXAMPLES: &str = "\
Examples:
  onecopy cost --report clean/report.json
  onecopy cost --report clean/report.json --price 180 --pages-per-machine 5000000 --plot cost.svg
  onecopy cost --metrics before.txt --metrics after.txt --apart 600
  onecopy cost --published --plot figure9.svg

Three schemes for the same traffic, all after exact copies were removed:
  online    few duplicates are removed before serving; the others are left out of each result
  offline   batch runs remove all they find; results are not searched
  both      a service removes all it finds as pages change; results are searched for the rest

Machines that serve = replicas * (first tier / (1 + unique gain) + second tier * its traffic) /
(1 + filter gain) / pages per machine. Every query asks the first tier, and some also the second,
whose machines therefore have more pages. The first tier keeps its size and gets other pages
instead of duplicates. Machines that remove = pages / (cycle * rate).

--report and --metrics replace the shares and rates by measured ones. --published repeats Figure 9
of Zhu et al. 2011 (savings of 8.2 to 25.6 %) with its inputs.";

#[derive(ClapArgs)]
pub struct CostArgs {
    /// Take the batch rate and the removed share from report.json of a finished run
    #[arg(long, value_name = "FILE", conflicts_with = "published")]
    pub report: Option<PathBuf>,
    /// Take the service rate and the removed share from two answers of /metrics; give it twice, the earlier first
    #[arg(long, value_name = "FILE", requires = "apart", conflicts_with = "published")]
    pub metrics: Vec<PathBuf>,
    /// Seconds between the two answers of /metrics
    #[arg(long, value_name = "SECONDS")]
    pub apart: Option<f64>,
    /// Repeat the published figure instead
    #[arg(long)]
    pub published: bool,
    /// The share of pages removed before serving in scheme online
    #[arg(long, value_name = "0..1", default_value_t = CostProfile::default().careful_share)]
    pub careful: f64,
    /// The share of pages removed before serving in the other schemes, without exact copies
    /// [default: measured, or 0.33]
    #[arg(long, value_name = "0..1")]
    pub removed: Option<f64>,
    /// Pages that one machine of the first tier serves
    #[arg(long, value_name = "N", default_value_t = CostProfile::default().pages_per_machine)]
    pub pages_per_machine: f64,
    /// How many machines have each page
    #[arg(long, value_name = "N", default_value_t = CostProfile::default().replicas)]
    pub replicas: f64,
    /// Pages of the first tier, or their share if it is at most 1
    #[arg(long, value_name = "N", default_value_t = CostProfile::default().first_tier)]
    pub first_tier: f64,
    /// The share of queries that also ask the second tier
    #[arg(long, value_name = "0..1", default_value_t = 0.33)]
    pub second_traffic: f64,
    /// How much more traffic the first tier answers without duplicates
    #[arg(long, value_name = "SHARE", default_value_t = CostProfile::default().unique_gain)]
    pub unique_gain: f64,
    /// How much more queries a machine answers if results have few duplicates
    #[arg(long, value_name = "SHARE", default_value_t = CostProfile::default().filter_gain)]
    pub filter_gain: f64,
    /// Pages per second and machine of batch runs [default: measured, or 10000]
    #[arg(long, value_name = "N")]
    pub batch_rate: Option<f64>,
    /// Changes per second and machine of a service [default: measured, or 1000]
    #[arg(long, value_name = "N")]
    pub service_rate: Option<f64>,
    /// Days between two looks at each page. Higher: fewer machines that remove
    #[arg(long, value_name = "DAYS", default_value_t = CostProfile::default().cycle_days)]
    pub cycle: f64,
    /// The price of a machine for a month
    #[arg(long, value_name = "NUMBER", default_value_t = CostProfile::default().machine_price)]
    pub price: f64,
    /// Draw the savings into this file; its ending, .svg or .png, decides the format
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
