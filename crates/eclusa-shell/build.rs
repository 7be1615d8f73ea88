//! Turns the table of programs, `table/*.toml`, into statics, so that a mistake in it is a failed
//! build and loading it costs nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use serde::Deserialize;

#[path = "build/flags.rs"]
mod flags;

use flags::{FlagNames, classes, flag_list, operands};

/// An entry as it is written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawEntry {
    names: Option<String>,
    class: String,
    bare: String,
    flags: String,
    alone: String,
    order: String,
    operands: String,
    with: Vec<(String, String)>,
    harmless: bool,
    /// What must hold where it runs for the class to be true.
    needs: String,
    /// Flags, and the class that the command has without them.
    unless: (String, String),
    reader: String,
    /// Subcommands of which only the class matters.
    subs: BTreeMap<String, String>,
    sub: BTreeMap<String, RawEntry>,
    subs_optional: bool,
    /// Flags that spare like those of `unless`, and flags with which they do not.
    modes: (String, String),
    /// `@file` stands for the words in the file.
    response_files: bool,
    /// Without operands it runs what it reads.
    reads_script: bool,
    examples: BTreeMap<String, String>,
}

/// A file of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    #[serde(default)]
    sets: BTreeMap<String, String>,
    program: BTreeMap<String, RawEntry>,
}

/// What the statics are collected in.
#[derive(Default)]
struct Output {
    statics: String,
    count: usize,
    programs: BTreeMap<String, String>,
    flag_names: FlagNames,
    examples: String,
}

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(|err| err.to_string())?);
    let table = root.join("table");
    println!("cargo::rerun-if-changed=table");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let mut output = Output::default();
    let mut wrong = Vec::new();
    for path in files(&table)? {
        println!("cargo::rerun-if-changed={}", path.display());
        if let Err(err) = family(&path, &mut output) {
            wrong.push(format!("{}: {err}", path.display()));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|err| err.to_string())?);
    let names = format!("static FLAG_NAMES: &str = {:?};\n", output.flag_names.text);
    write(&out.join("flag_names.rs"), &names)?;
    write(&out.join("table.rs"), &output.render()?)
}

#[expect(clippy::disallowed_methods, reason = "cargo runs the build again if it is cut short")]
fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|err| err.to_string())
}

