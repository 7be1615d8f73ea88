//! A yes applies what was shown, however somebody is asked: a table of ways to ask and of what may be asked and
//! happen meanwhile, played through the binary. Each cell is played a second time with the mechanism off; where
//! both look the same, the cell fails: none can pass by doing nothing. A way or a matter that is not in the table
//! does not compile, and there is no empty cell.
//!
//! What was seen is kept in `tests/goldens/answers-table`, one file for each way; `ECLUSA_WRITE_GOLDENS=1` writes it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use eclusa_app::surface::Surface;

use crate::goldens;

mod agents;
mod at_once;
mod cell;
mod in_front;
mod matters;
mod queued;
mod somebody;

/// An enum whose variants and their words are one list: none can be left out of `ALL`.
macro_rules! listed {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$each])* $variant,)+
        }

        impl $name {
            pub(crate) const ALL: &[$name] = &[$($name::$variant),+];

            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}

listed! {
    /// A way in which somebody is asked and answers.
    Way {
        /// The question stands on the terminal where the call is made.
        Terminal = "terminal",
        /// The question stands in a chat with a model of our own.
        Chat = "chat",
        /// The call waits, and a paired browser answers.
        Page = "page",
        /// The call waits, and another terminal answers.
        Queue = "cli-queue",
        /// The call waits, and a program answers with a signed message.
        Webhook = "webhook",
        /// An MCP client shows a form.
        Form = "mcp-form",
        /// Claude Code asks our server before its own tools run (`--permission-prompt-tool`).
        PromptTool = "permission-prompt-tool",
        /// Claude Code asks on its terminal what our hook has it ask.
        AgentPrompt = "claude-prompt",
        /// An editor asks the person in front of it.
        Editor = "acp-editor",
        /// The call waits, and a phone answers: a name of its own, a link of its own, a passkey.
        Phone = "phone",
    }
}

listed! {
    /// What is asked about, or happens while it is asked.
    Matter {
        ToolEdit = "edit by tool",
        ShellEdit = "edit by shell",
        Commit = "commit",
        Host = "host",
        RuleAndEdit = "rule `ask` and edit",
        EditedArguments = "edited arguments",
        MovedOn = "changed workspace meanwhile",
        GitStatus = "`git status` meanwhile",
        ChangedScript = "changed script meanwhile",
        KilledAsker = "killed asker",
        TwoAtOnce = "two at once",
    }
}

impl Way {
    /// The ways in which a surface of the program asks: a new one does not compile until it is played.
    fn of(surface: Surface) -> &'static [Way] {
        match surface {
            Surface::Run | Surface::Feed | Surface::Exec | Surface::Undo | Surface::Plan => {
                &[Way::Terminal, Way::Queue]
            }
            Surface::Ask | Surface::Chat => &[Way::Chat],
            Surface::Mcp => &[Way::Form, Way::PromptTool],
            Surface::Hook | Surface::Ticket => &[Way::AgentPrompt],
            Surface::Acp => &[Way::Editor],
            Surface::Yes => &[Way::Queue, Way::Page, Way::Webhook, Way::Phone],
            Surface::Resume | Surface::Apply => &[Way::Queue],
            // They ask nobody.
            Surface::Check | Surface::Rehearsal => &[],
        }
    }
}

fn play_all(cells: &[(Way, Matter)]) -> Vec<(Way, Matter, Result<String, String>)> {
    let (next, played) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(4, |it| it.get() * 2).min(16);
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((way, matter)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let playing = AssertUnwindSafe(|| cell::play(*way, *matter));
                    let seen = catch_unwind(playing)
                        .unwrap_or_else(|_| Err("cannot be played".to_owned()));
                    let mut played = played.lock().unwrap_or_else(PoisonError::into_inner);
                    played.push((*way, *matter, seen));
                }
            });
        }
    });
    played.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_yes_applies_what_was_shown_however_somebody_is_asked() {
    eclusa_testing::needs!(Namespaces);
    // To work on some of them: `ECLUSA_CELLS=terminal/`, `ECLUSA_CELLS=/commit`.
    let wanted = std::env::var("ECLUSA_CELLS").ok();
    let every = Way::ALL.iter().flat_map(|way| Matter::ALL.iter().map(|it| (*way, *it)));
    let is_wanted = |(way, matter): &(Way, Matter)| {
        let name = format!("{}/{}", way.name(), matter.name());
        wanted.as_ref().is_none_or(|it| name.contains(it.as_str()))
    };
    let cells: Vec<(Way, Matter)> = every.filter(is_wanted).collect();
    let played = play_all(&cells);
    let mut wrong = Vec::new();
    let mut texts: Vec<(String, String)> = Vec::new();
    for way in Way::ALL {
        let mut text = String::new();
        for matter in Matter::ALL {
            match played.iter().find(|it| it.0 == *way && it.1 == *matter) {
                Some((.., Ok(seen))) => text.push_str(&format!("# {}\n{seen}\n", matter.name())),
                Some((.., Err(why))) => wrong.push(format!("{way:?}/{matter:?}: {why}")),
                None => {}
            }
        }
        texts.push((way.name().to_owned(), text));
    }
    // Shown where the test fails, or where somebody works on some of them.
    for (way, text) in &texts {
        println!("== {way}\n{text}");
    }
    assert!(wrong.is_empty(), "{} cells do not hold:\n{}", wrong.len(), wrong.join("\n"));
    if wanted.is_none() {
        goldens::same("answers-table", &texts);
    }
}

#[test]
fn every_way_belongs_to_a_surface() {
    let ways = || Surface::ALL.iter().flat_map(|it| Way::of(*it));
    let missing: Vec<&Way> = Way::ALL.iter().filter(|way| !ways().any(|it| it == *way)).collect();
    assert!(missing.is_empty(), "no surface asks so: {missing:?}");
}
