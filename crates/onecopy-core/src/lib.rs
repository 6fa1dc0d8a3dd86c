//! The stages of onecopy as pure functions: no files, no threads, no clock.
//!
//! The life of a page:
//! ```text
//! Record        text or HTML → the text to compare, and the signals that choose a winner
//! appraise      Record       → Appraised   fingerprint, sketch, language, address, rank
//! keys          sketch       → keys        pages that share one may be duplicates
//! verify        two sketches → score?      on the whole sets, never on an estimate
//! settle        keys         → winners     best first, each removed page proven similar to one that stays
//! connect       winners      → groups      pages joined by pairs, transitively
//! ```
//! [`dedup`] runs them all over pages in memory:
//! ```
//! use onecopy_core::{Config, Decision, Record, dedup};
//!
//! let pages = [
//!     Record { id: "1", ..Record::of_text("Nine pages told the same story, and one of them was kept.") },
//!     Record { id: "2", ..Record::of_text("NINE PAGES told the same story -- and one of them was kept!") },
//! ];
//! let decisions = dedup(&pages, &Config::default())?;
//! assert!(matches!(decisions.of_page[1], Decision::Removed { winner: 0, similarity: 1.0, .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! An engine that shares the work out calls the stages itself, over [`columnar`] slices:
//! ```
//! use onecopy_core::columnar::{Column, Markup, key_column, sketch_column, verdicts};
//! use onecopy_core::{Config, Rarity, group, method};
//!
//! let config = Config { threshold: Some(0.6), ..Config::default() };
//! let method = method(&config)?;
//!
//! // Any machine: sketch the rows of a column and count how common their shingles are.
//! let bytes = b"one two three four five six seven eight\
//!               one two three four five six seven nine\
//!               something else that nobody copied anywhere";
//! let texts = Column::new(bytes, &[0i32, 39, 77, 119])?;
//! let column = sketch_column(&texts, Markup::Plain, &config, &*method);
//! let sketches = column.sketches.view();
//! let mut rarity = Rarity::empty(10);
//! sketches.rows().for_each(|sketch| rarity.count(sketch));
//!
//! // One machine merges the counts of all; every machine gets them back as bytes.
//! let mut all = Rarity::empty(10);
//! all.merge(&rarity)?;
//! let all = Rarity::from_bytes(&all.to_bytes())?;
//!
//! // Any machine: keys. A shuffle brings the rows of one key together.
//! let keys = key_column(&sketches, &all, &*method);
//! let mut held: Vec<(u64, u32)> = Vec::new();
//! for (row, keys) in (0..).zip(keys.keys.view().rows()) {
//!     held.extend(keys.iter().map(|&key| (key, row)));
//! }
//! held.sort_unstable();
//!
//! // Any machine: compare rows that share a key. Pairs that are alike join groups.
//! let shared = held.windows(2).filter(|both| both[0].0 == both[1].0);
//! let (left, right): (Vec<u32>, Vec<u32>) = shared.map(|both| (both[0].1, both[1].1)).unzip();
//! let found = verdicts(&sketches, &left, &right, &*method)?;
//! let alike: Vec<(u32, u32)> =
//!     (0..left.len()).filter(|&pair| found[pair].is_some()).map(|pair| (left[pair], right[pair])).collect();
//! let groups = group(3, &alike);
//! assert_eq!([groups.of(0), groups.of(1), groups.of(2)], [0, 0, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! [`mod@reference`] is the slow and obviously right answer; everything fast must equal it.

pub mod columnar;
mod config;
mod cost;
mod decide;
mod dedup;
mod hash;
mod layout;
mod page;
mod pagerank;
pub mod reference;
mod refine;
pub mod simd;
mod similarity;
mod text;
mod version;

pub use config::{
    CONTAINED, CanonicalRules, Case, Config, ConfigError, Content, MARKETS_LIMIT, MirrorRules, Numbering,
    PASSAGE_WORDS, PageRankRules, Punctuation, REFINE_METHOD, Replicas, SHINGLE_LENGTH_LIMIT, ShingleRules,
    TAG_METHOD, Unit, WinnerRule, Words,
};
pub use cost::{CostProfile, Machines, Scheme, machines, published_profiles, saving};
pub use decide::candidate::{Rarity, RarityError, count, count_common, is_sampled, keys};
pub use decide::connect::connect;
pub use decide::group::{Groups, SharedGroups, group};
pub use decide::order::{base_first, best_first, ranks};
pub use decide::partition::{
    Cells, DIMENSIONS, LengthVector, PageLengths, PartitionPlan, PlanFigures, Reach, Variation,
    generated_lengths, imbalance, plan_figures, rho, variation,
};
pub use decide::search::{Sets, candidates};
pub use decide::winner::{Contender, in_market, rank};
pub use decide::{graph, settle};
pub use dedup::{Decisions, decide_appraised, dedup, dedup_against};
pub use hash::{Fingerprint, digest, fingerprint};
pub use layout::{
    IndexFile, Layout, LayoutError, LayoutRules, LoadBound, Moment, Request, SPARE_FILES, Scheduler,
    Simulated, generated_requests, hand_picked, load_bound, plan_layout, simulate,
};
pub use page::address::{AddressRules, host, identity, resolve};
pub use page::appraise::{Address, Appraised, Appraiser, NamedLink};
pub use page::charset::decode;
pub use page::head::{Head, head};
#[doc(hidden)]
pub use page::html::{Judged, context, describe_blocks};
pub use page::html::{MainContent, OutLink, each_link, html_to_parts, html_to_text, links};
pub use page::id::canonical_id;
pub use page::language::{Language, language};
pub use page::link::{
    AddressBook, CanonicalHint, Claim, Claims, LinkKind, Links, PageEnd, Standing, canonical_targets, ends,
    reachable, target,
};
pub use page::record::{Archived, Needs, Record, Text, TextParts, Whole};
pub use page::redirect::{End, HOPS_LIMIT, Redirect, Target, follow};
pub use page::{Decision, Kind, PageId, Signals, parse_time, unix_seconds};
pub use pagerank::{
    Convergence, Counted, Election, InLinks, PageRank, Resets, cast_votes, count_votes, key as link_key,
    pack_links, pagerank, voters,
};
pub use refine::{
    Compared, Evidence, Grouping, Place, RefineError, RefineOptions, Refined, Relation, TAG_VERSION, Tag,
    TagError, refine,
};
pub use similarity::elsewhere::Elsewhere;
pub use similarity::filter::{Filter, FilterRules};
pub use similarity::hamming::{Index, Near, Sketches, near, near_by_rotation, near_by_scan, near_by_tables};
pub use similarity::measure::{
    containment, cosine, edit_distance, euclidean, frequencies, hamming, resemblance, shown,
};
pub use similarity::method::{
    Held, KeySink, LooksAt, METHODS, Method, MethodEntry, MethodHint, ParameterEntry, Parts, Scratch, Search,
    Subject, method, method_hint, parameter_entries, usual_parameters,
};
pub use similarity::outline::{Leeway, Slacks};
pub use similarity::sketch::{Sketch, sketch};
pub use similarity::verify::{overlap, rests_allow, sizes_allow, verify};
pub use text::canonical::{Canonical, canonicalise, canonicalise_json, escaped, unescape};
#[doc(hidden)]
pub use text::chunk::chunk_hashes;
pub use text::shingle::{shingle, token_hashes, unshared};
pub use version::{ANSWER_VERSION, SKETCHES_SINCE};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
