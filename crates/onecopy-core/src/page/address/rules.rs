//! The rules of URL identity as a person writes them, and compiled for lookup.
//!
//! The shipped rules are a file that explains itself, so that changing them needs no other document. A key that a
//! file leaves out keeps its shipped value. An unknown key is refused.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use url::Url;

use super::parts::is_plain_host;
use crate::config::ConfigError;

/// The rules for which addresses name the same page. They are read from a file; the shipped one is the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenRules", into = "WrittenRules")]
pub struct AddressRules {
    pub(super) written: WrittenRules,
    pub(super) compiled: Compiled,
}

impl AddressRules {
    /// The file that ships with the program: every rule, with a comment that explains it.
    pub const SHIPPED: &str = include_str!("../../../rules/addresses.toml");

    /// Reads rules from the text of a file. Missing keys are as in [`AddressRules::SHIPPED`].
    pub fn parse(text: &str) -> Result<AddressRules, ConfigError> {
        let explain = |error: toml::de::Error| refused(error.to_string().trim_end());
        let mut all: toml::Table = AddressRules::SHIPPED.parse().map_err(explain)?;
        all.extend(text.parse::<toml::Table>().map_err(explain)?);
        let written: WrittenRules = all.try_into().map_err(explain)?;
        AddressRules::try_from(written)
    }
}

impl Default for AddressRules {
    fn default() -> AddressRules {
        static SHIPPED: OnceLock<AddressRules> = OnceLock::new();
        SHIPPED.get_or_init(|| AddressRules::parse("").expect("the shipped rules are tested")).clone()
    }
}

/// The keys of the file, which explains each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenRules {
    pub ignore_scheme: bool,
    pub ignore_host_case: bool,
    pub international_hosts: bool,
    pub drop_trailing_dot: bool,
    pub drop_user_info: bool,
    pub drop_default_ports: bool,
    host_prefixes: Vec<String>,
    pub resolve_dot_segments: bool,
    pub merge_slashes: bool,
    pub drop_trailing_slash: bool,
    index_files: Vec<String>,
    pub normalise_percent_encoding: bool,
    pub sort_parameters: bool,
    pub drop_empty_query: bool,
    tracking_parameters: Vec<String>,
    session_parameters: Vec<String>,
    session_parameters_if_long: Vec<String>,
    pub drop_fragments: bool,
    pub keep_hash_bang: bool,
    host_aliases: BTreeMap<String, String>,
    hosts: Vec<WrittenHost>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenHost {
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep_parameters: Option<Vec<String>>,
    #[serde(default)]
    drop_parameters: Vec<String>,
}

impl From<AddressRules> for WrittenRules {
    fn from(rules: AddressRules) -> WrittenRules {
        rules.written
    }
}

impl TryFrom<WrittenRules> for AddressRules {
    type Error = ConfigError;

    fn try_from(written: WrittenRules) -> Result<AddressRules, ConfigError> {
        let compiled = Compiled::of(&written)?;
        Ok(AddressRules { written, compiled })
    }
}

/// From this length on, a value names a visit if its name can also mean an article. Article numbers are shorter.
const LONG_VALUE_BYTES: usize = 16;

/// The lists, compiled for lookup.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compiled {
    prefixes: Vec<Box<[u8]>>,
    aliases: Hosts<Box<[u8]>>,
    index_files: Vec<Box<[u8]>>,
    tracking: Names,
    sessions: Names,
    sessions_if_long: Names,
    hosts: Hosts<CompiledHost>,
}

/// The rules for the parameters of one host.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledHost {
    keep: Option<Names>,
    drop: Names,
}

impl Compiled {
    fn of(written: &WrittenRules) -> Result<Compiled, ConfigError> {
        let mut compiled = Compiled {
            prefixes: written.host_prefixes.iter().map(|prefix| lower(prefix)).collect(),
            aliases: Hosts::default(),
            index_files: written.index_files.iter().map(|name| lower(name)).collect(),
            tracking: Names::of(&written.tracking_parameters),
            sessions: Names::of(&written.session_parameters),
            sessions_if_long: Names::of(&written.session_parameters_if_long),
            hosts: Hosts::default(),
        };
        if compiled.prefixes.iter().any(|prefix| prefix.is_empty()) {
            return Err(refused("host_prefixes has an empty entry: leave it out"));
        }
        for (from, to) in &written.host_aliases {
            let to = compiled.end_of_aliases(to, written)?;
            compiled.aliases.insert(compiled.host(from)?, to);
        }
        for own in &written.hosts {
            let keep = own.keep_parameters.as_deref().map(Names::of);
            let rule = CompiledHost { keep, drop: Names::of(&own.drop_parameters) };
            let host = compiled.host(&own.host)?;
            let host = compiled.aliases.get(&host).cloned().unwrap_or(host);
            compiled.hosts.insert(host, rule);
        }
        Ok(compiled)
    }

    /// The host that `host` finally means; an alias can lead to another alias.
    fn end_of_aliases(&self, host: &str, written: &WrittenRules) -> Result<Box<[u8]>, ConfigError> {
        let mut end = self.host(host)?;
        for _ in 0..=written.host_aliases.len() {
            let mut next = None;
            for (from, to) in &written.host_aliases {
                if self.host(from)? == end {
                    next = Some(self.host(to)?);
                }
            }
            match next {
                Some(next) => end = next,
                None => return Ok(end),
            }
        }
        Err(refused(&format!("host_aliases lead from {host:?} back to it: remove one of them")))
    }

