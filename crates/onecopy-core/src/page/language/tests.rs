//! Languages: a sentence of each, the numbers, and properties of any text.

use proptest::prelude::*;

use super::*;
use crate::config::{CanonicalRules, Words};
use crate::text::canonical::canonicalise;

fn language_of(text: &str) -> Option<Language> {
    let mut canonical = Canonical::default();
    canonicalise(text, &CanonicalRules::default(), &mut canonical);
    language(&canonical)
}

#[test]
fn a_few_sentences_are_enough() {
    for (code, text) in [
        ("en", "The page that was kept is the best of all the copies, and the others are gone for good."),
        ("de", "Die Seite, die behalten wurde, ist die beste von allen, und die anderen sind nicht mehr da."),
        (
            "fr",
            "La page qui a été gardée est la meilleure de toutes, et les autres ne sont plus dans la liste.",
        ),
        ("es", "La página que se ha conservado es la mejor de todas, y las otras ya no están en la lista."),
        ("pt", "A página que foi mantida é a melhor de todas, e as outras não estão mais na lista."),
        ("it", "La pagina che è stata tenuta è la migliore di tutte, e le altre non sono più nella lista."),
        ("nl", "De pagina die is bewaard is de beste van alle kopieën, en de andere zijn er niet meer."),
        ("sv", "Sidan som har sparats är den bästa av alla, och de andra finns inte längre kvar i listan."),
        (
            "da",
            "Siden, som er blevet gemt, er den bedste af dem alle, og de andre findes ikke mere i listen.",
        ),
        (
            "no",
            "Siden som er blitt lagret, er den beste av dem alle, og de andre finnes ikke mer, hva nå enn noen sier.",
        ),
        (
            "fi",
            "Sivu joka on säilytetty, on paras kaikista, ja muut eivät ole enää luettelossa, mutta se ei haittaa.",
        ),
        (
            "pl",
            "Strona, która została zachowana, jest najlepsza ze wszystkich, a innych już nie ma na liście.",
        ),
        (
            "cs",
            "Stránka, která byla zachována, je nejlepší ze všech a ostatní již nejsou v seznamu, protože jsou stejné.",
        ),
        (
            "hu",
            "Az oldal, amely megmaradt, a legjobb mind közül, és a többi már nem szerepel a listán, mert az csak másolat volt.",
        ),
        (
            "ro",
            "Pagina care a fost păstrată este cea mai bună dintre toate, iar celelalte nu mai sunt în listă.",
        ),
        (
            "tr",
            "Saklanan sayfa bütün kopyalar arasında en iyi olan sayfa ve diğerleri daha sonra bir listede yok.",
        ),
        (
            "vi",
            "Trang được giữ lại là bản tốt nhất trong các bản, và những bản khác không còn ở trong danh sách.",
        ),
        (
            "id",
            "Halaman yang disimpan adalah yang terbaik dari semua salinan, dan yang lain tidak ada dalam daftar ini.",
        ),
        (
            "ca",
            "La pàgina que s'ha conservat és la millor de totes, i les altres ja no són a la llista, però no cal patir.",
        ),
        (
            "ru",
            "Страница, которая была сохранена, лучшая из всех, и других уже нет в списке, но это не беда.",
        ),
        ("uk", "Сторінка, яка була збережена, найкраща з усіх, і інших уже немає у списку, але це не біда."),
        ("bg", "Страницата, която беше запазена, е най-добрата от всички, а другите вече не са в списъка."),
        (
            "sr",
            "Страница која је сачувана је најбоља од свих, а друге више нису у списку, али то није важно.",
        ),
        ("ar", "الصفحة التي تم حفظها هي الأفضل من بين كل النسخ، ولم تعد النسخ الأخرى في القائمة بعد ذلك."),
        ("fa", "این صفحه که نگه داشته شده است بهترین نسخه است و نسخه های دیگر در فهرست نیستند."),
        ("ur", "یہ صفحہ جو رکھا گیا ہے سب سے اچھا ہے اور دوسرے اب فہرست میں نہیں ہیں۔"),
        ("hi", "जो पृष्ठ रखा गया है वह सबसे अच्छा है और बाकी अब सूची में नहीं हैं, लेकिन यह कोई समस्या नहीं है।"),
        ("mr", "जे पान ठेवले आहे ते सर्वात चांगले आहे आणि बाकीची पाने आता यादीत नाहीत, असे ते म्हणाले होते."),
        ("ne", "राखिएको पृष्ठ सबैभन्दा राम्रो छ र अरू पृष्ठहरू अब सूचीमा छैनन् भनेर नेपाल सरकारले भनेको छ।"),
        ("zh", "保留下来的页面是所有副本中最好的,其他的已经不在列表中了。"),
        ("ja", "残されたページはすべての中で最も良いもので、他のページはもう一覧にありません。"),
        ("ko", "남겨진 페이지는 모든 사본 중에서 가장 좋은 것이며 다른 것은 더 이상 목록에 없습니다."),
        ("el", "Η σελίδα που κρατήθηκε είναι η καλύτερη από όλες."),
        ("he", "הדף שנשמר הוא הטוב מכולם, והאחרים אינם עוד ברשימה."),
        ("th", "หน้าที่เก็บไว้เป็นหน้าที่ดีที่สุดในบรรดาสำเนาทั้งหมด"),
        ("ka", "გვერდი, რომელიც შენახულია, საუკეთესოა."),
    ] {
        assert_eq!(language_of(text).map(Language::code), Some(code), "{text}");
    }
}

