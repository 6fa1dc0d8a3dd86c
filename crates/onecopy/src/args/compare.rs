//! The arguments of `onecopy compare`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use onecopy_core::Content;
use onecopy_engine::{Comparing, Limits};

use super::environment;
use super::text::ContentArg;
use crate::size::Size;

pub const EXAMPLES: &str = "\
Examples:
  onecopy compare old.html new.html
  onecopy compare a.html b.txt --method jaccard:threshold=0.9 --json
  onecopy compare http://a.example/x http://b.example/x --run clean --html differences.html
  curl -s https://a.example/x | onecopy compare - saved.html

Marks of the passages below the table:
  -   only in A         <   in A, and elsewhere in B
  +   only in B         >   in B, and elsewhere in A";

#[derive(ClapArgs)]
pub struct CompareArgs {
    /// A file (HTML or text), or - for standard input; with --run, the name, address or place of a page, such
    /// as pages.jsonl:12
    pub a: String,
    /// Another page
    pub b: String,
    /// Compare pages of this finished run, with its configuration
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// The methods to compare by [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME[:PARAMETER=VALUE]...,...")]
    pub method: Vec<String>,
    /// The text of HTML pages to compare [default: auto, or the run's choice]
    // The other options about text belong here, flattened in as for `dedup`.
    #[arg(long, value_enum)]
    pub content: Option<ContentArg>,
    /// Refuse files longer than this
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::default().page_bytes as u64))]
    pub max_page: Size,
    /// Print all differing passages in full
    #[arg(long)]
    pub full: bool,
    /// Write an HTML page that shows both side by side
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
}

impl CompareArgs {
    /// The comparison from the command line.
    pub fn comparing(&self) -> Comparing {
        Comparing {
            a: self.a.clone(),
            b: self.b.clone(),
            run: self.run.clone(),
            content: self.content.map(Content::from),
            methods: self.method.clone(),
            limits: Limits { page_bytes: self.max_page.0 as usize, ..Limits::default() },
            environment: environment(),
            ..Comparing::default()
        }
    }
}