    /// A host of the rules in the form that lookups use.
    fn host(&self, host: &str) -> Result<Box<[u8]>, ConfigError> {
        let url = Url::parse(&format!("http://{host}/")).ok();
        let ascii = url.as_ref().and_then(Url::host_str).filter(|ascii| is_plain_host(ascii, false));
        let Some(ascii) = ascii else {
            return Err(refused(&format!("{host:?} is not a host: give a name such as site.example")));
        };
        let mut host = ascii.trim_end_matches('.').as_bytes();
        while let Some(prefix) = self.host_prefix(host) {
            host = &host[prefix..];
        }
        Ok(host.into())
    }

    /// The length of the prefix that `host` loses. Two labels stay, or `www.com` would become `com`.
    pub(super) fn host_prefix(&self, host: &[u8]) -> Option<usize> {
        let drops = |prefix: &[u8]| {
            host.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
                && host[prefix.len()..].contains(&b'.')
        };
        self.prefixes.iter().find(|prefix| drops(prefix)).map(|prefix| prefix.len())
    }

    pub(super) fn host_alias(&self, host: &[u8]) -> Option<&[u8]> {
        self.aliases.get(host).map(|alias| &alias[..])
    }

    /// The rule for `host`, or for the nearest host above it.
    pub(super) fn host_rule(&self, host: &[u8]) -> Option<&CompiledHost> {
        let mut rest = host;
        loop {
            if let Some(rule) = self.hosts.get(rest) {
                return Some(rule);
            }
            rest = &rest[memchr::memchr(b'.', rest)? + 1..];
        }
    }

    pub(super) fn is_index(&self, name: &[u8]) -> bool {
        self.index_files.iter().any(|file| file.eq_ignore_ascii_case(name))
    }

    /// Whether `name=value` names a visit, in a path or a query.
    pub(super) fn is_session(&self, parameter: &[u8]) -> bool {
        let (name, value) = name_and_value(parameter);
        self.sessions.contains(name)
            || (value.len() >= LONG_VALUE_BYTES && self.sessions_if_long.contains(name))
    }

    /// Whether `name=value` of a query belongs to the identity.
    pub(super) fn counts(&self, parameter: &[u8], own: Option<&CompiledHost>) -> bool {
        let (name, _) = name_and_value(parameter);
        if let Some(own) = own {
            match &own.keep {
                Some(keep) => return keep.contains(name),
                None if own.drop.contains(name) => return false,
                None => {}
            }
        }
        !(self.is_session(parameter) || self.tracking.contains(name))
    }
}

fn refused(reason: &str) -> ConfigError {
    ConfigError::AddressRules { reason: reason.into() }
}

/// Facts about some hosts.
#[derive(Clone, Debug, PartialEq)]
struct Hosts<T> {
    by_name: HashMap<Box<[u8]>, T>,
    /// A bit for each length of a name, the last for all longer names. Most hosts need no further lookup.
    lengths: u64,
}

impl<T> Default for Hosts<T> {
    fn default() -> Hosts<T> {
        Hosts { by_name: HashMap::new(), lengths: 0 }
    }
}

impl<T> Hosts<T> {
    fn insert(&mut self, host: Box<[u8]>, value: T) {
        self.lengths |= 1 << host.len().min(63);
        self.by_name.insert(host, value);
    }

    fn get(&self, host: &[u8]) -> Option<&T> {
        let possible = self.lengths >> host.len().min(63) & 1 == 1;
        possible.then(|| self.by_name.get(host))?
    }
}

fn name_and_value(parameter: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'=', parameter) {
        Some(at) => (&parameter[..at], &parameter[at + 1..]),
        None => (parameter, &[]),
    }
}

fn lower(text: &str) -> Box<[u8]> {
    text.to_ascii_lowercase().into_bytes().into()
}

/// Names of parameters, some of them patterns. They ignore case.
#[derive(Clone, Debug, PartialEq)]
struct Names {
    /// The names by first byte; those that begin with `*` are under zero. A list has few names with the same first
    /// byte, so that comparing them takes less time than hashing.
    by_first: Vec<Vec<Box<[u8]>>>,
}

impl Names {
    fn of(names: &[String]) -> Names {
        let mut by_first = vec![Vec::new(); 256];
        for name in names.iter().map(|name| lower(name)) {
            let first = name.first().copied().unwrap_or_default();
            by_first[usize::from(if first == b'*' { 0 } else { first })].push(name);
        }
        Names { by_first }
    }

    fn contains(&self, name: &[u8]) -> bool {
        let first = name.first().map_or(0, u8::to_ascii_lowercase);
        let any = |names: &[Box<[u8]>]| names.iter().any(|pattern| matches(pattern, name));
        any(&self.by_first[usize::from(first)]) || (first != 0 && any(&self.by_first[0]))
    }
}

/// Whether `name` matches `pattern`. On a mismatch only the last `*` is tried again, so that the time is at most the
/// product of the lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == name[n].to_ascii_lowercase() => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, tried)) => {
                    (p, n) = (at + 1, tried + 1);
                    star = Some((at, tried + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}
