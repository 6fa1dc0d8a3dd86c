//! Times as people read them, in logs and in names.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time in UTC, to the millisecond: `2026-11-15T15:20:31.007Z`.
pub fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date of a day, counted from 1 January 1970. Years start on 1 March here, so a leap day is the last day.
fn date(days: u64) -> (u64, u64, u64) {
    // 1 March of year 0 was 719,468 days earlier; 400 years have 146,097 days.
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, every five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + later, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_right() {
        let at = |seconds: u64| utc(UNIX_EPOCH + Duration::from_millis(seconds * 1_000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.007Z");
        assert_eq!(at(1_794_756_031), "2026-11-15T15:20:31.007Z");
    }
}
