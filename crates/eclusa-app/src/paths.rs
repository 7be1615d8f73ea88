//! Where things are: the workspace, the person's files, the log.

use std::{
    env, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use eclusa::{
    Hash,
    workspace::{
        Places,
        files::{SYSTEM_SECRETS, secret_places},
    },
};

use crate::{failure::Failure, global::Global, rehearsal};

/// The name of a configuration file, the person's and the workspace's.
pub const FILE: &str = "eclusa.toml";

/// The directory of the state for what concerns other people's agents.
pub const AGENTS: &str = "agents";

/// Our state below a home directory, where no variable names another place.
pub const HOME_STATE: &str = ".local/state/eclusa";

/// Where things are.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The directory that calls work in, resolved.
    pub workspace: PathBuf,
    /// The person's configuration: one named on the command line must be there.
    pub config: Option<PathBuf>,
    /// Whether it was named on the command line.
    pub config_named: bool,
    /// Further layers that the person vouches for.
    pub policies: Vec<PathBuf>,
    /// The log of this workspace.
    pub store: PathBuf,
    /// What holds in every working tree of the repository: trust, and answers that are for always.
    pub shared: PathBuf,
}

impl Paths {
    /// Finds the workspace and the files that go with it.
    pub fn find(global: &Global) -> Result<Paths, Failure> {
        Paths::find_from(global, Path::new("."))
    }

    /// The same for somebody who stands in this directory.
    pub fn find_from(global: &Global, here: &Path) -> Result<Paths, Failure> {
        let named = global.workspace.clone().unwrap_or_else(|| here.to_owned());
        let named = named.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(|| {
            Failure::usage(format!("the workspace `{}` is not a directory", named.display()))
        })?;
        let workspace = match global.workspace.is_some() {
            true => named,
            false => match project_root(&named) {
                Err(_) if global.anywhere => named,
                found => found?,
            },
        };
        let state = state_directory(global)?;
        let own = home("XDG_CONFIG_HOME", ".config").map(|it| it.join("eclusa").join(FILE));
        Ok(Paths {
            store: state.join(key(&workspace)).join("eclusa.db"),
            shared: state.join(key(&repository(&workspace))),
            workspace,
            config_named: global.config.is_some(),
            config: global.config.clone().or(own),
            policies: global.policy.clone(),
        })
    }

    /// What is kept for undo. It stands beside the log and never in the workspace, where somebody
    /// else could bring a history of their own; on the filesystem of the workspace old contents
    /// are renamed there, and copied otherwise.
    pub fn undo(&self) -> PathBuf {
        self.written_down().with_file_name("undo")
    }

    /// The log that this process writes: a rehearsal has one of its own.
    pub fn written_down(&self) -> PathBuf {
        rehearsal::directory().map_or_else(|| self.store.clone(), |it| it.join("eclusa.db"))
    }

    /// Where a session with a model is locked by whoever holds it.
    pub fn sessions(&self) -> PathBuf {
        self.store.with_file_name("sessions")
    }

    /// The configuration of whoever runs the machine. It cannot be named otherwise: whoever could
    /// name another one could do without it.
    pub fn administrator() -> &'static Path {
        Path::new("/etc/eclusa/eclusa.toml")
    }

    /// Where the digest of the workspace's configuration is kept, if a person trusts it.
    pub fn trusted(&self) -> PathBuf {
        self.shared.join("trusted")
    }

    /// Rules that the person made by answering "always" in this workspace, for all working trees of it.
    pub fn workspace_rules(&self) -> PathBuf {
        self.shared.join("rules.toml")
    }

    /// The files that "always" writes to: for this workspace, and for every workspace.
    pub fn always_files(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.workspace_rules(), self.config.clone()?))
    }

    /// The token that clients of `eclusa up` must show, where the person set none.
    pub fn up_token(&self) -> PathBuf {
        self.store.with_file_name("up-token")
    }

    /// What is kept for other people's agents: of this person, in every workspace.
    pub fn agents(&self) -> PathBuf {
        self.state().map_or_else(|| self.store.with_file_name(AGENTS), |it| it.join(AGENTS))
    }

    /// Who may answer approvals on the page, and with which keys: in every workspace.
    pub fn people(&self) -> PathBuf {
        self.state().map_or_else(|| self.store.with_file_name("people"), |it| it.join("people"))
    }

    /// The documents of the fleet that this machine is in.
    pub fn fleet(&self) -> PathBuf {
        let state =
            self.state().map_or_else(|| self.store.with_file_name("fleet"), |it| it.join("fleet"));
        state.join("documents.json")
    }

    /// Where uses of rules are counted. A rehearsal counts on in a copy, and uses nothing up.
    pub fn uses(&self) -> io::Result<PathBuf> {
        let uses = self.shared.join("uses");
        let Some(own) = rehearsal::directory().map(|it| it.join("uses")) else { return Ok(uses) };
        if !own.exists() && uses.exists() {
            let counted = fs::File::open(&uses)?;
            counted.lock_shared()?;
            fs::copy(uses, &own)?;
        }
        Ok(own)
    }

    /// What no tool reaches wherever the workspace lies: our state and configuration, the places
    /// where this person and other agents keep secrets, and those of the machine.
    pub fn out_of_reach(&self) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = SYSTEM_SECRETS.iter().map(PathBuf::from).collect();
        places.extend(Paths::administrator().parent().map(Path::to_owned));
        if let Some(home) = env::var_os("HOME").map(PathBuf::from).filter(|it| it.is_absolute()) {
            places.extend(secret_places(&whole(&home)));
            places.push(whole(&home).join(HOME_STATE));
        }
        places.extend(self.store.parent().map(whole));
        places.extend(self.state().map(whole));
        places.extend([self.homes(), self.agent_homes()]);
        places.extend(self.own_configuration());
        places
    }

    /// What is the person's own configuration: its directory, or the file that was named.
    pub fn own_configuration(&self) -> Option<PathBuf> {
        let own = self.config.as_ref().filter(|it| whole(it) != self.project())?;
        Some(match (self.config_named, own.parent()) {
            (false, Some(directory)) => whole(directory),
            _ => whole(own),
        })
    }

    /// The workspace's own configuration.
    pub fn project(&self) -> PathBuf {
        self.workspace.join(FILE)
    }
}

