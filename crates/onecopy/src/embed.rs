//! The parts of the program that the Python package uses: jobs from options, the list of options, and texts of errors.
//!
//! The package turns its arguments into those of the command line. So both have the same names, defaults and checks.

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory, Parser};
use onecopy_engine::Job;

use crate::args::{Args, Command};
use crate::commands::refine::refined;
use crate::remedy::explained;

/// An option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionEntry {
    /// Its name without dashes, such as `text-field`.
    pub name: String,
    /// Its first sentence in the help.
    pub help: String,
    /// The default value; `None` if there is none or it is computed.
    pub default: Option<String>,
    /// The accepted values; empty if there are many.
    pub values: Vec<String>,
    /// Whether it takes a value.
    pub takes_value: bool,
    /// Whether it takes several values.
    pub takes_several: bool,
}

/// The options of a command, in the order of its help. Empty if there is no such command.
pub fn options(command: &str) -> Vec<OptionEntry> {
    let all = Args::command();
    let Some(command) = all.find_subcommand(command) else { return Vec::new() };
    command.get_arguments().filter_map(entry).collect()
}

fn entry(argument: &clap::Arg) -> Option<OptionEntry> {
    let takes_value = argument.get_action().takes_values();
    let values = if takes_value { argument.get_possible_values() } else { Vec::new() };
    let default = argument.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
    Some(OptionEntry {
        name: argument.get_long()?.to_owned(),
        help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
        default: default.filter(|_| takes_value),
        values: values.iter().map(|value| value.get_name().to_owned()).collect(),
        takes_value,
        takes_several: matches!(argument.get_action(), ArgAction::Append),
    })
}

/// The job of `onecopy dedup` with these arguments, or why it is none.
pub fn dedup_job(arguments: impl IntoIterator<Item = OsString>) -> Result<Job, String> {
    let all = ["onecopy".into(), "dedup".into()].into_iter().chain(arguments);
    match Args::try_parse_from(all).map_err(|said| refusal(&said))?.command {
        Command::Dedup(args) => args.job().map_err(|error| explained(&error)),
        _ => Err("not a call of `onecopy dedup`".into()),
    }
}

/// The output of `onecopy refine` for results, which are a JSON array or JSON Lines, or why it refuses them.
pub fn refine(results: &str, arguments: impl IntoIterator<Item = OsString>) -> Result<String, String> {
    let all = ["onecopy", "refine", "results"].map(OsString::from).into_iter().chain(arguments);
    match Args::try_parse_from(all).map_err(|said| refusal(&said))?.command {
        Command::Refine(args) => match refined(&args, results) {
            Ok(answer) => Ok(answer.document(args.repeats())),
            Err(error) => Err(explained(&error)),
        },
        _ => Err("not a call of `onecopy refine`".into()),
    }
}

/// An error of the engine in a sentence, with its remedy.
pub fn sentence(error: onecopy_engine::Error) -> String {
    explained(&error.into())
}

/// The first sentence of what the parser says, without its hints about the command line.
fn refusal(said: &clap::Error) -> String {
    let text = said.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    text.split("\n\n").next().unwrap_or(text).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_listed_and_make_a_job() {
        let all = options("dedup");
        let find = |name: &str| all.iter().find(|option| option.name == name).expect("an option");
        assert_eq!(find("method").default.as_deref(), Some("auto"));
        assert_eq!(find("content").values, ["auto", "main", "all"]);
        assert!(find("winner").takes_several && !find("keep-case").takes_value);
        let job = dedup_job(["x", "--out", "y", "--threshold", "0.9"].map(OsString::from)).unwrap();
        assert_eq!(job.config.threshold, Some(0.9));
        let why = dedup_job(["x", "--out", "y", "--threshold", "high"].map(OsString::from)).unwrap_err();
        assert!(why.starts_with("invalid value 'high' for '--threshold"), "{why}");
    }
}
