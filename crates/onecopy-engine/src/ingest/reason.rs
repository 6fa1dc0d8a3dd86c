//! Why a record is rejected: a class that is counted, and a sentence for people.

use crate::report::RejectionKind;

/// How the reason begins if a file is damaged; the damage follows.
pub(crate) const DAMAGED: &str = "damaged from here on, the rest is not read: ";

/// Why a record is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub class: Class,
    /// The sentence in `rejected.jsonl`.
    pub text: String,
}

impl Reason {
    pub(crate) fn new(class: Class, text: impl Into<String>) -> Reason {
        Reason { class, text: text.into() }
    }

    /// The reason for rejecting a page over the limit.
    pub(crate) fn overlong(page_bytes: usize) -> Reason {
        Reason::new(Class::Overlong, format!("longer than the limit of {page_bytes} bytes per page"))
    }
}

/// Reasons that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Http(u16),
    Image,
    AudioOrVideo,
    Font,
    Script,
    Style,
    Pdf,
    OtherMedia,
    Empty,
    Segmented,
    NoWords,
    Nowhere,
    NotUtf8,
    NotJson,
    NoText,
    WrongType,
    /// A row of a table with another number of fields than the header.
    Ragged,
    /// Bytes of an archive that belong to no record.
    Stray,
    /// A content encoding that cannot be undone.
    Encoded,
    /// The file is damaged from here on.
    Damaged,
    /// The file cannot be read at all.
    Refused,
    Overlong,
    /// A record over the page limit whose end is unknown, so that it cannot be copied.
    Endless,
    Bomb,
    /// The file grows too much from here on.
    BombFile,
    UnknownKind,
    Link,
    Special,
}

use Class::*;

/// All classes without a number of their own, in the order of their codes.
const PLAIN: [Class; 27] = [
    Image,
    AudioOrVideo,
    Font,
    Script,
    Style,
    Pdf,
    OtherMedia,
    Empty,
    Segmented,
    NoWords,
    Nowhere,
    NotUtf8,
    NotJson,
    NoText,
    WrongType,
    Ragged,
    Stray,
    Encoded,
    Damaged,
    Refused,
    Overlong,
    Endless,
    Bomb,
    BombFile,
    UnknownKind,
    Link,
    Special,
];
/// The code of HTTP status 0.
const HTTP: u32 = 1 << 16;

impl Class {
    /// The class of a body with this media type.
    pub(crate) fn of_media(what: &str) -> Class {
        let (family, kind) = what.split_once('/').unwrap_or((what, ""));
        match (family, kind) {
            ("image", _) => Image,
            ("audio" | "video", _) => AudioOrVideo,
            ("font", _) => Font,
            (_, "css") => Style,
            (_, "pdf") => Pdf,
            _ if kind.ends_with("javascript") || kind.ends_with("ecmascript") => Script,
            _ => OtherMedia,
        }
    }

    /// Its name in the report, which follows a number. One that begins with `files` or ends in `s` is a plural.
    pub(crate) fn label(self) -> String {
        match self {
            Http(status) => return format!("HTTP {status}"),
            Image => "images",
            AudioOrVideo => "audio or video",
            Font => "fonts",
            Script => "scripts",
            Style => "style sheets",
            Pdf => "PDF",
            OtherMedia => "other media",
            Empty => "empty",
            Segmented => "in segments",
            NoWords => "without any word",
            Nowhere => "leading to no page",
            NotUtf8 => "not UTF-8",
            NotJson => "not JSON",
            NoText => "without text",
            WrongType => "of a wrong type",
            Ragged => "rows of another width",
            Stray => "outside any record",
            Encoded => "wrongly encoded",
            Damaged => "damaged",
            Refused => "unreadable files",
            Overlong | Endless => "over the page limit",
            Bomb | BombFile => "growing too much",
            UnknownKind => "files of unknown kind",
            Link => "links",
            Special => "special files",
        }
        .into()
    }

    pub(crate) fn kind(self) -> RejectionKind {
        match self {
            Http(_) | Image | AudioOrVideo | Font | Script | Style | Pdf | OtherMedia | Empty | Segmented
            | NoWords | Nowhere => RejectionKind::NotAPage,
            NotUtf8 | NotJson | NoText | WrongType | Ragged | Stray | Encoded | Damaged | Refused => {
                RejectionKind::Unreadable
            }
            Overlong | Endless | Bomb | BombFile => RejectionKind::Limit,
            UnknownKind | Link | Special => RejectionKind::NotRead,
        }
    }

    /// Whether `kept/` has such a record of an archive, unchanged.
    pub(crate) fn is_copied(self) -> bool {
        !matches!(self, Stray | Damaged | Refused | Endless | BombFile | UnknownKind | Link | Special)
    }

    /// Whether nothing of the file is read behind such a rejection.
    pub(crate) fn ends_file(self) -> bool {
        matches!(self, Damaged | Refused | BombFile)
    }

    /// Its number on disk.
    pub(crate) fn code(self) -> u32 {
        match self {
            Http(status) => HTTP + u32::from(status),
            plain => PLAIN.iter().position(|&class| class == plain).unwrap_or(PLAIN.len()) as u32,
        }
    }

    /// The class with this number.
    pub(crate) fn from_code(code: u32) -> Option<Class> {
        match code.checked_sub(HTTP) {
            Some(status) => Some(Http(u16::try_from(status).ok()?)),
            None => PLAIN.get(code as usize).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back_as_their_class() {
        for class in PLAIN.into_iter().chain([Http(404), Http(u16::MAX)]) {
            assert_eq!(Class::from_code(class.code()), Some(class));
        }
        assert_eq!((Class::from_code(99), Class::from_code(u32::MAX)), (None, None));
    }

    #[test]
    fn media_have_classes() {
        for (what, class) in [
            ("image/png", Image),
            ("video/mp4", AudioOrVideo),
            ("text/css", Style),
            ("application/pdf", Pdf),
            ("application/x-javascript", Script),
            ("a RIFF file", OtherMedia),
            ("binary data, although declared as image/png", OtherMedia),
        ] {
            assert_eq!(Class::of_media(what), class, "{what}");
        }
    }
}
