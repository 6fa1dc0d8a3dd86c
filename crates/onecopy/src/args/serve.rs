//! The arguments of `onecopy serve`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_core::{Config, FilterRules};
use onecopy_engine::{BackupJob, Depot, Limits, ServiceOptions};

use super::choice::ChoiceArgs;
use super::environment;
use super::feed_keep::FeedKeep;
use super::input::FieldArgs;
use super::rate::Rate;
use super::text::TextArgs;
use crate::commands::WrongCall;
use crate::http::{HttpOptions, RateLimit, Style, TokenFiles};
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy serve --data pages
  onecopy serve --data pages --threshold 0.9 --winner newer --memory 8G --queue 1G
  onecopy serve --data pages --listen 0.0.0.0:7171 --token-file token --log json
  onecopy serve --data pages --tags
  onecopy serve --data pages --snapshots s3://bucket/onecopy --keep-snapshots 14

Then, in another window:
  curl localhost:7171/pages -H 'Content-Type: application/json' -d '{\"id\": \"a\", \"text\": \"words\"}'
  curl localhost:7171/pages -H 'Content-Type: application/x-ndjson' -T pages.jsonl -X POST
  curl 'localhost:7171/pages?page=a'
  curl localhost:7171/groups
  curl -N 'localhost:7171/feed?after=0' -H 'Accept: text/event-stream'
  curl localhost:7171/openapi.json

The service acknowledges a change once it is on disk, with a provisional status. It compares the
page afterwards, and the feed reports each change of status. The settings for duplicates are fixed
when a collection is created.

Without a token the service answers only programs on this machine, and no web pages. It has no TLS:
put a proxy in front, and let only the proxy reach the service. Ctrl-C or SIGTERM ends it: running
requests finish, and accepted changes that are not compared yet are compared after the next start.
SIGHUP reads the token files again.";

#[derive(ClapArgs)]
pub struct ServeArgs {
    /// The folder of the collection; created if needed
    #[arg(long, short, value_name = "DIR")]
    pub data: PathBuf,
    /// The address to listen on. A non-loopback address requires --token-file
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7171")]
    pub listen: String,
    /// Serve /health, /ready and /metrics at this address too, without a token. Only your monitoring should reach it
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub monitor_listen: Option<String>,
    /// Require the token in this file, of 16 or more characters, for everything except /health.
    /// Other users must not be able to read the file. SIGHUP reads it again
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Let clients with the token in this file read, but not change anything
    #[arg(long, value_name = "FILE", requires = "token_file")]
    pub read_token_file: Option<PathBuf>,
    /// The size of the queue of changes to compare. If it is full, changes are refused with 429
    #[arg(long, value_name = "SIZE", default_value_t = Size(usual().queue_bytes))]
    pub queue: Size,
    /// The memory for the queue, for comparing and for caches. Beside it, each page takes a few hundred
    /// bytes. Never changes the answer [default: a quarter of the machine's, at least 256M]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Size>,
    /// Store only the data for comparing, not the pages. They cannot be exported
    #[arg(long)]
    pub no_keep_pages: bool,
    /// Store a tag of 256 bytes with each page, for comparing search results. Whether a collection has tags is fixed
    /// when it is created
    #[arg(long)]
    pub tags: bool,
    /// Repair a group if this share of its checks fails. Higher: fewer repairs
    #[arg(long, value_name = "0..1", default_value_t = usual().repair_rate)]
    pub repair_rate: f64,
    /// Keep deleted pages and changes of groups in the feed for this long, such as 12h or 30d, or up to this size, such
    /// as 100M or 1G, or both: 30d,1G. Higher: a larger feed
    #[arg(long, value_name = "TIME|SIZE", default_value_t = FeedKeep::of_age(usual().feed_keep))]
    pub feed_keep: FeedKeep,
    /// Make snapshots here when a client asks for one (POST /snapshots): a folder, or an address such as s3://bucket/onecopy
    #[arg(long, value_name = "PLACE")]
    pub snapshots: Option<String>,
    /// Keep this many snapshots of the collection, and remove older ones [default: all]
    #[arg(long, value_name = "N", requires = "snapshots", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_snapshots: Option<u32>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
    /// Compare with this many threads. Never changes the answer [default: one per core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// The format of the log on standard error, which has a line per request and event
    #[arg(long, value_enum, default_value_t)]
    pub log: LogArg,
    /// Print errors only: no examples, and log only failures of the service itself
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub limits: ServeLimitArgs,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Limits")]
pub struct ServeLimitArgs {
    /// Refuse records longer than this
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::default().page_bytes as u64))]
    pub max_page: Size,
    /// Allow this many open connections
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub connections: u32,
    /// Disconnect a client that sends or receives nothing for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub idle: u64,
    /// Disconnect a client whose body comes with fewer bytes per second than this; 0 allows any
    #[arg(long, value_name = "BYTES", default_value_t = 10)]
    pub min_body_rate: u32,
    /// Answer each client at most this often, such as 100/s or 600/m, and others with 429. A client is a token, or an
    /// address if there are no tokens. The lines of a stream count too, and are delayed [default: no limit]
    #[arg(long, value_name = "N/s")]
    pub rate_limit: Option<Rate>,
    /// Let a client that was quiet ask this often at once [default: as often as in 5 seconds, at least 10]
    #[arg(long, value_name = "N", requires = "rate_limit", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate_burst: Option<u32>,
    /// At the end, wait this long for running requests and the current batch
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub grace: u64,
}

