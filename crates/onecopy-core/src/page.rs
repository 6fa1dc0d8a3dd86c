//! A page as it was fetched, and the decision about it.
//!
//! Nothing in this crate can fail on a page: the reader rejects pages that cannot be judged.

pub(crate) mod address;
pub(crate) mod appraise;
pub(crate) mod charset;
pub(crate) mod head;
pub(crate) mod html;
pub(crate) mod id;
pub(crate) mod language;
pub(crate) mod link;
pub(crate) mod record;
pub(crate) mod redirect;

/// A page's permanent number, assigned at ingest. Numbers are dense from zero within a run, and never positions in a
/// file.
pub type PageId = u32;

/// Facts about a page besides its text. All are optional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals<'a> {
    /// The address that the page was fetched from.
    pub url: Option<&'a str>,
    /// The time of the fetch, or the page's own date, in seconds since 1970.
    pub time: Option<i64>,
    /// PageRank, clicks, or any number that grows with value.
    pub popularity: Option<f64>,
}

/// The decision about a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// The page stays.
    Kept,
    /// The page is removed in favour of `winner`, a page that stays and is proven to be `similarity` alike.
    Removed {
        /// The page that stays.
        winner: PageId,
        /// How similar the two are; at least the threshold.
        similarity: f64,
        /// Why it was removed.
        kind: Kind,
    },
    /// The page cannot be judged: it has no words and points at no known page.
    Rejected,
}

impl Decision {
    /// The decision about a page that stands for `target`, given the decision about `target`: it shares its fate. A
    /// revisit is a copy of its target, so it is removed for the same reason.
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
    /// Like near, and its address is another spelling of the winner's.
    Url,
    /// It redirects to the winner, or to a page that lost to the winner.
    Redirect,
}

impl Kind {
    /// The kind of a removal, given the identities of both addresses; zero for none. Near copies at one address are
    /// a separate kind.
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

/// Seconds since 1970 of a date as crawlers write it: RFC 3339 (`2024-05-01T12:00:00Z`), a bare date, fourteen
/// digits (`20240501120000`), or a Unix time in seconds or milliseconds. `None` if it is none of these.
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

/// A Unix time in seconds, from one in seconds or milliseconds. Seconds are recognised until the year 5138.
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

/// Days from 1970-01-01 in the proleptic Gregorian calendar. Years begin in March, so that leap days come last.
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
