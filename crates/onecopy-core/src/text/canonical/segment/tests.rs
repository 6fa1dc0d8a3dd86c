//! Words in scripts without spaces: which pages are cut, into which words, and that near copies are found.

use proptest::prelude::*;

use super::{closed_up, words as cut};
use crate::config::{CanonicalRules, Config, Punctuation, Words};
use crate::similarity::sketch::{Sketch, sketch};
use crate::text::canonical::fold::{Written, fold};
use crate::text::canonical::tokens::by_rules;
use crate::text::canonical::{Canonical, canonicalise, canonicalise_json};
use crate::{resemblance, verify};

fn tokens(text: &str, words: Words) -> Vec<String> {
    let mut out = Canonical::default();
    canonicalise(text, &CanonicalRules { words, ..Default::default() }, &mut out);
    assert_eq!(out.tokens().collect::<Vec<_>>().join(" "), out.text());
    out.tokens().map(str::to_owned).collect()
}

fn joined(text: &str, words: Words) -> String {
    tokens(text, words).join("|")
}

/// A page in each script without spaces: the text, a word that occurs once in it, and a replacement for that word.
const PAGES: &[(&str, &str, &str, &str)] = &[
    (
        "Thai",
        "หน้านี้เป็นสำเนาของหน้าเว็บที่เราเก็บไว้เมื่อวานนี้ และเราจะเก็บเฉพาะหน้าที่ดีที่สุดเท่านั้น ผู้อ่านทุกคนต้องการเนื้อหาใหม่ ไม่ใช่เนื้อหาเดิมที่เคยอ่านมาแล้วหลายครั้ง ประเทศไทยมีอาหารอร่อยมากและผู้คนใจดี นักเรียนไปโรงเรียนทุกวันเพื่อเรียนภาษาไทยและคณิตศาสตร์",
        "คณิตศาสตร์",
        "วิทยาศาสตร์",
    ),
    (
        "Lao",
        "ໜ້ານີ້ແມ່ນສຳເນົາຂອງເວັບໄຊທີ່ພວກເຮົາເກັບໄວ້ໃນມື້ວານນີ້ ແລະພວກເຮົາຈະເກັບພຽງແຕ່ໜ້າທີ່ດີທີ່ສຸດເທົ່ານັ້ນ ຜູ້ອ່ານທຸກຄົນຕ້ອງການເນື້ອຫາໃໝ່ ປະເທດລາວມີອາຫານແຊບຫຼາຍແລະຜູ້ຄົນໃຈດີ ນັກຮຽນໄປໂຮງຮຽນທຸກມື້ເພື່ອຮຽນພາສາລາວ",
        "ອາຫານ",
        "ເຂົ້າ",
    ),
    (
        "Khmer",
        "ទំព័រនេះគឺជាច្បាប់ចម្លងនៃគេហទំព័រដែលយើងបានរក្សាទុកកាលពីម្សិលមិញ ហើយយើងនឹងរក្សាទុកតែទំព័រដែលល្អបំផុតប៉ុណ្ណោះ អ្នកអានទាំងអស់ចង់បានមាតិកាថ្មី ប្រទេសកម្ពុជាមានម្ហូបឆ្ងាញ់ហើយប្រជាជនមានចិត្តល្អ សិស្សទៅសាលារៀនរាល់ថ្ងៃដើម្បីរៀនភាសាខ្មែរ",
        "ម្ហូប",
        "ផ្លែឈើ",
    ),
    (
        "Burmese",
        "ဤစာမျက်နှာသည် မနေ့ကကျွန်ုပ်တို့သိမ်းထားသော ဝဘ်စာမျက်နှာ၏မိတ္တူဖြစ်သည် ကျွန်ုပ်တို့သည်အကောင်းဆုံးစာမျက်နှာကိုသာသိမ်းမည် စာဖတ်သူတိုင်းသည်အကြောင်းအရာအသစ်ကိုလိုချင်ကြသည် မြန်မာနိုင်ငံတွင်အစားအစာကောင်းများရှိပြီး လူများသဘောကောင်းကြသည် ကျောင်းသားများသည်နေ့တိုင်းကျောင်းသို့သွားသည်",
        "အစားအစာ",
        "သစ်သီး",
    ),
    (
        "Chinese",
        "这个页面是我们昨天保存的网页的副本我们只会保留最好的页面所有的读者都想要新的内容而不是已经读过很多次的旧内容中国有很多好吃的东西人们也很友好学生每天去学校学习语文和数学老师对他们很满意因为他们都很努力",
        "数学",
        "历史",
    ),
    (
        "Japanese",
        "このページは私たちが昨日保存したウェブページのコピーです私たちは一番良いページだけを残します読者は新しい内容を求めていて何度も読んだ古い内容は求めていません日本には美味しい食べ物がたくさんあり人々は親切です学生は毎日学校へ行って数学を勉強します",
        "数学",
        "歴史",
    ),
];

