//! Tickets: what an agent's hook allowed, for `eclusa exec --ticket` to run once and soon.
//!
//! A ticket lies in the state directory, where no tool and no sandbox reaches. It names the text,
//! the directory and the agent; whoever shows it can have that run in the sandbox and nothing else.
//! It is the hook's decision: it carries what the hook worked out, so that nothing is counted or asked
//! about twice, and nothing that the hook went by is looked for anew. The shell that runs it has the
//! agent's environment, which a project's settings may have changed: where that would lead elsewhere
//! the command is not run.

use std::{
    env,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use eclusa::{CallUses, Durability, Hash, Mode, Run, random, workspace::private_file};
use serde::{Deserialize, Serialize};

use crate::{global::Global, paths::Paths, printed::Printed};

/// By these the program finds what belongs to a person.
const PLACES: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// How long a ticket is good for.
const LIFETIME: Duration = Duration::from_secs(600);

/// The file that was written when they were looked through.
const SWEPT: &str = "swept";

/// So many parts of a text are looked for one by one.
const MAX_LOOKED_FOR: usize = 64;

/// The form of a ticket. One of another form is not read: the hook that made it knew other things.
const FORM: u32 = 6;

/// Said of a name that opens nothing.
const UNKNOWN: &str = "there is no such ticket, or it was used; have the agent ask again";

/// What is read of a ticket first. The first tickets said nothing of their form.
#[derive(Deserialize)]
struct TicketForm {
    #[serde(default)]
    v: u32,
}

/// Leave to run one command in the sandbox, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecTicket {
    /// Its form.
    pub v: u32,
    /// The agent that asked, and its version where it is known.
    pub client: String,
    /// The session that the call belongs to.
    pub conversation: String,
    /// The agent's id for the call.
    pub call: String,
    /// The agent of the session that makes the call, where it is not the one that its person talks to.
    pub task: Option<String>,
    /// The command, byte for byte.
    pub text: String,
    /// Where it starts, below the workspace.
    pub directory: String,
    /// Whether it goes on when the call has ended.
    pub background: bool,
    /// The workspace.
    pub workspace: PathBuf,
    /// What letting the command pass took; somebody whom the agent asks has said yes to it.
    pub uses: TicketUses,
    /// The mode that the hook worked out: the command is not run in a looser one.
    pub mode_in_force: String,
    /// Who asks, for records and requirements.
    pub principal: String,
    /// The person's configuration that the hook went by.
    pub config: Option<PathBuf>,
    /// Whether it was named on the command line: then it must be there.
    pub config_named: bool,
    /// The digest of everything that was configured for the hook.
    pub config_digest: String,
    /// The directory of state that the hook used.
    pub state: Option<PathBuf>,
    /// The variables by which the hook found what belongs to the person.
    pub places: Vec<(String, Option<String>)>,
    /// Its files of rules.
    pub policies: Vec<PathBuf>,
    /// Its mode, where one was given.
    pub mode: Option<String>,
    /// The digest of the files that the command names, where a person said yes to it.
    pub files: Option<String>,
    /// What is taken, where the command ran ahead of its question.
    pub ahead: Option<TicketAhead>,
    /// Seconds since 1970.
    pub until: u64,
}

/// What a command did that ran ahead of its question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TicketAhead {
    /// It changed nothing, and this is told.
    Unchanged(Printed),
    /// This is told; what it would change is taken by whoever sees how the call ends.
    Told(Printed),
    /// What it would change is kept.
    Kept {
        /// Under the number of this call.
        call: u64,
        /// How whoever says yes is asked; `None`: nobody has to be.
        by: Option<String>,
        /// Whether the ticket must have been marked: by the hook that saw the question go out.
        marked: bool,
    },
}

/// What letting a command pass took, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketUses {
    /// Counted rules that let it pass.
    pub rules: Vec<String>,
    /// The allowance that let it pass.
    pub allowance: Option<u64>,
    /// True when a person said yes.
    pub approved: bool,
}

