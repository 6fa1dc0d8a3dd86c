//! The command line: what may be typed. Defaults come from the libraries' own.

mod compare;

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use onecopy_core::{
    AddressRules, Case, Config, Content, Numbering, Punctuation, Replicas, Unit, WinnerRule, Words,
};
use onecopy_engine::{DEFAULT_MEMORY_BYTES, Fields, Job, Limits, MirrorRules, RECALL_PAGES, RemovedRecords};

use crate::size::Size;

pub use compare::CompareArgs;

/// Finds exact and near-duplicate pages, keeps the best copy, and proves what it removed.
#[derive(Parser)]
#[command(name = "onecopy", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Remove exact and near-duplicates from files
    #[command(after_help = DEDUP_EXAMPLES)]
    Dedup(Box<DedupArgs>),
    /// Say why two pages of a finished run were or were not joined
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Compare two pages by every measure, and show what matched
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Print the rules for which addresses name the same page, to be changed and given to dedup
    #[command(after_help = RULES_EXAMPLES)]
    Rules,
    /// Find hosts and folders of a finished run that mirror each other
    #[command(after_help = MIRRORS_EXAMPLES)]
    Mirrors(MirrorsArgs),
    /// List the methods, how pages can be compared, and their parameters
    #[command(after_help = METHODS_EXAMPLES)]
    Methods,
    /// Print a completion script for a shell
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completions(CompletionsArgs),
}

const EXAMPLES: &str = "\
Examples:
  onecopy dedup pages.jsonl --out clean     remove duplicates
  onecopy explain clean page-1 page-2       say why two pages were joined, or not
  onecopy compare old.html new.html         how alike two pages are, and what matched
  onecopy mirrors clean                     find hosts and folders that mirror each other
  onecopy dedup --help                      all that can be chosen";

const DEDUP_EXAMPLES: &str = "\
Examples:
  onecopy dedup pages.jsonl --out clean
  onecopy dedup 'crawl/*.warc.gz' --out clean --memory 512M
  onecopy dedup s3://bucket/crawl/ --out clean --market uk,de
  onecopy dedup site/ --out clean --threshold 0.9 --winner newer,short-url
  zcat pages.jsonl.gz | onecopy dedup - --out clean --json

Results, complete once report.json is there:
  clean/kept/           the pages that stay, in files named and made like the input's
  clean/removed.jsonl   page, winner, similarity, kind: why each other page went
  clean/groups.jsonl    group, winner, kept, members
  clean/pages.jsonl     page, url, language, group: what is known of each page
  clean/rejected.jsonl  source, line or record, reason: what could not be judged
  clean/report.json     the numbers;  clean/run.json  the configuration

A run that was stopped continues when the same command is given again.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
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

Two prefixes are mirrors when for most paths below them both have nearly the same content:
  matched      paths that both have, in one group
  mismatched   paths that both have, with different content
  only left    paths that only the left has; only right likewise
The score is the share of matched paths among those that both have, less what chance can do in so
few, less what one side lacks. Pages that many hosts have count less. The most general prefixes
that hold up are listed, with a few paths of each kind.";

const METHODS_EXAMPLES: &str = "\
Examples:
  onecopy methods
  onecopy dedup pages.jsonl --out clean --method lcs:m=9";

const COMPLETION_EXAMPLES: &str = "\
Examples:
  onecopy completions bash > ~/.local/share/bash-completion/completions/onecopy
  onecopy completions zsh  > ~/.zfunc/_onecopy
  onecopy completions fish > ~/.config/fish/completions/onecopy.fish";

