//! Whether a connection failed because the certificate of a server is not trusted. Waiting does not help then.

use std::error::Error;
use std::io;

/// The remedy for a certificate that is not trusted.
pub const REMEDY: &str = "set SSL_CERT_FILE to a file with the certificates to trust";

/// Why the certificate of a server is not trusted, if that is the cause of an error.
pub fn distrust(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return Some(error.to_string());
        }
        // An error of the system hides the error that it wraps from its own chain.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
