//! The meaning of each parameter of a method, and the effect of a higher value.

use super::usual_parameters;

/// A parameter of a method, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterEntry {
    /// Its name.
    pub name: &'static str,
    /// Its default value; `off` if it has none.
    pub usual: String,
    /// Its meaning, and the effect of a higher value.
    pub about: &'static str,
}

/// The parameters of a method, in the order in which it reads them, and then those of its other ways to search.
pub fn parameter_entries(method: &str) -> Vec<ParameterEntry> {
    let mut found: Vec<ParameterEntry> = Vec::new();
    let choices = ["", ":search=rotate"].map(|other| format!("{method}{other}"));
    for (name, usual) in choices.iter().flat_map(|choice| usual_parameters(choice)) {
        if found.iter().all(|known| known.name != name) {
            found.push(ParameterEntry { name, usual, about: about(method, name).unwrap_or_default() });
        }
    }
    found
}

fn about(method: &str, parameter: &str) -> Option<&'static str> {
    let fits = |entry: &&(&str, &str, &str)| entry.1 == parameter && [method, ""].contains(&entry.0);
    ENTRIES.iter().find(fits).map(|entry| entry.2)
}

/// Method, parameter, meaning. An entry without a method is for all methods that have no entry of their own, so it
/// comes after those.
const ENTRIES: &[(&str, &str, &str)] = &[
    (
        "shingles-b",
        "threshold",
        "The share of supershingles that must agree. Higher: fewer pages are removed.",
    ),
    ("projection-c", "threshold", "The share of bits that must agree. Higher: fewer pages are removed."),
    ("combined", "threshold", "The share of bits that must agree. Higher: fewer pages are removed."),
    ("simhash", "threshold", "The share of the 64 bits that must agree. Higher: fewer pages are removed."),
    ("", "threshold", "Pages at least this similar are duplicates. Higher: fewer pages are removed."),
    (
        "",
        "evidence",
        "How many shared shingles of main content prove nothing. Higher: fewer short pages are removed.",
    ),
    ("", "pages", "A run over more pages is refused. Higher: larger runs, which take long."),
    (
        "",
        "mod",
        "Compares only the shingles whose hash is a multiple of this, such as 16. Higher: less memory, rougher estimates.",
    ),
    (
        "",
        "min",
        "Compares only this many of the smallest shingles, such as 128. Higher: better estimates, more memory.",
    ),
    (
        "simhash",
        "k",
        "Words of a feature. Higher: the order of words counts more, and fewer pages are removed.",
    ),
    ("", "k", "Words of a shingle. Higher: an edit costs more similarity, so fewer pages are removed."),
    ("", "min-values", "Min-hashes of a page. Higher: surer estimates, more work."),
    (
        "",
        "supershingles",
        "The groups that the min-hashes are split into. Higher: smaller groups, which agree more often, so more pages are removed.",
    ),
    (
        "shingles-b",
        "agree",
        "How many supershingles must agree. It follows from the threshold. Higher: fewer pages are removed.",
    ),
    (
        "",
        "agree",
        "How many bits must agree. It follows from the threshold. Higher: fewer pages are removed.",
    ),
    (
        "",
        "super-agree",
        "How many supershingles must agree before bits are compared. Higher: fewer pages are removed.",
    ),
    ("simhash", "bits", "Bits of a sketch. Only 64 is possible."),
    ("", "link-bits", "Bits of a filter of links. Higher: fewer chance agreements, more memory."),
    ("bloom", "bits", "Bits of a filter. Higher: fewer chance agreements, more memory."),
    ("links", "bits", "Bits of a filter. Higher: fewer chance agreements, more memory."),
    ("mix", "bits", "Bits of a filter of text. Higher: fewer chance agreements, more memory."),
    ("", "bits", "Bits of a sketch, a multiple of 64. Higher: surer estimates, more memory."),
    (
        "",
        "distance",
        "How many of the 64 bits may differ. It follows from the threshold. Higher: more pages are removed.",
    ),
    (
        "simhash",
        "search",
        "`tables` finds all pairs. `rotate` compares neighbours among sorted sketches: less memory, and it may miss some.",
    ),
    (
        "lcs",
        "search",
        "`sets` compares pages of one set, and may miss pairs. `all` compares all pages that share a sentence, and takes longer.",
    ),
    ("", "step", "For search=rotate: bits between two rotations. Higher: faster, and more pairs are missed."),
    (
        "",
        "window",
        "For search=rotate: how many neighbours each page is compared with. Higher: slower, and fewer pairs are missed.",
    ),
    (
        "",
        "m",
        "The buckets that sentences fall into, each with a key. Higher: more pairs are found, more work.",
    ),
    ("", "n", "The sentences of a bucket that make a key. Higher: fewer pairs are found, less work."),
    ("", "limit", "The most pages of a set. Higher: more pairs are found, more work."),
    (
        "",
        "gap",
        "Sentences of both pages that may differ inside the common part. Higher: more pages are removed.",
    ),
    (
        "",
        "edge",
        "The share of a page at either end that need not be common. Higher: more pages are removed.",
    ),
    ("", "trust", "`on` counts one coherent stretch of common sentences, `off` all of them, templates too."),
    (
        "",
        "chunk",
        "The usual bytes of a chunk of text. Higher: an edit costs more, so fewer pages are removed.",
    ),
    ("", "hashes", "Bits that each element sets. Higher: filters fill up sooner."),
    ("", "text", "The weight of the text; links have the rest. Higher: text counts more."),
];

#[cfg(test)]
mod tests {
    use super::super::METHODS;
    use super::*;

    #[test]
    fn every_parameter_is_explained_and_every_explanation_is_used() {
        let mut used = vec![false; ENTRIES.len()];
        for method in METHODS {
            let entries = parameter_entries(method.name);
            assert_eq!(
                entries.iter().filter(|entry| entry.name == "threshold").count(),
                1,
                "{}",
                method.name
            );
            for entry in entries {
                let about = about(method.name, entry.name);
                let place = ENTRIES.iter().position(|known| Some(known.2) == about && known.1 == entry.name);
                used[place.unwrap_or_else(|| panic!("{}:{} is not explained", method.name, entry.name))] =
                    true;
                assert!(!entry.usual.is_empty() && entry.about.ends_with('.'));
            }
        }
        assert!(used.iter().filter(|used| !**used).count() <= 2, "explanations that repeat another's text");
    }

    #[test]
    fn parameters_of_another_search_are_listed_too() {
        let names: Vec<&str> = parameter_entries("simhash").iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["bits", "k", "threshold", "distance", "search", "step", "window"]);
        let selected = parameter_entries("jaccard");
        assert_eq!((selected[1].name, selected[1].usual.as_str()), ("mod", "off"));
    }
}
