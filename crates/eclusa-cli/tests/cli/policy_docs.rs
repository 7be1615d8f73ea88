//! docs/policy.md is run: every `toml` block is the configuration from there on, every transcript
//! must come out as it is written.
//!
//! `ECLUSA_DOCS=write` writes what came out into the file instead, to be read before it is kept.

use std::{fs, io::Write, path::Path};

use regex::Regex;

use crate::world::World;

#[test]
fn every_example_of_the_tutorial_comes_out_as_it_is_written() {
    eclusa_testing::needs!(Namespaces);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    let text = fs::read_to_string(&file).unwrap();
    let world = World::new();
    let mut told = String::new();
    let mut lines = text.lines();
    let (mut configurations, mut transcripts) = (0, 0);
    while let Some(line) = lines.next() {
        told.push_str(&format!("{line}\n"));
        let Some(kind @ ("toml" | "console" | "json")) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|it| *it != "```").collect();
        match kind {
            "console" => {
                transcripts += 1;
                let typed = block.iter().filter_map(|it| it.strip_prefix("$ eclusa "));
                for command in typed {
                    told.push_str(&format!("$ eclusa {command}\n{}", ran(&world, command)));
                }
            }
            kind => {
                configurations += 1;
                let text = block.join("\n");
                let name = match kind {
                    "toml" => "config/eclusa/eclusa.toml",
                    _ => "workspace/settings.json",
                };
                world.write(name, &text);
                told.push_str(&format!("{text}\n"));
            }
        }
        told.push_str("```\n");
    }
    assert!(configurations > 3 && transcripts > 5, "{configurations} {transcripts}");
    if std::env::var_os("ECLUSA_DOCS").is_some_and(|it| it == "write") {
        fs::File::create(&file).unwrap().write_all(told.as_bytes()).unwrap();
        return;
    }
    assert_eq!(
        steady(&text),
        steady(&told),
        "run the test with ECLUSA_DOCS=write, and read what it wrote"
    );
}

/// Without the numbers that change whenever a rule is shipped.
fn steady(text: &str) -> String {
    let numbers = r"\d+ other rules|defaults:\d+|defaults: \d+ rules, \d+ examples";
    Regex::new(numbers).unwrap().replace_all(text, "<shipped>").into_owned()
}

/// What comes out, as the page shows it.
fn ran(world: &World, command: &str) -> String {
    let args = words(command);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran = world.eclusa(&args);
    let home = world.path("").canonicalize().unwrap().display().to_string();
    let out = format!("{}{}", ran.out, ran.err).replace(&home, "<dir>");
    out.replace("<dir>/config", "~/.config").replace("<dir>/workspace", "~/project")
}

/// The words of a command line: blanks separate, single quotes keep together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
