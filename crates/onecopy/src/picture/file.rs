//! Writes a picture to a file of the format that its name asks for.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Picture, png, svg};
use crate::commands::WrongCall;

/// The format of a picture.
#[derive(Clone, Copy)]
pub enum PictureFormat {
    Svg,
    Png,
}

/// The format that the ending of a file asks for. Ask before the work, which may take long.
pub fn picture_format(path: &Path) -> Result<PictureFormat> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        None | Some("svg") => Ok(PictureFormat::Svg),
        Some("png") => Ok(PictureFormat::Png),
        Some(other) => {
            let reason = format!("--plot {} asks for a .{other} file", path.display());
            Err(WrongCall(reason + ": give a name that ends in .svg or .png").into())
        }
    }
}

/// Writes a picture to a file.
pub fn write_picture(path: &Path, picture: &Picture) -> Result<()> {
    let drawn = match picture_format(path)? {
        PictureFormat::Svg => svg(picture).into_bytes(),
        PictureFormat::Png => png(picture).context("the figure is too large for PNG: give less, or .svg")?,
    };
    std::fs::write(path, drawn).with_context(|| format!("cannot write {}", path.display()))
}
