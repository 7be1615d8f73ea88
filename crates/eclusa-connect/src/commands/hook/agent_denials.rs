//! An agent's own rules that deny or ask. They match the text of a command, and do not see one that
//! we have rewritten: such a command is left as it is, and the agent's rules decide about it too.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::{AgentSpec, EntryFile, agents::DenialSpec};

/// True when a rule of the agent's own may be about this command. In doubt it is.
pub(super) fn may_concern(agent: &AgentSpec, root: &Path, command: &str) -> bool {
    let Some(denials) = &agent.denials else { return false };
    files(denials, root).iter().any(|it| match fs::read_to_string(it) {
        Ok(text) => (denials.may_concern)(&text, command),
        Err(err) => err.kind() != io::ErrorKind::NotFound,
    })
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
        files.extend(fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path()));
    }
    files
}
