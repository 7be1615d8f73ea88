//! Tests of the reading of shell text, through the front door.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed")]

mod corpus;
#[cfg(target_os = "linux")]
mod differential;
mod doubts;
mod hostile;
mod joined;
mod redteam;
mod structure;
mod words;

use eclusa_shell::{Analysis, NestedCommands, Part, Word, analyse_with};

/// The script alone, without what programs do.
fn analyse(script: &str) -> Analysis {
    analyse_with(script, &|_| NestedCommands::default())
}

/// The commands of a script, one line each: how they are reached, assignments, words, redirections.
fn listed(script: &str) -> String {
    let analysis = analyse(script);
    let mut lines = Vec::new();
    for command in &analysis.commands {
        let mut fields: Vec<String> = Vec::new();
        if !command.via.is_empty() {
            fields.push(format!("<{}>", command.via.join(" ")));
        }
        fields.extend(
            command.assignments.iter().map(|it| format!("{}={}", it.name, spelt(&it.value))),
        );
        fields.extend(command.words.iter().map(spelt));
        fields.extend(
            command.redirects.iter().map(|it| format!("{:?}:{}", it.kind, spelt(&it.target))),
        );
        if command.background {
            fields.push("&".to_owned());
        }
        lines.push(fields.join(" "));
    }
    lines.join("\n")
}

/// A word: quoted if it is more than letters, unknown parts in angle brackets.
fn spelt(word: &Word) -> String {
    if let Some(text) = word.text() {
        let plain = !text.is_empty()
            && !text.contains(|it: char| it.is_whitespace() || "<>'\"".contains(it));
        return if plain { text.into_owned() } else { format!("{text:?}") };
    }
    let spelt = word.parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Glob(pattern) => format!("<glob {pattern}>"),
        Part::Unknown { why, splits: true } => format!("<{why:?}…>"),
        Part::Unknown { why, splits: false } => format!("<{why:?}>"),
    });
    spelt.collect()
}

/// Checks the list, and that there is no doubt about it.
#[track_caller]
fn check(script: &str, expected: &str) {
    let analysis = analyse(script);
    assert_eq!(analysis.refused, None, "{script:?}");
    assert_eq!(analysis.doubts, [], "{script:?}");
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let listed: Vec<String> =
        listed(script).lines().filter(|it| !it.is_empty()).map(str::to_owned).collect();
    assert_eq!(listed.join("\n"), expected.join("\n"), "{script:?}");
}

/// Checks that there is a doubt, and that the commands named are listed all the same.
#[track_caller]
fn doubted(script: &str, commands: &[&str]) {
    let analysis = analyse(script);
    assert!(!analysis.doubts.is_empty() || analysis.refused.is_some(), "no doubt about {script:?}");
    let listed = listed(script);
    for command in commands {
        assert!(listed.lines().any(|it| it.ends_with(command)), "{command:?} is not in {listed:?}");
    }
}
