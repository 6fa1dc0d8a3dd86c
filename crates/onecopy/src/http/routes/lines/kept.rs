//! Answers that wait for the end of the request: in memory up to a limit, then in a file without a name.
//!
//! The file is in the collection's folder, because that disk is sized for what clients send. The system deletes it with
//! its last handle, even after a kill.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use hyper::StatusCode;
use tokio::task::block_in_place;

use crate::http::failure::{Failure, Reason};
use crate::http::reply::{self, LINES, Outcome, Pieces};

/// The most bytes in memory.
const MEMORY_BYTES: usize = 128 << 10;
/// The most bytes in all: about eight million lines. A short line has a long answer, so without a limit a client could
/// fill the disk.
const MOST_BYTES: u64 = 1 << 30;
/// The bytes that are read from the file at a time.
const PIECE_BYTES: usize = 64 << 10;

/// The answers.
pub struct Kept {
    folder: PathBuf,
    memory: Vec<u8>,
    file: Option<File>,
    bytes: u64,
}

impl Kept {
    pub fn new(folder: &Path) -> Kept {
        Kept { folder: folder.to_owned(), memory: Vec::new(), file: None, bytes: 0 }
    }

    /// Adds answers. They are kept even if they exceed the limit, which is an error.
    pub fn push(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.memory.extend_from_slice(text);
        self.bytes += text.len() as u64;
        if self.memory.len() > MEMORY_BYTES {
            self.spill().map_err(|error| {
                let error = format!("cannot keep the answers until the last line: {error}");
                let remedy =
                    "all lines so far have an outcome; make room on the disk, or send answers=refused";
                Failure::unavailable(error, remedy)
            })?;
        }
        if self.bytes > MOST_BYTES {
            let error = format!("the answers have more than {MOST_BYTES} bytes");
            let remedy = "send the rest in another request, or ask with answers=refused";
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, error, remedy));
        }
        Ok(())
    }

    /// The answer to the request. Its status is 200 only if every line was read.
    pub fn into_response(self, broken: Option<Failure>) -> Outcome {
        let status = broken.as_ref().map_or(StatusCode::OK, |failure| failure.status);
        let mut response = match self.file {
            None => reply::whole(status, LINES, self.memory),
            Some(mut file) => {
                file.rewind().map_err(|error| Failure::unavailable(error.to_string(), "check the disk"))?;
                let (pieces, mut response) = reply::stream(LINES);
                *response.status_mut() = status;
                tokio::spawn(send(file, self.memory, pieces));
                response
            }
        };
        if let Some(failure) = broken {
            response.extensions_mut().insert(Reason(failure.error));
        }
        Ok(response)
    }

    /// Moves the answers in memory to the file.
    fn spill(&mut self) -> io::Result<()> {
        block_in_place(|| {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile_in(&self.folder)?),
            };
            file.write_all(&self.memory)
        })?;
        self.memory.clear();
        Ok(())
    }
}

/// Sends the file, and then the rest. After an error the client sees an answer that is cut off.
async fn send(mut file: File, rest: Vec<u8>, mut pieces: Pieces) {
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        match block_in_place(|| file.read(&mut buffer)) {
            Ok(0) => break,
            Ok(length) => {
                if pieces.send_data(Bytes::copy_from_slice(&buffer[..length])).await.is_err() {
                    return;
                }
            }
            Err(error) => return pieces.abort(error),
        }
    }
    let _ = pieces.send_data(Bytes::from(rest)).await;
}
