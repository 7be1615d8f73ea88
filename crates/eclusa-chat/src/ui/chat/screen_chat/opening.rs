//! The first frame, and what is typed until the session is open behind it.

use std::time::Instant;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::ui::{
    chat::{
        hand_over::HandOver,
        signals::{ChatSignals, Signalled},
    },
    chat_screen::{
        chat_terminal::ChatTerminal,
        key_decoder::Key,
        keys::{self, KeyAction},
    },
    failure::Failure,
    screen::spinner,
};

/// Shows the input while something is opened. Also gives the keys that have to wait for it; `None`
/// when the person leaves before it is open.
pub(super) async fn show_while<T>(
    opening: impl Future<Output = Result<T, Failure>>,
    screen: &mut ChatTerminal,
    questions: &mut UnboundedReceiver<HandOver>,
    signals: &mut ChatSignals,
) -> Result<Option<(T, Vec<Key>)>, Failure> {
    let mut opening = std::pin::pin!(opening);
    let mut waiting: Vec<Key> = Vec::new();
    screen.view.hint(Some("/help lists the commands"));
    screen.view.wait_for("opens the session", Instant::now());
    loop {
        screen.draw()?;
        tokio::select! {
            biased;
            key = screen.key() => {
                let Some(key) = key else { return Ok(None) };
                if !waiting.is_empty() && key != Key::Control('c') {
                    waiting.push(key);
                    continue;
                }
                let empty = screen.view.composer.is_empty();
                match keys::apply(&key, &mut screen.view.composer, false) {
                    KeyAction::Edited => {}
                    KeyAction::Leave => return Ok(None),
                    KeyAction::Clear if empty || !waiting.is_empty() => return Ok(None),
                    KeyAction::Clear => screen.view.composer.clear(),
                    _ => waiting.push(key),
                }
            }
            it = signals.next() => match it {
                Signalled::Resized => screen.resized(),
                Signalled::Interrupted | Signalled::Ended => return Ok(None),
            },
            Some(HandOver { ready, returned }) = questions.recv() => {
                screen.suspend()?;
                if ready.send(()).is_ok() {
                    tokio::select! {
                        opened = &mut opening => {
                            screen.resume()?;
                            return done(opened, screen, waiting);
                        }
                        _ = returned => {}
                    }
                    spinner::until_resumed().await;
                }
                screen.resume()?;
            }
            opened = &mut opening => return done(opened, screen, waiting),
        }
    }
}

fn done<T>(
    opened: Result<T, Failure>,
    screen: &mut ChatTerminal,
    waiting: Vec<Key>,
) -> Result<Option<(T, Vec<Key>)>, Failure> {
    screen.view.idle();
    screen.view.hint(None);
    opened.map(|it| Some((it, waiting)))
}
