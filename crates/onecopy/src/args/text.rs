//! Arguments about texts and shingles, for all commands that compare pages.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use onecopy_core::{Case, Config, Content, Numbering, Punctuation, Replicas, Unit, Words};

#[derive(ClapArgs)]
pub struct ShingleArgs {
    /// Tokens per shingle. Higher: edits count more, so fewer pages removed
    #[arg(long, short = 'k', value_name = "K", default_value_t = Config::default().shingles.length)]
    pub shingle: usize,
    /// The kind of token
    #[arg(long, value_enum, default_value_t)]
    pub unit: UnitArg,
}

impl ShingleArgs {
    /// Applies the arguments to a configuration.
    pub fn apply(&self, config: &mut Config) {
        config.shingles.length = self.shingle;
        config.shingles.unit = match self.unit {
            UnitArg::Words => Unit::Words,
            UnitArg::Chars => Unit::Chars,
        };
    }
}

#[derive(ClapArgs)]
#[command(next_help_heading = "What counts as text")]
pub struct TextArgs {
    /// The text of HTML pages to compare
    #[arg(long, value_enum, default_value_t)]
    pub content: ContentArg,
    /// How to split scripts without spaces into words (Chinese, Japanese, Thai, Lao, Khmer, Burmese)
    #[arg(long, value_enum, default_value_t)]
    pub words: WordsArg,
    /// Treat upper and lower case as different
    #[arg(long)]
    pub keep_case: bool,
    /// Count punctuation marks as words
    #[arg(long)]
    pub keep_punctuation: bool,
    /// Ignore bullets and numbering such as a.1 at the start of lines
    #[arg(long)]
    pub drop_numbering: bool,
    /// Count repeated shingles of a page each time
    #[arg(long)]
    pub count_replicas: bool,
    /// Ignore the words in this file, separated by white space
    #[arg(long, value_name = "FILE")]
    pub stop_words: Option<PathBuf>,
}

impl TextArgs {
    /// Applies the arguments to a configuration.
    pub fn apply(&self, config: &mut Config) -> anyhow::Result<()> {
        config.content = self.content.into();
        config.canonical.words = match self.words {
            WordsArg::Auto => Words::Auto,
            WordsArg::Runs => Words::Runs,
            WordsArg::Segmented => Words::Segmented,
        };
        if self.count_replicas {
            config.shingles.replicas = Replicas::Count;
        }
        if self.keep_case {
            config.canonical.case = Case::Keep;
        }
        if self.keep_punctuation {
            config.canonical.punctuation = Punctuation::Keep;
        }
        if self.drop_numbering {
            config.canonical.numbering = Numbering::Drop;
        }
        if let Some(path) = &self.stop_words {
            let text = read_text(path, "stop words")?;
            config.canonical.stop_words = text.split_whitespace().map(str::to_owned).collect();
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum UnitArg {
    /// Runs of letters, digits and underscores
    #[default]
    Words,
    /// Characters
    Chars,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum ContentArg {
    /// The main content if onecopy can find it, else all text
    #[default]
    Auto,
    /// The main content, without navigation, templates and ads
    Main,
    /// All visible text
    All,
}

impl From<ContentArg> for Content {
    fn from(content: ContentArg) -> Content {
        match content {
            ContentArg::Auto => Content::Auto,
            ContentArg::Main => Content::Main,
            ContentArg::All => Content::All,
        }
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum WordsArg {
    /// Words by dictionary in HTML; elsewhere runs of letters, unless they are very long
    #[default]
    Auto,
    /// Runs of letters
    Runs,
    /// Words by dictionary
    Segmented,
}

/// Reads a file that an option names.
pub fn read_text(path: &Path, what: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| anyhow::anyhow!("cannot read {what} from {}: {error}", path.display()))
}
