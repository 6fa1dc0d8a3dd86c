//! The command line. Its defaults come from the libraries, except those of the HTTP server and of lists.

mod age;
mod backup;
mod check;
mod choice;
mod collection;
mod compare;
mod cost;
mod dedup;
mod eval;
mod export;
mod feed_keep;
mod groups;
mod import;
mod input;
mod man;
mod pages;
mod proxy;
mod rank;
mod rate;
mod refine;
mod serve;
mod sketch;
mod status;
mod sync;
mod tag;
mod text;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use onecopy_engine::{Environment, MirrorRules};

pub use backup::{BackupArgs, RestoreArgs};
pub use check::CheckArgs;
pub use compare::CompareArgs;
pub use cost::CostArgs;
pub use dedup::DedupArgs;
pub use eval::EvalArgs;
pub use export::{ExportArgs, ExportStatus};
pub use groups::GroupsArgs;
pub use import::ImportArgs;
pub use man::ManArgs;
pub use pages::PagesArgs;
pub use proxy::ProxyArgs;
pub use rank::RankArgs;
pub use refine::RefineArgs;
pub use serve::ServeArgs;
pub use sketch::SketchArgs;
pub use status::StatusArgs;
pub use sync::SyncArgs;
pub use tag::TagArgs;

/// Removes exact and near-duplicate pages, keeps the best copy, and proves every removal.
#[derive(Parser)]
#[command(name = "onecopy", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Remove exact and near-duplicate pages from files
    #[command(after_help = dedup::EXAMPLES)]
    Dedup(Box<DedupArgs>),
    /// Read pages once, so that later runs of dedup can remove what repeats them
    #[command(after_help = sketch::EXAMPLES)]
    Sketch(Box<SketchArgs>),
    /// Explain why a page of a finished run stayed or went, or why two pages were or were not joined
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Compare two pages by every method, and show what matches
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Print the rules for equal addresses, to edit and pass to dedup
    #[command(after_help = RULES_EXAMPLES)]
    Rules,
    /// Find hosts and folders of a finished run that mirror each other
    #[command(after_help = MIRRORS_EXAMPLES)]
    Mirrors(MirrorsArgs),
    /// Score pages by the links between them (PageRank)
    #[command(after_help = rank::EXAMPLES)]
    Rank(Box<RankArgs>),
    /// Measure methods on labelled pages: precision, recall and the worst mistakes
    #[command(after_help = eval::EXAMPLES)]
    Eval(Box<EvalArgs>),
    /// Compare the cost of removing duplicates before serving pages, or from each result
    #[command(after_help = cost::EXAMPLES)]
    Cost(Box<CostArgs>),
    /// Group ranked search results with the same content, or drop the repeats
    #[command(after_help = refine::EXAMPLES)]
    Refine(Box<RefineArgs>),
    /// Write a small tag for each page, to compare search results by later
    #[command(after_help = tag::EXAMPLES)]
    Tag(TagArgs),
    /// Serve a collection over HTTP, and keep its groups up to date as pages change
    #[command(after_help = serve::EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Stand in front of a search engine, and remove repeats from its answers
    #[command(after_help = proxy::EXAMPLES)]
    Proxy(Box<ProxyArgs>),
    /// Put pages into a collection on disk
    #[command(after_help = import::EXAMPLES)]
    Import(Box<ImportArgs>),
    /// Write the pages of a collection, or their status, as JSON Lines
    #[command(after_help = export::EXAMPLES)]
    Export(ExportArgs),
    /// Show the status of pages, or the numbers of a collection
    #[command(after_help = status::EXAMPLES)]
    Status(StatusArgs),
    /// List the groups of a collection, or the pages of one group
    #[command(after_help = groups::EXAMPLES)]
    Groups(GroupsArgs),
    /// List the pages of a collection, or those of a host, a status or a language
    #[command(after_help = pages::EXAMPLES)]
    Pages(PagesArgs),
    /// Write group, winner and status of pages to a search index or a database
    #[command(after_help = sync::EXAMPLES)]
    Sync(Box<SyncArgs>),
    /// Check a collection for damage and wrong decisions
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArgs),
    /// Copy a collection as of one moment to a folder or an object store
    #[command(after_help = backup::BACKUP_EXAMPLES)]
    Backup(BackupArgs),
    /// Make a collection of a snapshot
    #[command(after_help = backup::RESTORE_EXAMPLES)]
    Restore(RestoreArgs),
    /// List the methods that compare pages, or explain one and its parameters
    #[command(after_help = METHODS_EXAMPLES)]
    Methods(MethodsArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them into a folder
    #[command(after_help = man::EXAMPLES)]
    Man(ManArgs),
}

