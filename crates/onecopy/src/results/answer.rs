//! Refined results: each group under its anchor, as JSON or for people.

use std::fmt::Write;

use onecopy_core::{Compared, Grouping, Place, RefineOptions, Refined, Relation, shown};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::row::{ANSWER, Row};
use crate::paint::{Paint, Tone};
use crate::size::{count, counted};

/// Whether repeats are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    Group,
    Drop,
}

/// Refined results.
pub struct Answer<'a> {
    rows: Vec<Row<'a>>,
    /// The place of each row; `None` if its group is left out.
    places: Vec<Option<Place>>,
    /// The members of each group, the anchor first.
    groups: Vec<Vec<usize>>,
    /// How many repeats each row has.
    repeats_of: Vec<usize>,
    about: About,
}

/// How results were refined.
#[derive(Clone, Serialize)]
struct About {
    compared: &'static str,
    method: String,
    threshold: f64,
    grouping: &'static str,
    given: usize,
    groups: usize,
    repeats: usize,
    left_out: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// The field that a result gets.
#[derive(Serialize)]
struct Standing<'a> {
    rank: usize,
    relation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<&'static str>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(
        rows: Vec<Row<'a>>,
        refined: Refined,
        notes: Vec<String>,
        options: &RefineOptions,
    ) -> Answer<'a> {
        let Refined { places, compared, threshold } = refined;
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        for (row, place) in places.iter().enumerate() {
            of[place.map_or(row, |place| place.anchor)].extend(place.map(|_| row));
        }
        let repeats_of = of.iter().map(|group| group.len().saturating_sub(1)).collect();
        let groups: Vec<Vec<usize>> = of.into_iter().filter(|group| !group.is_empty()).collect();
        let kept: usize = groups.iter().map(Vec::len).sum();
        let about = About {
            compared: compared_word(compared),
            method: if compared == Compared::Tags { "bloom".into() } else { options.config.method.clone() },
            threshold,
            grouping: match options.grouping {
                Grouping::ByAnchor => "by-anchor",
                Grouping::Transitive => "transitive",
            },
            given: rows.len(),
            groups: groups.len(),
            repeats: kept - groups.len(),
            left_out: rows.len() - kept,
            notes,
        };
        Answer { rows, places, groups, repeats_of, about }
    }

    /// One document: how results were refined, and the results.
    pub fn document(&self, repeats: Repeats) -> String {
        let about = serde_json::to_string_pretty(&self.about).expect("our own types are JSON");
        let about = about.trim_end_matches(['}', '\n']);
        let results: Vec<String> = self.shown(repeats).map(|row| self.line(row, None)).collect();
        format!("{about},\n  \"results\": [\n    {}\n  ]\n}}\n", results.join(",\n    "))
    }

    /// One result in each line.
    pub fn lines(&self, repeats: Repeats) -> String {
        self.shown(repeats).map(|row| self.line(row, Some(self.about.compared)) + "\n").collect()
    }

    /// Notes about the results for the user.
    pub fn notes(&self) -> &[String] {
        &self.about.notes
    }

    /// The results that are shown, each group under its anchor.
    fn shown(&self, repeats: Repeats) -> impl Iterator<Item = usize> {
        let most = if repeats == Repeats::Drop { 1 } else { usize::MAX };
        self.groups.iter().flat_map(move |group| group.iter().copied().take(most))
    }

    /// A result with all of its own fields, and where it stands.
    fn line(&self, row: usize, compared: Option<&'static str>) -> String {
        let standing = serde_json::to_string(&self.standing(row, compared)).expect("our own types are JSON");
        let Row { raw, has_answer, .. } = &self.rows[row];
        if *has_answer {
            let mut fields: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
            fields.insert(ANSWER.into(), serde_json::from_str(&standing).expect("our own JSON"));
            return Value::Object(fields).to_string();
        }
        let own = raw.get().trim().strip_suffix('}').unwrap_or_default().trim_end();
        let comma = if own.ends_with('{') { "" } else { "," };
        format!("{}{comma}\"{ANSWER}\":{standing}}}", in_one_line(own))
    }

    fn standing(&self, row: usize, compared: Option<&'static str>) -> Standing<'_> {
        let place =
            self.places[row].unwrap_or(Place { anchor: row, similarity: 1.0, relation: Relation::Anchor });
        let is_anchor = place.anchor == row;
        let anchor = self.rows[place.anchor].id.as_deref().filter(|_| !is_anchor);
        Standing {
            rank: row + 1,
            relation: relation_word(place.relation),
            repeats: is_anchor.then(|| self.repeats_of[row]),
            anchor_rank: (!is_anchor).then_some(place.anchor + 1),
            anchor: anchor.and_then(|id| serde_json::from_str(id).ok()),
            similarity: (!is_anchor).then(|| self.similarity(place)),
            compared,
        }
    }

    /// A similarity as it is shown. A group by transitive pairs may have less than the threshold.
    fn similarity(&self, place: Place) -> f64 {
        shown(place.similarity, self.about.threshold)
    }

    /// A list for people.
    pub fn for_people(&self, repeats: Repeats, paint: Paint) -> String {
        let mut text = String::new();
        for row in self.shown(repeats) {
            let Some(place) = self.places[row] else { continue };
            let name = self.name(row);
            let line = match place.relation {
                Relation::Anchor => format!("{:>5}  {name}", row + 1),
                _ => paint.paint(
                    Tone::Faint,
                    &format!(
                        "{:>13} {:.0} %  {name}  ({})",
                        row + 1,
                        100.0 * self.similarity(place),
                        self.label(place)
                    ),
                ),
            };
            let _ = writeln!(text, "{line}");
        }
        let About { compared, method, threshold, given, groups, repeats, left_out, .. } = &self.about;
        let _ = write!(
            text,
            "\n{}: {}, {}",
            counted(*given as u64, "result"),
            counted(*groups as u64, "group"),
            counted(*repeats as u64, "repeat")
        );
        if *left_out > 0 {
            let _ = write!(text, ", {} left out", count(*left_out as u64));
        }
        let _ = writeln!(text, "; compared {compared} by {method} at {threshold}");
        text
    }

    /// Which page contains which.
    fn label(&self, place: Place) -> String {
        match place.relation {
            Relation::Contains => format!("contains {}", place.anchor + 1),
            Relation::Contained => format!("contained in {}", place.anchor + 1),
            Relation::Anchor | Relation::Similar => format!("similar to {}", place.anchor + 1),
        }
    }

    fn name(&self, row: usize) -> String {
        let Row { id, title, .. } = &self.rows[row];
        let id = id.as_deref().map(|id| serde_json::from_str(id).unwrap_or_else(|_| id.to_owned()));
        let name = [id.unwrap_or_default(), title.clone()].join("  ");
        crate::paint::plain(name.trim())
    }
}

/// JSON has no line ends in strings, so those outside are white space.
fn in_one_line(json: &str) -> String {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ") } else { json.to_owned() }
}

fn compared_word(compared: Compared) -> &'static str {
    match compared {
        Compared::Pages => "pages",
        Compared::Passages => "passages",
        Compared::Tags => "tags",
    }
}

/// The word for a relation, as all outputs have it.
pub fn relation_word(relation: Relation) -> &'static str {
    match relation {
        Relation::Anchor => "anchor",
        Relation::Similar => "similar",
        Relation::Contains => "contains-anchor",
        Relation::Contained => "contained-in-anchor",
    }
}
