//! Which text of a page was compared, and whether two pages are equal beyond it.
//!
//! Two HTML pages are exact duplicates if their main contents are equal. Their menus and footers may differ, and people
//! should be told.

use onecopy_core::{Canonical, CanonicalRules, Content, Fingerprint, Whole, canonicalise, html_to_text};
use serde::Serialize;

/// Which text of a page was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ComparedText {
    /// The text of a page that is not HTML.
    Plain,
    /// The main content of an HTML page.
    Main,
    /// All text of an HTML page.
    All,
}

/// A page's compared text, and a fingerprint of all its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextFacts {
    pub compared: ComparedText,
    pub all: Fingerprint,
}

impl TextFacts {
    /// The facts of a page, given the whole of it and its compared text.
    pub(crate) fn of(whole: Option<&Whole>, compared: &Canonical, rules: &CanonicalRules) -> TextFacts {
        let compared = compared.fingerprint();
        let Some(whole) = whole.filter(|whole| whole.html) else {
            return TextFacts { compared: ComparedText::Plain, all: compared };
        };
        let (mut text, mut canonical) = (String::new(), Canonical::default());
        html_to_text(&whole.text, Content::All, &mut text);
        canonicalise(&text, rules, &mut canonical);
        let all = canonical.fingerprint();
        TextFacts { compared: if all == compared { ComparedText::All } else { ComparedText::Main }, all }
    }
}
