//! Explains errors of a store and what the user can do about them.
//!
//! A library reports its own view, such as `UnknownIssuer`; the user needs the name of the variable to set.

use object_store::Error;

use super::address::Scheme;

pub(super) const CHANGED: &str = "it changed during the run: run again";

const NO_RANGES: &str = "the server does not serve parts of a file: download it, then give the file";

/// Why a store did not answer or refused.
pub(super) fn reason(scheme: Scheme, error: &Error) -> String {
    // Errors from listing have no separate kind for a refusal.
    let (said, cause) = (error.to_string(), deepest(error));
    match error {
        _ if said.contains("NoSuchBucket") || said.contains("ContainerNotFound") => {
            "there is no such bucket: check its name, and the account, region or endpoint".into()
        }
        Error::NotFound { .. } if scheme.is_web() => "the server has no such file".into(),
        Error::NotFound { .. } => "there is no such object".into(),
        Error::Precondition { .. } => CHANGED.into(),
        // The metadata addresses of cloud machines. A client asks them for credentials if none are set.
        _ if said.contains("169.254.") || said.contains("metadata.google") => {
            format!("no credentials; {}", credentials(scheme))
        }
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => denied(scheme),
        _ if said.contains("403 Forbidden") || said.contains("401 Unauthorized") => denied(scheme),
        Error::NotSupported { .. } => NO_RANGES.into(),
        _ if said.contains("non-partial response") => NO_RANGES.into(),
        Error::InvalidPath { .. } => format!("{cause}: such a name cannot be read; rename the object"),
        _ if cause.contains("scheme is not allowed") => plain(scheme),
        _ if cause.contains("certificate") => certificate(&cause),
        _ => format!("{cause} (check {}the network, the endpoint and the proxy)", account(scheme)),
    }
}

/// Why a client could not be created: a setting is missing or wrong.
pub(super) fn setting(scheme: Scheme, error: &Error) -> String {
    let cause = deepest(error);
    match error {
        _ if cause.contains("CA certificates") => certificate(&cause),
        // This error names the file or value; its cause only says what is wrong.
        Error::Generic { source, .. } => format!("{source}; {}", credentials(scheme)),
        _ => format!("{cause}; {}", credentials(scheme)),
    }
}

fn denied(scheme: Scheme) -> String {
    format!("access denied; {}", credentials(scheme))
}

fn plain(scheme: Scheme) -> String {
    match scheme.variables() {
        Some(prefix) => format!("its endpoint is plain http: set {prefix}ALLOW_HTTP=true to allow that"),
        None => {
            "it leads on to plain http, which is not followed from https: give the http address itself".into()
        }
    }
}

fn certificate(cause: &str) -> String {
    format!("{cause}: set SSL_CERT_FILE to a file with the certificates to trust, such as your company's")
}

/// A missing storage account looks like a host that does not exist.
fn account(scheme: Scheme) -> &'static str {
    if scheme == Scheme::Azure { "AZURE_STORAGE_ACCOUNT_NAME, " } else { "" }
}

fn credentials(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, or AWS_SKIP_SIGNATURE=true for a public bucket"
        }
        Scheme::Google => {
            "set GOOGLE_APPLICATION_CREDENTIALS to a key file, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        }
        Scheme::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or with \
             AZURE_SKIP_SIGNATURE=true for a public container"
        }
        Scheme::Http | Scheme::Https => "the server wants a login, which is not supported: download the file",
    }
}

/// The root cause of an error. The outer errors only add context.
fn deepest(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    let first: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
    if first.is_empty() { error.to_string() } else { first }
}
