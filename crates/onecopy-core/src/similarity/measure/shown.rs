//! How a similarity is written in every output.

/// Rounds a similarity to five places, unless that would mislead. Only equal sets show 1, and no removed page shows
/// less than the threshold.
pub fn shown(similarity: f64, threshold: f64) -> f64 {
    let rounded = (similarity * 1e5).round() / 1e5;
    if (rounded == 1.0 && similarity < 1.0) || rounded < threshold { similarity } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similarity_is_never_shown_as_another() {
        assert_eq!(shown(0.123_456_7, 0.1), 0.12346);
        assert_eq!(shown(0.999_999_9, 0.8), 0.999_999_9);
        assert_eq!(shown(1.0, 0.8), 1.0);
        assert_eq!(shown(9.0 / 11.0, 0.818_181), 9.0 / 11.0);
    }
}
