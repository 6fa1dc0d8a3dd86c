//! Where a reader of pages continues: after the last name that it got.
//!
//! The text of a cursor has hexadecimal digits only, so that it can be part of an address as it is.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The name of the last page that was looked at, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageCursor(pub(super) String);

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for PageCursor {
    type Err = ();
    fn from_str(text: &str) -> Result<PageCursor, ()> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(());
        let bytes: Vec<u8> = pairs
            .iter()
            .map(|&[high, low]| Ok((digit(high)? * 16 + digit(low)?) as u8))
            .collect::<Result<_, ()>>()?;
        let name = String::from_utf8(bytes).map_err(drop)?;
        if rest.is_empty() && !name.is_empty() { Ok(PageCursor(name)) } else { Err(()) }
    }
}

impl Serialize for PageCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_and_other_texts_do_not() {
        for name in ["\"a\"", "17", "\"\u{65e5}\\n\""] {
            let cursor = PageCursor(name.into());
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in ["", "2", "2g", "+222", "ff", "222", "é2"] {
            assert_eq!(wrong.parse::<PageCursor>(), Err(()), "{wrong}");
        }
    }
}
