//! Remedies: the option or the command that mends an error.
//!
//! The libraries say what failed and why, and know no command line. Every sentence that names an option is here.

use std::io::ErrorKind;

use onecopy_core::LayoutError;
use onecopy_engine::{ConfigError, Error, Note, Setting};

/// The remedy for records that exceed a limit.
pub const LIMITS: &str = "--max-page and --max-expansion change the limits";

/// The error in a sentence, with its remedy if there is one.
pub fn explained(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Error>().and_then(of_error) {
        Some(remedy) => format!("{error}; {remedy}"),
        None => error.to_string(),
    }
}

/// The note in a sentence, with its remedy if there is one.
pub fn noted(note: &Note) -> String {
    match note {
        Note::UnlistedPairs { .. } => format!("{note}; if only listed pairs were judged, give --listed-only"),
        _ => note.to_string(),
    }
}

fn for_many(method: &str, pages: usize) -> String {
    let name = method.split(':').next().unwrap_or_default();
    format!("choose another method, or give --method {name}:pages={pages} and much time")
}

fn of_error(error: &Error) -> Option<String> {
    let remedy = match error {
        Error::Config(error) => return of_config(error),
        Error::Layout(LayoutError::NoServers | LayoutError::FewFiles { .. }) => "set it with --servers",
        Error::Layout(LayoutError::Capacity { .. }) => "raise --servers or --capacity",
        Error::Setting { setting, .. } => return of_setting(*setting),
        Error::Memory { needed, .. } => return Some(format!("give --memory {}M", needed.div_ceil(1 << 20))),
        Error::SlowMethod { method, pages, .. } => return Some(for_many(method, *pages)),
        Error::PageMemory { .. } => "raise --memory or lower --max-page",
        Error::PageTooLong { .. } => "raise --max-page",
        Error::NoSuchPage { .. } => "for a page of a finished run give --run and its output folder",
        Error::ManyPages { .. } => {
            "run `onecopy dedup` on it, then compare its pages with --run and the output folder"
        }
        Error::Unreadable { .. } => "mend it, leave it out, or go on without it by leaving --strict out",
        Error::NoField { part, .. } => {
            return Some(format!("name a field with --{part}-field, or leave that out"));
        }
        Error::NoPageInMarket { .. } => "set it with --market",
        Error::Io { source, .. } => return of_system(source.kind()),
        Error::OutputHoldsAnotherRun { .. } | Error::OutputAnswers { .. } | Error::OutputChanged { .. } => {
            "give another folder, or --overwrite to replace them"
        }
        Error::OutputInUse { .. } => "wait for it, or give another folder with --out",
        Error::InputInOutput { .. } => "give another folder with --out",
        Error::NotLines { .. } => "give --out and a folder",
        Error::AmbiguousPage { .. } => "give one of these places",
        Error::FileExists { .. } => "give another name, or --overwrite to replace it",
        Error::ScoreFormat { .. } => "give such a name with --out",
        Error::NoLinks { .. } => "give --edges for an edge list, or name the field by --links-field",
        Error::ResetWeight { .. } | Error::NoResets { .. } => "mend the file that --resets names",
        Error::NoScores { .. } => "give --popularity a file that `onecopy rank` wrote",
        Error::InputChanged { .. } => "run `onecopy dedup` on it again",
        Error::NotAFinishedRun { .. } => "run `onecopy dedup` with --out first",
        Error::NoPageList { .. } | Error::DamagedResult { .. } | Error::RunAnswers { .. } => {
            "run the same `onecopy dedup` with --overwrite again"
        }
        Error::OtherSketches { .. } => "make them again by `onecopy sketch` with the choices of this run",
        Error::NoAddresses { .. } => "name the field that has them with --url-field of `onecopy dedup`",
        Error::NoListedPairs { .. } => "leave --listed-only out",
        Error::CollectionInUse { .. } => "ask its service over HTTP, or stop that first",
        Error::NoCollection { folder } => {
            return Some(format!("create one with `onecopy import --data {} INPUT`", folder.display()));
        }
        Error::NoSnapshot { place, .. } => {
            return Some(format!(
                "check the path, or make one with `onecopy backup --data DIR --to {place}`"
            ));
        }
        Error::CollectionFormat { found, expected, .. }
        | Error::CollectionAnswers { found, expected, .. }
            if (1..*expected).contains(found) =>
        {
            "`onecopy serve` with its usual options does that, and so does `onecopy import`"
        }
        Error::RestoreUnfinished { .. } => "run the same `onecopy restore` again, or remove the folder",
        Error::RestoreNotEmpty { .. } => "give a new or an empty folder with --data",
        Error::CollectionConfig { .. } => {
            "leave out the options that decide about duplicates, or begin another collection"
        }
        Error::CollectionTags { .. } => "leave --tags out, or begin another collection with it",
        Error::CollectionMethod { .. } => "set it with --method",
        Error::CollectionMarkets { .. } => "set it with --market",
        Error::NoRow { .. } => "run `onecopy check` on its folder",
        Error::Stopped => "the same command continues where it left off",
        _ => return None,
    };
    Some(remedy.into())
}

