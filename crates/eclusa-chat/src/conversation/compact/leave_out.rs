//! What is left out of a conversation that is to be summed up and does not fit the window: the older
//! half, and where that is little, the middle of long texts.

use std::sync::Arc;

use crate::model::ViewMessage;

/// Texts that are no longer than this stay whole.
const SHORT: usize = 1 << 10;

const BEFORE: &str = "[earlier messages are left out: they do not fit]";
const BETWEEN: &str = "\n[… left out: it does not fit …]\n";

/// Leaves out about half of a conversation that is in words alone. False when nothing is left that
/// could be left out.
pub(super) fn half(messages: &mut Vec<Arc<ViewMessage>>) -> bool {
    let sizes: Vec<usize> = messages.iter().map(|it| size(it)).collect();
    let total: usize = sizes.iter().sum();
    // What reaches beyond the middle stays.
    let (mut old, mut bytes) = (0, 0);
    for size in sizes {
        if (bytes + size) * 2 > total {
            break;
        }
        (old, bytes) = (old + 1, bytes + size);
    }
    if bytes > SHORT && bytes * 4 >= total {
        let text = BEFORE.to_owned();
        messages.splice(..old, [Arc::new(ViewMessage::User { text, pictures: Vec::new() })]);
        return true;
    }
    let mut shortened = false;
    for message in messages {
        shortened |= shorten(Arc::make_mut(message));
    }
    shortened
}

fn size(message: &ViewMessage) -> usize {
    match message {
        ViewMessage::User { text, pictures } => {
            text.len() + pictures.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
        }
        ViewMessage::Assistant { text, .. } => text.len(),
        ViewMessage::Answers(all) => all.iter().map(|it| it.output.len()).sum(),
    }
}

/// Keeps a quarter of a long text at its beginning and a quarter at its end, and no picture.
fn shorten(message: &mut ViewMessage) -> bool {
    let (text, pictures) = match message {
        ViewMessage::User { text, pictures } => {
            let any = !pictures.is_empty();
            pictures.clear();
            (text, any)
        }
        ViewMessage::Assistant { text, .. } => (text, false),
        ViewMessage::Answers(_) => return false,
    };
    if text.len() <= SHORT {
        return pictures;
    }
    let (start, end) = (text.len() / 4, text.len() - text.len() / 4);
    let (start, end) = (text.floor_char_boundary(start), text.ceil_char_boundary(end));
    text.replace_range(start..end, BETWEEN);
    true
}

#[cfg(test)]
mod tests;
