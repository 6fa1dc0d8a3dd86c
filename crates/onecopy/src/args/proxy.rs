//! The arguments of `onecopy proxy`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use hyper::Uri;
use onecopy_core::RefineOptions;

use super::choice::refuse_second_threshold;
use super::serve::{LogArg, listen_address, resolved};
use crate::commands::WrongCall;
use crate::http::{Style, TokenFiles};
use crate::proxy::{
    Callers, Count, HTML_FIELD, HitFields, JsonPath, PageStyle, Paging, Part, Preset, ProxyOptions, Rules,
    TAG_FIELD, TEXT_FIELDS, TextFields, Treatment,
};
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy proxy --upstream http://localhost:9200 --preset elasticsearch --text _source.body
  onecopy proxy --upstream http://localhost:8983 --preset solr --text title --text content_txt
  onecopy proxy --upstream http://localhost:7700 --preset meilisearch --tag onecopy_tag --group
  onecopy proxy --upstream http://localhost:10041 --preset generic --search-path '/d/select*' \\
    --hits body.records --id 0 --text 1 --start-param offset --size-param limit

Then search through the proxy instead of the engine:
  curl 'localhost:7172/pages/_search?q=words&size=20'
  curl 'localhost:7172/pages/_search?q=words&size=20' -H 'X-Onecopy: off'

The proxy forwards every request. It changes only answers to searches: a hit that repeats a better one
goes, and if hits are missing then, the proxy asks the engine for the next page. Total numbers, facets
and all other fields stay as in the engine's first answer. Later pages know nothing of earlier ones.

Text comes from the hits, so searches must return the field with it; if none of the --text fields is
there, hits stay. A tag from `onecopy tag` is smaller and faster. Paths have dots between names; a
number is a position in an array, and `\\.` a dot within a name.

Without a token the proxy answers only programs on this machine, and no web pages. Clients send a token
in the header X-Onecopy-Token; Authorization belongs to the engine. Ctrl-C or SIGTERM ends it.";

#[derive(ClapArgs)]
pub struct ProxyArgs {
    /// The address of the search engine, such as http://localhost:9200
    #[arg(long, value_name = "URL")]
    pub upstream: String,
    /// The search engine: how it is searched, and how its answers look
    #[arg(long, value_enum)]
    pub preset: Preset,
    /// The address to listen on. A non-loopback address requires --token-file or --allow-anyone
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7172")]
    pub listen: String,
    /// Serve /health, /ready and /metrics at this address. Only your monitoring should reach it
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub monitor_listen: Option<String>,
    /// Require the token in this file, of 16 or more characters, in the header X-Onecopy-Token.
    /// Other users must not be able to read the file. SIGHUP reads it again
    #[arg(long, value_name = "FILE", conflicts_with = "allow_anyone")]
    pub token_file: Option<PathBuf>,
    /// Answer everybody who reaches the address, web pages too. The engine's own access control still applies
    #[arg(long)]
    pub allow_anyone: bool,
    /// Trust the certificates in this PEM file for an https upstream, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub upstream_ca: Option<PathBuf>,
    /// Leave repeats out; this is the default
    #[arg(long, conflicts_with = "group")]
    pub drop: bool,
    /// Leave repeats out, and name them in the hit that they repeat: {"onecopy": {"repeats": [...]}}
    #[arg(long)]
    pub group: bool,
    /// The method that compares hits; `onecopy methods` lists all, with their parameters
    #[arg(long, value_name = "NAME[:PARAMETER=VALUE]...", default_value_t = RefineOptions::default().config.method)]
    pub method: String,
    /// Treat hits at least this similar as repeats. Higher: fewer repeats [default: the method's own]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    /// The format of the log on standard error, which has a line per request and event
    #[arg(long, value_enum, default_value_t)]
    pub log: LogArg,
    /// Print errors only: no examples, and log only failures of the proxy itself
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub answers: AnswerArgs,
    #[command(flatten)]
    pub limits: ProxyLimitArgs,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Answers, if they differ from the preset")]
pub struct AnswerArgs {
    /// Requests for this path search; a star matches anything. May be repeated
    #[arg(long, value_name = "PATTERN", requires = "hits")]
    pub search_path: Vec<String>,
    /// Where an answer has its array of hits
    #[arg(long, value_name = "PATH", required_if_eq("preset", "generic"))]
    pub hits: Option<String>,
    /// Where a hit has its id
    #[arg(long, value_name = "PATH")]
    pub id: Option<String>,
    /// Where a hit has its score
    #[arg(long, value_name = "PATH")]
    pub score: Option<String>,
    /// Where a hit has its text. If repeated, the texts are joined
    #[arg(long, value_name = "PATH")]
    pub text: Vec<String>,
    /// Where a hit has its HTML
    #[arg(long, value_name = "PATH")]
    pub html: Option<String>,
    /// Where a hit has its tag
    #[arg(long, value_name = "PATH")]
    pub tag: Option<String>,
    /// The parameter of a request, in its query or body, that says where its hits start
    #[arg(long, value_name = "NAME", requires = "size_param")]
    pub start_param: Option<String>,
    /// The parameter of a request that says how many hits it wants
    #[arg(long, value_name = "NAME", requires = "start_param")]
    pub size_param: Option<String>,
    /// What --start-param counts
    #[arg(long, value_enum, default_value_t, requires = "start_param")]
    pub start_counts: CountArg,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Limits")]
pub struct ProxyLimitArgs {
    /// Ask the engine for further hits at most this often in a search; 0 for never
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub pages: usize,
    /// Pass answers larger than this unchanged
    #[arg(long, value_name = "SIZE", default_value_t = Size(16 << 20))]
    pub max_answer: Size,
    /// Give up on an upstream that sends nothing, or not the whole answer to a search, for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub timeout: u64,
    /// Allow this many open connections
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub connections: u32,
    /// Disconnect a client that sends or receives nothing for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub idle: u64,
    /// At the end, wait this long for running requests
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub grace: u64,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum CountArg {
    /// Hits to skip
    #[default]
    Hits,
    /// Pages, from 1
    Pages,
}

impl ProxyArgs {
    /// The options of the proxy.
    pub fn options(&self) -> anyhow::Result<ProxyOptions> {
        let limits = &self.limits;
        if limits.connections == 0 || limits.idle == 0 || limits.timeout == 0 || limits.max_answer.0 == 0 {
            return wrong("--connections, --idle, --timeout and --max-answer must be 1 or more");
        }
        let seconds = |seconds: u64| Duration::from_secs(seconds.min(86_400));
        let callers = match self.allow_anyone {
            true => Callers::Anyone,
            false => Callers::Checked(TokenFiles { write: self.token_file.clone(), read: None }),
        };
        Ok(ProxyOptions {
            upstream: self.upstream()?,
            certificates: self.upstream_ca.clone(),
            searches: self.answers.searches(self.preset)?,
            rules: Rules { fields: self.answers.fields(self.preset)?, options: self.refining()? },
            treatment: if self.group { Treatment::Group } else { Treatment::Drop },
            paging: self.answers.paging(self.preset),
            further: limits.pages,
            answer_bytes: limits.max_answer.0 as usize,
            timeout: seconds(limits.timeout),
            patience: seconds(limits.idle),
            grace: seconds(limits.grace),
            connections: limits.connections as usize,
            callers,
        })
    }

