//! The arguments of `onecopy refine`.

use clap::Args as ClapArgs;
use onecopy_core::{Config, Grouping, REFINE_METHOD, RefineOptions};

use super::choice::refuse_second_threshold;
use super::text::{ShingleArgs, TextArgs};
use crate::results::{Repeats, ResultFields};

pub const EXAMPLES: &str = "\
Examples:
  onecopy refine results.json
  onecopy refine results.jsonl --drop --keep 10 --jsonl
  onecopy refine results.json --query 'emacs manual' --json
  curl -s http://127.0.0.1:8080/search?q=emacs | jq .hits | onecopy refine - --drop --json
  onecopy refine results.json --method containment       group parts of pages with the whole

A result is a JSON object. onecopy reads these fields, and keeps all others as they are:
  id              a string or a number; without it, url
  rank, score     the order: the lowest rank or the highest score first; without them, as given
  text            the page's text, or one of:
  html            the page's HTML
  title, snippet  what the engine shows of it
  tag             a tag that `onecopy tag` made
Texts are compared if all results have one. If a result has only a tag, all are compared by tags.
A result with nothing to compare, and one without words, repeats no other.

Each result gets a field onecopy:
  rank            its place among all results, from 1
  relation        anchor, similar, contains-anchor or contained-in-anchor
  repeats         how many repeats an anchor has
  anchor, anchor_rank, similarity   the best-ranked result of its group, and how similar it is
compared says what was compared: pages, passages (around the words of --query), or tags.";

#[derive(ClapArgs)]
pub struct RefineArgs {
    /// Ranked results: a file with a JSON array or JSON Lines, or - for standard input
    pub results: String,
    /// Leave repeats out instead of listing them under their anchor
    #[arg(long)]
    pub drop: bool,
    /// Keep only the first N groups, each with all of its repeats [default: all]
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Put results into one group that are similar through others. By default a repeat is similar to its anchor
    #[arg(long)]
    pub transitive: bool,
    /// Compare the passages around these words instead of whole pages. Stop words alone compare whole pages
    #[arg(long, value_name = "WORDS")]
    pub query: Option<String>,
    /// The method that compares results; `onecopy methods` lists all. Tags are compared by bloom
    #[arg(long, value_name = "NAME[:PARAMETER=VALUE]...", default_value = REFINE_METHOD)]
    pub method: String,
    /// Treat results at least this similar as repeats. Higher: fewer repeats [default: the method's own, 0.8 for auto, 0.7
    /// for tags]
    #[arg(long, short, value_name = "0..1")]
    pub threshold: Option<f64>,
    #[command(flatten)]
    pub shingles: ShingleArgs,
    /// The field with the text [default: text]
    #[arg(long, value_name = "NAME")]
    pub text_field: Option<String>,
    /// The field with the id [default: id, else url]
    #[arg(long, value_name = "NAME")]
    pub id_field: Option<String>,
    /// The field with the tag [default: tag]
    #[arg(long, value_name = "NAME")]
    pub tag_field: Option<String>,
    /// Print one JSON document with the results
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// Print the results as JSON Lines
    #[arg(long)]
    pub jsonl: bool,
    #[command(flatten)]
    pub text: TextArgs,
}

impl RefineArgs {
    /// The options from the command line.
    pub fn options(&self) -> anyhow::Result<RefineOptions> {
        refuse_second_threshold(self.threshold, &self.method)?;
        let mut config =
            Config { method: self.method.clone(), threshold: self.threshold, ..Config::default() };
        self.shingles.apply(&mut config);
        self.text.apply(&mut config)?;
        let grouping = if self.transitive { Grouping::Transitive } else { Grouping::ByAnchor };
        Ok(RefineOptions { config, grouping, keep: self.keep, query: self.query.clone() })
    }

    /// The names of fields.
    pub fn fields(&self) -> ResultFields {
        let (text, id, tag) = (self.text_field.clone(), self.id_field.clone(), self.tag_field.clone());
        ResultFields { text, id, tag }
    }

    /// What becomes of repeats.
    pub fn repeats(&self) -> Repeats {
        if self.drop { Repeats::Drop } else { Repeats::Group }
    }
}
