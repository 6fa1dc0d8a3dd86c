//! A page that links to others, from a record of any format.

use std::borrow::Cow;

use onecopy_core::{AddressRules, LinkKind, Record, each_link};

use crate::ingest::LinkedLine;
use crate::pagerank::Nofollow;
use crate::pagerank::named::{base, name_of, stated, without_base};

/// The parts of a page that links come from.
#[derive(Default)]
pub(super) struct LinkingPage<'a> {
    url: Option<&'a str>,
    /// Its id as JSON; empty if there is none.
    id: &'a str,
    html: Option<&'a str>,
    /// Links outside its HTML.
    stated: Vec<Cow<'a, str>>,
}

impl<'a> LinkingPage<'a> {
    /// A page of JSON Lines or a table.
    pub(super) fn of_line(line: &'a LinkedLine) -> LinkingPage<'a> {
        let url = line.url.as_deref();
        let stated = line.links.iter().filter_map(|link| stated(url, link)).collect();
        LinkingPage { url, id: line.id, html: line.html.as_deref(), stated }
    }

    /// A page of an archive, or a file. A redirect passes its score on like a link.
    pub(super) fn of_record(record: &'a Record) -> LinkingPage<'a> {
        let redirects = record.links.iter().filter(|(kind, _)| *kind == LinkKind::Redirect);
        let stated = redirects.map(|(_, to)| Cow::Borrowed(to.as_str())).collect();
        let html = record.whole.as_ref().filter(|whole| whole.html).map(|whole| whole.text.as_str());
        LinkingPage { url: record.url.as_deref(), id: record.id, html, stated }
    }

    /// Writes its name into `out`. `None` if it has none.
    pub(super) fn name(&self, rules: &AddressRules, out: &mut String) -> Option<()> {
        name_of(self.url, self.id, rules, out)
    }

    /// Calls `each` with all addresses that it links to. Returns how many it skipped because of `rel=nofollow`.
    pub(super) fn each_target(&self, nofollow: Nofollow, mut each: impl FnMut(&str)) -> u64 {
        let mut skipped = 0;
        self.stated.iter().for_each(|target| each(target));
        let Some(html) = self.html else { return skipped };
        each_link(html, &self.url.map(base).unwrap_or_default(), |link| {
            if link.nofollow && nofollow == Nofollow::Ignore {
                skipped += 1;
            } else {
                each(without_base(&link.to));
            }
        });
        skipped
    }
}
