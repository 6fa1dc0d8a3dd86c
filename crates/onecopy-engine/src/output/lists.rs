//! Writes `removed.jsonl`, `groups.jsonl`, `pages.jsonl` and `rejected.jsonl`, and counts their contents.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use onecopy_core::{Content, Decision, End, Kind, Language, LinkKind, PageId, shown};

use super::names::Names;
use super::reasons::ReasonTally;
use crate::batch::{Decisions, Link, Member, Row, Segment, Segments, facts};
use crate::error::{At, Result};
use crate::ingest::{Class, Format, Inputs, Reason, RejectedLine, Source};
use crate::progress::Progress;
use crate::report::Counts;

/// The input of the lists.
pub(crate) struct Lists<'a> {
    pub segments: &'a Segments,
    pub inputs: &'a Inputs,
    pub decisions: &'a Decisions,
    pub threshold: f64,
    /// Which text of HTML pages is compared.
    pub content: Content,
    /// Whether the sketches of HTML pages have parts.
    pub has_parts: bool,
    /// The memory limit for names, in bytes.
    pub memory: u64,
    /// Counts segments, each [`LIST_PASSES`] times.
    pub progress: &'a dyn Progress,
}

/// How many times [`Lists::write`] goes through the segments.
pub(crate) const LIST_PASSES: u64 = 4;

impl Lists<'_> {
    /// Writes all lists into `folder` and returns their counts.
    pub(crate) fn write(&self, folder: &Path) -> Result<Counts> {
        let names = Names::new(self.segments, &self.inputs.sources, self.memory)?;
        let mut counts = Counts::default();
        self.removed(&names, folder, &mut counts)?;
        let groups = self.groups(&names, folder, &mut counts)?;
        self.rejected(&names, folder, &mut counts)?;
        self.pages(&names, folder, &groups)?;
        Ok(counts)
    }

    /// Writes the lists of a market into `folder`: its winners and its removed pages.
    pub(crate) fn write_market(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).at("create", folder)?;
        let names = Names::new(self.segments, &self.inputs.sources, self.memory)?;
        self.removed(&names, folder, &mut Counts::default())?;
        self.groups(&names, folder, &mut Counts::default())?;
        Ok(())
    }

    /// Whether only the main content of a page may have been compared.
    fn compares_main(&self, row: &Row) -> bool {
        match (self.content, self.has_parts) {
            (Content::All, _) => false,
            (_, true) => row.own,
            // Without parts, nothing says which records are HTML.
            (_, false) => {
                let format = self.inputs.sources[row.source as usize].format;
                matches!(format, Format::Html | Format::Records(_))
            }
        }
    }

    fn removed(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<()> {
        let mut out = List::create(folder.join("removed.jsonl"))?;
        for number in 0..self.segments.len() {
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            for (i, row) in segment.rows.iter().enumerate() {
                let decision = self.decisions.of(first + i as PageId);
                let Decision::Removed { winner, similarity, kind } = decision else {
                    counts.kept += u64::from(decision == Decision::Kept);
                    continue;
                };
                let (winner, identity) = names.and_identity(winner)?;
                let kind = kind.between(row.identity, identity);
                counts.remove(kind, similarity);
                counts.main_content |= kind == Kind::Exact && self.compares_main(row);
                let page = names.as_json(number, row, segment.name(i));
                let (similarity, kind) = (shown(similarity, self.threshold), kind.as_str());
                out.line(format_args!(
                    r#"{{"page":{page},"winner":{winner},"similarity":{similarity:?},"kind":"{kind}"}}"#
                ))?;
            }
            self.progress.advance(1);
        }
        out.finish()
    }

    /// Writes the groups. Returns the group of each page, zero for none.
    fn groups(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<Vec<u32>> {
        let mut of_page = vec![0; self.segments.pages()];
        let mut out = List::create(folder.join("groups.jsonl"))?;
        for group in self.decisions.grouped().chunk_by(|a, b| a.group == b.group) {
            counts.group(group.len() as u64);
            let mut named = Vec::with_capacity(group.len());
            for &Member { content, place, page, .. } in group {
                of_page[page as usize] = counts.groups as u32;
                named.push(((content, place), names.of(page)?, self.decisions.of(page)));
            }
            // Redirects to one content have the same rank. Their order must not depend on the input order.
            named.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            let kept = named.iter().filter(|member| member.2 == Decision::Kept).map(|member| &*member.1);
            let kept = kept.collect::<Vec<_>>().join(",");
            let members: Vec<&str> = named.iter().map(|member| &*member.1).collect();
            let (number, winner, members) = (counts.groups, members[0], members.join(","));
            out.line(format_args!(
                r#"{{"group":{number},"winner":{winner},"kept":[{kept}],"members":[{members}]}}"#
            ))?;
        }
        out.finish()?;
        self.progress.advance(self.segments.len() as u64);
        Ok(of_page)
    }

    /// Writes all compared pages, with their properties and groups.
    fn pages(&self, names: &Names, folder: &Path, groups: &[u32]) -> Result<()> {
        let mut out = List::create(folder.join("pages.jsonl"))?;
        for number in 0..self.segments.len() {
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            for (i, row) in segment.rows.iter().enumerate() {
                let page = first + i as PageId;
                if self.decisions.of(page) != Decision::Rejected {
                    out.line(format_args!(
                        "{}",
                        PageLine { names, number, segment: &segment, i, row, group: groups[page as usize] }
                    ))?;
                }
            }
            self.progress.advance(1);
        }
        out.finish()
    }

    fn rejected(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<()> {
        let mut out = List::create(folder.join("rejected.jsonl"))?;
        let mut tally = ReasonTally::default();
        let mut line = |rejected: &RejectedLine, class: Class, format: Option<Format>| {
            tally.add(class, format);
            let text = serde_json::to_string(rejected).expect("our own types are JSON");
            out.line(format_args!("{text}"))
        };
        for (source, Reason { class, text }) in self.inputs.unread() {
            line(&RejectedLine { source, line: None, record: Some(0), reason: &text }, class, None)?;
        }
        for number in 0..self.segments.len() {
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            // In input order, independent of where chunks were cut.
            let mut reasons: Vec<(u32, u32, &Reason)> =
                segment.rejected.iter().map(|it| (it.line, it.source, &it.reason)).collect();
            let nowhere = self.nowhere(&segment, first);
            reasons.extend(nowhere.iter().map(|(row, reason)| (row.line, row.source, reason)));
            reasons.sort_by_key(|&(line, source, _)| (source, line));
            for (number_in_chunk, source, Reason { class, text }) in reasons {
                let source = &self.inputs.sources[source as usize];
                let (line_number, record) = place(source, names.line(number, number_in_chunk));
                let rejected = RejectedLine { source: &source.name, line: line_number, record, reason: text };
                line(&rejected, *class, Some(source.format))?;
            }
            self.progress.advance(1);
        }
        (counts.rejected, counts.reasons) = tally.finish();
        out.finish()
    }

    /// The pages of a segment that only refer to another page and lead nowhere, with the reason for each. If a page has
    /// several links, one reason suffices.
    fn nowhere<'a>(&self, segment: &'a Segment, first: PageId) -> Vec<(&'a Row, Reason)> {
        let links = segment.links.chunk_by(|a, b| a.row == b.row);
        let reason = |link: &Link| Some((link.row as usize, self.reason(first + link.row, link)?));
        let found = links.filter_map(|links| links.iter().find_map(reason));
        found.map(|(row, reason)| (&segment.rows[row], reason)).collect()
    }

    /// Why a page with this link could not be compared; `None` if it could.
    fn reason(&self, page: PageId, link: &Link) -> Option<Reason> {
        let end = self.decisions.end(page).filter(|_| link.kind != LinkKind::Canonical)?;
        let does = if end.revisit { "says that it is a copy of" } else { "redirects to" };
        let what = match end.end {
            End::Page(_) => return None,
            End::Missing => "which leads to no page of the input",
            End::Loop => "which leads back to it",
            End::TooLong => "which leads on for too many steps",
        };
        Some(Reason::new(Class::Nowhere, format!("it {does} {}, {what}", link.to)))
    }
}

/// The line or record number of a page, as written to the lists.
fn place(source: &Source, number: u64) -> (Option<u64>, Option<u64>) {
    match source.format {
        Format::Lines(_) => (Some(number), None),
        Format::Records(_) | Format::Parquet => (None, Some(number)),
        Format::Html | Format::Text => (None, Some(0)),
    }
}

/// A line of `pages.jsonl`.
struct PageLine<'a> {
    names: &'a Names<'a>,
    number: usize,
    segment: &'a Segment,
    i: usize,
    row: &'a Row,
    group: u32,
}

