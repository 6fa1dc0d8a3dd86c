//! `onecopy man`: manual pages, made from the definition that `--help` is made from.
//!
//! `clap_mangen` fills every line. The texts below the options are tables and commands, so they are set
//! here, line by line.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::{Args, ManArgs};
use crate::commands::{at, print};

const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "The command did its work."),
    ("1", "The command failed, or no record could be judged, or a page is unknown or damaged."),
    ("2", "The call cannot work: a flag, a setting or a folder is wrong."),
    (
        "3",
        "The command did its work without some of the input, which it could not read. It names that input.",
    ),
    ("130", "The command was stopped by Ctrl-C or SIGTERM."),
];

pub fn run(args: &ManArgs) -> Result<ExitCode> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    match (&args.out, &args.command) {
        (Some(folder), _) => write_pages(&program, folder)?,
        (None, Some(name)) => print(&String::from_utf8_lossy(&page(find(&program, name))?))?,
        (None, None) => print(&String::from_utf8_lossy(&page(&program)?))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The command called `name`. The program ends with 2 if there is none, as for any other wrong value.
fn find<'a>(program: &'a Command, name: &str) -> &'a Command {
    let titled = |command: &&Command| title(command).strip_prefix("onecopy-") == Some(name);
    all_commands(program).into_iter().find(titled).unwrap_or_else(|| {
        let message = format!("there is no command '{name}': 'onecopy --help' lists them");
        program.clone().error(ErrorKind::InvalidValue, message).exit()
    })
}

fn write_pages(program: &Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(at("create", folder))?;
    for command in all_commands(program) {
        let path = folder.join(format!("{}.1", title(command)));
        fs::write(&path, page(command)?).map_err(at("write", &path))?;
    }
    Ok(())
}

/// The program and all its commands, with those of commands.
fn all_commands(program: &Command) -> Vec<&Command> {
    let below = program.get_subcommands().filter(|command| !command.is_hide_set()).flat_map(all_commands);
    [program].into_iter().chain(below).collect()
}

/// `onecopy`, or `onecopy-dedup`.
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone().subcommand_help_heading("COMMANDS"));
    let mut out = Vec::new();
    // By hand: the date is empty, so that a page depends on the source alone, and the crate drops empty words.
    let (name, version) = (title(command).to_uppercase(), env!("CARGO_PKG_VERSION"));
    writeln!(out, ".TH {name} 1 \"\" \"onecopy {version}\" \"onecopy manual\"")?;
    man.render_name_section(&mut out)?;
    let mut synopsis = Roff::default();
    add_synopsis(&mut synopsis, command);
    synopsis.to_writer(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    let mut rest = Roff::default();
    if let Some(text) = command.get_after_long_help().or(command.get_after_help()) {
        add_notes(&mut rest, &text.to_string());
    }
    add_end(&mut rest, command);
    rest.to_writer(&mut out)?;
    Ok(out)
}

/// Sets the usage as `--help` has it. The crate would list every flag.
fn add_synopsis(roff: &mut Roff, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([bold(name), roman(usage.strip_prefix(name).unwrap_or(usage))]);
}

/// Sets the text below the options: examples first, each other paragraph as a note.
fn add_notes(roff: &mut Roff, text: &str) {
    let mut noted = false;
    for paragraph in text.split("\n\n") {
        if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
            roff.control("SH", ["EXAMPLES"]);
            add_lines(roff, examples.lines());
            continue;
        }
        if !noted {
            roff.control("SH", ["NOTES"]);
        }
        noted = true;
        roff.control("PP", []);
        add_paragraph(roff, paragraph);
    }
}

/// Fills the prose of a paragraph and keeps its indented lines as they are.
fn add_paragraph(roff: &mut Roff, paragraph: &str) {
    let lines: Vec<&str> = paragraph.lines().collect();
    for part in lines.chunk_by(|a, b| a.starts_with(' ') == b.starts_with(' ')) {
        if part[0].starts_with(' ') {
            roff.control("RS", ["4"]);
            add_lines(roff, part.iter().copied());
            roff.control("RE", []);
        } else {
            roff.text([roman(part.join(" "))]);
        }
    }
}

fn add_lines<'a>(roff: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

/// Sets the exit status on every page, and the way back to the list of commands.
fn add_end(roff: &mut Roff, command: &Command) {
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_STATUS {
        roff.control("TP", []);
        roff.text([roman(*code)]);
        roff.text([roman(*meaning)]);
    }
    if !command.has_subcommands() {
        roff.control("SH", ["SEE ALSO"]);
        roff.control("BR", ["onecopy", "(1)"]);
    }
}
