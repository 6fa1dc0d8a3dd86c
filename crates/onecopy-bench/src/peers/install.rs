//! Prepares a peer: builds programs, creates the Python environment, installs packages by name.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::roster::{Kind, Peer};

/// The folders and programs of the peers.
pub struct Workshop {
    /// The folder for all files that a measurement writes.
    pub work: PathBuf,
    /// The onecopy program, if the user named one.
    pub onecopy: Option<PathBuf>,
}

/// A peer ready to run.
pub struct Ready {
    /// The program to start.
    pub program: PathBuf,
    /// The script to run, if the program is an interpreter.
    pub script: Option<PathBuf>,
}

/// The folder of scripts and projects, in the source tree: this program is never installed elsewhere.
pub fn peers_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn workspace_root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent);
    crates.expect("the crate is two folders below the workspace").to_owned()
}

impl Workshop {
    /// Builds or installs `peer`. This cost is not measured.
    pub fn ready(&self, peer: &Peer) -> Result<Ready> {
        match peer.kind {
            Kind::Onecopy => {
                let program = onecopy(self.onecopy.as_deref())?;
                Ok(Ready { program, script: None })
            }
            Kind::Cargo { folder, program } => {
                let target = self.work.join("target");
                let mut cargo = cargo(&peers_folder().join(folder));
                finish(cargo.arg("--locked").arg("--target-dir").arg(&target))?;
                Ok(Ready { program: target.join("release").join(program), script: None })
            }
            Kind::Python { script, packages } => {
                let program = self.python(packages, peer.key)?;
                Ok(Ready { program, script: Some(peers_folder().join(script)) })
            }
            Kind::Package { script } => {
                let package = workspace_root().join("crates/onecopy-python");
                let package = package.to_string_lossy();
                let program = self.python(&["orjson", &package], peer.key)?;
                Ok(Ready { program, script: Some(peers_folder().join(script)) })
            }
        }
    }

    /// A Python environment with `packages` at their pinned versions. Each peer has its own, since their versions
    /// conflict.
    pub fn python(&self, packages: &[&str], key: &str) -> Result<PathBuf> {
        let environment = self.work.join(format!("{key}.venv"));
        let python = environment.join("bin").join("python");
        if !python.exists() {
            finish(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        }
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint"]);
        finish(pip.arg(peers_folder().join("requirements.txt")).args(packages))?;
        Ok(python)
    }
}

/// The program at `named`, or this workspace's release build, which is built if it is missing.
pub fn onecopy(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(program) = named {
        ensure!(program.exists(), "there is no program {}: check --onecopy", program.display());
        return program.canonicalize().with_context(|| format!("cannot find {}", program.display()));
    }
    let root = workspace_root();
    let program = target(&root).join("release").join("onecopy");
    if !program.exists() {
        finish(cargo(&root).args(["--package", "onecopy"]))?;
    }
    Ok(program)
}

/// Builds this workspace's standalone WARC reader in release mode.
pub fn warc_census() -> Result<PathBuf> {
    let root = workspace_root();
    finish(cargo(&root).args(["--package", "onecopy-engine", "--example", "warc_census"]))?;
    Ok(target(&root).join("release").join("examples").join("warc_census"))
}

/// The onecopy program that turns HTML into text, rebuilt if its source changed.
pub fn extract_program() -> Result<PathBuf> {
    example_program("extract")
}

/// An example program of `onecopy-core`, rebuilt if its source changed.
pub fn example_program(name: &str) -> Result<PathBuf> {
    let root = workspace_root();
    finish(cargo(&root).args(["--package", "onecopy-core", "--example", name]))?;
    Ok(target(&root).join("release").join("examples").join(name))
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Runs an installation step to its end. A failure shows its last lines of output.
fn finish(step: &mut Command) -> Result<()> {
    let name = step.get_program().to_string_lossy().into_owned();
    let output = step.output().with_context(|| format!("cannot start {name}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}", said.lines().last().unwrap_or("it said nothing"));
    Ok(())
}

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(folder).args(["build", "--release"]);
    cargo
}

/// The pinned packages, for the report header.
pub fn packages() -> String {
    let pins = std::fs::read_to_string(peers_folder().join("requirements.txt")).unwrap_or_default();
    let names: Vec<String> = pins
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once("=="))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_listed_with_versions() {
        assert!(packages().contains("rensa 0.5.0"), "{}", packages());
    }

    #[test]
    fn a_failed_step_is_told_in_its_last_words() {
        let error =
            finish(Command::new("sh").args(["-c", "echo first >&2; echo no disk >&2; exit 1"])).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: no disk");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = onecopy(Some(Path::new("no/such/program"))).unwrap_err();
        assert!(error.to_string().contains("no/such/program"));
    }
}
