//! Rates as people write them: `100/s`, `600/m`.

use std::str::FromStr;

/// Requests per second on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(pub f64);

impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Rate, String> {
        let parsed = [("/s", 1.0), ("/m", 60.0), ("/h", 3_600.0)].into_iter().find_map(|(unit, seconds)| {
            let number = text.trim().strip_suffix(unit)?.trim().parse::<u32>().ok()?;
            (number > 0).then(|| f64::from(number) / seconds)
        });
        let wrong =
            || format!("`{text}` is not a rate: write a whole number and /s, /m or /h, such as 100/s");
        parsed.map(Rate).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        assert_eq!("100/s".parse(), Ok(Rate(100.0)));
        assert_eq!("90/m".parse(), Ok(Rate(1.5)));
        for wrong in ["", "100", "/s", "0/s", "-1/s", "1.5/s", "5/d"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }
}
