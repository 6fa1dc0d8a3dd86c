//! Azurite, Microsoft's emulator of Azure, if `azurite-blob` is installed or ONECOPY_AZURITE is its path. It passes the
//! same checks as our Azure server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::tempdir;

use super::azure::{ACCOUNT, check, remote, signature};
use super::write_crawl;
use crate::client::{Answer, Connection};
use crate::results::files_below;

/// A running Azurite. Dropping it ends it.
struct Azurite {
    child: Child,
    address: String,
}

impl Drop for Azurite {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Azurite {
    /// Starts it on a free port, if it is installed.
    fn start(folder: &Path) -> Option<Azurite> {
        let program = std::env::var("ONECOPY_AZURITE").unwrap_or_else(|_| "azurite-blob".into());
        let mut command = Command::new(program);
        command
            .args(["--blobPort", "0", "--disableTelemetry", "--skipApiVersionCheck", "--location"])
            .arg(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let said = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut lines = said.lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("listens on http://")?.1.trim().to_owned()));
        let azurite = Azurite { child, address: address.expect("Azurite listens") };
        std::thread::spawn(move || lines.for_each(drop));
        Some(azurite)
    }

    /// Creates a container or a blob.
    fn put(&self, path: &str, parameters: &[(&str, &str)], own: &[(&str, &str)], body: &[u8]) {
        let owned = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        let (path, parameters) = (format!("/{ACCOUNT}/{}", encode(path)), owned(parameters));
        // Every answer, even an error, contains the date.
        let date = self.ask("GET", "/", &BTreeMap::new(), b"").header("date").expect("a date").to_owned();
        let mut headers = owned(own);
        headers.extend(owned(&[("x-ms-date", &date), ("x-ms-version", "2023-11-03")]));
        headers.insert("content-length".into(), body.len().to_string());
        let signed = signature(ACCOUNT, "PUT", (&path, &parameters), &headers);
        headers.insert("authorization".into(), signed);
        headers.remove("content-length");
        let query: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = self.ask("PUT", &format!("{path}?{}", query.join("&")), &headers, body);
        assert_eq!(answer.code, 201, "{}", answer.text());
    }

    fn ask(&self, method: &str, path: &str, headers: &BTreeMap<String, String>, body: &[u8]) -> Answer {
        let mut connection = Connection::open(&self.address).expect("Azurite listens");
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        connection.send_request(method, path, &headers, body);
        connection.answer()
    }
}

fn encode(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(one).collect()
}

#[test]
fn a_container_gives_the_answer_of_the_files_in_it() {
    let root = tempdir().expect("a folder");
    let Some(azurite) = Azurite::start(&root.path().join("azurite")) else {
        eprintln!("skipped: there is no `azurite-blob` here, and ONECOPY_AZURITE does not name one");
        return;
    };
    write_crawl(&root.path().join("pages/crawl"), 300);
    azurite.put("pages", &[("restype", "container")], &[], b"");
    for name in files_below(&root.path().join("pages")) {
        let bytes = std::fs::read(root.path().join("pages").join(&name)).expect("a file");
        azurite.put(&format!("pages/{name}"), &[], &[("x-ms-blob-type", "BlockBlob")], &bytes);
    }
    // A folder marker, as consoles create it.
    azurite.put("pages/crawl/deep/", &[], &[("x-ms-blob-type", "BlockBlob")], b"");
    check(&remote(&format!("http://{}", azurite.address)), root.path());
}