impl fmt::Display for PageLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = self.segment.name(self.i);
        write!(f, r#"{{"page":{}"#, self.names.as_json(self.number, self.row, name))?;
        let url = facts::read(self.segment.facts(self.i)).url;
        if !url.is_empty() {
            write!(f, r#","url":{}"#, serde_json::to_string(url).map_err(|_| fmt::Error)?)?;
        } else if self.row.identity != 0 {
            // Its name is its URL.
            write!(f, r#","url":{}"#, String::from_utf8_lossy(name))?;
        }
        if let Some(language) = Language::from_u8(self.row.language) {
            write!(f, r#","language":"{}""#, language.code())?;
        }
        if self.group > 0 {
            write!(f, r#","group":{}"#, self.group)?;
        }
        f.write_str("}")
    }
}

/// A file of lines.
struct List {
    out: BufWriter<File>,
    path: PathBuf,
}

impl List {
    fn create(path: PathBuf) -> Result<List> {
        let file = File::create(&path).at("create", &path)?;
        Ok(List { out: BufWriter::with_capacity(1 << 16, file), path })
    }

    fn line(&mut self, text: std::fmt::Arguments) -> Result<()> {
        self.out.write_fmt(text).and_then(|()| self.out.write_all(b"\n")).at("write", &self.path)
    }

    fn finish(self) -> Result<()> {
        let List { out, path } = self;
        out.into_inner().map(drop).map_err(|error| error.into_error()).at("write", &path)
    }
}
