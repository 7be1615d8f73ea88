//! Who holds a question: the process that waits for its answer, and whether it is still there.

use std::{fs, sync::LazyLock};

/// This process, as it is written into the questions that it waits for: its number, when it
/// started, and in which namespace that number counts.
static THIS: LazyLock<String> = LazyLock::new(|| {
    let number = std::process::id();
    format!("{number}:{}:{}", started(number).unwrap_or_default(), namespace().unwrap_or_default())
});

pub(super) fn this_process() -> &'static str {
    &THIS
}

/// Whether a holder is known to have ended. Of what cannot be looked at nobody knows that.
pub(super) fn has_ended(holder: &str) -> bool {
    let mut parts = holder.split(':');
    let (Some(number), Some(start), Some(space)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Ok(number) = number.parse::<u32>() else { return false };
    if start.is_empty() || space.is_empty() || namespace().as_deref() != Some(space) {
        return false;
    }
    started(number).as_deref() != Some(start)
}

/// When a process started, in ticks since the machine did; `None` where there is none.
fn started(number: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name may hold anything, and stands in brackets.
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?;
    // What has ended and was not reaped waits for nothing.
    (state != "Z" && state != "X").then(|| start.to_owned())
}

/// The namespace that process numbers count in.
fn namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    let number: String = link.to_str()?.chars().filter(char::is_ascii_digit).collect();
    Some(number)
}

#[cfg(test)]
mod tests;
