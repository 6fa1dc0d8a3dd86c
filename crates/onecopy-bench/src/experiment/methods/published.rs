//! The published figures: Henzinger (2006) for B, C and both, Huang, Wang and Li (2008) for the others.

/// The published figures of a method.
pub struct Published {
    /// The method.
    pub method: &'static str,
    /// The share of duplicates among the found pairs.
    pub precision: Option<f64>,
    /// The same within one site.
    pub same_site_precision: Option<f64>,
    /// The number of found duplicates, as a multiple of simhash's.
    pub of_simhash: Option<f64>,
    /// The share of found pairs that are within one site.
    pub same_site_share: Option<f64>,
}

const NONE: Published = Published {
    method: "",
    precision: None,
    same_site_precision: None,
    of_simhash: None,
    same_site_share: None,
};

/// All figures.
pub const PUBLISHED: [Published; 6] = [
    Published { method: "shingles-b", precision: Some(0.38), same_site_share: Some(0.92), ..NONE },
    Published { method: "projection-c", precision: Some(0.50), same_site_share: Some(0.74), ..NONE },
    Published { method: "combined", precision: Some(0.79), ..NONE },
    Published {
        method: "lcs",
        precision: Some(0.95),
        same_site_precision: Some(0.91),
        of_simhash: Some(1.86),
        ..NONE
    },
    Published {
        method: "cosine",
        precision: Some(0.82),
        same_site_precision: Some(0.63),
        of_simhash: Some(1.19),
        ..NONE
    },
    Published {
        method: "simhash",
        precision: Some(0.72),
        same_site_precision: Some(0.52),
        of_simhash: Some(1.0),
        ..NONE
    },
];

/// The figures of `method`; all are `None` if nothing was published.
pub fn published(method: &str) -> &'static Published {
    PUBLISHED.iter().find(|published| published.method == method).unwrap_or(&NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_without_figures_has_none() {
        assert_eq!(published("lcs").precision, Some(0.95));
        assert_eq!(published("auto").precision, None);
    }
}