impl From<&CallUses> for TicketUses {
    fn from(uses: &CallUses) -> TicketUses {
        let CallUses { rules, allowance, approved, .. } = uses.clone();
        TicketUses { rules, allowance, approved }
    }
}

impl ExecTicket {
    /// How many digits the name of a ticket has.
    pub const NAME_LENGTH: usize = 32;

    /// A ticket that is good from now on.
    pub fn new(global: &Global, paths: &Paths, config: &Hash) -> ExecTicket {
        ExecTicket {
            v: FORM,
            client: String::new(),
            conversation: String::new(),
            call: String::new(),
            task: None,
            text: String::new(),
            directory: String::new(),
            background: false,
            workspace: paths.workspace.clone(),
            uses: TicketUses::default(),
            mode_in_force: Mode::ConfirmAll.as_str().to_owned(),
            principal: String::new(),
            config: paths.config.as_deref().map(whole),
            config_named: paths.config_named,
            config_digest: config.to_string(),
            state: paths.state().map(whole),
            places: places(),
            policies: global.policy.iter().map(|it| whole(it)).collect(),
            mode: global.mode.map(|it| it.as_str().to_owned()),
            files: None,
            ahead: None,
            until: now() + LIFETIME.as_secs(),
        }
    }

    /// Keeps it, and gives it a name that nobody can guess.
    pub fn keep(&self, agents: &Path) -> io::Result<String> {
        let directory = directory(agents);
        private_file::make_directory(&directory)?;
        let name = random_name()?;
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        private_file::write(&directory.join(&name), text, Durability::Crash)?;
        Ok(name)
    }

    /// Takes a ticket: whoever gets it is the only one. The error says why it is no good.
    pub fn take(agents: &Path, name: &str) -> Result<ExecTicket, String> {
        let ticket = ExecTicket::look(agents, name);
        // Of two who have read it, one can remove it.
        let removed = is_name(name) && remove(&directory(agents).join(name)).is_ok();
        if removed { ticket } else { ticket.and_then(|_| Err(UNKNOWN.to_owned())) }
    }

    /// Reads a ticket, which stays. The error says why it is no good.
    pub fn look(agents: &Path, name: &str) -> Result<ExecTicket, String> {
        let file = directory(agents).join(name);
        // What is no name of a ticket is not opened: it could be a device or a pipe.
        let text = is_name(name).then(|| fs::read(&file).ok()).flatten();
        let text = text.ok_or_else(|| UNKNOWN.to_owned())?;
        let damaged = |err| format!("the ticket is damaged: {err}; make the call again");
        let form: TicketForm = serde_json::from_slice(&text).map_err(damaged)?;
        if form.v != FORM {
            let other = "the ticket was made by another version of eclusa; make the call again";
            return Err(other.to_owned());
        }
        let ticket: ExecTicket = serde_json::from_slice(&text).map_err(damaged)?;
        if now() <= ticket.until {
            Ok(ticket)
        } else {
            Err("the ticket is older than ten minutes; have the agent ask again".to_owned())
        }
    }

    /// Whether a text names a ticket that nobody has used yet: no call of a model may.
    pub fn is_named_in(agents: &Path, text: &str) -> bool {
        let directory = directory(agents);
        // Few texts have so many digits in a row, and what could be a name is looked for by that: there may be many tickets.
        let rows = text.split(|it: char| !it.is_ascii_hexdigit());
        let mut parts = rows.flat_map(|row| {
            (0..).map_while(move |at: usize| row.get(at..at.checked_add(Self::NAME_LENGTH)?))
        });
        let some: Vec<&str> = parts.by_ref().take(MAX_LOOKED_FOR).collect();
        if parts.next().is_none() {
            // What cannot be looked at may be there.
            return some.iter().any(|it| directory.join(it).try_exists().unwrap_or(true));
        }
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names = entries.filter_map(|it| it.file_name().into_string().ok());
        names.any(|it| is_name(&it) && text.contains(it.as_str()))
    }

    /// Notes that the question about a ticket went out.
    pub fn mark(agents: &Path, name: &str) -> io::Result<()> {
        private_file::write(&mark(agents, name), b"", Durability::Crash)
    }

