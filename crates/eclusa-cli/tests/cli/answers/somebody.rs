//! Whoever is asked: what they see, what they say, and what they are told.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

use crate::world::World;

/// What is wanted.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// A file of the workspace is written whole.
    Write(&'static str, &'static str),
    /// A command is run.
    Bash(String),
}

impl Wanted {
    /// The call of our own tools that does it.
    pub(crate) fn call(&self) -> (&'static str, Value) {
        match self {
            Wanted::Write(path, text) => ("write", json!({"path": path, "content": text})),
            Wanted::Bash(command) => ("bash", json!({"command": command})),
        }
    }

    /// The call of Claude Code's tools that does it.
    pub(crate) fn own_call(&self, world: &World) -> (&'static str, Value) {
        match self {
            Wanted::Write(path, text) => {
                let path = world.path("workspace").join(path);
                ("Write", json!({"file_path": path, "content": text}))
            }
            Wanted::Bash(command) => ("Bash", json!({"command": command})),
        }
    }
}

/// What somebody says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Yes,
    No,
    /// Run this instead, where that can be said; otherwise yes.
    Edit(&'static str),
    /// Whoever asked is killed; then yes, where the question is still there.
    KillAsker,
}

/// Somebody who answers.
pub(crate) struct Somebody<'a> {
    pub(crate) world: &'a World,
    /// What they do and say, by how often they were asked before and what is shown.
    answers: &'a (dyn Fn(&World, usize, &str) -> Said + Sync),
    /// Where they were asked each time.
    asked: Mutex<Vec<&'static str>>,
    /// What they were told after an answer.
    told: Mutex<Vec<String>>,
}

/// A question that waits in the queue.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) id: u64,
    pub(crate) binding: String,
    /// The workspace, as pages and programs name it.
    pub(crate) workspace: String,
    /// The queue, as signatures name it.
    pub(crate) text: String,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Somebody<'a> {
    pub(crate) fn new(
        world: &'a World,
        answers: &'a (dyn Fn(&World, usize, &str) -> Said + Sync),
    ) -> Somebody<'a> {
        Somebody { world, answers, asked: Mutex::default(), told: Mutex::default() }
    }

    /// They see a question there.
    pub(crate) fn is_asked(&self, place: &'static str, shown: &str) -> Said {
        let before = {
            let mut asked = held(&self.asked);
            asked.push(place);
            asked.len() - 1
        };
        (self.answers)(self.world, before, shown)
    }

    /// They are told this of their answer.
    pub(crate) fn is_told(&self, text: &str) {
        held(&self.told).push(text.trim().to_owned());
    }

    pub(crate) fn asked(&self) -> String {
        let asked = held(&self.asked);
        match asked.as_slice() {
            [] => "nobody".to_owned(),
            [place] => format!("once, {place}"),
            several => format!("{} times: {}", several.len(), several.join(", ")),
        }
    }

    pub(crate) fn told(&self) -> Vec<String> {
        held(&self.told).clone()
    }

    /// Answers what waits in the queue, with words on a terminal, as long as something goes on.
    pub(crate) fn answers_the_queue<T: Send>(&self, going_on: impl FnOnce() -> T + Send) -> T {
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            let going_on = scope.spawn(going_on);
            while !going_on.is_finished() {
                let new = waiting(self.world).into_iter().find(|it| !seen.contains(&it.id));
                match new {
                    None => std::thread::sleep(std::time::Duration::from_millis(20)),
                    Some(question) => {
                        seen.push(question.id);
                        let said = self.is_asked("in the queue", &question.text);
                        self.is_told(&by_words(self.world, &question, said));
                    }
                }
            }
            going_on.join().unwrap()
        })
    }
}

/// Answers with words on a terminal; what that came to.
pub(crate) fn by_words(world: &World, question: &Waiting, said: Said) -> String {
    let (id, edit);
    let words: &[&str] = match said {
        Said::Yes | Said::KillAsker => &["approvals", "yes"],
        Said::No => &["approvals", "no"],
        Said::Edit(_) => &["approvals", "edit"],
    };
    id = question.id.to_string();
    let mut words = words.to_vec();
    words.push(&id);
    if let Said::Edit(command) = said {
        edit = format!("command={command}");
        words.push(&edit);
    }
    let ran = world.eclusa(&words);
    format!("{}{}", ran.out, ran.err)
}

/// The file of the log, once there is one.
pub(crate) fn store(world: &World) -> Option<PathBuf> {
    let states = std::fs::read_dir(world.path("state/eclusa")).ok()?;
    states.flatten().map(|it| it.path().join("eclusa.db")).find(|it| it.is_file())
}

/// The questions that wait, looked for where they are kept: a process each time would take long.
pub(crate) fn waiting(world: &World) -> Vec<Waiting> {
    let Some(store) = store(world) else { return Vec::new() };
    let workspace = store.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let Ok(queue) = rusqlite::Connection::open_with_flags(&store, flags) else { return Vec::new() };
    let look = "SELECT id, binding, question FROM questions WHERE state = 'pending' ORDER BY id";
    let Ok(mut rows) = queue.prepare(look) else { return Vec::new() };
    let found = rows.query_map([], |row| {
        let (id, binding, text) = (row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?);
        let id = id.unsigned_abs();
        Ok(Waiting { id, binding, workspace: workspace.clone(), text })
    });
    found.into_iter().flatten().filter_map(Result::ok).collect()
}
