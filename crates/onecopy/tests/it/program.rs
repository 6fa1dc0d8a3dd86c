//! Runs the program: starts it, follows its output line by line, stops it, and limits every wait.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Far longer than the program takes to end or to say something, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(150);

/// A call of the program that has not started.
#[derive(Default)]
pub struct Call {
    args: Vec<OsString>,
    folder: Option<PathBuf>,
    variables: Vec<(String, String)>,
    alone: bool,
    stdout: Option<Stdio>,
    file_kilobytes: Option<u32>,
}

/// The program with arguments.
pub fn onecopy<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Call {
    Call { args: args.into_iter().map(Into::into).collect(), ..Call::default() }
}

/// `onecopy dedup INPUT --out OUT`.
pub fn dedup(input: &Path, out: &Path) -> Call {
    onecopy([OsString::from("dedup"), input.into(), "--out".into(), out.into()])
}

impl Call {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Call {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments as typed on a command line.
    pub fn args(mut self, typed: &str) -> Call {
        self.args.extend(typed.split_whitespace().map(OsString::from));
        self
    }

    /// Sets the folder that relative paths start from.
    pub fn within(mut self, folder: &Path) -> Call {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Sets an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Call {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Removes all variables except those given here: the environment of the tests may contain keys of stores.
    pub fn without_variables(mut self) -> Call {
        self.alone = true;
        self
    }

    /// Redirects standard output.
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Call {
        self.stdout = Some(stdout.into());
        self
    }

    /// Limits the size of files that the program writes.
    pub fn with_file_limit(mut self, kilobytes: u32) -> Call {
        self.file_kilobytes = Some(kilobytes);
        self
    }

    /// Starts the program, with standard input open until [`Running::close_stdin`].
    pub fn start(mut self) -> Running {
        let path = env!("CARGO_BIN_EXE_onecopy");
        let mut command = match self.file_kilobytes {
            None => Command::new(path),
            Some(kilobytes) => {
                // A shell counts blocks of 512 bytes.
                let limit = format!("ulimit -S -f {}; exec \"$0\" \"$@\"", 2 * kilobytes);
                let mut shell = Command::new("sh");
                shell.args(["-c", &limit, path]);
                shell
            }
        };
        if self.alone {
            command.env_clear();
        }
        command
            .args(&self.args)
            // The tests' own terminal must not matter.
            .env_remove("COLUMNS")
            .envs(self.variables.drain(..))
            .stdin(Stdio::piped())
            .stdout(self.stdout.take().unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().expect("the program starts");
        let stdin = child.stdin.take();
        let out = child.stdout.take();
        let stdout = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            out.map(|mut out| out.read_to_end(&mut bytes).expect("stdout can be read"));
            String::from_utf8(bytes).expect("stdout is UTF-8")
        });
        let err = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let (sender, stderr) = channel();
        std::thread::spawn(move || {
            for line in err.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Running { child, stdin, stdout: Some(stdout), stderr, heard: Vec::new() }
    }

    /// Runs the program to its end, with empty standard input.
    pub fn run(self) -> Finished {
        self.start().finish()
    }

    /// Runs the program to its end, which must be successful.
    pub fn succeed(self) -> Finished {
        let called = format!("{:?}", self.args);
        let finished = self.run();
        assert!(finished.status.success(), "{called}: {:?}\n{}", finished.status, finished.stderr);
        finished
    }

    /// Runs the program to its end, which must have this exit code and no panic.
    pub fn fail(self, code: i32) -> Finished {
        let called = format!("{:?}", self.args);
        let finished = self.run();
        assert_eq!(finished.code(), Some(code), "{called}: {:?}\n{}", finished.status, finished.stderr);
        assert!(!finished.stderr.contains("panicked"), "{called}: {}", finished.stderr);
        finished
    }
}

/// The running program. Dropping it kills it.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<JoinHandle<String>>,
    stderr: Receiver<String>,
    heard: Vec<String>,
}

impl Running {
    /// Writes bytes to standard input.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).expect("the program reads its stdin");
    }

    /// Closes standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for a line on standard error with this start. Panics if the program ends without one.
    pub fn hear(&mut self, start: &str) {
        self.hear_line(start, |line| line.starts_with(start));
    }

    /// Waits for a line on standard error that contains these words, and returns it.
    pub fn hear_of(&mut self, words: &str) -> String {
        self.hear_line(words, |line| line.contains(words))
    }

    /// A line on standard error so far that contains these words.
    pub fn heard(&self, words: &str) -> String {
        let found = self.heard.iter().find(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("no `{words}` in {:?}", self.heard)).clone()
    }

    /// Waits for a line on standard error that contains these words; `None` if the program ends without one.
    pub fn try_hear_of(&mut self, words: &str) -> Option<String> {
        self.try_hear_line(words, |line| line.contains(words))
    }

    fn hear_line(&mut self, wanted: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        let line = self.try_hear_line(wanted, is_wanted);
        line.unwrap_or_else(|| panic!("ended without `{wanted}`: {:?}", self.heard))
    }

    fn try_hear_line(&mut self, wanted: &str, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.stderr.recv_timeout(left) {
                Ok(line) => {
                    self.heard.push(line.clone());
                    if is_wanted(&line) {
                        return Some(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!("no `{wanted}` within {LIMIT:?}, only {:?}", self.heard)
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Kills the program at once, like a power cut.
    pub fn kill(&mut self) {
        self.child.kill().expect("the program is ours to kill");
    }

    /// The number of the process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let command = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &command]).status().expect("there is a shell");
        assert!(sent.success(), "{command}");
    }

    /// Closes standard input and waits for the end.
    pub fn finish(mut self) -> Finished {
        self.close_stdin();
        let status = self.wait();
        self.heard.extend(self.stderr.iter());
        let stdout = self.stdout.take().expect("finished once").join().expect("stdout was read");
        Finished { status, stdout, stderr: self.heard.join("\n") }
    }

    /// Waits at most this long for the end. Returns whether it came.
    pub fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if self.child.try_wait().expect("the program is ours to wait for").is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }

    fn wait(&mut self) -> ExitStatus {
        // A server may have run for any time before.
        assert!(self.ends_within(LIMIT), "not finished within {LIMIT:?}: {:?}", self.heard);
        self.child.wait().expect("it ended")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output of the program, and how it ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The exit code; `None` if it was killed.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Whether it was killed by SIGKILL.
    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// Asserts that standard error contains all of these words.
    pub fn says(&self, words: &[&str]) {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in: {}", self.stderr);
        }
    }
}
