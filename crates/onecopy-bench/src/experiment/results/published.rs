//! The published figures of Jain, Dahlin and Tewari (2005), on a Pentium III of 933 MHz.

/// Table 1: milliseconds to cut a document of 10 KB to 10 MB (rows) into chunks of 256 bytes to 8 KB (columns).
pub const CHUNK_MS: [[f64; 4]; 4] =
    [[0.3, 0.3, 0.2, 0.2], [4.0, 3.0, 3.0, 2.0], [29.0, 27.0, 26.0, 24.0], [405.0, 321.0, 267.0, 259.0]];

/// Table 2: milliseconds to make the filter of a document of 10 KB to 10 MB (rows) by 2, 4 and 8 hashes (columns).
pub const FILTER_MS: [[f64; 3]; 4] =
    [[11.0, 12.0, 14.0], [118.0, 120.0, 126.0], [961.0, 1042.0, 1198.0], [11792.0, 11960.0, 12860.0]];

/// Table 2: how many chunks these documents had.
pub const CHUNKS: [u64; 4] = [35, 309, 2959, 30463];

/// Table 3: the bits of two filters, and the microseconds to AND them.
pub const AND_US: [(u32, f64); 6] =
    [(100, 1.9), (300, 2.4), (625, 2.9), (1250, 3.9), (2500, 6.2), (5000, 10.7)];

/// Table 4: milliseconds to match and cluster the first 10, 20, ... 320 results of three queries.
pub const CLUSTER_MS: [(&str, [f64; 6]); 3] = [
    ("emacs manual", [1.0, 4.0, 15.0, 66.0, 286.0, 1233.0]),
    ("ohio court battle", [1.0, 7.0, 24.0, 98.0, 369.0, 1426.0]),
    ("hawking black hole bet", [1.0, 6.0, 23.0, 88.0, 364.0, 1407.0]),
];

/// Figure 6: the share of repeats among 493 results of "emacs manual", at 50 % to 90 % of the bits.
pub const EMACS_REPEATS: [f64; 5] = [0.886, 0.554, 0.357, 0.335, 0.310];

/// Figure 7: the share among 836 results of "ohio court battle", at 50 % and at 90 %; the others are only drawn.
pub const OHIO_REPEATS: [f64; 2] = [0.64, 0.24];

/// Figure 5: the similarity of a file to the nearest of its 19 later versions.
pub const NEAREST_VERSION: f64 = 0.98;
