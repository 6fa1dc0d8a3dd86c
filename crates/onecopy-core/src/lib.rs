//! The stages of onecopy as pure functions: no files, no threads, no clock.
//!
//! The life of a page:
//! ```text
//! canonicalise  text         → Canonical   any text accepted
//! sketch        Canonical    → Sketch      the sorted set of its shingles
//! keys          Sketch       → keys        pages that share one may be duplicates
//! verify        two sketches → shared?     on the whole sets, never on an estimate
//! group         pairs        → Groups      the one place that merges
//! rank          Contender    → bytes       smaller is better: who wins
//! ```
//! What is slow and obviously right is in [`reference`]; what is fast must equal it.
//!
//! ```
//! use onecopy_core::{Canonical, Config, Sketch, canonicalise, resemblance, sketch, verify};
//!
//! let config = Config::default();
//! let sketch_of = |text: &str| {
//!     let (mut canonical, mut out) = (Canonical::default(), Sketch::default());
//!     canonicalise(text, &config.canonical, &mut canonical);
//!     sketch(&canonical, &config.shingles, &mut out);
//!     out
//! };
//! let a = sketch_of("Nine pages told the same story, and one of them was kept by its reader.");
//! let b = sketch_of("Nine pages told the same story -- and one of them was kept by its writer.");
//! let shared = verify(a.shingles(), b.shingles(), 0.5).expect("alike");
//! assert_eq!(resemblance(shared, a.shingles().len(), b.shingles().len()), 10.0 / 12.0);
//! ```

mod address;
mod appraise;
mod candidate;
mod canonical;
mod charset;
mod chunk;
mod config;
mod connect;
mod dedup;
mod filter;
pub mod graph;
mod group;
mod hamming;
mod hash;
mod head;
mod html;
mod language;
mod link;
mod measure;
mod method;
mod myers;
mod order;
mod outline;
mod page;
mod partition;
mod rabin;
mod record;
mod redirect;
pub mod reference;
mod search;
mod sentence;
pub mod settle;
mod shingle;
pub mod simd;
mod sketch;
mod verify;
mod version;
mod winner;

pub use address::{AddressRules, host, identity, resolve};
pub use appraise::{Address, Appraised, Appraiser, NamedLink};
pub use candidate::{Rarity, count, keys};
pub use canonical::{Canonical, canonicalise, canonicalise_json, escaped, unescape};
pub use charset::decode;
pub use config::{
    CanonicalRules, Case, Config, Content, MARKETS_LIMIT, MirrorRules, Numbering, Punctuation, Replicas,
    SHINGLE_LENGTH_LIMIT, ShingleRules, Unit, WinnerRule, Words,
};
pub use connect::connect;
pub use dedup::{Decisions, dedup};
pub use filter::{Filter, FilterRules};
pub use group::{Groups, group};
pub use hamming::{Index, Near, Sketches, near, near_by_rotation, near_by_scan, near_by_tables};
pub use hash::{Fingerprint, digest, fingerprint};
pub use head::{Head, head};
#[doc(hidden)]
pub use html::{Judged, context, describe_blocks};
pub use html::{html_to_parts, html_to_text, links};
pub use language::{Language, language};
pub use link::{
    AddressBook, Claim, LinkKind, Links, PageEnd, Standing, canonical_targets, ends, reachable, target,
};
pub use measure::{containment, cosine, edit_distance, euclidean, frequencies, hamming, resemblance, shown};
pub use method::{
    Desk, Held, LooksAt, METHODS, Method, MethodEntry, Parts, Search, Subject, method, usual_parameters,
};
pub use order::{best_first, ranks};
pub use page::{Decision, Kind, PageId, Signals, parse_time, unix_seconds};
pub use partition::{DIMENSIONS, LengthVector, Lengths, Partitions, SLICES_LIMIT, sample_rho};
pub use record::{Archived, Needs, Record, Text, TextParts, Whole};
pub use redirect::{End, HOPS_LIMIT, Redirect, Target, follow};
pub use search::{Sets, candidates};
pub use shingle::{shingle, token_hashes, unshared};
pub use sketch::{Sketch, sketch};
pub use verify::{overlap, rests_allow, sizes_allow, verify};
pub use version::ANSWER_VERSION;
pub use winner::{Contender, in_market, rank};
