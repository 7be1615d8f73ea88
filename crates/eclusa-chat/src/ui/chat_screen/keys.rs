//! Keys of a chat: what each does to the input, and what it asks of the chat.

use super::{composer::Composer, key_decoder::Key};

/// What the chat is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyAction {
    /// The input changed, or nothing did.
    Edited,
    /// Send the message; while the model works, before its next request.
    Send,
    /// Send the message after this turn.
    SendLater,
    /// Take back the message that waits.
    TakeBack,
    /// Esc: interrupt what is under way; twice while nothing is: rewind.
    Interrupt,
    /// Ctrl+C: clear the input, interrupt; twice: leave.
    Clear,
    /// Ctrl+D in an empty input: leave.
    Leave,
    /// Ctrl+G: write the message in the editor.
    Editor,
    /// Ctrl+T: the whole transcript in a pager.
    Transcript,
    /// Ctrl+O: the last output in a pager.
    LastOutput,
    /// Tab behind `@` or `/`: complete the word.
    Complete,
    /// Ctrl+Z: back to the shell for a while.
    Suspend,
    /// Ctrl+L: draw anew.
    Redraw,
}

/// Applies a key to the input.
pub(crate) fn apply(key: &Key, composer: &mut Composer, busy: bool) -> KeyAction {
    match key {
        // A paste never sends, answers or runs anything: it is text.
        Key::Paste(text) => composer.paste(text),
        Key::Char(letter) => composer.insert(*letter),
        Key::NewLine => composer.insert('\n'),
        Key::Enter => return KeyAction::Send,
        Key::Tab if composer.completable() => return KeyAction::Complete,
        Key::Tab if busy => return KeyAction::SendLater,
        Key::Tab => {}
        Key::Esc => return KeyAction::Interrupt,
        Key::Up if composer.is_empty() && busy => return KeyAction::TakeBack,
        Key::Up => composer.up(),
        Key::Down => composer.down(),
        Key::Left => composer.left(),
        Key::Right => composer.right(),
        Key::WordLeft | Key::Alt('b') => composer.word_left(),
        Key::WordRight | Key::Alt('f') => composer.word_right(),
        Key::Home => composer.home(),
        Key::End => composer.end(),
        Key::Backspace => composer.backspace(),
        Key::DeleteWord => composer.delete_word(),
        Key::Delete => composer.delete(),
        Key::Alt(_) => {}
        Key::Control(letter) => return with_control(*letter, composer),
    }
    KeyAction::Edited
}

fn with_control(letter: char, composer: &mut Composer) -> KeyAction {
    match letter {
        'a' => composer.home(),
        'b' => composer.left(),
        'c' => return KeyAction::Clear,
        'd' if composer.is_empty() => return KeyAction::Leave,
        'd' => composer.delete(),
        'e' => composer.end(),
        'f' => composer.right(),
        'g' => return KeyAction::Editor,
        'j' => composer.insert('\n'),
        'k' => composer.delete_to_line_end(),
        'l' => return KeyAction::Redraw,
        'n' => composer.down(),
        'o' => return KeyAction::LastOutput,
        'p' => composer.up(),
        't' => return KeyAction::Transcript,
        'u' => composer.delete_to_line_start(),
        'w' => composer.delete_word(),
        'z' => return KeyAction::Suspend,
        _ => {}
    }
    KeyAction::Edited
}
