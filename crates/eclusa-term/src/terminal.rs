//! The terminal as a place to ask: prints the question, reads the answer. It is the checkpoint too.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use eclusa::{Answer, Approver, NotAsked, Question};
use futures::future::BoxFuture;

pub use edit::edit_text;
pub use everywhere::Everywhere;
pub use pager::show as page;
use prompt::{AlwaysRules, Prompt};

use crate::screen::{Paint, Style, layout, size_of, spinner};

mod checkpoint;
mod edit;
mod everywhere;
mod fit;
mod key_reader;
mod pager;
mod pick;
mod prompt;

/// The terminal that this program was started on.
pub struct Terminal {
    /// Stdin was used up by the arguments, so the terminal itself is read.
    stdin_taken: bool,
    /// Where a rule for "always" would be written, for this workspace and for every one.
    rules: Option<(PathBuf, PathBuf)>,
    everywhere: Everywhere,
}

impl Terminal {
    /// The terminal, if there is one; that is looked at when somebody must be asked.
    pub fn new(stdin_taken: bool, rules: Option<(PathBuf, PathBuf)>) -> Terminal {
        Terminal { stdin_taken, rules, everywhere: Everywhere::default() }
    }

    /// Which rules the person wants in every workspace.
    pub fn everywhere(&self) -> Everywhere {
        self.everywhere.clone()
    }

    /// Where answers are typed. A question is asked only where it can be seen and answered by a
    /// person: both stderr and the input must be terminals.
    fn input(&self) -> Result<OwnedFd, NotAsked> {
        let none = |why: &str| NotAsked::Unavailable(why.to_owned());
        if !io::stderr().is_terminal() {
            return Err(none("stderr is not a terminal"));
        }
        if io::stdin().is_terminal() {
            let stdin = io::stdin().as_fd().try_clone_to_owned();
            return stdin.map_err(|err| NotAsked::Failed(err.to_string()));
        }
        if !self.stdin_taken {
            return Err(none("stdin is not a terminal"));
        }
        File::open("/dev/tty").map(OwnedFd::from).map_err(|_| none("there is no terminal"))
    }

    /// Asks a plain question. Anything but a yes is a no; the error says why nobody can be asked.
    pub fn confirm(&self, question: &str) -> Result<bool, String> {
        let input = self.input().map_err(|not| match not {
            NotAsked::Unavailable(why) | NotAsked::Unread(why) | NotAsked::Failed(why) => why,
            NotAsked::Parked(id) => format!("it waits for approval {id}"),
        })?;
        let _terminal = spinner::pause();
        let mut keys = key_reader::KeyReader::new(input, Arc::default());
        let mut ask = || {
            keys.settle()?;
            let mut out = io::stderr();
            let columns = size_of(&out).map_or(usize::MAX, |it| it.0);
            write!(out, "{} ", layout::prompt(question, columns))?;
            out.flush()?;
            keys.answer()
        };
        match ask().map_err(|err: io::Error| err.to_string())? {
            key_reader::TypedLine::Line(line) => Ok(crate::language::is_yes(&line)),
            _ => Ok(false),
        }
    }

    /// Waits until the person presses Enter. False where there is no terminal, or no more input.
    pub async fn enter(&self, prompt: &str) -> bool {
        let Ok(input) = self.input() else { return false };
        let mut open = OpenQuestion::default();
        let given_up = open.given_up.clone();
        let stderr = io::stderr();
        let paint = Paint::on(&stderr);
        let prompt = paint.text(Style::Faint, prompt).into_owned();
        let typed = tokio::task::spawn_blocking(move || {
            let _terminal = spinner::pause();
            let mut keys = key_reader::KeyReader::new(input, given_up);
            // What is typed once the prompt is there counts.
            keys.forget()?;
            write!(io::stderr(), "{prompt}")?;
            keys.line()
        });
        let typed = typed.await;
        open.answered = true;
        let entered = matches!(typed, Ok(Ok(key_reader::TypedLine::Line(_))));
        if entered && paint.is_on() {
            // The prompt has done its work.
            let _ = write!(&stderr, "\x1b[1A\r\x1b[2K");
        }
        entered
    }
}

impl Approver for Terminal {
    fn name(&self) -> &str {
        "terminal"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let input = self.input()?;
            let mut open = OpenQuestion::default();
            let talk = Prompt::new(
                question.clone(),
                input,
                AlwaysRules { files: self.rules.clone(), everywhere: self.everywhere.clone() },
                open.given_up.clone(),
            );
            let answered = tokio::task::spawn_blocking(move || talk.ask()).await;
            open.answered = true;
            match answered {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(err)) => Err(NotAsked::Failed(format!("the terminal failed: {err}"))),
                Err(_panic) => Err(NotAsked::Failed("the prompt crashed".to_owned())),
            }
        })
    }
}

/// A question that is on the screen. Where whoever waits for it goes away, the thread that reads keys is told,
/// and what is said next begins on a line of its own, not behind the question and `^C`.
#[derive(Default)]
struct OpenQuestion {
    given_up: Arc<AtomicBool>,
    answered: bool,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Release);
        if !self.answered {
            // Who cannot see it any more need not.
            let _ = writeln!(io::stderr());
        }
    }
}
