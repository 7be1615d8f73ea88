//! An agent's own rules that deny or ask. They match the text of a command, and do not see one that
//! we have rewritten: where one of them may be about a command, a person is asked, and nothing of it
//! decides against the sandbox.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::{AgentSpec, EntryFile, agents::DenialSpec, commands::read_text::read_text};

/// What a person is told where a rule of the agent's own may be about this command. In doubt it is:
/// a file that cannot be read counts as one with such a rule.
pub(super) fn concern(agent: &AgentSpec, root: &Path, command: &str) -> Option<String> {
    let denials = agent.denials.as_ref()?;
    files(denials, root).iter().find_map(|it| {
        let what = match read_text(it) {
            Ok(text) if (denials.may_concern)(&text, command) => {
                format!("a rule of {agent} in `{}` may be about this command", it.display())
            }
            Ok(_) => return None,
            Err(err) if is_absent(&err) => return None,
            Err(err) => format!("the rules of {agent} in `{}` cannot be read: {err}", it.display()),
        };
        Some(what)
    })
}

fn is_absent(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Every file in which the agent keeps rules.
fn files(denials: &DenialSpec, root: &Path) -> Vec<PathBuf> {
    let home = |name: &str| env::var_os("HOME").map(|it| PathBuf::from(it).join(name));
    let path = |file: &EntryFile| match *file {
        EntryFile::Home(name) => home(name),
        EntryFile::Settings(variable, otherwise, name) => {
            let own = env::var_os(variable).map(PathBuf::from).or_else(|| home(otherwise));
            own.map(|it| it.join(name))
        }
        EntryFile::Project(name) => Some(root.join(name)),
        EntryFile::Machine(path) => Some(PathBuf::from(path)),
    };
    let mut files: Vec<PathBuf> = denials.files.iter().filter_map(path).collect();
    for directory in denials.directories {
        match fs::read_dir(directory) {
            Ok(entries) => files.extend(entries.flatten().map(|it| it.path())),
            Err(err) if is_absent(&err) => {}
            // Reading it as a file says why it cannot be read.
            Err(_) => files.push(PathBuf::from(directory)),
        }
    }
    files
}