impl ServeLimitArgs {
    /// How much each client may ask for.
    fn rate(&self) -> Option<RateLimit> {
        let Rate(per_second) = self.rate_limit?;
        let burst = self.rate_burst.map_or((5.0 * per_second).max(10.0), f64::from);
        Some(RateLimit { per_second, burst })
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum LogArg {
    /// Plain text
    #[default]
    Plain,
    /// JSON
    Json,
}

/// A quarter of the machine's memory, and at least 256 MB. The latter if nothing says how much there is.
fn usual_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = told.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let total: u64 = total.and_then(|kilobytes| kilobytes.trim().parse().ok()).unwrap_or(0);
    (total * 1_024 / 4).max(256 << 20)
}

/// The engine's own defaults.
fn usual() -> ServiceOptions {
    ServiceOptions::new("")
}

impl ServeArgs {
    /// The options of the collection. An existing collection keeps its settings unless the arguments differ from the
    /// defaults.
    pub fn options(&self) -> anyhow::Result<ServiceOptions> {
        let typed = self.choice.config(&self.text)?;
        let mut options = ServiceOptions::new(&self.data);
        options.config = (typed != Config::default()).then_some(typed);
        options.fields = self.fields.fields();
        options.limits.page_bytes = self.limits.max_page.0 as usize;
        options.check_tables = true;
        options.keep_pages = !self.no_keep_pages;
        options.tags = self.tags.then(FilterRules::default);
        options.queue_bytes = self.queue.0;
        options.memory_bytes = self.memory.as_ref().map_or_else(usual_memory, |memory| memory.0);
        options.repair_rate = self.repair_rate;
        options.feed_keep = self.feed_keep.age();
        options.feed_bytes = self.feed_keep.bytes();
        options.threads = self.threads.unwrap_or(options.threads);
        Ok(options)
    }

    /// The options of the HTTP server.
    pub fn http(&self) -> anyhow::Result<HttpOptions> {
        let (connections, idle) = (self.limits.connections as usize, self.limits.idle);
        if connections == 0 || idle == 0 {
            return wrong("--connections and --idle must be 1 or more".into());
        }
        Ok(HttpOptions {
            tokens: self.token_files()?,
            folder: self.data.clone(),
            snapshots: self.snapshot_job(),
            page_bytes: self.limits.max_page.0 as usize,
            idle: Duration::from_secs(idle.min(86_400)),
            grace: Duration::from_secs(self.limits.grace.min(86_400)),
            connections,
            min_body_rate: self.limits.min_body_rate.into(),
            rate: self.limits.rate(),
        })
    }

    /// How snapshots are made.
    fn snapshot_job(&self) -> Option<BackupJob> {
        let to = Depot { place: self.snapshots.clone()?, environment: environment() };
        let keep = self.keep_snapshots.map(|keep| keep as usize);
        Some(BackupJob { data: self.data.clone(), to, keep })
    }

    /// The address to listen on: any with a token, else a loopback address.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        listen_address(&self.listen, self.token_file.as_deref(), "")
    }

    /// The address for monitoring.
    pub fn monitor(&self) -> anyhow::Result<Option<SocketAddr>> {
        self.monitor_listen.as_deref().map(resolved).transpose()
    }

    /// The files with the tokens, which must be valid.
    fn token_files(&self) -> anyhow::Result<TokenFiles> {
        let files = TokenFiles { write: self.token_file.clone(), read: self.read_token_file.clone() };
        files.read().map(|_| files)
    }

    /// The format of the log.
    pub fn style(&self) -> Style {
        self.log.into()
    }
}

impl From<LogArg> for Style {
    fn from(log: LogArg) -> Style {
        match log {
            LogArg::Plain => Style::Plain,
            LogArg::Json => Style::Json,
        }
    }
}

/// The address to listen on: any with a token, else a loopback address. `or` names another remedy.
pub fn listen_address(address: &str, token: Option<&Path>, or: &str) -> anyhow::Result<SocketAddr> {
    match resolved(address)? {
        address if address.ip().to_canonical().is_loopback() || token.is_some() => Ok(address),
        address => wrong(format!(
            "{address} can be reached from other machines: add --token-file{or}, or listen on 127.0.0.1"
        )),
    }
}

/// The first address that a name stands for.
pub fn resolved(address: &str) -> anyhow::Result<SocketAddr> {
    match address.to_socket_addrs().ok().and_then(|mut all| all.next()) {
        Some(found) => Ok(found),
        None => {
            wrong(format!("`{address}` is not an address to listen on: write one such as 127.0.0.1:7171"))
        }
    }
}

fn wrong<T>(reason: String) -> anyhow::Result<T> {
    Err(WrongCall(reason).into())
}
