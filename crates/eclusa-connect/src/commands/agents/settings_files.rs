//! The files of an agent's settings on this machine: where they are, and what is in them.

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::InstallScope;
use crate::commands::{
    failure::Failure, global::Global, paths::Paths, read_text::read_text_of, remember::replace,
    tickets::remove,
};
use crate::{
    AGENTS, AgentSpec, EntryError, EntryFile, ListedServer, SettingsEntry, agents::JsonForm,
};

/// The largest file of settings: some agents keep their history in there.
const MAX_SETTINGS: u64 = 64 << 20;

/// A file, and what belongs into it.
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) entries: Vec<SettingsEntry>,
    /// What is in it; `None`: it is not there.
    pub(super) text: Option<String>,
    /// Everybody on the machine reads it, and nobody else writes it.
    is_for_all: bool,
    agent: &'static str,
    json: JsonForm,
}

/// The files of an agent, each with everything that belongs into it.
pub(super) fn files(
    global: &Global,
    agent: &AgentSpec,
    scope: InstallScope,
) -> Result<Vec<SettingsFile>, Failure> {
    let mut files: Vec<SettingsFile> = Vec::new();
    for entry in agent.entries(&scope.facts()?) {
        let Some(path) = place(global, scope, entry.file)? else { continue };
        match files.iter_mut().find(|it| it.path == path) {
            Some(file) => file.entries.push(entry),
            None => {
                let text = match read_text_of(&path, MAX_SETTINGS) {
                    Ok(text) => Some(text),
                    // What it leads to would not be there after an uninstallation either.
                    Err(err) if err.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
                        let text = format!("`{}` is a link that leads nowhere", path.display());
                        return Err(Failure::failed(text).hint("make the file, or remove the link"));
                    }
                    Err(err) if err.kind() == io::ErrorKind::NotFound => None,
                    Err(err) => {
                        let text = format!("`{}` cannot be read: {err}", path.display());
                        return Err(Failure::failed(text));
                    }
                };
                let is_for_all = scope == InstallScope::Managed;
                let (agent, json) = (agent.title, agent.json());
                files.push(SettingsFile {
                    path,
                    entries: vec![entry],
                    text,
                    is_for_all,
                    agent,
                    json,
                });
            }
        }
    }
    Ok(files)
}

/// Where a file is. An agent that has no place of this scope has no file.
pub(super) fn place(
    global: &Global,
    scope: InstallScope,
    file: EntryFile,
) -> Result<Option<PathBuf>, Failure> {
    Ok(match (scope, file) {
        (InstallScope::User, EntryFile::Home(_) | EntryFile::Settings(..)) => person_file(file)?,
        (InstallScope::Project, EntryFile::Project(name)) => {
            // A home directory is nobody's project.
            let global = Global { anywhere: false, ..global.clone() };
            Some(Paths::find(&global)?.workspace.join(name))
        }
        (InstallScope::Managed, EntryFile::Machine(path)) => Some(PathBuf::from(path)),
        _ => None,
    })
}

/// Where a file of a person's own is; `None` for a file of others.
fn person_file(file: EntryFile) -> Result<Option<PathBuf>, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || absolute("HOME").ok_or_else(|| Failure::usage("HOME is not set"));
    Ok(match file {
        EntryFile::Home(name) => Some(home()?.join(name)),
        EntryFile::Settings(variable, otherwise, name) => match absolute(variable) {
            Some(directory) => Some(directory.join(name)),
            None => Some(home()?.join(otherwise).join(name)),
        },
        EntryFile::Project(_) | EntryFile::Machine(_) => None,
    })
}

/// Where this agent, or any, may keep its servers: a person's files and those of a workspace.
pub fn server_files(agent: Option<&AgentSpec>, workspace: &Path) -> Vec<PathBuf> {
    let agents = AGENTS.iter().filter(|it| agent.is_none_or(|wanted| wanted == **it));
    let place = |file: &EntryFile| match *file {
        EntryFile::Project(name) => Some(workspace.join(name)),
        file => person_file(file).ok().flatten(),
    };
    agents.flat_map(|it| it.servers.files).filter_map(place).collect()
}

impl SettingsFile {
    /// What is in it; an empty text where it is not there.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The text with everything in it that belongs there.
    pub(super) fn installed(&self) -> Result<String, Failure> {
        let text = self.entries.iter().try_fold(self.text().to_owned(), |text, entry| {
            entry.add(&text).map_err(|err| self.unreadable(&err))
        })?;
        match self.unread(&text) {
            Some(why) => Err(self.unreadable(&EntryError(why))),
            None => Ok(text),
        }
    }

    /// Why the agent would run none of the hooks in such a text of this file, if it would not.
    pub(super) fn unread(&self, text: &str) -> Option<String> {
        let hooks = self.entries.iter().any(SettingsEntry::is_hook);
        let why = self.json.refuses(text).filter(|_| hooks)?;
        Some(format!("{} cannot read it, and runs none of its hooks ({why})", self.agent))
    }

    /// The agent's other servers in such a text of this file.
    pub(super) fn other_servers(&self, text: &str) -> Result<Vec<ListedServer>, Failure> {
        let mut all = Vec::new();
        for entry in &self.entries {
            all.extend(entry.other_servers(text).map_err(|err| self.unreadable(&err))?);
        }
        Ok(all)
    }

    /// The text without it; `None` where nothing is left.
    pub(super) fn uninstalled(&self) -> Result<Option<String>, Failure> {
        let mut text = self.text().to_owned();
        for entry in &self.entries {
            match entry.remove(&text).map_err(|err| self.unreadable(&err))? {
                Some(left) => text = left,
                None => return Ok(None),
            }
        }
        Ok(Some(text))
    }

    /// Writes it as a whole; `None` takes it away. What a whole machine goes by everybody can read, or it
    /// would hold root's agents alone, whatever the umask is.
    fn write(&self, text: Option<&str>) -> io::Result<()> {
        // Whoever may write the directory could replace it all the same.
        if fs::metadata(&self.path).is_ok_and(|it| it.permissions().readonly()) {
            return Err(io::Error::other("it is read-only (`chmod u+w` changes that)"));
        }
        let Some(text) = text else {
            return match remove(&self.path) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            };
        };
        if !self.is_for_all {
            return replace(&self.path, text);
        }
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        for it in directory.ancestors().collect::<Vec<_>>().into_iter().rev() {
            match fs::DirBuilder::new().mode(0o755).create(it) {
                Ok(()) => fs::set_permissions(it, fs::Permissions::from_mode(0o755))?,
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists || it.is_dir() => {}
                Err(err) => return Err(err),
            }
        }
        replace(&self.path, text)?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(0o644))
    }

    fn unreadable(&self, err: &EntryError) -> Failure {
        Failure::failed(format!("`{}` was left alone: {err}", self.path.display()))
            .hint("fix the file, then run the command again; nothing was written")
    }
}

/// Writes files as a whole, all or none; `None` takes one away.
pub(super) fn write_all<'a>(
    files: impl IntoIterator<Item = (&'a SettingsFile, Option<&'a str>)>,
) -> Result<(), Failure> {
    let mut written: Vec<&SettingsFile> = Vec::new();
    for (file, text) in files {
        if let Err(err) = file.write(text) {
            for done in &written {
                // What cannot be put back either is told with the file that failed.
                let _ = done.write(done.text.as_deref());
            }
            let path = file.path.display();
            let failure = Failure::failed(format!("`{path}` cannot be written: {err}"));
            return Err(failure.hint("nothing was changed; run it as a user who may write there"));
        }
        written.push(file);
    }
    Ok(())
}
