//! Turns a requested change into a version for the log. The caller's thread does all expensive work here, before it
//! takes a lock.

use onecopy_core::{Canonical, CanonicalRules, Config, Content, FilterRules, LinkKind, Method, Tag};
use onecopy_store::{Deed, LinkRow, Version};
use zstd::bulk::Compressor;

use super::status::Refusal;
use super::{Action, ServiceOptions};
use crate::ingest::{FieldNames, read_line};
use crate::job::Limits;
use onecopy_core::{Appraised, Appraiser};
use onecopy_core::{Needs, Record};

/// The settings that preparing a change needs.
pub(super) struct Preparation {
    pub config: Config,
    pub method: Box<dyn Method>,
    pub names: FieldNames,
    /// The parts of HTML that are needed.
    pub needs: Needs,
    /// The rules of tags, if pages get some.
    pub tags: Option<FilterRules>,
    limits: Limits,
    keep_pages: bool,
}

/// Buffers that a thread reuses between changes.
pub(super) struct PreparationBuffers<'a> {
    appraiser: Appraiser<'a>,
    compressor: Compressor<'a>,
    canonical: Canonical,
}

/// The zstd level of stored pages: the lowest, because every page is compressed.
const COMPRESSION: i32 = 1;

impl Preparation {
    pub(super) fn new(
        config: Config,
        method: Box<dyn Method>,
        tags: Option<FilterRules>,
        options: &ServiceOptions,
    ) -> Preparation {
        let needs = Needs::of(&config, &*method);
        let names = FieldNames::new(&options.fields);
        let (limits, keep_pages) = (options.limits.clone(), options.keep_pages);
        Preparation { config, method, names, needs, tags, limits, keep_pages }
    }

    /// Turns changes into versions, in order.
    pub(super) fn versions(&self, actions: &[Action]) -> Vec<Result<Version, Refusal>> {
        match self.buffers() {
            Ok(mut buffers) => actions.iter().map(|action| self.version(*action, &mut buffers)).collect(),
            Err(refusal) => actions.iter().map(|_| Err(refusal.clone())).collect(),
        }
    }

    /// Buffers for one thread.
    pub(super) fn buffers(&self) -> Result<PreparationBuffers<'_>, Refusal> {
        let compressor = Compressor::new(COMPRESSION).map_err(|error| Refusal::Broken(error.to_string()))?;
        let appraiser = Appraiser::new(&self.config, &*self.method);
        Ok(PreparationBuffers { appraiser, compressor, canonical: Canonical::default() })
    }

    fn version(&self, action: Action, buffers: &mut PreparationBuffers) -> Result<Version, Refusal> {
        // The page is looked for when the change is accepted.
        let gone = |deed| Ok(Version { deed, ..Version::default() });
        match action {
            Action::Put(line) => self.put(line, buffers),
            Action::Dead(_) => gone(Deed::Dead),
            Action::Delete(_) => gone(Deed::Delete),
        }
    }

    /// The version that adds the page of a line.
    pub(super) fn put(&self, line: &[u8], buffers: &mut PreparationBuffers) -> Result<Version, Refusal> {
        if line.len() > self.limits.page_bytes {
            return Err(Refusal::TooLarge(self.limits.page_bytes));
        }
        let record = read_line(line, &self.names, &self.needs).map_err(|why| objection(line, why.text))?;
        self.page(&record, line, buffers)
    }

    /// The version that adds a page. `line` is its record.
    pub(super) fn page(
        &self,
        record: &Record,
        line: &[u8],
        buffers: &mut PreparationBuffers,
    ) -> Result<Version, Refusal> {
        let mut sketch = Vec::new();
        let appraised = buffers.appraiser.appraise(record, line, |_| true, &mut sketch);
        if matches!(&*appraised.name, "" | "\"\"") {
            return Err(Refusal::Bad(NAMELESS.into()));
        }
        if appraised.name.len() > NAME_BYTES {
            return Err(Refusal::Bad(format!("the page's name is longer than {NAME_BYTES} bytes")));
        }
        let page = if self.keep_pages {
            buffers.compressor.compress(line).map_err(|error| Refusal::Broken(error.to_string()))?
        } else {
            Vec::new()
        };
        let url = record.url.as_deref().unwrap_or_default().to_owned();
        let tag = self.tag(record, line, &mut buffers.canonical);
        Ok(Version { page, tag, ..version(appraised, url, sketch) })
    }

    /// The bits of a page's tag; empty if the collection has no tags, or the page no words.
    fn tag(&self, record: &Record, line: &[u8], canonical: &mut Canonical) -> Vec<u8> {
        let Some(rules) = &self.tags else { return Vec::new() };
        // Tags of all collections can be compared, so their text is not the collection's choice.
        let again = match self.needs.content {
            Content::Auto => None,
            _ => read_line(line, &self.names, &Needs::default()).ok(),
        };
        let text = &again.as_ref().unwrap_or(record).text;
        text.canonicalise(&CanonicalRules::default(), canonical);
        match canonical.token_count() {
            0 => Vec::new(),
            _ => Tag::of_canonical(canonical, rules).to_bytes(),
        }
    }

    /// The tag in a version, if it has one.
    pub(super) fn stored_tag(&self, version: &Version) -> Option<Tag> {
        let rules = self.tags.filter(|_| !version.tag.is_empty())?;
        Tag::of_filter(rules, &version.tag).ok()
    }

    /// The page as it was added; `None` if pages are not stored.
    pub(super) fn whole(&self, version: &Version) -> Result<Option<Vec<u8>>, String> {
        if version.page.is_empty() {
            return Ok(None);
        }
        // The limit may have been higher when the page was accepted, so none applies here.
        zstd::stream::decode_all(&version.page[..])
            .map(Some)
            .map_err(|error| format!("the page {} cannot be unpacked: {error}", version.name))
    }
}

/// The refusal of a page without a name.
pub(super) const NAMELESS: &str = "the page has no name: give it an id or a url that is not empty";
/// The longest name. Names are keys, and keys are compared often.
const NAME_BYTES: usize = 8 << 10;

fn version(appraised: Appraised, url: String, sketch: Vec<u64>) -> Version {
    let links = appraised.links.iter().map(|link| LinkRow {
        kind: link.kind as u8,
        address: link.address.exact,
        identity: link.address.identity,
        to: link.to.clone(),
    });
    Version {
        deed: Deed::Put,
        name: appraised.name.to_string(),
        url,
        silent: appraised.silent,
        fingerprint: appraised.fingerprint.0,
        exact: appraised.address.exact,
        identity: appraised.address.identity,
        language: appraised.language,
        markets: appraised.markets,
        links: links.collect(),
        rank: appraised.rank,
        sketch,
        ..Version::default()
    }
}

/// Why a line cannot be parsed.
fn objection(line: &[u8], why: String) -> Refusal {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    Refusal::Bad(if is_json { why } else { format!("not JSON: {why}") })
}

/// The kind of link for its number in a row.
pub(super) fn link_kind(kind: u8) -> LinkKind {
    match kind {
        0 => LinkKind::Redirect,
        1 => LinkKind::Revisit,
        _ => LinkKind::Canonical,
    }
}