const EXAMPLES: &str = "\
Examples:
  onecopy dedup pages.jsonl --out clean     remove duplicates
  onecopy explain clean page-1              explain why a page was removed, or kept
  onecopy compare old.html new.html         show how similar two pages are, and what matches
  onecopy mirrors clean                     find hosts and folders that mirror each other
  onecopy rank pages.jsonl --out scores.tsv score pages by their links
  onecopy eval sets/mine                    measure methods on your labelled pages
  onecopy refine results.json --drop        show each content of search results once
  onecopy serve --data pages                keep groups up to date as pages change, over HTTP
  onecopy import --data pages pages.jsonl   put pages into a collection on disk
  onecopy dedup --help                      show all options of a command";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  onecopy explain clean http://a.example/x
  onecopy explain clean crawl.warc.gz:12
  onecopy explain clean http://a.example/x http://b.example/x
  onecopy explain clean doc-17 doc-23 --json";

const RULES_EXAMPLES: &str = "\
Examples:
  onecopy rules > mine.toml
  onecopy dedup pages.jsonl --out clean --address-rules mine.toml";

const MIRRORS_EXAMPLES: &str = "\
Examples:
  onecopy mirrors clean
  onecopy mirrors clean --score 0.8 --limit 20
  onecopy mirrors clean --json > mirrors.json

Two prefixes are mirrors if both have nearly the same content at most of their paths:
  matched      paths that both have, in one group
  mismatched   paths that both have, with different content
  only left    paths that only the left prefix has; only right likewise
The score is the share of matched paths among those that both have. It is lower if there are few
such paths, if one side lacks many paths, or if many hosts have the same pages. The list has the
most general prefixes that qualify, each with a few paths of each kind.";

const METHODS_EXAMPLES: &str = "\
Examples:
  onecopy methods
  onecopy methods simhash
  onecopy methods minhash                   what onecopy has for a word from elsewhere
  onecopy dedup pages.jsonl --out clean --method lcs:m=9";

const COMPLETION_EXAMPLES: &str = "\
Examples:
  onecopy completions bash > ~/.local/share/bash-completion/completions/onecopy
  onecopy completions zsh  > ~/.zfunc/_onecopy
  onecopy completions fish > ~/.config/fish/completions/onecopy.fish";

#[derive(ClapArgs)]
pub struct ExplainArgs {
    /// The output folder of a finished run
    pub dir: PathBuf,
    /// A page: its name in the lists, its address, or its place, such as pages.jsonl:12
    pub a: String,
    /// Another page, to explain both together
    pub b: Option<String>,
    /// Print the explanation as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct MirrorsArgs {
    /// The output folder of a finished run
    pub dir: PathBuf,
    /// List mirrors with at least this many matched paths. Higher: fewer mirrors
    #[arg(long, value_name = "N", default_value_t = MirrorRules::default().least_paths)]
    pub least_paths: u32,
    /// List mirrors with at least this score. Higher: fewer and more certain mirrors
    #[arg(long, value_name = "0..1", default_value_t = MirrorRules::default().score)]
    pub score: f64,
    /// List at most this many, highest score first [default: all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Print the mirrors as JSON
    #[arg(long)]
    pub json: bool,
}

impl MirrorsArgs {
    /// The rules from the command line.
    pub fn rules(&self) -> MirrorRules {
        MirrorRules { least_paths: self.least_paths, score: self.score, ..MirrorRules::default() }
    }
}

#[derive(ClapArgs)]
pub struct MethodsArgs {
    /// Explain this method and its parameters. Words such as minhash, lsh or fuzzy name what onecopy has for them
    pub name: Option<String>,
}

#[derive(ClapArgs)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// The environment variables, which hold the settings of object stores.
pub fn environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