    fn refining(&self) -> anyhow::Result<RefineOptions> {
        refuse_second_threshold(self.threshold, &self.method)?;
        let mut options = RefineOptions::default();
        options.config.method.clone_from(&self.method);
        options.config.threshold = self.threshold;
        options.check().map_err(|error| WrongCall(error.to_string()))?;
        Ok(options)
    }

    fn upstream(&self) -> anyhow::Result<Uri> {
        let given = &self.upstream;
        let uri: Option<Uri> = given.parse().ok();
        let is_right = |uri: &Uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.query().is_none()
                && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
        };
        match uri.filter(is_right) {
            Some(uri) => Ok(uri),
            None => wrong(&format!(
                "`{given}` is not an upstream: write an address such as http://localhost:9200, without user and query"
            )),
        }
    }

    /// The address to listen on: any with a token or for anyone, else a loopback address.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        match self.allow_anyone {
            true => resolved(&self.listen),
            false => listen_address(&self.listen, self.token_file.as_deref(), " or --allow-anyone"),
        }
    }

    /// The address for monitoring.
    pub fn monitor(&self) -> anyhow::Result<Option<SocketAddr>> {
        self.monitor_listen.as_deref().map(resolved).transpose()
    }

    /// The format of the log.
    pub fn style(&self) -> Style {
        self.log.into()
    }
}

impl AnswerArgs {
    fn searches(&self, preset: Preset) -> anyhow::Result<Vec<(String, JsonPath)>> {
        let hits = self.hits.as_deref();
        if !self.search_path.is_empty() {
            let hits = path(hits.unwrap_or_default())?;
            return Ok(self.search_path.iter().map(|path| (path.clone(), hits.clone())).collect());
        }
        let searches = preset.facts().searches.iter();
        searches.map(|(pattern, usual)| Ok(((*pattern).to_owned(), path(hits.unwrap_or(usual))?))).collect()
    }

    fn fields(&self, preset: Preset) -> anyhow::Result<HitFields> {
        let facts = preset.facts();
        let usual = |name: &str| format!("{}{name}", facts.fields);
        let chosen = |given: &Option<String>, usual: String| path(given.as_deref().unwrap_or(&usual));
        let paths = |paths: &mut dyn Iterator<Item = String>| -> anyhow::Result<Vec<JsonPath>> {
            paths.map(|text| path(&text)).collect()
        };
        let text = match self.text.is_empty() {
            true => TextFields::First(paths(&mut TEXT_FIELDS.iter().map(|name| usual(name)))?),
            false => TextFields::All(paths(&mut self.text.iter().cloned())?),
        };
        Ok(HitFields {
            id: chosen(&self.id, facts.id.into())?,
            score: chosen(&self.score, facts.score.into())?,
            tag: chosen(&self.tag, usual(TAG_FIELD))?,
            html: chosen(&self.html, usual(HTML_FIELD))?,
            text,
        })
    }

    /// How further hits are asked for. Names from the command line live as long as the program.
    fn paging(&self, preset: Preset) -> Paging {
        let (Some(start), Some(size)) = (&self.start_param, &self.size_param) else {
            return preset.facts().paging;
        };
        let count = match self.start_counts {
            CountArg::Hits => Count::Hits,
            CountArg::Pages => Count::Pages,
        };
        let parts = &[Part::Query, Part::Form, Part::Json];
        let style = PageStyle { start: start.clone().leak(), size: size.clone().leak(), count, parts };
        Paging { styles: vec![style].leak(), usual_size: None, never_with: &[] }
    }
}

fn path(text: &str) -> anyhow::Result<JsonPath> {
    JsonPath::parse(text).map_err(|why| WrongCall(why).into())
}

fn wrong<T>(reason: &str) -> anyhow::Result<T> {
    Err(WrongCall(reason.to_owned()).into())
}
