//! The screen of `eclusa chat`: the main screen of the terminal with its own scrollback, a live block
//! below it, and the input.
//!
//! `view.rs` says what is shown, `scrollback.rs` draws it, `composer.rs` is the input. Nothing here
//! knows of a conversation: `ui/chat/` does.

pub(crate) mod chat_terminal;
mod clusters;
pub(crate) mod composer;
pub(crate) mod key_decoder;
mod key_input;
pub(crate) mod keys;
mod markdown;
mod raw_mode;
mod scrollback;
pub(crate) mod view;
