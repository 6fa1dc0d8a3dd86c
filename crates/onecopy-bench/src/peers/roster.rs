//! The measured tools, and how to install and run them.

/// A tool.
pub struct Peer {
    /// Its name for `--only`.
    pub key: &'static str,
    /// Its name in the table.
    pub name: &'static str,
    /// How to run it.
    pub kind: Kind,
}

/// The ways to run a tool.
pub enum Kind {
    /// The program that all others are compared with.
    Onecopy,
    /// A cargo project in the folder `peers/`, built in release mode.
    Cargo { folder: &'static str, program: &'static str },
    /// A script in the folder `peers/`, and its packages.
    Python { script: &'static str, packages: &'static [&'static str] },
    /// A script with this workspace's Python package, which pip builds.
    Package { script: &'static str },
}

/// All tools, the fast ones first.
pub const ROSTER: [Peer; 10] = [
    Peer { key: "onecopy", name: "onecopy", kind: Kind::Onecopy },
    Peer {
        key: "onecopy-python",
        name: "onecopy (Python)",
        kind: Kind::Package { script: "onecopy_python.py" },
    },
    Peer {
        key: "gaoya-rust",
        name: "gaoya (Rust), other hash",
        kind: Kind::Cargo { folder: "gaoya", program: "peer-gaoya" },
    },
    Peer {
        key: "gaoya-default",
        name: "gaoya (Rust), its own hash",
        kind: Kind::Cargo { folder: "gaoya", program: "peer-gaoya-default" },
    },
    Peer {
        key: "gaoya-python",
        name: "gaoya (Python)",
        kind: Kind::Python { script: "gaoya_python.py", packages: &["gaoya", "orjson"] },
    },
    Peer {
        key: "rensa",
        name: "rensa RMinHash",
        kind: Kind::Python { script: "rensa_rminhash.py", packages: &["rensa", "orjson"] },
    },
    Peer {
        key: "daft",
        name: "Daft minhash",
        kind: Kind::Python {
            script: "daft_minhash.py",
            packages: &["daft", "pyarrow", "datasketch", "orjson"],
        },
    },
    Peer {
        key: "datasketch",
        name: "datasketch",
        kind: Kind::Python { script: "datasketch_lsh.py", packages: &["datasketch", "xxhash", "orjson"] },
    },
    Peer {
        key: "text-dedup",
        name: "text-dedup",
        kind: Kind::Python { script: "text_dedup_minhash.py", packages: &["text-dedup", "orjson"] },
    },
    Peer {
        key: "datatrove",
        name: "datatrove",
        kind: Kind::Python {
            script: "datatrove_minhash.py",
            packages: &["datatrove[io,processing]", "spacy", "orjson"],
        },
    },
];

/// The peers named in `only`, or all of them if it is empty.
pub fn chosen(only: &[String]) -> Result<Vec<&'static Peer>, String> {
    let keys: Vec<&str> = ROSTER.iter().map(|peer| peer.key).collect();
    if let Some(unknown) = only.iter().find(|key| !keys.contains(&key.as_str())) {
        return Err(format!("there is no peer {unknown:?}; choose from {}", keys.join(", ")));
    }
    Ok(ROSTER.iter().filter(|peer| only.is_empty() || only.iter().any(|key| key == peer.key)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn peers_are_chosen_by_key() {
        let keys = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            chosen(&only).map(|peers| peers.iter().map(|peer| peer.key).collect::<Vec<_>>())
        };
        assert_eq!(keys(&["rensa", "onecopy"]), Ok(vec!["onecopy", "rensa"]));
        assert_eq!(keys(&[]).unwrap().len(), ROSTER.len());
        assert!(keys(&["nobody"]).unwrap_err().contains("onecopy, onecopy-python, gaoya-rust"));
    }

    #[test]
    fn every_peer_has_its_files_and_every_package_its_version() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        let pins = std::fs::read_to_string(folder.join("requirements.txt")).unwrap();
        for peer in &ROSTER {
            match peer.kind {
                Kind::Onecopy => {}
                Kind::Package { script } => assert!(folder.join(script).exists(), "{script}"),
                Kind::Cargo { folder: project, .. } => {
                    assert!(folder.join(project).join("Cargo.toml").exists())
                }
                Kind::Python { script, packages } => {
                    assert!(folder.join(script).exists(), "{script}");
                    for package in packages {
                        let name = package.split('[').next().unwrap();
                        assert!(pins.contains(&format!("{name}==")), "{name} is not pinned");
                    }
                }
            }
        }
    }
}
