//! Hints: what onecopy has for the words that people know from other tools and from papers.

/// A word that is not a method here, and the methods to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodHint {
    /// What onecopy does instead.
    pub says: &'static str,
    /// The methods to choose, with their parameters.
    pub methods: &'static [&'static str],
}

/// The hint for a word. Case, hyphens and underscores do not matter.
pub fn method_hint(word: &str) -> Option<MethodHint> {
    let word: String = word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let entry = HINTS.iter().find(|(words, ..)| words.contains(&word.as_str()))?;
    Some(MethodHint { says: entry.1, methods: entry.2 })
}

/// Words in lower case without hyphens, the hint, the methods.
const HINTS: &[(&[&str], &str, &[&str])] = &[
    (
        &[
            "minhash",
            "minhashlsh",
            "minhashes",
            "onepermutationhashing",
            "superminhash",
            "cminhash",
            "rminhash",
        ],
        "MinHash estimates the Jaccard similarity of shingles. onecopy computes it exactly with jaccard, and misses no pair. \
         shingles-b is MinHash in groups, and jaccard:min=128 compares the 128 smallest hashes",
        &["jaccard", "shingles-b", "jaccard:min=128"],
    ),
    (
        &["bottomk", "kmv", "minwise", "broder"],
        "the smallest hashes of a page estimate its Jaccard similarity: jaccard:min=128 does this, and jaccard needs no estimate",
        &["jaccard:min=128", "jaccard"],
    ),
    (
        &["lsh", "localitysensitivehashing", "banding", "bands"],
        "LSH finds likely pairs by bands of hashes. The exact methods need none: their keys find every pair. simhash, \
         shingles-b and projection-c are locality-sensitive hashes",
        &["auto", "jaccard", "simhash", "shingles-b", "projection-c"],
    ),
    (
        &[
            "fuzzy",
            "fuzzydedup",
            "neardup",
            "neardups",
            "nearduplicate",
            "nearduplicates",
            "near",
            "similarity",
        ],
        "every method finds fuzzy (near) duplicates. auto is the default; a lower threshold makes it fuzzier",
        &["auto", "jaccard", "lcs"],
    ),
    (
        &["exact", "hash", "md5", "sha1", "sha256", "checksum", "fingerprint", "fingerprints"],
        "pages with equal text are removed with every method, by a hash of the text. A threshold of 1 removes few others",
        &["jaccard:threshold=1"],
    ),
    (
        &["ngram", "ngrams", "shingle", "shingles", "shingling", "wshingling", "kshingles", "resemblance"],
        "auto and jaccard compare sets of shingles (word n-grams), 5 words long unless the shingle length is set",
        &["auto", "jaccard", "containment"],
    ),
    (
        &["supershingle", "supershingles", "megashingle", "megashingles", "algb", "algorithmb"],
        "supershingles and megashingles are the method shingles-b",
        &["shingles-b", "combined"],
    ),
    (
        &["hamming", "charikar", "manku", "google", "hammingdistance"],
        "simhash compares 64 bits by Hamming distance, and projection-c 384 bits",
        &["simhash", "projection-c"],
    ),
    (
        &["randomprojection", "randomprojections", "projection", "algc", "algorithmc", "srp"],
        "random projections are the method projection-c",
        &["projection-c", "combined"],
    ),
    (
        &["tfidf", "vectors", "bagofwords", "bow", "wordfrequencies", "vectorspace"],
        "cosine compares word frequencies, without weights for rare words",
        &["cosine"],
    ),
    (
        &[
            "levenshtein",
            "edit",
            "editdistance",
            "diff",
            "difflib",
            "subsequence",
            "rouge",
            "rougel",
            "sentence",
            "sentences",
        ],
        "lcs compares sentences in their order",
        &["lcs"],
    ),
    (
        &["overlap", "dice", "sorensen", "subset", "inclusion"],
        "containment counts the shared shingles of the smaller page, which is the overlap coefficient",
        &["containment"],
    ),
    (
        &[
            "ssdeep",
            "tlsh",
            "fuzzyhash",
            "fuzzyhashing",
            "ctph",
            "chunks",
            "chunking",
            "rabin",
            "winnowing",
            "bloomfilter",
        ],
        "bloom compares chunks of text whose ends depend on the content, as fuzzy hashes do",
        &["bloom", "jaccard:mod=16"],
    ),
    (
        &["maincontent", "boilerplate", "readability", "trafilatura", "html", "template"],
        "auto separates main content from menus and footers, and compares that",
        &["auto"],
    ),
    (
        &[
            "suffixarray",
            "suffixarrays",
            "substring",
            "substrings",
            "exactsubstr",
            "paragraph",
            "line",
            "ccnet",
        ],
        "onecopy removes whole pages, never parts of one. containment finds pages whose text is part of a longer page",
        &["containment", "lcs"],
    ),
    (
        &["embedding", "embeddings", "semantic", "semdedup", "bert", "sbert", "ann", "faiss"],
        "onecopy compares copies of text and knows nothing of meaning",
        &["auto", "cosine"],
    ),
    (
        &["url", "urls", "address", "addresses", "canonicalurl"],
        "addresses prove nothing here: pages are compared, whatever their address. links compares the addresses that pages link to",
        &["auto", "links"],
    ),
    (
        &["default", "best", "all", "any"],
        "auto is the default, and the best on most labelled sets",
        &["auto"],
    ),
];

#[cfg(test)]
mod tests {
    use super::super::{METHODS, method};
    use super::*;
    use crate::config::Config;

    #[test]
    fn words_are_found_in_any_spelling() {
        for word in ["minhash", "MinHash", "min-hash", "MinHash_LSH", "LSH", "fuzzy", "n-gram", "TF-IDF"] {
            assert!(method_hint(word).is_some(), "{word}");
        }
        assert_eq!(method_hint("tarot"), None);
        assert_eq!(method_hint(""), None);
    }

    #[test]
    fn hints_name_methods_that_there_are_and_no_word_twice() {
        let mut words: Vec<&str> = HINTS.iter().flat_map(|hint| hint.0).copied().collect();
        for hint in HINTS {
            for choice in hint.2 {
                method(&Config { method: (*choice).into(), ..Config::default() }).unwrap();
            }
        }
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all, "a word has two hints");
        let is_method = |word: &str| METHODS.iter().any(|entry| entry.name == word);
        assert!(!words.into_iter().any(is_method), "a method needs no hint");
    }
}
