//! Sizes as people write them: `512M`, `1.5 GB`.

use std::fmt;
use std::str::FromStr;

/// A number of bytes on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Size, String> {
        parse(text).map(Size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            bytes if bytes % (1 << 30) == 0 => write!(f, "{}G", bytes >> 30),
            bytes if bytes % (1 << 20) == 0 => write!(f, "{}M", bytes >> 20),
            bytes => write!(f, "{bytes}"),
        }
    }
}

/// Reads a size in bytes: a number and, if it has one, a unit. Units are powers of 1024.
fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let scale = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 1u64,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return Err(format!("`{text}` is not a size: write a number and K, M, G or T, such as 512M")),
    };
    match number.parse::<f64>() {
        Ok(number) if number * scale as f64 <= u64::MAX as f64 => Ok((number * scale as f64) as u64),
        _ => Err(format!("`{text}` is not a size: write a number and K, M, G or T, such as 512M")),
    }
}

/// Writes a number of bytes for people, in decimal units as disks and networks are sold.
pub fn human(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if unit == 0 || value >= 99.5 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// Writes a count with separated thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a count with its noun, such as `1 page` and `2 pages`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Writes a count in a few characters: `9,999`, `81k`, `3.7M`.
pub fn short(number: u64) -> String {
    let (scale, unit) = match number {
        0..10_000 => return count(number),
        10_000..999_500 => (1e3, "k"),
        999_500..999_500_000 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    let value = number as f64 / scale;
    if value < 99.5 && unit != "k" { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse("512M"), Ok(512 << 20));
        assert_eq!(parse("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse("64kb"), Ok(64 << 10));
        assert_eq!(parse("77"), Ok(77));
        for wrong in ["", "M", "12X", "-1", "1e3", "99999999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_written() {
        assert_eq!(human(999), "999 B");
        assert_eq!(human(105_847_685), "106 MB");
        assert_eq!(human(1_500), "1.5 kB");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
        let shorter = [9_999, 10_000, 999_499, 3_700_000, 99_600_000, 12_300_000_000].map(short);
        assert_eq!(shorter, ["9,999", "10k", "999k", "3.7M", "100M", "12.3G"]);
    }
}