#[test]
fn too_little_text_has_no_language() {
    for text in ["", "42 2024 07", "Kafka", "ok"] {
        assert_eq!(language_of(text), None, "{text}");
    }
}

#[test]
fn the_text_decides_not_its_names_and_not_its_menu() {
    let menu = "Home About Contact Terms Privacy and the Search ";
    let body = "Die Seite, die behalten wurde, ist die beste von allen, und die anderen sind nicht mehr da. ";
    assert_eq!(language_of(&(menu.repeat(3) + &body.repeat(40))), Some(Language::German));
    assert_eq!(
        language_of("const 関数 を 使う とき は window.fetch() を呼び出します"),
        Some(Language::Japanese)
    );
    let quoted =
        "The word that they use for this page is 网页 and it is the best of all that we know in this list.";
    assert_eq!(language_of(quoted), Some(Language::English));
}

#[test]
fn a_long_page_with_few_words_is_looked_at_more_closely() {
    let mut tokens: Vec<String> = (0..1_200).map(|n| format!("q{n}")).collect();
    // Two words where the first sample falls: too few to decide.
    tokens[600] = "which".into();
    tokens[601] = "this".into();
    assert_eq!(language_of(&tokens.join(" ")), None);
    for (at, word) in [(50, "and"), (110, "with"), (350, "from"), (450, "which"), (510, "this")] {
        tokens[at] = word.into();
    }
    assert_eq!(language_of(&tokens.join(" ")), Some(Language::English));
}

fn glance_at(text: &str) -> Option<Language> {
    let mut canonical = Canonical::default();
    canonicalise(text, &CanonicalRules::default(), &mut canonical);
    glance::glance(&canonical)
}

#[test]
fn a_glance_is_enough_where_nothing_is_in_doubt() {
    let english = "The page that was kept is the best of all the copies, and the others are gone for good. ";
    let russian =
        "Страница, которая была сохранена, лучшая из всех, и других уже нет в списке, но это не беда. ";
    assert_eq!(glance_at(&english.repeat(5)), Some(Language::English));
    assert_eq!(glance_at(&russian.repeat(5)), Some(Language::Russian));
    // Too short, in two scripts, in two languages, the same words repeated, and words of no language.
    let german =
        "Die Seite, die behalten wurde, ist die beste von allen, und die anderen sind nicht mehr da. ";
    assert_eq!(glance_at(english), None);
    assert_eq!(glance_at(&(english.to_owned() + russian).repeat(20)), None);
    assert_eq!(glance_at(&(english.repeat(3) + &german.repeat(3))), None);
    assert_eq!(glance_at(&"which this that numpy ma ".repeat(40)), None);
    assert_eq!(glance_at(&"lorem42 qwertz 17 ".repeat(40)), None);
}

#[test]
fn every_language_that_shares_a_script_has_words() {
    for language in (1..=55).filter_map(Language::from_u8) {
        let count = table::words().filter(|&(other, _)| other == language).count();
        assert!((20..=150).contains(&count), "{}: {count}", language.code());
    }
    assert!(table::words().all(|(language, _)| language.to_u8() <= 55));
}

#[test]
fn every_word_has_its_place() {
    let mut canonical = Canonical::default();
    for (language, word) in table::words() {
        canonicalise(word, &CanonicalRules { words: Words::Runs, ..Default::default() }, &mut canonical);
        let Some((start, end)) = canonical.spans().next().filter(|_| canonical.token_count() == 1) else {
            continue;
        };
        let (table, hash) = (table::table(), hash::token(canonical.padded(), start, end));
        let used = table.languages(table.find(hash)) >> language.to_u8() & 1 == 1;
        let listed = (2..=24).contains(&(end - start));
        assert!(used || !listed, "{word}");
        assert_eq!(table.may_have(hash, end - start), listed, "{word}");
    }
}

#[test]
fn numbers_are_frozen() {
    let all: Vec<(u8, &str)> =
        Language::ALL.iter().map(|language| (language.to_u8(), language.code())).collect();
    let codes = "en de fr es pt it nl sv da no fi is pl cs sk hu ro hr sl sq lt lv et tr az vi id ms tl ca gl eu cy ga mt \
                 sw af eo la uz ru uk bg sr mk be kk mn ar fa ur ps hi mr ne zh ja ko el he th lo km my ka hy ta te kn ml \
                 gu pa bn or si am bo";
    let frozen: Vec<(u8, &str)> = (1..).zip(codes.split_whitespace()).collect();
    assert_eq!(all, frozen);
    for number in 0..=u8::MAX {
        assert_eq!(Language::from_u8(number).map_or(number, Language::to_u8), number);
    }
    assert_eq!(Language::from_u8(0), None);
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in "\\PC{0,300}") {
        language_of(&text);
    }
}
