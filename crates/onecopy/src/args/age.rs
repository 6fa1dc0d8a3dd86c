//! Lengths of time as people write them: `90m`, `12h`, `30d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// A length of time on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(pub Duration);

impl FromStr for Age {
    type Err = String;
    fn from_str(text: &str) -> Result<Age, String> {
        let parsed = UNITS.iter().find_map(|(unit, seconds)| {
            text.trim().strip_suffix(unit)?.trim().parse::<u64>().ok()?.checked_mul(*seconds)
        });
        let wrong = || format!("`{text}` is not a time: write a whole number and s, m, h or d, such as 30d");
        parsed.map(|seconds| Age(Duration::from_secs(seconds))).ok_or_else(wrong)
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (unit, scale) =
            UNITS.into_iter().find(|(_, scale)| seconds.is_multiple_of(*scale)).unwrap_or(("s", 1));
        write!(f, "{}{unit}", seconds / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, seconds) in [("30d", 2_592_000), ("12h", 43_200), ("90m", 5_400), ("7 s", 7)] {
            let age: Age = text.parse().expect(text);
            assert_eq!((age.0.as_secs(), age.to_string()), (seconds, text.replace(' ', "")));
        }
        for wrong in ["", "30", "d", "-1d", "1.5h", "99999999999999999999d", "300000000000000000d"] {
            assert!(wrong.parse::<Age>().is_err(), "{wrong}");
        }
    }
}
