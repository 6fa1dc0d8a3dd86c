//! PostgreSQL and search engines over TLS: only trusted servers get statuses, and waiting for trust is no use.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::tempdir;

use super::database::Database;
use super::expected;
use crate::collection::on;
use crate::pages::{topic, write_records};

fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stores/certificates").join(name)
}

#[test]
fn a_database_with_tls_is_written_to_if_it_is_trusted() {
    let Some(mut database) = Database::start() else { return };
    database.use_tls(&certificate("server.pem"), &certificate("server.key"));
    let folder = tempdir().expect("a folder");
    let input = write_records(folder.path(), "in.jsonl", &[("a", &topic("a"))]);
    on("import", folder.path()).arg(input).succeed();
    let plain = database.address().replace("127.0.0.1", "localhost");
    let target = format!("{plain}?sslmode=require");
    let trusting = |name: &str, target: &str| {
        let call = on("sync", folder.path()).args("--retry-for 1h --to").arg(target);
        call.variable("SSL_CERT_FILE", &certificate(name).display().to_string())
    };
    let begun = Instant::now();
    trusting("other.pem", &target).fail(1).says(&["UnknownIssuer", "SSL_CERT_FILE", "sslmode"]);
    assert!(begun.elapsed() < Duration::from_secs(60), "it does not wait");
    trusting("authority.pem", &target).succeed();
    assert_eq!(database.pages(), expected(folder.path()));
    let mut client = database.client();
    client
        .batch_execute("UPDATE onecopy_cursor SET feed = 0, begun = 0; DELETE FROM onecopy_pages")
        .expect("a change");
    trusting("other.pem", &format!("{plain}?sslmode=disable")).succeed();
    assert_eq!(database.pages(), expected(folder.path()));
}
