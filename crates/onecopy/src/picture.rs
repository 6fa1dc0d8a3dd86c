//! A picture as a list of shapes. SVG and PNG files are made from the same list, so that they look the same.

mod chart;
mod file;
mod glyphs;
mod png;
mod svg;

pub use chart::{Curve, Panel, Scale, chart};
pub use file::{picture_format, write_picture};
pub use glyphs::width_of;
pub use png::png;
pub use svg::svg;

/// A picture. Places are in pixels from the upper left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

/// A shape. Later ones are on top.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points that are joined.
    Line { points: Vec<(f64, f64)>, colour: Colour, width: f64, dash: Dash },
    /// A filled circle.
    Dot { at: (f64, f64), radius: f64, colour: Colour },
    /// A line of text. `at` is on the base line.
    Text { at: (f64, f64), text: String, colour: Colour, size: f64, weight: Weight, anchor: Anchor },
}

/// The role of a colour. The reader's system decides between light and dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Paper,
    Ink,
    Faint,
    Grid,
    First,
    Second,
}

impl Colour {
    pub const ALL: [Colour; 6] =
        [Colour::Paper, Colour::Ink, Colour::Faint, Colour::Grid, Colour::First, Colour::Second];

    /// Its name, and its values on light and on dark paper: red, green, blue. Blue and orange differ for most eyes
    /// (Okabe and Ito 2008).
    pub fn values(self) -> (&'static str, [[u8; 3]; 2]) {
        match self {
            Colour::Paper => ("paper", [[255, 255, 255], [20, 23, 26]]),
            Colour::Ink => ("ink", [[27, 31, 36], [227, 231, 235]]),
            Colour::Faint => ("faint", [[92, 102, 112], [152, 162, 173]]),
            Colour::Grid => ("grid", [[205, 211, 218], [78, 86, 96]]),
            Colour::First => ("first", [[0, 103, 170], [105, 176, 232]]),
            Colour::Second => ("second", [[200, 80, 0], [240, 148, 80]]),
        }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    Solid,
    Dashed,
}

/// Pixels of a dash, and of the gap behind it.
const DASHES: [f64; 2] = [4.0, 3.0];

/// How heavy text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}
