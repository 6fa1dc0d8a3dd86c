//! Requests over HTTP that are repeated while a server is down or busy.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::Patience;
use super::trust::{REMEDY, distrust};

pub const JSON: &str = "application/json";
pub const LINES: &str = "application/x-ndjson";

const CONNECTING: Duration = Duration::from_secs(10);
const ANSWERING: Duration = Duration::from_secs(120);
/// The most bytes of an answer.
const MOST: usize = 256 << 20;
/// The most characters of an answer that an error shows.
const SHOWN: usize = 300;
/// The codes that may go away by themselves.
pub const TRANSIENT: [u16; 6] = [408, 425, 429, 502, 503, 504];

/// A server, and how to talk to it.
pub struct Web {
    runtime: Runtime,
    client: Client,
    base: Url,
    headers: HeaderMap,
    pub patience: Patience,
}

/// An answer.
pub struct Reply {
    pub code: u16,
    headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Web {
    /// A server at an address. A name and password in it are sent with each request, and never shown.
    pub fn new(mut base: Url, patience: Patience) -> Result<Web> {
        // This fails if another client already chose a provider, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (user, password) = (base.username().to_owned(), base.password().map(str::to_owned));
        let _ = (base.set_username(""), base.set_password(None));
        let client = Client::builder()
            .user_agent(concat!("onecopy/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECTING)
            .timeout(ANSWERING)
            .build()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut web = Web { runtime, client, base, headers: HeaderMap::new(), patience };
        if !user.is_empty() {
            let request =
                web.client.get(web.base.clone()).basic_auth(decoded(&user), password.as_deref().map(decoded));
            let request = request.build()?;
            web.headers
                .extend(request.headers().get(AUTHORIZATION).map(|value| (AUTHORIZATION, value.clone())));
        }
        Ok(web)
    }

    /// Sends a secret with each request.
    pub fn with_secret(mut self, name: HeaderName, secret: &str) -> Result<Web> {
        let mut value = HeaderValue::from_str(secret)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sends a request without a body.
    pub fn ask(&self, method: Method, path: &[&str], query: &[(&str, String)]) -> Result<Reply> {
        self.send(method, path, query, ("", Vec::new()))
    }

    /// Sends a request with a body of a kind. Repeats it while the server cannot be reached or is busy.
    pub fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
        (kind, body): (&str, Vec<u8>),
    ) -> Result<Reply> {
        let mut request = Request::new(method, self.url(path, query)?);
        *request.headers_mut() = self.headers.clone();
        if !kind.is_empty() {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_str(kind)?);
            *request.body_mut() = Some(body.into());
        }
        let mut waits = self.patience.waits();
        loop {
            let again = request.try_clone().ok_or_else(|| anyhow!("a request cannot be repeated"))?;
            let (why, asked) = match self.runtime.block_on(self.attempt(again)) {
                Ok(reply) if TRANSIENT.contains(&reply.code) => {
                    (format!("answers {}", reply.said()), reply.retry_after())
                }
                Ok(reply) => return Ok(reply),
                Err(error) => match distrust(&error) {
                    Some(why) => bail!("{self} is not trusted: {why}: {REMEDY}"),
                    None => (cause(&error), None),
                },
            };
            if !waits.wait(asked)? {
                bail!(
                    "{self} {why}; tried for {:?}: is it up? --retry-for tries longer",
                    self.patience.retry_for
                );
            }
        }
    }

    fn url(&self, path: &[&str], query: &[(&str, String)]) -> Result<Url> {
        let mut url = self.base.clone();
        url.path_segments_mut().map_err(|()| anyhow!("{self} is no address"))?.pop_if_empty().extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query.iter().map(|(name, value)| (*name, value.as_str())));
        }
        Ok(url)
    }

    async fn attempt(&self, request: Request) -> reqwest::Result<Reply> {
        let mut response = self.client.execute(request).await?;
        let (code, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        while body.len() < MOST
            && let Some(chunk) = response.chunk().await?
        {
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { code, headers, body })
    }
}

impl fmt::Display for Web {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.base.as_str().trim_end_matches('/'))
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The code, and the beginning of the body.
    pub fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        format!("{}: {}", self.code, crate::columns::shown(text.trim(), SHOWN))
    }

    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).map_err(|error| anyhow!("the answer is not JSON: {error}"))
    }

    /// How long the server asks to wait. A date counts as no wish.
    fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
    }
}

/// Why a request failed. The last cause says most.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    if error.is_timeout() { "does not answer in time".into() } else { format!("cannot be reached: {cause}") }
}

/// A name or password as it was before it was written into an address.
fn decoded(text: &str) -> String {
    let pair = format!("x={}", text.replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map_or_else(String::new, |(_, text)| text.into_owned())
}
