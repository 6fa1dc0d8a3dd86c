//! Decides who may call: with tokens, every client that sends one; without one, programs on this machine, but no web page.
//!
//! A web page in a browser can send requests to a loopback address. It cannot read the answers of another origin, but a
//! write has happened by then. If its own name resolves to 127.0.0.1 (DNS rebinding), it even is the same origin. So
//! without a token, `Host` must be this machine by address or `localhost`, and the origin that a browser sends must be
//! the same. With a token neither is needed: a foreign page does not have it, and browsers never add it themselves.

use std::hint::black_box;
use std::net::IpAddr;
use std::sync::{PoisonError, RwLock};

use hyper::header::{AUTHORIZATION, HOST, ORIGIN};
use hyper::{HeaderMap, Request, StatusCode};

use super::failure::Failure;
use super::rate::Client;
use super::tokens::Tokens;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It changes nothing.
    Read,
    /// It changes the collection.
    Write,
}

/// The check that every request passes first.
pub struct Guard {
    /// They change while the service runs.
    pub tokens: RwLock<Tokens>,
    /// The address that the service listens on.
    pub address: IpAddr,
    /// The header that the token comes in.
    pub header: TokenHeader,
}

/// The header that has the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenHeader {
    /// `Authorization`, as bearer.
    Authorization,
    /// A header of our own, for a proxy: `Authorization` belongs to the server behind it.
    Own,
}

/// The header of [`TokenHeader::Own`].
pub const OWN_TOKEN: &str = "x-onecopy-token";

impl Guard {
    /// Fails with the reason if a request is refused.
    pub fn check<B>(&self, request: &Request<B>, access: Access) -> Result<(), Failure> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let has =
            |token: &Option<String>| token.as_ref().map(|token| self.header.has(request.headers(), token));
        match (has(&tokens.write), has(&tokens.read), access) {
            (None, ..) => self.check_origin(request),
            (Some(true), ..) | (_, Some(true), Access::Read) => Ok(()),
            (_, Some(true), Access::Write) => {
                Err(forbidden("this token may only read", "send the token from --token-file"))
            }
            _ => Err(Failure::unauthorized(self.header.shown())),
        }
    }

    /// Who asks, for limits on each.
    pub fn client(&self, headers: &HeaderMap, address: IpAddr) -> Client {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let has =
            |token: &Option<String>| token.as_ref().is_some_and(|token| self.header.has(headers, token));
        match (has(&tokens.write), has(&tokens.read)) {
            (true, _) => Client::Writer,
            (_, true) => Client::Reader,
            _ => Client::at(address),
        }
    }

    /// Replaces the tokens.
    pub fn replace(&self, tokens: Tokens) {
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
    }

    fn check_origin<B>(&self, request: &Request<B>) -> Result<(), Failure> {
        let headers = request.headers();
        let host = only(headers, HOST.as_str()).ok_or_else(|| {
            Failure::bad("the header `Host` is missing or repeated", "send it once, as HTTP/1.1 requires")
        })?;
        // A request may also name its host in its first line, which then takes precedence.
        let named = request.uri().authority().map_or(host, |authority| authority.as_str());
        if !self.is_here(host) || !self.is_here(named) {
            let remedy = "use 127.0.0.1 or localhost, or start the service with --token-file";
            return Err(forbidden("the requested host is not this machine", remedy));
        }
        let is_foreign = match headers.get(ORIGIN) {
            Some(origin) => origin.as_bytes() != format!("http://{host}").as_bytes(),
            None => headers
                .get("sec-fetch-site")
                .is_some_and(|site| !matches!(site.as_bytes(), b"none" | b"same-origin")),
        };
        match is_foreign {
            true => Err(forbidden(
                "requests from web pages of another origin are refused",
                "start the service with --token-file and send the token",
            )),
            false => Ok(()),
        }
    }

    /// Whether a host, with or without a port, is this machine. The port may differ, because it can be forwarded.
    fn is_here(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        match name.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback() || address == self.address,
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }
}

fn forbidden(error: &str, remedy: &str) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, error, remedy)
}

/// The value of a header that occurs once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

