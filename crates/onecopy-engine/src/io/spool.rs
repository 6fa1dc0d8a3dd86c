//! Copies standard input to a file, since it is read twice.
//!
//! A run with standard input is never resumed, because the new input cannot be compared with the old: the file's
//! modification time differs.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::error::{At, Error, Result};
use crate::progress::Progress;

/// How long a stop request may go unnoticed while no input arrives.
const PATIENCE: Duration = Duration::from_millis(100);

/// Copies standard input to a file in `folder`.
pub(crate) fn spool(folder: &Path, progress: &dyn Progress) -> Result<PathBuf> {
    let path = folder.join("stdin");
    let mut file = File::create(&path).at("create", &path)?;
    let (sender, receiver) = sync_channel(2);
    // Reading cannot be interrupted, so a detached thread does it.
    std::thread::spawn(move || {
        loop {
            let mut bytes = vec![0; 1 << 18];
            let read = match io::stdin().lock().read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(n) => {
                    bytes.truncate(n);
                    Ok(bytes)
                }
                Err(error) => Err(error),
            };
            let is_last = !matches!(&read, Ok(bytes) if !bytes.is_empty());
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(read) => {
                let bytes = read.at("read", Path::new("standard input"))?;
                if bytes.is_empty() {
                    return Ok(path);
                }
                file.write_all(&bytes).at("write", &path)?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(path),
        }
        if progress.stopped() {
            return Err(Error::Stopped);
        }
    }
}
