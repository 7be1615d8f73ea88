//! Places that go away: a program that was started from a package runner's cache is not there tomorrow.

use std::{ffi::OsStr, path::Path};

use crate::commands::failure::Failure;

/// Refuses to write the path of a program that is going away into settings: once it is gone, its agent is told no
/// for every call.
pub(super) fn refuse_runner_cache(program: &Path) -> Result<(), Failure> {
    let Some((runner, lasting)) = runner(program) else { return Ok(()) };
    let text = format!(
        "`{}` is in a cache of {runner} and goes away with it; the agent would then be told no for every call",
        program.display()
    );
    Err(Failure::usage(text).hint(format!("install it for good, then run this again: `{lasting}`")))
}

/// Whose cache a program is in, and how it is installed for good.
fn runner(program: &Path) -> Option<(&'static str, &'static str)> {
    let names: Vec<&str> = program.iter().filter_map(OsStr::to_str).collect();
    let begins = |with: &str| names.iter().any(|it| it.starts_with(with));
    let follows = |above: &str, is_it: &dyn Fn(&str) -> bool| {
        names.windows(2).any(|it| matches!(it, [first, second] if *first == above && is_it(second)))
    };
    let npm = "npm install --global eclusa";
    if names.contains(&"_npx") {
        return Some(("npx", npm));
    }
    if follows("pnpm", &|it| it.starts_with("dlx")) || begins("dlx-") {
        return Some(("pnpm or yarn dlx", npm));
    }
    if begins("bunx-") {
        return Some(("bunx", npm));
    }
    let is_uv = |it: &str| {
        ["archive-v", "environments-v", "builds-v"].iter().any(|begin| it.starts_with(begin))
    };
    if names.iter().any(|it| is_uv(it)) {
        return Some(("uvx", "uv tool install eclusa"));
    }
    if follows("pipx", &|it| it == ".cache") {
        return Some(("pipx run", "pipx install eclusa"));
    }
    None
}

#[cfg(test)]
mod tests;
