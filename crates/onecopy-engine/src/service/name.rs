//! Names of pages as users give them.

use onecopy_core::canonical_id;

/// The name of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageName<'a> {
    /// As a person types it: the page whose name is this string, or else this number.
    Text(&'a str),
    /// As JSON, exactly: a string in quotes, or a number.
    Json(&'a str),
}

impl PageName<'_> {
    /// The names, as JSON, of the pages that may be meant, the first choice first.
    pub(super) fn candidates(self) -> impl Iterator<Item = String> {
        let (first, second) = match self {
            PageName::Text(text) => {
                let quoted = serde_json::to_string(text).expect("a string is JSON");
                (quoted, text.parse::<f64>().is_ok().then(|| canonical_id(text).into_owned()))
            }
            PageName::Json(json) => (canonical_id(json).into_owned(), None),
        };
        [Some(first), second].into_iter().flatten()
    }

    /// The name for people.
    pub(super) fn text(self) -> String {
        match self {
            PageName::Text(text) => text.to_owned(),
            PageName::Json(json) => serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()),
        }
    }
}

impl<'a> From<&'a str> for PageName<'a> {
    fn from(text: &'a str) -> PageName<'a> {
        PageName::Text(text)
    }
}
