//! `eclusa install --apparmor`: this program may use user namespaces where AppArmor keeps them from all others.

use std::{fs, io, path::Path};

use eclusa_spawn::Program;

use crate::commands::{
    failure::{Exit, Failure},
    global::Global,
    remember::replace,
    screen::{Screen, note},
    tickets::remove,
};

/// The profile, with a name in place of the program.
const PROFILE: &str = include_str!("apparmor.profile");

/// Where profiles are.
const PROFILES: &str = "/etc/apparmor.d";
const PLACE: &str = "/etc/apparmor.d/eclusa";

/// What a pattern of AppArmor is made of.
const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '^', '"', '\\', '\n', '@', ','];

/// Writes the profile of the program that runs, and loads it.
pub(super) fn install(global: &Global, screen: &mut Screen) -> Result<Exit, Failure> {
    let program = std::env::current_exe()?;
    let text = profile(&program)?;
    if !Path::new(PROFILES).is_dir() {
        screen.line(&format!("this machine has no AppArmor (`{PROFILES}`): nothing to do"))?;
        return Ok(Exit::Done);
    }
    if fs::read_to_string(PLACE).is_ok_and(|it| it == text) && !global.dry_run {
        screen.line(&format!("`{PLACE}` is as it should be"))?;
        return load(&["-r"], screen);
    }
    screen.line(&format!("+++ {PLACE}"))?;
    for line in text.lines() {
        screen.line(&format!("+{line}"))?;
    }
    if global.dry_run {
        note("nothing was written (--dry-run)");
        return Ok(Exit::Done);
    }
    replace(Path::new(PLACE), &text).map_err(|err| unwritable(&err, &program, "install"))?;
    load(&["-r"], screen)
}

/// Takes the profile away.
pub(super) fn uninstall(global: &Global, screen: &mut Screen) -> Result<Exit, Failure> {
    if !Path::new(PLACE).exists() {
        screen.line(&format!("`{PLACE}` is not there: nothing to take out"))?;
        return Ok(Exit::Done);
    }
    screen.line(&format!("--- {PLACE}"))?;
    if global.dry_run {
        note("nothing was removed (--dry-run)");
        return Ok(Exit::Done);
    }
    let program = std::env::current_exe()?;
    // The kernel forgets it by its file, so the file goes last.
    let exit = load(&["-R"], screen)?;
    remove(Path::new(PLACE)).map_err(|err| unwritable(&err, &program, "uninstall"))?;
    Ok(exit)
}

/// The profile of a program; refused where its path would be a pattern.
fn profile(program: &Path) -> Result<String, Failure> {
    let path = program.to_str().filter(|it| !it.contains(SPECIAL)).ok_or_else(|| {
        let text =
            format!("a profile cannot name `{}`: a sign in it is a pattern", program.display());
        Failure::usage(text).hint("put the program into a directory with a plain name")
    })?;
    Ok(PROFILE.replace("@PROGRAM@", &format!("\"{path}\"")))
}

/// Has the kernel take the profile, or forget it.
fn load(how: &[&str], screen: &mut Screen) -> Result<Exit, Failure> {
    let parsers = ["/usr/sbin/apparmor_parser", "/sbin/apparmor_parser"];
    let Some(parser) = parsers.into_iter().find(|it| Path::new(it).exists()) else {
        screen.line(&format!(
            "apparmor_parser is not here: `apparmor_parser {} {PLACE}` is still to be run",
            how.join(" ")
        ))?;
        return Ok(Exit::Done);
    };
    let words = [parser].into_iter().chain(how.iter().copied()).chain([PLACE]);
    let command = words.map(str::to_owned).collect();
    let program = Program { command, directory: "/".into(), env: Vec::new(), set: Vec::new() };
    screen.flush()?;
    let status = program.run_on_terminal()?;
    if !status.success() {
        return Err(Failure::failed(format!("apparmor_parser did not take `{PLACE}`: {status}")));
    }
    screen.line("done: `eclusa doctor` shows the level now")?;
    Ok(Exit::Done)
}

fn unwritable(err: &io::Error, program: &Path, verb: &str) -> Failure {
    Failure::failed(format!("`{PLACE}` cannot be written: {err}"))
        .hint(format!("it takes an administrator: `sudo {} {verb} --apparmor`", program.display()))
}
