//! One cell of the table: a setting at a surface, played with it and without it.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{
    Door,
    acts::{Act, Seen},
    applied, edited, hooked, modelled, served, typed,
};
use crate::world::World;

/// How a cell is played.
#[derive(Default)]
pub(crate) struct Case {
    /// The configuration with the setting, and without it.
    pub(crate) with: String,
    pub(crate) without: String,
    /// What is in the workspace, besides a few small files.
    pub(crate) files: Option<fn(&World)>,
    /// What is made ready once the configuration stands; the flag says whether with the setting.
    pub(crate) prepare: Option<fn(&World, Door, bool)>,
    /// What is done.
    pub(crate) acts: Vec<Act>,
    /// What is looked at, where it is not what became of each act.
    pub(crate) look: Option<fn(&World, &[Seen]) -> String>,
    /// What is seen with the setting.
    pub(crate) expected: &'static str,
    /// What somebody elsewhere says to whatever waits in the queue, with the setting and without it.
    pub(crate) answers: Option<(&'static str, &'static str)>,
    /// Whether nobody has said yes to what is resumed.
    pub(crate) unanswered: bool,
}

/// A rule that allows what `one_write` and `two_writes` do.
pub(crate) fn allow_write(door: Door) -> String {
    let condition = match door {
        _ if door.runs_commands() => "command = \"touch *\"",
        _ => "tool = \"write\"\npath = \"**\"",
    };
    format!("[[rules]]\nid = \"few\"\ndecision = \"allow\"\n{condition}\n")
}

pub(crate) fn one_write(door: Door) -> Vec<Act> {
    two_writes(door).into_iter().take(1).collect()
}

/// Two changes of different files.
pub(crate) fn two_writes(door: Door) -> Vec<Act> {
    match door {
        _ if door.runs_commands() => {
            vec![Act::Bash("touch new1.txt"), Act::Bash("touch new2.txt")]
        }
        _ => ["new1.txt", "new2.txt"].map(|it| Act::Write(it, "new\n".to_owned())).into(),
    }
}

impl Case {
    /// What is seen with the setting or without it.
    fn seen(&self, door: Door, with: bool) -> (String, Vec<Seen>) {
        let world = World::new();
        world.write("workspace/a.txt", "one\n");
        world.write("workspace/badge.txt", "my badge-7777\n");
        world.write("workspace/long.txt", &"a line of a long text\n".repeat(400));
        if let Some(files) = self.files {
            files(&world);
        }
        // What is taken back or taken up was there before.
        match door {
            Door::Undo => typed::done_before(&world, &self.acts),
            Door::Resume => {
                typed::park(&world, &self.acts);
                if !self.unanswered {
                    typed::say_yes(&world, &self.acts);
                }
            }
            Door::Yes | Door::Apply => applied::ran_before(&world, &self.acts),
            _ => {}
        }
        let config = if with { &self.with } else { &self.without };
        world.write("config/eclusa/eclusa.toml", config);
        if let Some(prepare) = self.prepare {
            prepare(&world, door, with);
        }
        let seen = match self.answers {
            Some((answer, other)) => {
                let answer = if with { answer } else { other };
                answering(&world, answer, || play(door, &world, &self.acts))
            }
            None => play(door, &world, &self.acts),
        };
        let words = || seen.iter().map(Seen::word).collect::<Vec<_>>().join(" ");
        let told = self.look.map_or_else(words, |look| look(&world, &seen));
        (told, seen)
    }

    /// What is wrong with the cell.
    pub(crate) fn wrong(&self, door: Door) -> Option<String> {
        let ((with, told), (without, other)) = (self.seen(door, true), self.seen(door, false));
        if with == without {
            Some(format!("is `{with}` with and without it: {told:?} and {other:?}"))
        } else if with != self.expected {
            Some(format!("is `{with}` and not `{}`: {told:?}", self.expected))
        } else {
            None
        }
    }
}

/// Does the acts at a surface.
fn play(door: Door, world: &World, acts: &[Act]) -> Vec<Seen> {
    match door {
        Door::Run => typed::run(world, acts),
        Door::Feed => typed::feed(world, acts),
        Door::Exec => typed::exec(world, acts),
        Door::Ticket => hooked::ticket(world, acts),
        Door::Hook => hooked::hook(world, acts),
        Door::Acp => edited::acp(world, acts),
        Door::Mcp => served::mcp(world, acts),
        Door::Guard => served::guard(world, acts),
        Door::Ask => modelled::ask(world, acts),
        Door::Chat => modelled::chat(world, acts),
        Door::Undo => typed::undo(world, acts),
        Door::Resume => typed::resume(world, acts),
        Door::Check => typed::check(world, acts),
        Door::Rehearsal => applied::rehearsal(world, acts),
        Door::Plan => applied::plans(world, acts),
        Door::Yes => applied::yes(world, acts),
        Door::Apply => applied::apply(world, acts),
    }
}

/// Plays while somebody at another terminal answers whatever waits.
fn answering(world: &World, answer: &str, play: impl FnOnce() -> Vec<Seen> + Send) -> Vec<Seen> {
    // Closed when the play is over, also by a panic.
    let (playing_on, over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let playing = scope.spawn(move || {
            let _playing_on = playing_on;
            play()
        });
        while over.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
            let waiting = world.eclusa(&["--json", "approvals"]).out;
            for line in waiting.lines() {
                let question: Value = serde_json::from_str(line).unwrap();
                world.eclusa(&["approvals", answer, &question["id"].to_string()]);
            }
        }
        playing.join().unwrap()
    })
}
