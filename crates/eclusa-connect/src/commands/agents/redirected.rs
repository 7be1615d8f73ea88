//! What in a project would lead hooks to other rules than the person's.

use std::{
    fmt,
    io::ErrorKind::{NotADirectory, NotFound},
    path::{Path, PathBuf},
};

use crate::{AgentSpec, commands::read_text::read_text};

/// What in a project has our hooks go by other rules than the person's. Agents look for some of these
/// files in directories above as well.
pub(super) fn redirected(agent: &AgentSpec, root: &Path) -> Option<String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let far = if agent.switches.looks_above { usize::MAX } else { 1 };
    // What a link leads to has other directories above it. And who says where the session was started
    // may be the project itself: where the hook runs counts too.
    let roots = [Some(root.to_owned()), root.canonicalize().ok(), std::env::current_dir().ok()];
    let above = roots
        .iter()
        .flatten()
        .flat_map(|root| root.ancestors().take_while(|it| Some(*it) != home.as_deref()).take(far));
    above.into_iter().find_map(|directory| {
        agent.switches.variable_files.iter().find_map(|name| {
            let path = directory.join(name);
            let text = match read_text(&path) {
                Ok(text) => text,
                Err(err) if matches!(err.kind(), NotFound | NotADirectory) => return None,
                // What cannot be read here the agent may be able to read.
                Err(err) => return Some(unclear(&path, &err)),
            };
            match agent.redirected_by(&text) {
                Ok(None) => None,
                Ok(Some(variable)) => {
                    let path = path.display();
                    Some(format!(
                        "`{path}` sets `{variable}` for hooks, which would not go by your rules then"
                    ))
                }
                Err(why) => Some(unclear(&path, &why)),
            }
        })
    })
}

fn unclear(path: &Path, why: &dyn fmt::Display) -> String {
    let path = path.display();
    format!(
        "`{path}` cannot be understood ({why}), and could lead hooks to other rules than yours: a \
         person puts it right or removes it"
    )
}
