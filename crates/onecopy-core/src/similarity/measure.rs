//! How similar two pages are: each measure is a function with a defined value.

mod decision;
mod edit;
mod frequency;
mod hamming;
mod jaccard;
mod shown;

pub(crate) use decision::{
    Common, CoveredWords, EVIDENCE, PageSize, SharedShingles, Subjects, Templates, least_agreement,
    least_agreement_of_kin, least_main, least_main_by_stretch, least_main_by_words,
    least_main_by_words_of_kin, similarity as page_similarity,
};
pub use edit::edit_distance;
pub(crate) use frequency::angle;
pub use frequency::{cosine, euclidean, frequencies};
pub use hamming::hamming;
pub use jaccard::{containment, resemblance};
pub use shown::shown;
