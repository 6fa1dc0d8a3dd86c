//! A page as it was fetched, and what becomes of it.
//!
//! Nothing in this crate can fail on a page: what cannot be judged is the reader's to reject.

/// A page's permanent number, given at ingest. Dense from zero within a run, and never a position in a file.
pub type PageId = u32;

/// What is known of a page beside its text. Everything is optional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals<'a> {
    /// The address that the page was fetched from.
    pub url: Option<&'a str>,
    /// Seconds since 1970 of the fetch, or of the page's own date.
    pub time: Option<i64>,
    /// PageRank, clicks, or any number that grows with worth.
    pub popularity: Option<f64>,
}

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// The page stays.
    Kept,
    /// The page goes in favour of `winner`, a page that stays and is proven to be `similarity` alike.
    Removed {
        /// The page that stays.
        winner: PageId,
        /// How alike the two are; at least the threshold.
        similarity: f64,
        /// How that was found out.
        kind: Kind,
    },
    /// The page cannot be judged: it has no words, and it points at no page that is there.
    Rejected,
}

impl Decision {
    /// What becomes of a page that stands for `target`, which this became of: it shares its fate. A revisit is a copy of
    /// its target, so it goes for the same reason.
    pub fn shared(self, target: PageId, revisit: bool) -> Decision {
        match self {
            Decision::Removed { winner, similarity, kind } => {
                let kind = if revisit { kind } else { Kind::Redirect };
                Decision::Removed { winner, similarity, kind }
            }
            Decision::Kept | Decision::Rejected => {
                let kind = if revisit { Kind::Exact } else { Kind::Redirect };
                Decision::Removed { winner: target, similarity: 1.0, kind }
            }
        }
    }
}

/// Why a page was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its canonical text equals the winner's.
    Exact,
    /// Its similarity to the winner reaches the threshold.
    Near,
    /// As near, and its address is another way to write the winner's.
    Url,
    /// It sends its reader to a page that is the winner, or that lost to the winner.
    Redirect,
}

impl Kind {
    /// The kind of a removal, knowing the identities of the addresses of both pages; zero for none. Near copies at one
    /// address are of a kind of their own.
    pub fn between(self, page: u64, winner: u64) -> Kind {
        if self == Kind::Near && page != 0 && page == winner { Kind::Url } else { self }
    }

    /// The word for it in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Near => "near",
            Kind::Url => "url",
            Kind::Redirect => "redirect",
        }
    }
}

/// Seconds since 1970 of a date as crawlers write it: RFC 3339 (`2024-05-01T12:00:00Z`), a bare date,
/// fourteen digits (`20240501120000`), or a Unix time in seconds or milliseconds. `None` if it is none of these.
pub fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.len() != 14 && text.len() != 8 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(unix_seconds);
    }
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let compact = text.bytes().take(8).all(|b| b.is_ascii_digit());
    let at = if compact { [0, 4, 6, 8, 10, 12] } else { [0, 5, 8, 11, 14, 17] };
    let (year, month, day) =
        (digits(at[0], at[0] + 4)?, digits(at[1], at[1] + 2)?, digits(at[2], at[2] + 2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let clock = |i: usize| digits(at[i], at[i] + 2).unwrap_or(0);
    Some(
        days_since_1970(year, month, day) * 86_400 + clock(3) * 3_600 + clock(4) * 60 + clock(5) - zone(text),
    )
}

/// A Unix time in seconds, from one in seconds or milliseconds. Seconds reach the year 5138 before they are mistaken.
pub fn unix_seconds(number: i64) -> i64 {
    if number.abs() >= 100_000_000_000 { number / 1_000 } else { number }
}

/// Seconds east of Greenwich, from a trailing `+02:00`; zero for `Z` or nothing.
fn zone(text: &str) -> i64 {
    let Some(tail) = text.len().checked_sub(6).and_then(|from| text.get(from..)) else { return 0 };
    let sign = match tail.as_bytes()[0] {
        b'+' => 1,
        b'-' if text.len() > 16 => -1,
        _ => return 0,
    };
    let number =
        |from: usize| tail.get(from..from + 2).and_then(|part| part.parse::<i64>().ok()).unwrap_or(0);
    sign * (number(1) * 3_600 + number(4) * 60)
}

/// Days from 1970-01-01, by the proleptic Gregorian calendar: years begin in March, so that leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_crawlers_write_them() {
        let noon = 1_714_564_800; // 2024-05-01 12:00:00 UTC
        for text in
            ["2024-05-01T12:00:00Z", "2024-05-01 12:00:00", "20240501120000", "1714564800", "1714564800123"]
        {
            assert_eq!(parse_time(text), Some(noon), "{text}");
        }
        assert_eq!(parse_time("2024-05-01T14:00:00+02:00"), Some(noon));
        assert_eq!(parse_time("2024-05-01T12:00:00.250-00:30"), Some(noon + 1_800));
        assert_eq!(parse_time("1970-01-01"), Some(0));
        assert_eq!(parse_time("20000301"), Some(951_868_800));
        for text in ["", "yesterday", "2024-13-01", "2024", "é024-05-01"] {
            let parsed = parse_time(text);
            assert!(parsed.is_none() || text == "2024", "{text}: {parsed:?}");
        }
    }
}
