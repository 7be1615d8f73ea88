//! Calls that the person makes in a chat: files that are mentioned, commands that are typed. They pass
//! the gate like everybody's.

use eclusa::{Attachment, Origin, Reply, Run, ToolCall};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::OpenChat;
use crate::UserMessage;
use crate::ui::person::call_id;

/// More of what a command of the person put out is not shown to the model.
const MAX_TOLD: usize = 8 << 10;

/// Passes a call of the person, in this conversation.
pub(super) async fn pass(
    chat: &OpenChat,
    tool: &str,
    args: Value,
    cancel: &CancellationToken,
) -> Reply {
    let run = Run { cancel: cancel.clone(), ..chat.gate.run().clone() };
    chat.gate.for_run(run).pass(ToolCall::new(call_id(), tool, args).from(Origin::Person)).await
}

/// What the model is told of a command that the person ran.
pub(super) fn note_for_model(command: &str, reply: &Reply) -> String {
    let content = reply.content();
    let end = content.floor_char_boundary(MAX_TOLD);
    let rest = if end < content.len() { "\n[the rest was left out]" } else { "" };
    format!(
        "[I ran `{command}` myself; it gave:]\n{}{rest}",
        content.get(..end).unwrap_or_default()
    )
}

/// The message, with the files that are mentioned in it as `@path`. Also gives what could not be
/// read, and why.
pub(super) async fn with_mentions(
    chat: &OpenChat,
    text: &str,
    cancel: &CancellationToken,
) -> (UserMessage, Vec<String>) {
    let mut message = UserMessage::from(text);
    let mut unread = Vec::new();
    for path in mentioned(text) {
        if !chat.ctx.paths.workspace.join(&path).is_file() {
            continue;
        }
        let reply = pass(chat, "read", json!({"path": path}), cancel).await;
        match reply.error() {
            Some(error) => unread.push(format!("{path} was not attached: {error}")),
            None => {
                for attachment in reply.attachments() {
                    if let Attachment::Image(media) = attachment {
                        message.pictures.push((media.media_type.clone(), media.bytes.clone()));
                    }
                }
                message.text.push_str(&format!("\n\n[the file {path}]\n{}", reply.text()));
            }
        }
    }
    (message, unread)
}

/// Paths behind an `@` at the beginning of a word, each once.
fn mentioned(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let Some(path) = word.strip_prefix('@') else { continue };
        let path = path.trim_end_matches([',', '.', ';', ':', '!', '?', ')']);
        if !path.is_empty() && !paths.iter().any(|it| it == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// Paths that begin like this, directories with a slash behind them.
pub(super) fn paths_like(chat: &OpenChat, begun: &str) -> Vec<String> {
    let (directory, name) = match begun.rfind('/') {
        Some(at) => begun.split_at(at + 1),
        None => ("", begun),
    };
    let Ok(entries) = std::fs::read_dir(chat.ctx.paths.workspace.join(directory)) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for entry in entries.flatten() {
        let Ok(entry_name) = entry.file_name().into_string() else { continue };
        let hidden = entry_name.starts_with('.') && !name.starts_with('.');
        let odd = entry_name.contains(|it: char| it.is_whitespace() || it.is_control());
        if !hidden && !odd && entry_name.starts_with(name) {
            let slash = if entry.file_type().is_ok_and(|it| it.is_dir()) { "/" } else { "" };
            found.push(format!("@{directory}{entry_name}{slash}"));
        }
    }
    found.sort();
    found
}