#[derive(ClapArgs)]
pub struct DedupArgs {
    /// Files, folders, glob patterns, addresses (s3://, gs://, az://, https://), or - for standard input: JSON Lines, WARC,
    /// WET, ARC, each also .gz or .zst; Parquet; .html; .txt
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The folder for the results; made if it is not there
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// How pages are compared; `onecopy methods` lists the methods and their parameters
    #[arg(long, value_name = "NAME[:PARAMETER=VALUE]...", default_value_t = Config::default().method)]
    pub method: String,
    /// Pages at least this similar are duplicates. Higher: fewer pages removed [default: the method's, 0.8 for the usual one]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    /// Tokens in a shingle. Higher: edits weigh more, so fewer pages removed
    #[arg(long, short = 'k', value_name = "K", default_value_t = Config::default().shingles.length)]
    pub shingle: usize,
    /// What a token is
    #[arg(long, value_enum, default_value_t)]
    pub unit: UnitArg,
    /// Who wins among duplicates, most important rule first
    #[arg(long, value_enum, value_delimiter = ',', value_name = "RULE,...",
          default_value = default_winner())]
    pub winner: Vec<WinnerArg>,
    /// Prefer pages on hosts that end in this, such as uk or gov.uk; each of several markets gets its own lists of winners
    #[arg(long, value_delimiter = ',', value_name = "SUFFIX,...")]
    pub market: Vec<String>,
    /// Rules for which addresses name the same page, in place of those that `onecopy rules` prints
    #[arg(long, value_name = "FILE")]
    pub address_rules: Option<PathBuf>,
    /// What becomes of removed records in WARC files
    #[arg(long, value_enum, default_value_t)]
    pub removed_records: RemovedArg,
    /// The most memory to use, such as 512M or 4G; the rest goes to disk. Never changes the answer
    #[arg(long, short, value_name = "SIZE", default_value_t = Size(DEFAULT_MEMORY_BYTES))]
    pub memory: Size,
    /// Pages whose duplicates are looked for exactly after the run, to measure the recall of an approximate method; 0 for none
    #[arg(long, value_name = "N", default_value_t = RECALL_PAGES)]
    pub recall_pages: usize,
    /// How many threads to use. Never changes the answer [default: one a core]
    #[arg(long, short = 'j', value_name = "N")]
    pub threads: Option<usize>,
    /// Replace the results of another run in the output folder
    #[arg(long)]
    pub overwrite: bool,
    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the report as JSON, for programs
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fields: FieldArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Fields of a record (guessed by their usual names unless given)")]
pub struct FieldArgs {
    /// The field with the page's text or HTML
    #[arg(long, value_name = "NAME")]
    pub text_field: Option<String>,
    /// The field with the page's id
    #[arg(long, value_name = "NAME")]
    pub id_field: Option<String>,
    /// The field with the page's address
    #[arg(long, value_name = "NAME")]
    pub url_field: Option<String>,
    /// The field with the time of fetching
    #[arg(long, value_name = "NAME")]
    pub time_field: Option<String>,
    /// The field with a number that grows with the page's worth
    #[arg(long, value_name = "NAME")]
    pub popularity_field: Option<String>,
    /// The field with the address that the page redirects to
    #[arg(long, value_name = "NAME")]
    pub redirect_field: Option<String>,
    /// The field with the address that the page gives as its own (rel=canonical)
    #[arg(long, value_name = "NAME")]
    pub canonical_field: Option<String>,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "What counts as text")]
pub struct TextArgs {
    /// Which text of HTML pages is compared
    #[arg(long, value_enum, default_value_t)]
    pub content: ContentArg,
    /// What a word is in scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese)
    #[arg(long, value_enum, default_value_t)]
    pub words: WordsArg,
    /// Tell upper from lower case
    #[arg(long)]
    pub keep_case: bool,
    /// Count punctuation marks as words
    #[arg(long)]
    pub keep_punctuation: bool,
    /// Leave out bullets and numbering such as a.1 at the start of lines
    #[arg(long)]
    pub drop_numbering: bool,
    /// Count a shingle as often as it occurs in a page
    #[arg(long)]
    pub count_replicas: bool,
    /// Leave out the words in this file, separated by white space
    #[arg(long, value_name = "FILE")]
    pub stop_words: Option<PathBuf>,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Reject records and files longer than this
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::default().page_bytes as u64))]
    pub max_page: Size,
    /// Read no further in a compressed file that grows more than this many times
    #[arg(long, value_name = "N", default_value_t = Limits::default().expansion)]
    pub max_expansion: u64,
}