/// Where logs and everything else of this person is kept.
pub fn state_directory(global: &Global) -> Result<PathBuf, Failure> {
    match &global.state {
        Some(state) => Ok(whole(state)),
        None => Ok(home("XDG_STATE_HOME", ".local/state").ok_or_else(homeless)?.join("eclusa")),
    }
}

/// A directory by a name that means the same everywhere, because sandboxes hide what is in it.
pub fn whole(path: &Path) -> PathBuf {
    let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
    whole.unwrap_or_else(|_| path.to_owned())
}

/// What git ignores for this person everywhere.
pub fn git_excludes() -> Option<String> {
    let own = env::var_os("HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    crate::git_excludes::read(own.as_deref(), home("XDG_CONFIG_HOME", ".config").as_deref())
}

/// One of the XDG directories, or where it is by convention.
fn home(variable: &str, otherwise: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    absolute(variable).or_else(|| absolute("HOME").map(|it| it.join(otherwise)))
}

/// The project that a directory belongs to: the nearest directory upwards with an `eclusa.toml` or
/// a `.git`, not beyond the home, or the directory itself. What others could put there does not
/// count: a directory above that is not this user's, or that everybody may write to, ends the
/// search.
fn project_root(from: &Path) -> Result<PathBuf, Failure> {
    let home = env::var_os("HOME").map(PathBuf::from).and_then(|it| it.canonicalize().ok());
    let user = rustix::process::geteuid().as_raw();
    let ours = |it: &Path| {
        it.metadata().is_ok_and(|found| found.uid() == user && found.mode() & 0o002 == 0)
    };
    let is_project = |it: &Path| [FILE, ".git"].iter().any(|name| it.join(name).exists());
    let is_top = |it: &Path| it.parent().is_none() || home.as_deref() == Some(it);
    let above = from.ancestors().take_while(|it| !is_top(it) && (*it == from || ours(it)));
    let root = above.filter(|it| is_project(it)).map(Path::to_owned).next();
    let root = root.unwrap_or_else(|| from.to_owned());
    if is_top(&root) {
        let what =
            if root.parent().is_none() { "the root directory" } else { "your home directory" };
        return Err(Failure::usage(format!("{what} is not used as a workspace by itself"))
            .hint("go to a project directory, or name it: `--workspace DIR`"));
    }
    Ok(root)
}

fn homeless() -> Failure {
    Failure::usage("there is nowhere to keep the log: neither XDG_STATE_HOME nor HOME is set")
        .hint("name a directory with `--state DIR`")
}

/// The workspace that stands for all working trees of its repository: the main one, or, where there is none,
/// the repository itself.
fn repository(workspace: &Path) -> PathBuf {
    let places = Places::of(workspace);
    let Some(linked) = places.linked().filter(|it| !it.own.as_os_str().is_empty()) else {
        return workspace.to_owned();
    };
    let main = linked.common.parent().filter(|_| linked.common.ends_with(".git"));
    main.unwrap_or(&linked.common).to_owned()
}

/// What the log of a workspace is called: readable, and different for every path.
fn key(workspace: &Path) -> String {
    let hash = Hash::sha256(workspace.as_os_str().as_encoded_bytes()).to_string();
    let name = workspace.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '_' })
        .take(40)
        .collect();
    format!("{name}-{}", hash.get(..12).unwrap_or_default())
}