fn similarity(a: &str, b: &str, config: &Config) -> f64 {
    let sketch_of = |text: &str| {
        let (mut canonical, mut out) = (Canonical::default(), Sketch::default());
        canonicalise(text, &config.canonical, &mut canonical);
        sketch(&canonical, &config.shingles, &mut out);
        out
    };
    let (a, b) = (sketch_of(a), sketch_of(b));
    let shared = verify(a.shingles(), b.shingles(), f64::MIN_POSITIVE).unwrap_or(0);
    resemblance(shared, a.shingles().len(), b.shingles().len())
}

#[test]
fn pages_that_differ_by_one_word_share_most_shingles() {
    for (name, page, word, other) in PAGES {
        assert_eq!(page.matches(word).count(), 1, "{name}");
        let changed = page.replace(word, other);
        let found = similarity(page, &changed, &Config::default());
        assert!(found > 0.6 && found < 1.0, "{name}: {found}");
    }
}

#[test]
fn no_length_separates_pages_that_are_nearly_equal() {
    for (name, page, ..) in PAGES {
        let page: String = page.split(' ').collect();
        let ends: Vec<usize> = page.char_indices().map(|(at, _)| at).filter(|at| *at >= 180).collect();
        for pair in ends.windows(2) {
            let found = similarity(&page[..pair[0]], &page[..pair[1]], &Config::default());
            assert!(found > 0.3, "{name}, {} bytes: {found}", pair[0]);
        }
    }
}

#[test]
fn scripts_with_spaces_need_no_dictionary() {
    for (page, word, other) in [
        (
            "이 페이지는 우리가 어제 저장한 웹 페이지의 사본이며 우리는 가장 좋은 페이지만 남길 것입니다 모든 독자는 새로운 내용을 원합니다 학생들은 매일 학교에 가서 수학을 공부합니다",
            "수학을",
            "역사를",
        ),
        (
            "هذه الصفحة نسخة من صفحة الويب التي حفظناها أمس وسنحتفظ فقط بأفضل صفحة كل القراء يريدون محتوى جديدا وليس المحتوى القديم الذي قرأوه مرات كثيرة يذهب الطلاب إلى المدرسة كل يوم لتعلم الرياضيات",
            "الرياضيات",
            "التاريخ",
        ),
        (
            "यह पृष्ठ उस वेब पृष्ठ की प्रति है जिसे हमने कल सहेजा था और हम केवल सबसे अच्छा पृष्ठ रखेंगे सभी पाठक नई सामग्री चाहते हैं पुरानी नहीं जिसे वे कई बार पढ़ चुके हैं छात्र हर दिन गणित पढ़ते हैं",
            "गणित",
            "इतिहास",
        ),
    ] {
        for words in [Words::Runs, Words::Segmented, Words::Auto] {
            let mut config = Config::default();
            config.canonical.words = words;
            let found = similarity(page, &page.replace(word, other), &config);
            assert!(found > 0.6 && found < 1.0, "{word} {words:?}: {found}");
        }
        assert_eq!(tokens(page, Words::Auto), tokens(page, Words::Runs));
    }
}

#[test]
fn marks_stay_inside_words_of_segmented_pages() {
    assert_eq!(joined("हिन्दी में", Words::Runs), "ह|न|द|म");
    assert_eq!(joined("हिन्दी में", Words::Segmented), "हिन्दी|में");
    assert_eq!(joined("e\u{301}te\u{301} \u{301}x", Words::Segmented), "e\u{301}te\u{301}|x");
    assert_eq!(joined("ภาษาไทย", Words::Segmented), "ภาษา|ไทย");
    assert_eq!(joined("ที่นี่", Words::Runs), "ท|น");
    assert_eq!(joined("مُحَمَّد هنا", Words::Segmented), "مُحَمَّد|هنا");
}