fn files(table: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(table).map_err(|err| format!("{}: {err}", table.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|err| err.to_string())?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn family(path: &Path, output: &mut Output) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|err| err.to_string())?;
    let family: Family = toml::from_str(&text).map_err(|err| err.to_string())?;
    let mut wrong = Vec::new();
    for (key, written) in &family.program {
        if let Err(err) = program(key, written, &family.sets, output) {
            wrong.push(format!("`{key}`: {err}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn program(
    key: &str,
    written: &RawEntry,
    sets: &BTreeMap<String, String>,
    output: &mut Output,
) -> Result<(), String> {
    examples(key, written, &mut output.examples)?;
    let place = output.entry(key, written, sets)?;
    for name in names(key, written) {
        if output.programs.insert(name.clone(), place.clone()).is_some() {
            return Err(format!("`{name}` has two entries; keep one"));
        }
    }
    Ok(())
}

fn names(key: &str, written: &RawEntry) -> Vec<String> {
    match &written.names {
        Some(names) => names.split_whitespace().map(str::to_owned).collect(),
        None => vec![key.to_owned()],
    }
}

/// Checks that an entry shows what it means, and keeps its examples for the test.
fn examples(key: &str, written: &RawEntry, list: &mut String) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for (command, expected) in &written.examples {
        let bits = classes(expected)?;
        seen.insert(bits);
        let _ = writeln!(list, "    ({key:?}, {command:?}, Classes::from_bits({bits})),");
    }
    if seen.len() < 2 {
        return Err("give at least two examples: one harmless, one not".to_owned());
    }
    Ok(())
}

impl Output {
    /// Writes one entry and its subcommands; returns the name of its static.
    fn entry(
        &mut self,
        name: &str,
        written: &RawEntry,
        sets: &BTreeMap<String, String>,
    ) -> Result<String, String> {
        let mut subs = BTreeMap::new();
        for (names, class) in &written.subs {
            let coarse =
                RawEntry { class: class.clone(), flags: "*".to_owned(), ..RawEntry::default() };
            let place = self.entry(&format!("{name} {names}"), &coarse, sets)?;
            for sub in names.split_whitespace() {
                insert(&mut subs, sub, &place)?;
            }
        }
        for (key, sub) in &written.sub {
            let place = self.entry(&format!("{name} {key}"), sub, sets)?;
            for sub in names(key, sub) {
                insert(&mut subs, &sub, &place)?;
            }
        }
        let flags = flag_list(&written.flags, sets)?;
        let place = format!("ENTRY_{}", self.count);
        self.count += 1;
        let rendered = render(name, written, &flags, &subs, &mut self.flag_names)?;
        let _ = writeln!(self.statics, "static {place}: Entry = {rendered};");
        Ok(place)
    }

    fn render(&self) -> Result<String, String> {
        let mut text = self.statics.clone();
        let _ = writeln!(
            text,
            "/// Every program, by name.\npub(crate) static PROGRAMS: &[(&str, &Entry)] = &{};",
            list_of_entries(&self.programs)
        );
        let _ = writeln!(
            text,
            "/// Entry, command and class of every example.\n\
             pub(crate) static EXAMPLES: &[(&str, &str, Classes)] = &[\n{}];",
            self.examples
        );
        Ok(text)
    }
}

fn insert(subs: &mut BTreeMap<String, String>, name: &str, place: &str) -> Result<(), String> {
    match subs.insert(name.to_owned(), place.to_owned()) {
        Some(_) => Err(format!("subcommand `{name}` has two entries; keep one")),
        None => Ok(()),
    }
}

fn list_of_entries(list: &BTreeMap<String, String>) -> String {
    let items: Vec<String> =
        list.iter().map(|(name, place)| format!("({name:?}, &{place})")).collect();
    format!("[{}]", items.join(", "))
}

fn render(
    name: &str,
    written: &RawEntry,
    flags: &flags::Flags,
    subs: &BTreeMap<String, String>,
    flag_names: &mut FlagNames,
) -> Result<String, String> {
    let order = match written.order.as_str() {
        "" => "Permute",
        "stop" => "Stop",
        "never" => "Never",
        other => return Err(format!("`{other}` is no order; write `stop` or `never`")),
    };
    // A program with subcommands reads its own flags only before the subcommand.
    let order = if subs.is_empty() || written.subs_optional { order } else { "Stop" };
    let reader = reader(&written.reader)?;
    let mut with = String::new();
    for (names, then) in &written.with {
        for name in names.split_whitespace() {
            if !flags.has(name) {
                return Err(format!("`with` names `{name}`, which is not among the flags"));
            }
        }
        let names: Vec<&str> = names.split_whitespace().collect();
        let _ = write!(with, "(&{names:?}, {}), ", operands(then)?);
    }
    let unless: Vec<&str> = written.unless.0.split_whitespace().collect();
    if let Some(name) = unless.iter().find(|it| !flags.has(it)) {
        return Err(format!("`unless` names `{name}`, which is not among the flags"));
    }
    let modes =
        [&written.modes.0, &written.modes.1].map(|it| it.split_whitespace().collect::<Vec<&str>>());
    if let Some(name) = modes.iter().flatten().find(|it| !flags.has(it)) {
        return Err(format!("`modes` names `{name}`, which is not among the flags"));
    }
    let [spare, unspare] = modes;
    let alone: Vec<&str> = written.alone.split_whitespace().collect();
    let any = flags.any;
    let operand_text = match (any, written.operands.as_str()) {
        (true, "") => "text*",
        (_, text) => text,
    };
    Ok(format!(
        "Entry {{ name: {name:?}, class: Classes::from_bits({}), bare: Classes::from_bits({}), \
         flags: &[{}], any_flags: {any}, numbers: {}, alone: &{alone:?}, order: Order::{order}, \
         operands: {}, with: &[{with}], harmless: {}, reader: Reader::{reader}, subs: &{}, \
         subs_optional: {}, reads_script: {}, needs: {:?}, unless: (&{unless:?}, Classes::from_bits({})), modes: (&{spare:?}, &{unspare:?}), \
         response_files: {} }}",
        classes(&written.class)?,
        classes(&written.bare)?,
        flags.render(flag_names)?,
        flags.numbers,
        operands(operand_text)?,
        written.harmless,
        list_of_entries(subs),
        written.subs_optional,
        written.reads_script,
        written.needs,
        classes(&written.unless.1)?,
        written.response_files,
    ))
}

fn reader(name: &str) -> Result<&'static str, String> {
    Ok(match name {
        "" => "Plain",
        "find" => "Find",
        "fd" => "Fd",
        "test" => "Test",
        "condition" => "Condition",
        "tar" => "Tar",
        "dd" => "Dd",
        "xargs" => "Xargs",
        "ps" => "Ps",
        "eval" => "Eval",
        "set" => "Set",
        "kill" => "Kill",
        "rsync" => "Rsync",
        "ln" => "Ln",
        other => return Err(format!("there is no reader `{other}`")),
    })
}
