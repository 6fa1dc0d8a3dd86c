//! How much of the feed is kept, as people write it: `30d`, `1G`, or `30d,1G`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::age::Age;
use crate::size::Size;

/// The limits of the feed on the command line. An absent limit allows everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedKeep {
    age: Option<Age>,
    size: Option<Size>,
}

impl FeedKeep {
    /// A limit on the age only.
    pub fn of_age(age: Duration) -> FeedKeep {
        FeedKeep { age: Some(Age(age)), size: None }
    }

    /// How long changes are kept.
    pub fn age(self) -> Duration {
        self.age.map_or(Duration::MAX, |age| age.0)
    }

    /// How many bytes of changes are kept.
    pub fn bytes(self) -> u64 {
        self.size.map_or(u64::MAX, |size| size.0)
    }
}

impl FromStr for FeedKeep {
    type Err = String;
    fn from_str(text: &str) -> Result<FeedKeep, String> {
        let wrong = || {
            format!("`{text}` is neither a time nor a size: write one such as 30d or 1G, or both as 30d,1G")
        };
        let mut keep = FeedKeep::default();
        for part in text.split(',') {
            // `m` is a minute and `M` a mebibyte, so a size has a capital letter.
            let is_size = part.trim().ends_with(|unit: char| unit.is_ascii_uppercase());
            match is_size {
                false if keep.age.is_none() => keep.age = Some(part.parse().map_err(|_| wrong())?),
                true if keep.size.is_none() => keep.size = Some(part.parse().map_err(|_| wrong())?),
                _ => return Err(wrong()),
            }
        }
        Ok(keep)
    }
}

impl fmt::Display for FeedKeep {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (age, size) = (self.age.map(|age| age.to_string()), self.size.map(|size| size.to_string()));
        f.write_str(&[age, size].into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_told_apart() {
        let day = Duration::from_secs(86_400);
        for (text, age, bytes) in [
            ("30d", day * 30, u64::MAX),
            ("90m", Duration::from_secs(5_400), u64::MAX),
            ("90M", Duration::MAX, 90 << 20),
            ("1.5GB", Duration::MAX, 3 << 29),
            ("7d,1G", day * 7, 1 << 30),
            ("1G, 7d", day * 7, 1 << 30),
        ] {
            let keep: FeedKeep = text.parse().expect(text);
            assert_eq!((keep.age(), keep.bytes()), (age, bytes), "{text}");
        }
        assert_eq!("1G,7d".parse::<FeedKeep>().expect("both").to_string(), "7d,1G");
        for wrong in ["", "30", "7d,8d", "1G,2G", "7d,", "1x", "G"] {
            assert!(wrong.parse::<FeedKeep>().is_err(), "{wrong}");
        }
    }
}
