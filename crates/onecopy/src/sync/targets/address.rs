//! The address of a target: the engine, the server, and the index.

use std::fmt;
use std::str::FromStr;

use url::Url;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Elasticsearch,
    OpenSearch,
    Solr,
    Meilisearch,
    Typesense,
    Postgres,
}

/// The engines, as an address begins, and their usual ports.
const KINDS: [(&str, Kind, u16); 7] = [
    ("elasticsearch", Kind::Elasticsearch, 9200),
    ("opensearch", Kind::OpenSearch, 9200),
    ("solr", Kind::Solr, 8983),
    ("meilisearch", Kind::Meilisearch, 7700),
    ("typesense", Kind::Typesense, 8108),
    ("postgres", Kind::Postgres, 5432),
    ("postgresql", Kind::Postgres, 5432),
];

/// The address of a target.
#[derive(Clone, Debug)]
pub struct Address {
    pub kind: Kind,
    /// The server, with all parts of the path but the last. For PostgreSQL, the whole address.
    pub base: Url,
    /// The index, collection or core; the database of PostgreSQL.
    pub index: String,
    engine: &'static str,
    is_tls: bool,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let wrong = |why: &str| {
            format!(
                "{why}: write it as elasticsearch://HOST:9200/INDEX, opensearch://, solr://HOST:8983/solr/CORE, meilisearch://, typesense:// or postgres://USER@HOST/DATABASE, and elasticsearch+https:// for TLS"
            )
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("this is no address"))?;
        let (engine, is_tls) = match scheme.strip_suffix("+https") {
            Some(engine) => (engine, true),
            None => (scheme, false),
        };
        let known = KINDS.iter().find(|(name, ..)| *name == engine);
        let &(engine, kind, port) = known.ok_or_else(|| wrong(&format!("`{engine}` is no known engine")))?;
        if kind == Kind::Postgres {
            if is_tls {
                return Err(wrong("PostgreSQL negotiates TLS itself; see sslmode"));
            }
            return postgres(text).map_err(|why| wrong(&why));
        }
        let http = if is_tls { "https" } else { "http" };
        let mut base = Url::parse(&format!("{http}://{rest}")).map_err(|why| wrong(&why.to_string()))?;
        if !has_port(rest) {
            let _ = base.set_port(Some(port));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("the address has a query"));
        }
        let index = last_part(&mut base).ok_or_else(|| wrong("the address names no index"))?;
        Ok(Address { kind, base, index, engine, is_tls })
    }
}

/// Whether an address without its scheme names a port. The colons of an IPv6 address are in brackets.
fn has_port(rest: &str) -> bool {
    let server = rest.split('/').next().unwrap_or_default();
    let host = server.rsplit('@').next().unwrap_or_default();
    host.rsplit(']').next().unwrap_or_default().contains(':')
}

/// Takes the last part off a path.
fn last_part(base: &mut Url) -> Option<String> {
    let path = base.path().trim_end_matches('/').to_owned();
    let (folder, index) = path.rsplit_once('/')?;
    base.set_path(folder);
    // No engine allows an index whose name must be written in another way in an address.
    (!index.is_empty() && !index.contains('%')).then(|| index.to_owned())
}

fn postgres(text: &str) -> Result<Address, String> {
    let base = Url::parse(text).map_err(|why| why.to_string())?;
    let index = base.path().trim_matches('/').to_owned();
    if index.is_empty() {
        return Err("the address names no database".into());
    }
    Ok(Address { kind: Kind::Postgres, base, index, engine: "postgres", is_tls: false })
}

impl Address {
    /// The address as the name of a file.
    pub fn file_name(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
        let escaped = |c: char| if plain(c) { c.to_string() } else { format!("%{:X}", c as u32) };
        self.to_string().replace("://", "@").chars().map(escaped).collect()
    }
}

impl fmt::Display for Address {
    /// The address without password and options.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let tls = if self.is_tls { "+https" } else { "" };
        let port = self.base.port_or_known_default().map_or(String::new(), |port| format!(":{port}"));
        let folder = if self.kind == Kind::Postgres { "" } else { self.base.path().trim_end_matches('/') };
        let host = self.base.host_str().unwrap_or_default();
        write!(out, "{}{tls}://{host}{port}{folder}/{}", self.engine, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, base, index, shown) in [
            ("elasticsearch://a/web", "http://a:9200/", "web", "elasticsearch://a:9200/web"),
            (
                "opensearch+https://u:p@a/x/web/",
                "https://u:p@a:9200/x",
                "web",
                "opensearch+https://a:9200/x/web",
            ),
            ("solr://a:1/solr/web", "http://a:1/solr", "web", "solr://a:1/solr/web"),
            ("typesense://[::1]:80/w", "http://[::1]/", "w", "typesense://[::1]:80/w"),
            ("solr://u:p@[::1]/solr/w", "http://u:p@[::1]:8983/solr", "w", "solr://[::1]:8983/solr/w"),
            ("postgres://u:p@a:5/d?x=1", "postgres://u:p@a:5/d?x=1", "d", "postgres://a:5/d"),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!((address.base.as_str(), address.index.as_str()), (base, index), "{text}");
            assert_eq!(address.to_string(), shown);
        }
        let address: Address = "solr://a:1/solr/web".parse().unwrap();
        assert_eq!(address.file_name(), "solr@a%3A1%2Fsolr%2Fweb");
        for wrong in [
            "web",
            "lucene://a/web",
            "solr://a",
            "elasticsearch://a/",
            "meilisearch://a/x?y=1",
            "postgres://a",
            "elasticsearch://a/a%2Fb",
        ] {
            let said = wrong.parse::<Address>().expect_err(wrong);
            assert!(said.contains("elasticsearch://HOST"), "{said}");
        }
    }
}
