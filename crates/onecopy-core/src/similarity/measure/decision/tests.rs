//! The decision, over numbers of shingles and words.

use super::*;

fn pages(a: (usize, usize), b: (usize, usize)) -> [PageSize; 2] {
    [a, b].map(|(main, all)| PageSize { main, all })
}

/// Pages of which titles and templates say nothing more.
fn common(shared: SharedShingles, sizes: [PageSize; 2], subjects: Subjects) -> Common {
    Common { shared, sizes, subjects, renamed: false, unrelated: false, kindred: false }
}

/// The similarity of pages whose words are not known.
fn similar(shared: SharedShingles, sizes: [PageSize; 2], subjects: Subjects, evidence: usize) -> f64 {
    similarity(&common(shared, sizes, subjects), evidence, || None)
}

/// Words in shared shingles, of which all are in the stretch.
fn covered(shared: usize, all: usize) -> CoveredWords {
    CoveredWords { shared, all, stretch: all, inside: shared }
}

#[test]
fn where_all_is_main_content_pages_agree_by_resemblance() {
    for (both, a, b) in [(4, 4, 5), (0, 3, 4), (0, 0, 0), (7, 11, 13), (1, 1, 1_000_003)] {
        let shared = SharedShingles { both, ..SharedShingles::default() };
        assert_eq!(agreement(shared, a, b), resemblance(both, a, b));
        assert_eq!(
            similar(shared, pages((a, a), (b, b)), Subjects::Unclear, usize::MAX),
            resemblance(both, a, b)
        );
    }
}

#[test]
fn it_is_symmetric_between_0_and_1_and_needs_main_content_alike() {
    let shares = [(0, 0, 0, 0), (3, 1, 0, 2), (2, 2, 3, 0), (5, 0, 0, 1), (1, 4, 4, 0)];
    for (both, first, second, rest) in shares {
        for (a, b) in [(5, 5), (6, 9), (40, 7)] {
            let there = SharedShingles { both, first, second, rest };
            let back = SharedShingles { first: second, second: first, ..there };
            let (one, other) = (pages((a, a + 9), (b, b + 8)), pages((b, b + 8), (a, a + 9)));
            let (words, none) = ([covered(a, a), covered(b - 1, b)], None);
            for subjects in [Subjects::Unclear, Subjects::Other, Subjects::Same] {
                for [x, y] in [[none; 2], [Some(words), Some([words[1], words[0]])]] {
                    let value = similarity(&common(there, one, subjects), 2, || x);
                    let again = similarity(&common(back, other, subjects), 2, || y);
                    assert_eq!(value, again);
                    assert!((0.0..=1.0).contains(&value));
                    let main = resemblance(both, a, b) + 1e-12;
                    assert!(main >= least_main(value));
                    let by_words = main >= least_main_by_words(value).min(least_main_by_stretch(value));
                    let may_be_by_words = x.is_some() && by_words;
                    assert!(may_be_by_words || agreement(there, a, b) >= least_agreement(value) - 1e-12);
                }
            }
        }
    }
}

#[test]
fn the_more_is_shared_the_less_a_difference_counts() {
    let seven_tenths = |both: usize| {
        let all = both * 10 / 7;
        let shared = SharedShingles { both, ..SharedShingles::default() };
        similar(shared, pages((all, 10 * all), (both, 10 * all)), Subjects::Unclear, EVIDENCE)
    };
    let values = [14, 28, 56, 112, 700].map(seven_tenths);
    assert!(values.is_sorted() && values[0] < 0.1 && values[4] > 0.8, "{values:?}");
}

#[test]
fn little_is_proof_only_if_whole_pages_are_alike() {
    let shared = SharedShingles { both: 9, rest: 100, ..SharedShingles::default() };
    assert_eq!(similar(shared, pages((9, 109), (9, 109)), Subjects::Unclear, EVIDENCE), 1.0);
    assert_eq!(similar(shared, pages((9, 109), (9, 1_090)), Subjects::Unclear, EVIDENCE), 0.1);
    assert_eq!(similar(shared, pages((90, 109), (9, 109)), Subjects::Unclear, EVIDENCE), 0.1);
}

#[test]
fn words_count_for_little_text_too_if_whole_pages_are_alike() {
    let shared = SharedShingles { both: 19, rest: 36, ..SharedShingles::default() };
    let similar = |subjects| {
        let common = common(shared, pages((24, 60), (23, 59)), subjects);
        similarity(&common, EVIDENCE, || Some([covered(27, 28), covered(27, 27)]))
    };
    assert_eq!(similar(Subjects::Same), 55.0 / 64.0);
    assert_eq!(similar(Subjects::Unclear), 19.0 / 28.0);
}

#[test]
fn words_do_not_help_if_half_of_the_phrases_changed() {
    let similar = |both: usize| {
        let shared = SharedShingles { both, rest: 350, ..SharedShingles::default() };
        let common = common(shared, pages((200, 1_000), (200, 1_000)), Subjects::Same);
        similarity(&common, EVIDENCE, || Some([covered(180, 200); 2]))
    };
    assert!(similar(130) < 0.8, "{}", similar(130));
    assert!(similar(145) > 0.8, "{}", similar(145));
}