    /// Whether the question went out; it is known once.
    pub fn take_mark(agents: &Path, name: &str) -> bool {
        is_name(name) && remove(&mark(agents, name)).is_ok()
    }

    /// Why the environment would lead elsewhere than the hook's, if it would.
    pub fn misled(&self) -> Option<String> {
        let (name, _) = self.places.iter().find(|(name, value)| variable(name) != *value)?;
        Some(format!(
            "`{name}` differs from that of the hook that allowed this; let the agent pass its own \
            environment to its commands"
        ))
    }

    /// The paths that the hook worked with. The error says what would be another here.
    pub fn paths(&self, mut found: Paths) -> Result<Paths, String> {
        found.config_named = self.config_named;
        found.config.clone_from(&self.config);
        if found.workspace != self.workspace {
            return Err("the workspace is another one than it was for the hook".to_owned());
        }
        match found.state().map(whole) == self.state {
            true => Ok(found),
            false => Err("the hook that allowed this used another directory of state".to_owned()),
        }
    }

    /// The settings of the hook that made it.
    pub fn global(&self, given: &Global) -> Global {
        Global {
            workspace: Some(self.workspace.clone()),
            config: self.config.clone(),
            policy: self.policies.clone(),
            mode: self.mode.as_deref().and_then(|it| it.parse::<Mode>().ok()),
            dry_run: false,
            ..given.clone()
        }
    }

    /// The run of the command: the agent's, as careful as the hook was at least, and what the hook
    /// has counted is not counted again.
    pub fn run(&self, run: Run) -> Run {
        let TicketUses { rules, allowance, approved } = self.uses.clone();
        let run = Run {
            principal: self.principal.as_str().into(),
            session: self.conversation.as_str().into(),
            client: Some(self.client.as_str().into()),
            task: self.task.as_deref().map(Into::into),
            judged_before: Some(Arc::new(CallUses { rules, allowance, approved, files: None })),
            ..run
        };
        // What cannot be read is as careful as can be.
        run.held_to(Some(self.mode_in_force.parse().unwrap_or(Mode::ConfirmAll)))
    }

    /// Removes tickets that nobody used in time. They are looked through once in that time, and not by each hook.
    pub fn sweep(agents: &Path) {
        let directory = directory(agents);
        let swept = directory.join(SWEPT);
        let age =
            |made: io::Result<Metadata>| made.and_then(|it| it.modified()).ok()?.elapsed().ok();
        if age(fs::metadata(&swept)).is_some_and(|it| it <= LIFETIME) {
            return;
        }
        let Ok(entries) = fs::read_dir(&directory) else { return };
        // Where it cannot be noted the next one looks again.
        let _ = private_file::write(&swept, b"", Durability::Crash);
        for entry in entries.flatten() {
            if age(entry.metadata()).is_some_and(|it| it > LIFETIME) {
                // Somebody else may have removed it.
                let _ = remove(&entry.path());
            }
        }
    }
}

fn directory(agents: &Path) -> PathBuf {
    agents.join("tickets")
}

fn is_name(name: &str) -> bool {
    name.len() == ExecTicket::NAME_LENGTH && name.bytes().all(|it| it.is_ascii_hexdigit())
}

fn mark(agents: &Path, name: &str) -> PathBuf {
    directory(agents).join(format!("{name}.asked"))
}

fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn places() -> Vec<(String, Option<String>)> {
    PLACES.iter().map(|it| ((*it).to_owned(), variable(it))).collect()
}

/// A variable of the environment, with what is not UTF-8 in it made visible.
fn variable(name: &str) -> Option<String> {
    env::var_os(name).map(|it| it.to_str().map_or_else(|| format!("{it:?}"), str::to_owned))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// 128 random bits, in hexadecimal digits.
pub fn random_name() -> io::Result<String> {
    Ok(random::random_name::<16>()?)
}

/// Removes a file of our own state.
#[expect(clippy::disallowed_methods, reason = "our own state, not the workspace")]
pub fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file)
}