impl TokenHeader {
    fn has(self, headers: &HeaderMap, token: &str) -> bool {
        let value = |name: &str| headers.get(name).map_or(&b""[..], |value| value.as_bytes());
        match self {
            TokenHeader::Own => is_same(value(OWN_TOKEN), token.as_bytes()),
            TokenHeader::Authorization => {
                let given = value(AUTHORIZATION.as_str()).split_at_checked("Bearer ".len());
                given.is_some_and(|(scheme, given)| {
                    scheme.eq_ignore_ascii_case(b"Bearer ") && is_same(given, token.as_bytes())
                })
            }
        }
    }

    fn shown(self) -> &'static str {
        match self {
            TokenHeader::Authorization => "Authorization: Bearer TOKEN",
            TokenHeader::Own => "X-Onecopy-Token: TOKEN",
        }
    }
}

/// Compares in a time that depends on the lengths only, so that timing reveals nothing about the token.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |differing, (a, b)| black_box(differing | (a ^ b)));
    a.len() == b.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Guard {
        let address = "127.0.0.1".parse().expect("an address");
        Guard { tokens: RwLock::default(), address, header: TokenHeader::Authorization }
    }

    fn asked(guard: &Guard, uri: &str, headers: &[(&str, &str)]) -> Option<StatusCode> {
        let builder = headers
            .iter()
            .fold(Request::builder().uri(uri), |builder, (name, value)| builder.header(*name, *value));
        let request = builder.body(()).expect("a request");
        guard.check(&request, Access::Write).err().map(|failure| failure.status)
    }

    #[test]
    fn only_this_machine_is_answered_without_a_token() {
        let guard = here();
        let hosts = ["127.0.0.1:7171", "localhost", "LocalHost:80", "[::1]:7171", "127.0.0.2"];
        for host in hosts {
            assert_eq!(asked(&guard, "/", &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:7171", "localhost.evil.example", "10.0.0.1", ""]
        {
            assert_eq!(asked(&guard, "/", &[("host", host)]), Some(StatusCode::FORBIDDEN), "{host}");
        }
        let absolute = asked(&guard, "http://evil.example/", &[("host", "localhost")]);
        assert_eq!(absolute, Some(StatusCode::FORBIDDEN));
        assert_eq!(asked(&guard, "/", &[]), Some(StatusCode::BAD_REQUEST));
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(asked(&guard, "/", &twice), Some(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn web_pages_from_elsewhere_are_refused() {
        let guard = here();
        let from = |name, value| asked(&guard, "/", &[("host", "localhost:7171"), (name, value)]);
        assert_eq!(from("origin", "http://localhost:7171"), None);
        assert_eq!(from("sec-fetch-site", "none"), None);
        for origin in ["http://evil.example", "http://localhost:3000", "https://localhost:7171", "null"] {
            assert_eq!(from("origin", origin), Some(StatusCode::FORBIDDEN), "{origin}");
        }
        assert_eq!(from("sec-fetch-site", "cross-site"), Some(StatusCode::FORBIDDEN));
        assert_eq!(from("sec-fetch-site", "same-site"), Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn a_token_must_be_the_right_one() {
        let tokens =
            Tokens { write: Some("0123456789abcdef".into()), read: Some("reading-0123456789".into()) };
        let guard = Guard {
            tokens: RwLock::new(tokens),
            address: "10.0.0.1".parse().expect("an address"),
            header: TokenHeader::Authorization,
        };
        let with = |value| asked(&guard, "/", &[("authorization", value), ("origin", "http://a.example")]);
        assert_eq!(with("Bearer 0123456789abcdef"), None);
        assert_eq!(with("bearer 0123456789abcdef"), None);
        for wrong in ["Bearer 0123456789abcdeX", "Bearer 0123456789abcde", "0123456789abcdef", "Bearer", ""] {
            assert_eq!(with(wrong), Some(StatusCode::UNAUTHORIZED), "{wrong}");
        }
        assert_eq!(asked(&guard, "/", &[]), Some(StatusCode::UNAUTHORIZED));
        assert_eq!(with("Bearer reading-0123456789"), Some(StatusCode::FORBIDDEN));
        let reading = Request::builder().header("authorization", "Bearer reading-0123456789");
        assert!(guard.check(&reading.body(()).expect("a request"), Access::Read).is_ok());
        guard.replace(Tokens { write: Some("another-0123456789".into()), read: None });
        assert_eq!(with("Bearer 0123456789abcdef"), Some(StatusCode::UNAUTHORIZED));
        assert_eq!(with("Bearer another-0123456789"), None);
    }
}
