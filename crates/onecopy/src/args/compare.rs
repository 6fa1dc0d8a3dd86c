//! What may be typed behind `onecopy compare`.

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

What is printed, behind the table of measures:
  -   only in A         <   in A, and elsewhere in B
  +   only in B         >   in B, and elsewhere in A";

#[derive(ClapArgs)]
pub struct CompareArgs {
    /// A file (HTML or text), - for standard input, or with --run the name or address of a page
    pub a: String,
    /// Another
    pub b: String,
    /// The output folder of a finished run, whose pages and configuration are used
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// How pages are compared [default: by every method]
    #[arg(long, value_delimiter = ',', value_name = "NAME[:PARAMETER=VALUE]...,...")]
    pub method: Vec<String>,
    /// Which text of HTML pages is compared [default: auto, or as the run did]
    // The other options on what counts as text belong here, flattened in as for `dedup`.
    #[arg(long, value_enum)]
    pub content: Option<ContentArg>,
    /// Refuse files longer than this
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::default().page_bytes as u64))]
    pub max_page: Size,
    /// Print differing passages whole, and all of them
    #[arg(long)]
    pub full: bool,
    /// Write a page that shows both side by side
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the comparison as JSON, for programs
    #[arg(long)]
    pub json: bool,
}

impl CompareArgs {
    /// The comparison that was typed.
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
