//! What `install` writes into the settings of each agent, and what `uninstall` leaves.

use std::{fs, path::Path};

use super::{plain_run, same, timeless, transcript};
use crate::world::World;

const AGENTS: [&str; 9] = [
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "cursor",
    "copilot",
    "windsurf",
    "vscode",
    "zed",
];

/// All files below a directory, by name.
fn files(directory: &Path, found: &mut Vec<(String, String)>, root: &Path) {
    let mut entries: Vec<_> =
        fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files(&path, found, root),
            false => {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap_or_else(|_| "…".to_owned())));
            }
        }
    }
}

fn all_files(world: &World) -> String {
    let mut found = Vec::new();
    for place in ["home", "config", "workspace"] {
        files(&world.path(place), &mut found, &world.path(""));
    }
    found.iter().map(|(name, text)| format!("== {name}\n{}\n", text.trim_end())).collect()
}

#[test]
fn every_agent_is_connected_as_it_was() {
    let mut told = Vec::new();
    for agent in AGENTS {
        let world = World::new();
        let mut text = String::new();
        for args in [["install", agent], ["uninstall", agent]] {
            let ran = plain_run(&world, &args, "");
            // Whether the agent itself is on this machine.
            let told = transcript(&world, &args, &ran);
            let told = told.split_inclusive('\n').filter(|it| !it.contains("was not found here"));
            text.extend(told);
            text.push_str(&timeless(&world, &all_files(&world)));
        }
        told.push((agent.to_owned(), text));
    }
    same("installed", &told);
}