#[test]
fn each_way_of_words_does_what_it_says() {
    assert_eq!(joined("我们只会保留最好的页面,很好。", Words::Runs), "我们只会保留最好的页面|很好");
    assert_eq!(
        joined("我们只会保留最好的页面,很好。a,b,c", Words::Auto),
        "我们只会保留最好的页面|很好|a|b|c"
    );
    assert_eq!(
        joined("我们只会保留最好的页面,a,b,c", Words::Auto),
        "我们|只|会|保留|最好的|页|面|a|b|c",
        "few runs"
    );
    assert!(tokens("我们只会保留最好的页面,很好。", Words::Segmented).len() > 5);
    assert_eq!(joined("An English page_1, with CAPS", Words::Segmented), "an|english|page_1|with|caps");
    assert_eq!(joined("English ภาษาไทย हिन्दी", Words::Auto), "english|ภาษาไทย|ह|न|द");
}

#[test]
fn spaces_after_each_character_are_no_spaces() {
    let groff = "如 果 没 有 指 定 -a ， 则 按 字 母 排 序 。";
    assert_eq!(joined(groff, Words::Segmented), joined("如果没有指定 -a，则按字母排序。", Words::Segmented));
    assert_eq!(joined(groff, Words::Runs).split('|').count(), 13);
    assert_eq!(joined("目录 大小", Words::Segmented), "目录|大小");
    assert_eq!(joined("a b 字", Words::Segmented), "a|b|字");
    assert_eq!(closed_up("字  字 a"), "字  字 a", "two spaces are not of this kind");
}

#[test]
fn no_page_is_cut_because_of_its_other_runs() {
    let run = |chars: usize| "中国有很多好吃的东西".chars().cycle().take(chars).collect::<String>();
    let (kept, cut) = (run(96), run(97));
    let [short, page] = [kept, cut].map(|run| tokens(&format!("很短的句。b。c。d。{run}"), Words::Auto));
    assert_eq!(short.len(), 5);
    assert!(page.len() > 20);
    assert_eq!(short[..4], page[..4]);
}

#[test]
fn a_menu_of_languages_is_read_once() {
    let census = |text: &str| {
        let mut out = Canonical::default();
        fold(text, Written::Plain, &mut out);
        out.census.cut(Words::Auto, out.count)
    };
    let menu = "ภาษาไทย English ລາວ ខ្មែរ မြန်မာ ภาษาไทย ภาษาไทย Deutsch";
    assert_eq!(census(menu), None);
    assert_eq!(census(&format!("{menu} {}", "ที่".repeat(13))), Some(Words::Auto));
}

#[test]
fn other_rules_apply_to_cut_words_too() {
    let rules = CanonicalRules {
        words: Words::Segmented,
        punctuation: Punctuation::Keep,
        stop_words: vec!["ไทย".into()],
        ..Default::default()
    };
    let mut out = Canonical::default();
    canonicalise("ภาษาไทย!", &rules, &mut out);
    assert_eq!(out.text(), "ภาษา !");
    let rules = CanonicalRules { words: Words::Segmented, ..Default::default() };
    canonicalise_json("ภาษา\\u0e44\\u0e17\\u0e22\\n", &rules, &mut out);
    assert_eq!(out.text(), "ภาษา ไทย");
}

#[test]
fn a_long_page_without_a_space_is_cut_in_time() {
    for (name, page, ..) in PAGES {
        let long: String = page.replace(' ', "").repeat(200);
        assert!(tokens(&long, Words::Auto).len() > 3000, "{name}");
    }
    for letter in ["ก", "ກ", "ក", "က", "一", "の", "กา", "中国"] {
        assert!(tokens(&letter.repeat(100_000), Words::Auto).len() > 1, "{letter}");
    }
}

proptest! {
    #[test]
    fn cutting_loses_nothing(text in "\\PC{0,40}|[a-z1漢字かなカナไทยที่ລາວខ្មែរမြန်မာ]{0,60}") {
        let run: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        prop_assert_eq!(cut(&run).collect::<String>(), run);
        let (runs, segmented) = (tokens(&text, Words::Runs), tokens(&text, Words::Segmented));
        let letters = |tokens: Vec<String>| tokens.concat().replace(super::is_mark, "");
        prop_assert_eq!(letters(runs), letters(segmented));
        tokens(&text, Words::Auto);
    }

    #[test]
    fn the_fast_pass_leaves_no_run_that_must_be_cut(text in "[กขคไิ่้b1, \u{301}漢かកាကာ]{0,120}") {
        let (text, rules) = (format!("a b c d e {text}"), CanonicalRules::default());
        let mut out = Canonical::default();
        by_rules(&text, &rules, Words::Auto, &mut out);
        prop_assert_eq!(out.tokens().collect::<Vec<_>>(), tokens(&text, Words::Auto));
    }
}
