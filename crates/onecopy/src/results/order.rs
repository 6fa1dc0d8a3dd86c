//! The order of results: by rank, else by score, else as given.

use super::row::Row;

/// Sorts results best first. Returns a note if only some have a rank or a score.
pub(super) fn by_rank(rows: &mut [Row]) -> Option<String> {
    let count = |has: fn(&Row) -> Option<f64>| rows.iter().filter(|row| has(row).is_some()).count();
    let (ranks, scores) = (count(|row| row.rank), count(|row| row.score));
    let compared = |a: Option<f64>, b: Option<f64>| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0));
    if ranks == rows.len() {
        rows.sort_by(|a, b| compared(a.rank, b.rank));
        return None;
    }
    if ranks == 0 && scores == rows.len() {
        rows.sort_by(|a, b| compared(b.score, a.score));
        return None;
    }
    let (missing, what) = match (ranks, scores) {
        (0, 0) => return None,
        (0, scores) => (rows.len() - scores, "score"),
        (ranks, _) => (rows.len() - ranks, "rank"),
    };
    let verb = if missing == 1 { "has" } else { "have" };
    Some(format!("{missing} of {} results {verb} no {what}: their order in the input counts", rows.len()))
}
