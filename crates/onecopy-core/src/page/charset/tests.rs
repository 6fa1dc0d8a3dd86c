//! Pages in many charsets, with right labels, wrong ones and none.

use encoding_rs::{BIG5, EUC_KR, GB18030, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use proptest::prelude::*;

use super::*;

const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю. Страница о погоде и хлебе.";
const JAPANESE: &str =
    "このページは日本語で書かれています。天気予報によると、明日は東京で雨が降る見込みです。";
const KOREAN: &str =
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다. 이 문서는 한국어입니다.";
const CHINESE: &str = "这个页面是用简体中文写的,内容是关于天气和新闻的报道,请大家阅读。";
const TAIWANESE: &str = "這個頁面是用繁體中文寫的,內容是關於天氣和新聞的報導,請大家閱讀。";
const FRENCH: &str = "Voix ambiguë d’un cœur qui, au zéphyr, préfère les jattes de kiwis — où est l’été ?";

fn samples() -> Vec<(&'static Encoding, &'static str)> {
    vec![
        (WINDOWS_1252, FRENCH),
        (WINDOWS_1251, RUSSIAN),
        (KOI8_R, RUSSIAN),
        (SHIFT_JIS, JAPANESE),
        (EUC_KR, KOREAN),
        (GB18030, CHINESE),
        (BIG5, TAIWANESE),
    ]
}

fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, lossy) = encoding.encode(text);
    assert!(!lossy, "{} cannot hold {text}", encoding.name());
    bytes.into_owned()
}

#[test]
fn a_right_label_is_followed_and_without_one_it_is_guessed() {
    for (encoding, text) in samples() {
        let bytes = encoded(encoding, text);
        assert_eq!(decode(&bytes, Some(encoding.name()), false), text, "{}", encoding.name());
        assert_eq!(decode(&bytes, None, false), text, "{} guessed", encoding.name());
    }
}

#[test]
fn what_the_page_says_outdoes_a_default_of_the_server() {
    for (encoding, text) in samples() {
        for tag in ["<meta charset=X>", "<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=X'/>"] {
            let page = format!("<!-- <meta charset=utf-7> --><head>{tag}</head>{text}");
            let page = page.replace('X', encoding.name());
            let bytes = encoded(encoding, &page);
            for header in [None, Some("iso-8859-1"), Some("UTF-8"), Some("no such thing")] {
                assert_eq!(decode(&bytes, header, true), page, "{} {header:?}", encoding.name());
            }
        }
    }
}

#[test]
fn valid_utf8_is_borrowed_whatever_the_labels_say() {
    for text in ["", "plain", RUSSIAN, JAPANESE, FRENCH, "<meta charset=windows-1251> ещё"] {
        for header in [None, Some("iso-8859-1"), Some("shift_jis"), Some("utf-16")] {
            let decoded = decode(text.as_bytes(), header, true);
            assert!(matches!(decoded, Cow::Borrowed(_)), "{text}");
            assert_eq!(decoded, text);
        }
    }
}

#[test]
fn damaged_utf8_stays_utf8() {
    let bytes = RUSSIAN.as_bytes();
    let cut = decode(&bytes[..bytes.len() - 8], Some("windows-1251"), false);
    assert!(cut.starts_with("Съешь же ещё") && cut.ends_with('\u{fffd}'), "{cut}");
    let mixed = [RUSSIAN.as_bytes(), b" \xe9 ", RUSSIAN.as_bytes()].concat();
    assert_eq!(decode(&mixed, None, false).matches(RUSSIAN).count(), 2);
    // A single accent is not damaged UTF-8.
    assert_eq!(decode(b"caf\xe9", Some("utf-8"), false), "café");
}

#[test]
fn wide_and_seven_bit_charsets_are_seen() {
    let wide: Vec<u8> = FRENCH.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let swapped: Vec<u8> = FRENCH.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (mark, bytes) in [(&b"\xff\xfe"[..], &wide), (b"\xfe\xff", &swapped), (b"", &wide), (b"", &swapped)] {
        assert_eq!(decode(&[mark, bytes].concat(), Some("latin1"), false), FRENCH);
    }
    assert_eq!(decode(b"\xef\xbb\xbfabc", Some("koi8-r"), false), "abc");
    assert_eq!(decode(b"a\0b", Some("utf-16"), false), "a\0b");
    let escaped = encoded(ISO_2022_JP, JAPANESE);
    assert_eq!(decode(&escaped, Some("iso-2022-jp"), false), JAPANESE);
    assert_eq!(decode(b"\x1b[1m", Some("utf-8"), false), "\x1b[1m");
}

#[test]
fn a_label_that_the_bytes_contradict_is_not_believed() {
    let bytes = encoded(KOI8_R, RUSSIAN);
    assert_eq!(decode(&bytes, Some("big5"), false), RUSSIAN);
    let cut = encoded(SHIFT_JIS, JAPANESE);
    assert!(decode(&cut[..cut.len() - 3], Some("shift_jis"), false).starts_with("このページは日本語"));
}

#[test]
fn declarations_and_odd_tags_are_read() {
    let bytes = encoded(WINDOWS_1251, &format!("<?xml version='1.0' encoding='windows-1251'?><a>{RUSSIAN}"));
    assert!(decode(&bytes, None, false).ends_with(RUSSIAN));
    for (head, label) in [
        ("<meta charset>", None),
        ("<meta name=x content='text/html; charset=koi8-r'>", None),
        ("<metal charset=koi8-r>", None),
        ("<meta charset=utf-16>", Some(UTF_8)),
        ("<meta/charset = \"koi8-r\" >", Some(KOI8_R)),
        ("<meta content='a;charset=\"koi8-r\";b' http-equiv=content-type>", Some(KOI8_R)),
        ("<meta charset='koi8-r", None),
        ("<meta =", None),
    ] {
        assert_eq!(prescan::label(head.as_bytes(), true), label, "{head}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_some_text(bytes in prop::collection::vec(any::<u8>(), 0..400), html: bool, label in 0..8usize) {
        let labels = ["utf-8", "shift_jis", "gb18030", "utf-16be", "iso-2022-jp", "replacement", "", "\u{e9}"];
        decode(&bytes, labels.get(label).copied(), html);
        let tagged = [b"<?xml encoding='", &bytes[..bytes.len() / 2], b"<meta charset=", &bytes].concat();
        decode(&tagged, None, html);
    }
}
