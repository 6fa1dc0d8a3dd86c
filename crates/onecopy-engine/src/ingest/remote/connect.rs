//! Creates the client of a store from an address and the settings.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, Error, ObjectStore, Result, RetryConfig};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};

use super::address::{Scheme, StoreAddress};
use super::runtime::begin;

/// The names that Microsoft's tools use. The names of `object_store` itself take precedence.
const AZURE_NAMES: [(&str, AzureConfigKey); 2] = [
    ("azure_storage_account", AzureConfigKey::AccountName),
    ("azure_storage_key", AzureConfigKey::AccessKey),
];

/// Creates a client. Sends no request yet.
pub(super) fn connect(address: &StoreAddress, settings: &[(String, String)]) -> Result<Arc<dyn ObjectStore>> {
    // Starting the runtime installs the cryptography provider that clients need.
    begin(async {}).map_err(|source| Error::Generic { store: "runtime", source: Box::new(source) })?;
    let bucket = &address.bucket;
    let settings = Settings { all: settings, prefix: address.scheme.variables().unwrap_or_default() };
    Ok(match address.scheme {
        Scheme::S3 => {
            let builder = AmazonS3Builder::new().with_client_options(client());
            let builder = settings.fold(builder, known, AmazonS3Builder::with_config);
            Arc::new(builder.with_bucket_name(bucket).with_retry(retries()).build()?)
        }
        Scheme::Google => {
            let builder = GoogleCloudStorageBuilder::new().with_client_options(as_stored(client()));
            let builder = settings.fold(builder, known, GoogleCloudStorageBuilder::with_config);
            Arc::new(builder.with_bucket_name(bucket).with_retry(retries()).build()?)
        }
        Scheme::Azure => {
            let builder = MicrosoftAzureBuilder::new().with_client_options(client());
            let builder = settings.fold(builder, theirs, MicrosoftAzureBuilder::with_config);
            let builder = settings.fold(builder, known, MicrosoftAzureBuilder::with_config);
            Arc::new(builder.with_container_name(bucket).with_retry(retries()).build()?)
        }
        Scheme::Http | Scheme::Https => {
            let builder = HttpBuilder::new().with_url(bucket).with_http_connector(Web(address.scheme));
            Arc::new(builder.with_retry(retries()).build()?)
        }
    })
}

/// The settings for one kind of store.
struct Settings<'a> {
    all: &'a [(String, String)],
    prefix: &'static str,
}

impl Settings<'_> {
    /// Passes a builder the settings it knows. It expects names in lower case.
    fn fold<B, K>(&self, builder: B, key: fn(&str) -> Option<K>, with: fn(B, K, String) -> B) -> B {
        let of_kind = self.all.iter().filter(|(name, _)| name.starts_with(self.prefix));
        of_kind.fold(builder, |builder, (name, value)| match key(&name.to_ascii_lowercase()) {
            Some(key) => with(builder, key, value.clone()),
            None => builder,
        })
    }
}

fn known<K: FromStr>(name: &str) -> Option<K> {
    name.parse().ok()
}

fn theirs(name: &str) -> Option<AzureConfigKey> {
    AZURE_NAMES.iter().find(|(theirs, _)| *theirs == name).map(|(_, key)| *key)
}

/// Google unpacks objects uploaded with `Content-Encoding: gzip`, unless the request accepts gzip. It then serves no
/// ranges and gives no size. Accepting gzip returns the stored bytes, and no code here unpacks them.
fn as_stored(options: ClientOptions) -> ClientOptions {
    options.with_default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]))
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(120);

fn client() -> ClientOptions {
    ClientOptions::new()
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_read_timeout(READ_TIMEOUT)
        .with_timeout(TIMEOUT)
}

/// The client for web servers. An address may contain a secret, such as a signature. `object_store` has no option to
/// withhold it from the target of a redirect, so this client sends no `Referer`.
#[derive(Debug)]
struct Web(Scheme);

impl HttpConnector for Web {
    fn connect(&self, _: &ClientOptions) -> Result<HttpClient> {
        let builder = reqwest::Client::builder()
            .referer(false)
            // A redirect from https to http fails.
            .https_only(self.0 == Scheme::Https)
            .user_agent(concat!("onecopy/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .timeout(TIMEOUT);
        let client = builder.build();
        client.map(HttpClient::new).map_err(|error| Error::Generic { store: "web", source: Box::new(error) })
    }
}

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(3),
            base: 2.0,
        },
        max_retries: 4,
        retry_timeout: Duration::from_secs(60),
    }
}
