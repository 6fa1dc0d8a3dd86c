//! The tokens that clients send, and the files that hold them.
//!
//! A token file that everybody on the machine can read is refused: it would protect nothing.

use std::path::{Path, PathBuf};

use crate::commands::WrongCall;

/// The minimum length of a token.
const TOKEN_LENGTH: usize = 16;

/// The tokens. Without a token for everything, there is none for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// For everything.
    pub write: Option<String>,
    /// For requests that change nothing.
    pub read: Option<String>,
}

/// The files with the tokens.
#[derive(Clone, Debug, Default)]
pub struct TokenFiles {
    pub write: Option<PathBuf>,
    pub read: Option<PathBuf>,
}

impl TokenFiles {
    /// Reads the tokens.
    pub fn read(&self) -> anyhow::Result<Tokens> {
        let token = |path: &Option<PathBuf>| path.as_deref().map(token).transpose();
        let tokens = Tokens { write: token(&self.write)?, read: token(&self.read)? };
        if tokens.read.is_some() && tokens.read == tokens.write {
            return wrong("both token files have the same token, so whoever may read may also write: write another token into one of them".into());
        }
        Ok(tokens)
    }
}

fn token(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let cannot = |error| anyhow::anyhow!("cannot read the token from {shown}: {error}");
    refuse_public(path, std::fs::metadata(path).map_err(cannot)?)?;
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let token = text.trim();
    if token.len() < TOKEN_LENGTH || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return wrong(format!(
            "the token in {shown} is too short or has spaces: write {TOKEN_LENGTH} or more visible ASCII characters, for example from `openssl rand -hex 32`"
        ));
    }
    Ok(token.to_owned())
}

/// Reads a secret that another server gave: the key of a search engine, or a token.
pub fn secret(path: &Path) -> anyhow::Result<String> {
    let cannot = |error| anyhow::anyhow!("cannot read {}: {error}", path.display());
    refuse_public(path, std::fs::metadata(path).map_err(cannot)?)?;
    Ok(std::fs::read_to_string(path).map_err(cannot)?.trim().to_owned())
}

fn refuse_public(path: &Path, about: std::fs::Metadata) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let others = 0o007;
    match about.permissions().mode() & others {
        0 => Ok(()),
        _ => {
            let shown = path.display();
            wrong(format!(
                "every user of this machine can open the token file {shown}: run `chmod o= {shown}`"
            ))
        }
    }
}

fn wrong<T>(reason: String) -> anyhow::Result<T> {
    Err(WrongCall(reason).into())
}
