//! Ids as JSON, written in one way: two ids are the same if they are the same text.
//!
//! JSON writes one string in many ways (`"\u65e5"`, `"日"`; `"a\/b"`, `"a/b"`), and one number too (`17`, `17.0`, `1.7e1`).
//! A string is never a number: `"17"` and `17` are two ids.

use std::borrow::Cow;

/// Longer numbers than this are written with an exponent.
const DIGITS: i64 = 40;

/// The id as JSON in its one form. Text that is not a JSON string or number stays as it is.
pub fn canonical_id(json: &str) -> Cow<'_, str> {
    match json.as_bytes() {
        [b'"', ..] if json.contains('\\') => match serde_json::from_str::<String>(json) {
            Ok(text) => serde_json::to_string(&text).expect("a string is JSON").into(),
            // Half of a pair of surrogates is no text.
            Err(_) => json.into(),
        },
        [b'-' | b'0'..=b'9', ..] => number(json).map_or(json.into(), Cow::Owned),
        _ => json.into(),
    }
}

/// A number by its exact decimal value; `None` if it is already in its form, or is no number.
fn number(json: &str) -> Option<String> {
    let (sign, digits) = json.strip_prefix('-').map_or(("", json), |digits| ("-", digits));
    if !digits.contains(['.', 'e', 'E']) {
        return (json == "-0").then(|| "0".into());
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{part}");
    let significant = all.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".into());
    }
    let zeros = (all.len() - all.trim_end_matches('0').len()) as i64;
    // The value is the significant digits, times ten to this power.
    let power = exponent.parse::<i64>().ok()?.checked_sub(part.len() as i64)?.checked_add(zeros)?;
    let length = significant.len() as i64;
    Some(match power {
        0.. if length.checked_add(power)? <= DIGITS => {
            format!("{sign}{significant}{}", "0".repeat(power as usize))
        }
        ..0 if -power < length => {
            let (whole, part) = significant.split_at((length + power) as usize);
            format!("{sign}{whole}.{part}")
        }
        ..0 if -power <= DIGITS => {
            format!("{sign}0.{}{significant}", "0".repeat((-power - length) as usize))
        }
        _ => format!("{sign}{significant}e{power}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_id_has_one_form() {
        for (written, expected) in [
            (r#""\u65e5""#, "\"日\""),
            (r#""a\/b""#, "\"a/b\""),
            (r#""\u0022\n\u001f""#, r#""\"\n\u001f""#),
            ("\"17\"", "\"17\""),
            (r#""\ud800""#, r#""\ud800""#),
            ("17", "17"),
            ("17.0", "17"),
            ("1.7e1", "17"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("0e9", "0"),
            ("170E-1", "17"),
            ("1.50", "1.5"),
            ("-0.00150", "-0.0015"),
            ("15e-4", "0.0015"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1e400", "1e400"),
            ("10e399", "1e400"),
            ("1e-99999999999999999999", "1e-99999999999999999999"),
        ] {
            assert_eq!(canonical_id(written), expected, "{written}");
            assert_eq!(canonical_id(expected), expected);
        }
    }
}
