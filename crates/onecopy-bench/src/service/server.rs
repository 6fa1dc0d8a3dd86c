//! Runs `onecopy serve` as a child process: starts it, queries it, inspects it from outside, and stops it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use serde_json::Value;

use super::http::Client;

/// How long opening or closing a collection may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// The interval between progress checks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// A running server. Dropping it kills it.
pub struct Server {
    child: Child,
    address: SocketAddr,
}

/// The memory of a process in bytes, as Linux reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Memory {
    /// Resident memory, including mapped files.
    pub rss: u64,
    /// Resident anonymous memory.
    pub anonymous: u64,
    /// Peak resident memory.
    pub peak: u64,
}

impl Server {
    /// Starts `program` on the collection in `data` with extra arguments, and waits until it is ready. Its log goes to
    /// `log`.
    pub fn start(program: &Path, data: &Path, more: &[String], log: &Path) -> Result<Server> {
        let errors = File::options().create(true).append(true).open(log);
        let errors = errors.with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = Command::new(program)
            .arg("serve")
            .arg("--data")
            .arg(data)
            .args(["--listen", "127.0.0.1:0"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let (sender, lines) = channel();
        let out = child.stdout.take().context("it has an output")?;
        std::thread::spawn(move || {
            // All output is read, since a full pipe would block the server. Sending fails once the address is known,
            // because the receiver is gone.
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let deadline = Instant::now() + PATIENCE;
        let address = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match lines.recv_timeout(left).ok().map(|line| address_in(&line)) {
                Some(Some(address)) => break address,
                Some(None) => {}
                None => {
                    let _ = child.kill();
                    let _ = child.wait();
                    bail!("onecopy serve did not say where it listens; see {}", log.display());
                }
            }
        };
        let server = Server { child, address };
        server.wait_until(deadline, "ready", |client| Ok(client.get("/ready")?.status == 200))?;
        Ok(server)
    }

    /// A server simulated by a test, with an unrelated process.
    #[cfg(test)]
    pub fn played(address: SocketAddr) -> Server {
        Server { child: Command::new("sleep").arg("60").spawn().expect("there is sleep"), address }
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection to it.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Its statistics.
    pub fn stats(&self) -> Result<Stats> {
        Stats::of(&self.client().get("/stats")?.json()?)
    }

    /// Waits until all changes accepted so far are settled.
    pub fn settle(&self, most: Duration) -> Result<()> {
        let accepted = self.stats()?.accepted;
        self.wait_until(Instant::now() + most, "settled", |client| {
            Ok(Stats::of(&client.get("/stats")?.json()?)?.settled >= accepted)
        })
    }

    fn wait_until(
        &self,
        deadline: Instant,
        what: &str,
        is_so: impl Fn(&mut Client) -> Result<bool>,
    ) -> Result<()> {
        let mut client = self.client();
        while !is_so(&mut client)? {
            if Instant::now() > deadline {
                bail!("onecopy serve is not {what} in time");
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// Its current memory.
    pub fn memory(&self) -> Memory {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let bytes = |name: &str| kilobytes(&text, name).unwrap_or(0) * 1024;
        Memory { rss: bytes("VmRSS:"), anonymous: bytes("RssAnon:"), peak: bytes("VmHWM:") }
    }

    /// The CPU seconds it has used.
    pub fn cpu_seconds(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        ticks(&text).unwrap_or(0) as f64 / TICKS_A_SECOND
    }

    /// Asks it to stop, and waits.
    pub fn stop(mut self) -> Result<()> {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).context("cannot end onecopy serve")?;
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                bail!("onecopy serve did not end when asked to");
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The statistics that are needed here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Changes waiting to be settled.
    pub waiting: u64,
    /// The number of the last accepted change.
    pub accepted: u64,
    /// The number of the last settled change.
    pub settled: u64,
    /// The number of pages put again.
    pub updates: u64,
    /// The number of those that Tier 1 settled.
    pub by_tier1: u64,
    /// The number of compared pages.
    pub compared_pages: u64,
    /// The number of compared pairs.
    pub compared_pairs: u64,
}

impl Stats {
    fn of(value: &Value) -> Result<Stats> {
        let number =
            |name: &str| value[name].as_u64().with_context(|| format!("the server's numbers lack {name}"));
        Ok(Stats {
            waiting: number("waiting")?,
            accepted: number("accepted")?,
            settled: number("settled")?,
            updates: number("updates")?,
            by_tier1: number("updates_settled_by_tier1")?,
            compared_pages: number("compared_pages")?,
            compared_pairs: number("compared_pairs")?,
        })
    }
}

/// Linux counts the CPU time of a process in hundredths of a second on all common machines.
const TICKS_A_SECOND: f64 = 100.0;

/// The address in a line such as `listening on http://127.0.0.1:8080`.
fn address_in(line: &str) -> Option<SocketAddr> {
    let rest = line.split("http://").nth(1)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && !".:[]".contains(c)).unwrap_or(rest.len());
    rest[..end].trim_end_matches(['.', ':']).parse().ok()
}

fn kilobytes(status: &str, name: &str) -> Option<u64> {
    status.lines().find(|line| line.starts_with(name))?.split_whitespace().nth(1)?.parse().ok()
}

/// User and system time after the name, which may itself contain spaces and brackets.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// The bytes that a folder takes on disk.
pub fn disk_bytes(folder: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut sum = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let facts = entry.metadata()?;
        sum += if facts.is_dir() { disk_bytes(&entry.path())? } else { facts.blocks() * 512 };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_what_the_server_says() {
        let address = "127.0.0.1:8080".parse().ok();
        for line in [
            "listening on http://127.0.0.1:8080",
            "at http://127.0.0.1:8080/, no token",
            "http://127.0.0.1:8080.",
        ] {
            assert_eq!(address_in(line), address, "{line}");
        }
        assert_eq!(address_in("listening on port 8080"), None);
    }

    #[test]
    fn linux_says_what_a_process_takes() {
        assert_eq!(kilobytes("VmPeak:\t 9 kB\nVmRSS:\t  1234 kB\n", "VmRSS:"), Some(1234));
        assert_eq!(ticks("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 30 12 0 0"), Some(42));
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn what_is_in_folders_counts_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b"), vec![7; 10_000]).unwrap();
        assert!(disk_bytes(folder.path()).unwrap() >= 10_000);
    }
}
