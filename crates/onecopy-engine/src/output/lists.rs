//! `removed.jsonl`, `groups.jsonl` and `rejected.jsonl`, and the counts of what they hold.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use onecopy_core::{Decision, PageId};

use super::names::Names;
use crate::batch::{Decisions, Segments};
use crate::error::{At, Result};
use crate::ingest::{Format, Inputs, RejectedLine};
use crate::report::Counts;

/// What the lists are made from.
pub(crate) struct Lists<'a> {
    pub segments: &'a Segments,
    pub inputs: &'a Inputs,
    pub decisions: &'a Decisions,
    pub threshold: f64,
}

/// Writes the three lists into `folder`; says what they hold.
pub(crate) fn write_lists(lists: &Lists, folder: &Path) -> Result<Counts> {
    let names = Names::new(lists.segments, &lists.inputs.sources);
    let mut counts = Counts::default();
    lists.removed(&names, folder, &mut counts)?;
    lists.groups(&names, folder, &mut counts)?;
    lists.rejected(&names, folder, &mut counts)?;
    Ok(counts)
}

impl Lists<'_> {
    fn removed(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<()> {
        let mut out = List::create(folder.join("removed.jsonl"))?;
        for number in 0..self.segments.len() {
            let (segment, first) = (self.segments.load(number)?, self.segments.first_page(number));
            for (i, row) in segment.rows.iter().enumerate() {
                let Decision::Removed { winner, similarity, kind } = self.decisions.of(first + i as PageId)
                else {
                    counts.kept += 1;
                    continue;
                };
                counts.remove(kind, similarity);
                let (page, winner) = (names.as_json(number, row, segment.name(i)), names.of(winner)?);
                let (similarity, kind) = (shown(similarity, self.threshold), kind.as_str());
                out.line(format_args!(
                    r#"{{"page":{page},"winner":{winner},"similarity":{similarity:?},"kind":"{kind}"}}"#
                ))?;
            }
        }
        out.finish()
    }

    fn groups(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<()> {
        let mut out = List::create(folder.join("groups.jsonl"))?;
        for group in self.decisions.grouped().chunk_by(|a, b| a.0 == b.0) {
            counts.group(group.len() as u64);
            let mut named = Vec::with_capacity(group.len());
            for &(_, place, page) in group {
                named.push((place, names.of(page)?, self.decisions.of(page)));
            }
            // Copies of one content have one place; their order must not be that of the input.
            named.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            let kept =
                named.iter().filter(|member| member.2 == Decision::Kept).map(|member| member.1.as_str());
            let kept = kept.collect::<Vec<_>>().join(",");
            let members: Vec<&str> = named.iter().map(|member| member.1.as_str()).collect();
            let (number, winner, members) = (counts.groups, members[0], members.join(","));
            out.line(format_args!(
                r#"{{"group":{number},"winner":{winner},"kept":[{kept}],"members":[{members}]}}"#
            ))?;
        }
        out.finish()
    }

    fn rejected(&self, names: &Names, folder: &Path, counts: &mut Counts) -> Result<()> {
        let mut out = List::create(folder.join("rejected.jsonl"))?;
        let mut line = |rejected: &RejectedLine| {
            counts.rejected += 1;
            let text = serde_json::to_string(rejected).expect("our own types are JSON");
            out.line(format_args!("{text}"))
        };
        for (source, reason) in &self.inputs.refused {
            line(&RejectedLine { source, line: None, record: Some(0), reason })?;
        }
        for number in 0..self.segments.len() {
            for rejection in &self.segments.load(number)?.rejected {
                let source = &self.inputs.sources[rejection.source as usize];
                let lines = matches!(source.format, Format::Lines(_));
                line(&RejectedLine {
                    source: &source.name,
                    line: lines.then(|| names.line(number, rejection.line)),
                    record: (!lines).then_some(0),
                    reason: &rejection.reason,
                })?;
            }
        }
        out.finish()
    }
}

/// A similarity to five places, unless that would make it look like another: 1 is said of equal sets only, and nothing
/// below the threshold of a removed page.
fn shown(similarity: f64, threshold: f64) -> f64 {
    let rounded = (similarity * 1e5).round() / 1e5;
    if (rounded == 1.0 && similarity < 1.0) || rounded < threshold { similarity } else { rounded }
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
        out.into_inner()
            .map_err(|error| error.into_error())
            .and_then(|file| file.sync_data())
            .at("write", &path)
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_similarity_is_never_shown_as_another() {
        assert_eq!(shown(0.123_456_7, 0.1), 0.12346);
        assert_eq!(shown(0.999_999_9, 0.8), 0.999_999_9);
        assert_eq!(shown(1.0, 0.8), 1.0);
        assert_eq!(shown(9.0 / 11.0, 0.818_181), 9.0 / 11.0);
    }
}