#[derive(ClapArgs)]
pub struct ExplainArgs {
    /// The output folder of a finished run
    pub dir: PathBuf,
    /// A page, by its name in removed.jsonl and groups.jsonl
    pub a: String,
    /// Another page
    pub b: String,
    /// Print the explanation as JSON, for programs
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct MirrorsArgs {
    /// The output folder of a finished run
    pub dir: PathBuf,
    /// Mirrors have at least this many paths with the same content. Higher: fewer mirrors
    #[arg(long, value_name = "N", default_value_t = MirrorRules::default().least_paths)]
    pub least_paths: u32,
    /// Mirrors have at least this score. Higher: fewer mirrors, and surer ones
    #[arg(long, value_name = "0..1", default_value_t = MirrorRules::default().score)]
    pub score: f64,
    /// List this many at most, the surest [default: all]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Print the mirrors as JSON, for programs
    #[arg(long)]
    pub json: bool,
}

impl MirrorsArgs {
    /// The rules that were typed.
    pub fn rules(&self) -> MirrorRules {
        MirrorRules { least_paths: self.least_paths, score: self.score, ..MirrorRules::default() }
    }
}

#[derive(ClapArgs)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum UnitArg {
    /// Runs of letters, digits and underscores
    #[default]
    Words,
    /// Characters
    Chars,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum ContentArg {
    /// The main content where it can be told, else all text
    #[default]
    Auto,
    /// Without navigation, templates and ads
    Main,
    /// All that a reader sees
    All,
}

impl From<ContentArg> for Content {
    fn from(content: ContentArg) -> Content {
        match content {
            ContentArg::Auto => Content::Auto,
            ContentArg::Main => Content::Main,
            ContentArg::All => Content::All,
        }
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum WordsArg {
    /// Runs of letters where they are short enough to compare, else words by dictionary
    #[default]
    Auto,
    /// Runs of letters
    Runs,
    /// Words by dictionary
    Segmented,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum RemovedArg {
    /// A revisit record names the page that stays
    #[default]
    Revisit,
    /// They are left out
    LeaveOut,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum WinnerArg {
    /// The more popular page
    Popularity,
    /// A URL without a query before one with
    Static,
    /// The shorter URL
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

/// Settings of object stores: the variables that their own tools use.
pub fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn read_text(path: &Path, what: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| anyhow::anyhow!("cannot read {what} from {}: {error}", path.display()))
}

impl DedupArgs {
    /// The job that was typed.
    pub fn job(&self) -> anyhow::Result<Job> {
        let mut job = Job::new(self.inputs.iter().cloned(), &self.out);
        job.config = self.config()?;
        job.fields = Fields {
            text: self.fields.text_field.clone(),
            id: self.fields.id_field.clone(),
            url: self.fields.url_field.clone(),
            time: self.fields.time_field.clone(),
            popularity: self.fields.popularity_field.clone(),
            redirect: self.fields.redirect_field.clone(),
            canonical: self.fields.canonical_field.clone(),
        };
        job.limits =
            Limits { page_bytes: self.limits.max_page.0 as usize, expansion: self.limits.max_expansion };
        job.removed_records = match self.removed_records {
            RemovedArg::Revisit => RemovedRecords::Revisit,
            RemovedArg::LeaveOut => RemovedRecords::LeaveOut,
        };
        job.environment = environment();
        job.recall_pages = self.recall_pages;
        job.memory_bytes = self.memory.0;
        job.threads = self.threads.unwrap_or(job.threads);
        job.overwrite = self.overwrite;
        Ok(job)
    }

    fn config(&self) -> anyhow::Result<Config> {
        let mut config =
            Config { method: self.method.clone(), threshold: self.threshold, ..Config::default() };
        config.winner = self.winner.iter().map(|&rule| rule.into()).collect();
        config.markets = self.market.iter().map(|market| market.trim_matches('.').to_lowercase()).collect();
        if let Some(path) = &self.address_rules {
            let text = read_text(path, "address rules")?;
            let rules = AddressRules::parse(&text);
            config.addresses = rules.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        }
        config.shingles.length = self.shingle;
        config.shingles.unit = match self.unit {
            UnitArg::Words => Unit::Words,
            UnitArg::Chars => Unit::Chars,
        };
        config.content = self.text.content.into();
        config.canonical.words = match self.text.words {
            WordsArg::Auto => Words::Auto,
            WordsArg::Runs => Words::Runs,
            WordsArg::Segmented => Words::Segmented,
        };
        if self.text.count_replicas {
            config.shingles.replicas = Replicas::Count;
        }
        if self.text.keep_case {
            config.canonical.case = Case::Keep;
        }
        if self.text.keep_punctuation {
            config.canonical.punctuation = Punctuation::Keep;
        }
        if self.text.drop_numbering {
            config.canonical.numbering = Numbering::Drop;
        }
        if let Some(path) = &self.text.stop_words {
            let text = read_text(path, "stop words")?;
            config.canonical.stop_words = text.split_whitespace().map(str::to_owned).collect();
        }
        Ok(config)
    }
}
