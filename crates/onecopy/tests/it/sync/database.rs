//! A PostgreSQL server of the test's own, in a temporary folder. Without PostgreSQL the test is skipped with a message.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use tempfile::{TempDir, tempdir};

use super::Entry;
use crate::python::run;

/// Far longer than anything takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server. Dropping it kills it.
pub struct Database {
    child: Child,
    programs: PathBuf,
    pub port: u16,
    folder: TempDir,
}

/// The folder with the programs of PostgreSQL. Debian does not put it on the path.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders.extend(
        ["/usr/bin", "/usr/local/bin", "/usr/local/pgsql/bin", "/opt/homebrew/bin"].map(PathBuf::from),
    );
    let found = folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file());
    if found.is_none() {
        println!("skipped: PostgreSQL is not installed");
    }
    found
}

/// A call that does not run as root, because PostgreSQL refuses that.
fn unprivileged(program: &Path) -> Command {
    match is_root() {
        false => Command::new(program),
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        }
    }
}

/// Files of root belong to user 0.
fn is_root() -> bool {
    tempdir().and_then(|folder| folder.path().metadata()).is_ok_and(|about| about.uid() == 0)
}

impl Database {
    /// Starts a server; `None` where PostgreSQL is not installed.
    pub fn start() -> Option<Database> {
        let programs = programs()?;
        let folder = tempdir().expect("a folder");
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()), LIMIT).expect("a user postgres");
        }
        let data = folder.path().join("db");
        let init = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--no-locale", "--no-sync", "-D"];
        run(unprivileged(&programs.join("initdb")).args(init).arg(&data).current_dir("/"), LIMIT)
            .expect("a cluster");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port").port();
        let child = launch(&programs, &data, port);
        let database = Database { child, programs, port, folder };
        database.client();
        Some(database)
    }

    /// Stops the server at once.
    pub fn stop(&mut self) {
        // SIGINT: it aborts transactions and ends.
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }

    /// Starts the server again.
    pub fn restart(&mut self) {
        self.child = launch(&self.programs, &self.folder.path().join("db"), self.port);
        self.client();
    }

    /// Makes a user whose logins need a password.
    pub fn add_user(&mut self, name: &str, password: &str) {
        let grant = format!("CREATE ROLE {name} LOGIN SUPERUSER PASSWORD '{password}'");
        self.client().batch_execute(&grant).expect("a role");
        let rules = format!("host all {name} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
        std::fs::write(self.folder.path().join("db/pg_hba.conf"), rules).expect("a file");
        self.stop();
        self.restart();
    }

    /// Starts the server again with a certificate and its key.
    pub fn use_tls(&mut self, certificate: &Path, key: &Path) {
        self.stop();
        let data = self.folder.path().join("db");
        // The owner of the folder copies, because the server must own its key.
        let install = |from: &Path, to: &str| {
            let copied = std::fs::read(from).and_then(|bytes| std::fs::write(data.join(to), bytes));
            copied.expect("a copy");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(data.join(to), mode).expect("a mode");
            if is_root() {
                run(Command::new("chown").arg("postgres").arg(data.join(to)), LIMIT).expect("an owner");
            }
        };
        install(certificate, "server.crt");
        install(key, "server.key");
        let config = std::fs::OpenOptions::new().append(true).open(data.join("postgresql.conf"));
        config.and_then(|mut config| config.write_all(b"\nssl = on\n")).expect("a setting");
        self.restart();
    }

    /// The address for `--to`.
    pub fn address(&self) -> String {
        format!("postgres://tester@127.0.0.1:{}/postgres", self.port)
    }

    /// A connection. Waits for a server that starts.
    pub fn client(&self) -> Client {
        let begun = Instant::now();
        loop {
            match Client::connect(&self.address(), NoTls) {
                Ok(client) => return client,
                Err(error) if begun.elapsed() > LIMIT => panic!("no PostgreSQL: {error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// The pages in the table.
    pub fn pages(&self) -> BTreeMap<String, Entry> {
        let rows = self.client().query("SELECT id, group_id, winner, status FROM onecopy_pages", &[]);
        rows.expect("a table").iter().map(|row| (row.get(0), (row.get(1), row.get(2), row.get(3)))).collect()
    }

    /// The number of the feed that the cursor has; zero without one.
    pub fn cursor(&self) -> i64 {
        let found = self.client().query("SELECT feed FROM onecopy_cursor", &[]);
        found.ok().and_then(|rows| rows.first().map(|row| row.get(0))).unwrap_or(0)
    }
}

fn launch(programs: &Path, data: &Path, port: u16) -> Child {
    let mut command = unprivileged(&programs.join("postgres"));
    command.arg("-D").arg(data).args(["-F", "-h", "127.0.0.1", "-k", "", "-p", &port.to_string()]);
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("PostgreSQL starts")
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop();
    }
}
