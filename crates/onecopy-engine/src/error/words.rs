//! The texts of errors that depend on their values.

use crate::job::{Setting, THREADS_LIMIT};

pub(super) fn no_links(read: u64, rejected: Option<&str>) -> String {
    let rejected = rejected.map(|first| format!("; the first that could not be read: {first}"));
    format!("none of the {read} records links to another page{}", rejected.unwrap_or_default())
}

pub(super) fn no_field(name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return format!("no field `{name}`: the input has no records with fields");
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let meant = crate::ingest::nearest(name, known).map(|near| format!(": did you mean `{near}`?"));
    format!("no field `{name}`; records have {}{}", names.join(", "), meant.unwrap_or_default())
}

pub(super) fn other_version(found: u32, expected: u32, what: &str) -> String {
    match found {
        _ if (1..expected).contains(&found) => {
            format!("this version has {what} {expected}: it must be upgraded first, while nobody uses it")
        }
        _ => format!(
            "this version knows {what} 1 to {expected}: use the version of onecopy that wrote it, export its pages \
             there and import them here"
        ),
    }
}

pub(super) fn out_of_range(setting: Setting, value: u64) -> String {
    match setting {
        Setting::Threads => format!("{value} threads are out of range: give 1 to {THREADS_LIMIT}"),
        Setting::Memory => format!("a memory limit of {value} bytes is too small: give at least 64M"),
        Setting::PageBytes => format!("a page limit of {value} bytes is out of range: give 1 to 1G"),
        Setting::Expansion => {
            format!("an expansion limit of {value} would refuse all compressed files: give 1 or more")
        }
        Setting::Mistakes { limit } => format!("{value} mistakes are too many: give at most {limit}"),
    }
}
