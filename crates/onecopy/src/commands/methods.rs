//! `onecopy methods`: lists the methods, or explains one, or says what there is for a word from elsewhere.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use onecopy_core::{
    Config, METHODS, Method, MethodEntry, MethodHint, method, method_hint, parameter_entries,
};
use onecopy_engine::Error;

use crate::args::MethodsArgs;
use crate::columns::with_prose;
use crate::commands::print;
use crate::paint::wrap;
use crate::width;

pub fn run(args: &MethodsArgs) -> Result<ExitCode> {
    let columns = width::of_stdout();
    let text = match &args.name {
        None => list(columns)?,
        Some(word) => about(word, columns)?,
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A method with its default parameters.
fn made(choice: &str) -> Result<Box<dyn Method>> {
    let config = Config { method: choice.into(), ..Config::default() };
    method(&config).map_err(|error| anyhow!(Error::from(error)))
}

/// The method that a choice such as `lcs:m=9` names.
fn entry(choice: &str) -> Option<&'static MethodEntry> {
    let name = choice.split(':').next().unwrap_or_default();
    METHODS.iter().find(|entry| entry.name == name)
}

fn kind(made: &dyn Method) -> &'static str {
    if made.stands_for().is_some() { "approximate" } else { "exact" }
}

/// All methods, with their parameters.
fn list(columns: usize) -> Result<String> {
    const NAME: usize = 14;
    let mut text = String::new();
    for entry in METHODS {
        let about = format!("{} ({})", entry.about, kind(&*made(entry.name)?));
        let name = format!("{:<NAME$}", entry.name);
        let parameters = parameter_entries(entry.name).into_iter();
        let shown: Vec<String> = parameters.map(|it| format!("{}={}", it.name, digits(&it.usual))).collect();
        let lines = with_prose(&name, NAME, &about, columns).into_iter();
        let lines = lines.chain(with_prose(&" ".repeat(NAME + 2), NAME + 2, &shown.join("  "), columns));
        lines.filter(|line| !line.is_empty()).for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
    }
    text.push_str("\nParameters follow the name: --method simhash:distance=4:search=rotate\n");
    text.push_str(&wrapped("onecopy methods simhash explains the parameters of a method.", columns));
    Ok(text)
}

fn about(word: &str, columns: usize) -> Result<String> {
    match (entry(word), method_hint(word)) {
        (Some(entry), _) => explained(entry, columns),
        (None, Some(hint)) => hinted(word, hint, columns),
        // The error names the methods that there are.
        (None, None) => made(word).map(|_| String::new()),
    }
}

/// A method, and the meaning, default and direction of each parameter.
fn explained(entry: &MethodEntry, columns: usize) -> Result<String> {
    let made = made(entry.name)?;
    let mut text = format!("{} ({}): {}\n", entry.name, kind(&*made), entry.about);
    let _ = writeln!(text, "It measures the {}.", made.measures());
    if let Some(exact) = made.stands_for() {
        let stands = format!("It estimates the {} from {:.2} on.", exact.measures(), exact.threshold());
        let _ = writeln!(text, "{stands}");
    }
    text = wrapped(&text, columns) + "\n";
    let parameters = parameter_entries(entry.name);
    let [name, usual] = [
        parameters.iter().map(|it| it.name.len()).max().unwrap_or(0).max("parameter".len()),
        parameters.iter().map(|it| digits(&it.usual).len()).max().unwrap_or(0).max("default".len()),
    ];
    let _ = writeln!(text, "{:<name$}  {:<usual$}  meaning", "parameter", "default");
    for it in &parameters {
        let start = format!("{:<name$}  {:<usual$}  ", it.name, digits(&it.usual));
        let lines = with_prose(&start, name + usual + 4, it.about, columns);
        let _ = writeln!(text, "{}", lines.join("\n"));
    }
    if let Some(it) = parameters.iter().find(|it| it.name == "threshold") {
        let choice = format!("{}:{}={}", entry.name, it.name, digits(&it.usual));
        let _ = writeln!(text, "\nonecopy dedup pages.jsonl --out clean --method {choice}");
    }
    Ok(text)
}

/// The methods for a word that names none.
fn hinted(word: &str, hint: MethodHint, columns: usize) -> Result<String> {
    const NAME: usize = 21;
    let says = sentence(hint.says);
    let shown: String = word.chars().filter(|c| !c.is_control()).take(40).collect();
    let mut text = wrapped(&format!("onecopy has no method {shown:?}.\n{says}.\n"), columns) + "\n";
    for choice in hint.methods {
        let about = entry(choice).map_or("", |entry| entry.about);
        let about = format!("{about} ({})", kind(&*made(choice)?));
        let lines = with_prose(&format!("{choice:<NAME$}"), NAME, &about, columns);
        let _ = writeln!(text, "{}", lines.join("\n"));
    }
    let named = entry(hint.methods[0]).map_or("", |entry| entry.name);
    let _ = writeln!(text, "\nonecopy methods {named} explains its parameters.");
    Ok(text)
}

/// A sentence with a large first letter, unless it begins with a name.
fn sentence(says: &str) -> String {
    let first = says.split_whitespace().next().unwrap_or_default();
    let mut rest = says.chars();
    match rest.next() {
        Some(letter) if first != "onecopy" && entry(first).is_none() => {
            letter.to_uppercase().chain(rest).collect()
        }
        _ => says.to_owned(),
    }
}

fn wrapped(text: &str, columns: usize) -> String {
    text.lines().map(|line| wrap(line, columns).join("\n") + "\n").collect()
}

/// A number with at most five decimals; other values as they are.
fn digits(usual: &str) -> String {
    match usual.parse::<f64>() {
        Ok(value) if usual.len() > 7 => format!("{value:.5}"),
        _ => usual.to_owned(),
    }
}