#[test]
fn of_two_templates_only_the_stretch_counts() {
    let words = |shared, all, gap| CoveredWords { shared, all, stretch: shared + gap, inside: shared };
    let similar = |shared: usize, gap: usize, rest: usize, subjects: Subjects| {
        let shingles = SharedShingles { both: shared - 4, rest, ..SharedShingles::default() };
        let sizes = pages((shared + 40, 400), (shared + 40, 400));
        let common = common(shingles, sizes, subjects);
        similarity(&common, EVIDENCE, || Some([words(shared, shared + 44, gap); 2]))
    };
    assert_eq!(similar(120, 0, 0, Subjects::Same), 1.0);
    assert!(similar(70, 0, 0, Subjects::Same) > 0.8 && similar(44, 0, 0, Subjects::Same) < 0.8, "evidence");
    assert!(similar(120, 2, 0, Subjects::Same) > 0.8 && similar(120, 9, 0, Subjects::Same) < 0.8, "gaps");
    assert!(similar(120, 0, 100, Subjects::Same) < 0.8, "templates that are not two");
    assert!(similar(120, 0, 0, Subjects::Other) < 0.8, "two subjects, and both pages have more");
    let shared = SharedShingles { both: 116, ..SharedShingles::default() };
    let licence = common(shared, pages((160, 400), (160, 400)), Subjects::Same);
    let licence = Common { renamed: true, ..licence };
    assert!(similarity(&licence, EVIDENCE, || Some([words(120, 164, 0); 2])) < 0.8, "two files, one licence");
    let clean = || Some([words(120, 164, 0), words(120, 124, 0)]);
    let common = common(shared, pages((160, 400), (120, 400)), Subjects::Other);
    assert_eq!(similarity(&common, EVIDENCE, clean), 1.0, "one page has hardly more");
    assert!(similarity(&Common { kindred: true, ..common }, EVIDENCE, clean) < 0.9, "not two templates");
    let sizes = pages((330, 600), (120, 400));
    assert!(similarity(&Common { sizes, ..common }, EVIDENCE, clean) < 0.8, "too much else");
}

#[test]
fn of_one_template_a_difference_counts_in_full() {
    let shared = |rest| SharedShingles { both: 800, rest, ..SharedShingles::default() };
    let similar = |rest| similar(shared(rest), pages((1_000, 1_400), (900, 1_300)), Subjects::Unclear, 16);
    assert!(similar(100) > 0.85, "{}", similar(100));
    assert!(similar(200) < agreement(shared(200), 1_000, 900), "{}", similar(200));
}

#[test]
fn a_notice_is_no_proof_beside_a_part_of_a_template() {
    let similar = |both: usize, rest: usize, all: [usize; 2]| {
        let shared = SharedShingles { both, rest, ..SharedShingles::default() };
        let common = common(shared, pages((both + 5, all[0]), (both + 5, all[1])), Subjects::Unclear);
        (common.templates(EVIDENCE), similarity(&common, EVIDENCE, || None))
    };
    let (templates, value) = similar(51, 16, [500, 118]);
    assert!(templates == Templates::Part && value < 0.8, "{value}");
    let (templates, value) = similar(51, 16, [118, 118]);
    assert!(templates == Templates::Unclear && value > 0.8, "more than three tenths of all text: {value}");
    let (templates, value) = similar(150, 100, [900, 500]);
    assert!(templates == Templates::Part && value > 0.8, "more than a notice: {value}");
    let (templates, value) = similar(51, 5, [500, 118]);
    assert!(templates == Templates::Two && value > 0.8, "no template at all: {value}");
}

#[test]
fn of_one_template_pages_with_unrelated_titles_need_all_text_alike() {
    let similar = |rest: usize, unrelated: bool| {
        let shared = SharedShingles { both: 100, rest, ..SharedShingles::default() };
        let (sizes, subjects) = (pages((100, 300), (100, 300)), Subjects::Unclear);
        let common = Common { unrelated, ..common(shared, sizes, subjects) };
        similarity(&common, EVIDENCE, || None)
    };
    assert!(similar(180, false) == 1.0 && similar(180, true) < 0.8, "{}", similar(180, true));
    assert!(similar(196, true) > 0.9, "all text is alike");
    assert_eq!(similar(90, true), 1.0, "not one template");
}

#[test]
fn of_two_subjects_a_difference_counts_in_full() {
    let shared = SharedShingles { both: 194, ..SharedShingles::default() };
    let similar = |rest: usize, subjects| {
        similar(shared, pages((210, 210 + rest), (229, 229 + rest)), subjects, EVIDENCE)
    };
    assert!(similar(3, Subjects::Unclear) > 0.85 && similar(3, Subjects::Other) < 0.8);
    assert!(similar(100, Subjects::Other) > 0.8, "two templates, which may be of two sites");
}