fn of_system(kind: ErrorKind) -> Option<String> {
    let remedy = match kind {
        ErrorKind::StorageFull => "free some space, then the same command continues where it left off",
        ErrorKind::PermissionDenied => "check who may read and write there",
        _ => return None,
    };
    Some(remedy.into())
}

fn of_setting(setting: Setting) -> Option<String> {
    let option = match setting {
        Setting::Threads => "--threads",
        Setting::Memory => "--memory",
        Setting::PageBytes => "--max-page",
        Setting::Expansion => "--max-expansion",
        Setting::Mistakes { .. } => "--mistakes",
        _ => return None,
    };
    Some(format!("set it with {option}"))
}

fn of_config(error: &ConfigError) -> Option<String> {
    let option = match error {
        ConfigError::UnusedShingleLength { method, length, has_own: true } => {
            return Some(format!("replace --shingle by --method {method}:k={length}"));
        }
        ConfigError::UnusedShingleLength { .. } => return Some("leave --shingle out".into()),
        ConfigError::UnknownMethod { name, hint: Some(_), .. } => {
            return Some(format!("`onecopy methods {name}` says more"));
        }
        ConfigError::UnknownMethod { .. } => {
            return Some("`onecopy methods` lists all methods and their parameters".into());
        }
        ConfigError::UnknownParameter { method, .. } => {
            return Some(format!("`onecopy methods {method}` explains its parameters"));
        }
        ConfigError::ShingleLength { .. } => "--shingle",
        ConfigError::Market { .. } | ConfigError::Markets { .. } => "--market",
        ConfigError::Threshold { .. } => "--threshold",
        ConfigError::ParameterWithoutValue { .. }
        | ConfigError::RepeatedParameter { .. }
        | ConfigError::Parameter { .. }
        | ConfigError::Combination { .. } => "--method",
        ConfigError::Filter { rule, .. } => return Some(format!("set it with --{rule}")),
        ConfigError::MirrorScore { .. } => "--score",
        ConfigError::MirrorPaths => "--least-paths",
        ConfigError::Reset { .. } => "--reset",
        ConfigError::Tolerance { .. } => "--tolerance",
        ConfigError::Iterations => "--iterations",
        ConfigError::AddressRules { .. } => "--address-rules",
        _ => return None,
    };
    Some(format!("set it with {option}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_gets_the_option_that_mends_it() {
        let memory =
            Error::Memory { needed: (237 << 20) - 1, limit: 64 << 20, purpose: "for 9 pages".into() };
        let threshold = Error::from(ConfigError::Threshold { value: 2.0, usual: 0.8 });
        let folder = std::path::PathBuf::from("out");
        for (error, words) in [
            (memory, "needs 237M of memory for 9 pages, and the limit is 64M; give --memory 237M"),
            (threshold, "such as 0.8; set it with --threshold"),
            (
                Error::OutputHoldsAnotherRun { folder: folder.clone() },
                "another run; give another folder, or --overwrite",
            ),
            (
                Error::NotAFinishedRun { folder },
                "out holds no finished run; run `onecopy dedup` with --out first",
            ),
            (Error::Stopped, "stopped; the same command continues"),
        ] {
            let said = explained(&anyhow::Error::from(error));
            assert!(said.contains(words), "{said}");
        }
    }
}
