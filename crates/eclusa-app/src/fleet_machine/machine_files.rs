//! What a machine keeps of its server, in files beside the documents: its key, its number, how far it shipped.

use std::{fs, io, path::PathBuf};

use eclusa::{Durability, workspace::private_file};
use eclusa_fleet::{MachineKey, MachineState};

use crate::{failure::Failure, paths::Paths, read_text::read_text_of};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

fn file(paths: &Paths, name: &str) -> PathBuf {
    paths.fleet().with_file_name(name)
}

/// What is known of the server; nothing where this machine was enrolled at none.
pub(crate) fn state(paths: &Paths) -> Result<Option<MachineState>, String> {
    let file = file(paths, "machine.json");
    match read_text_of(&file, MAX_FILE) {
        Ok(text) => MachineState::parse(&text).map(Some).map_err(|err| err.to_string()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(format!("`{}` cannot be read: {err}", file.display())),
    }
}

pub(crate) fn keep_state(paths: &Paths, state: &MachineState) -> Result<(), Failure> {
    write(&file(paths, "machine.json"), &state.to_text())
}

pub(crate) fn key(paths: &Paths) -> Result<MachineKey, Failure> {
    let file = file(paths, "machine.key");
    let failed = |why: String| {
        Failure::failed(format!("cannot use `{}`: {why}", file.display()))
            .hint("enrol again with `eclusa fleet enroll CODE`")
    };
    let text = read_text_of(&file, MAX_FILE).map_err(|err| failed(err.to_string()))?;
    text.parse().map_err(|err: eclusa_fleet::FleetError| failed(err.to_string()))
}

/// The key of an enrolment that has not ended: the same again is the same machine.
pub(crate) fn next_key(paths: &Paths) -> Result<MachineKey, Failure> {
    let file = file(paths, "machine.key.next");
    if let Ok(text) = read_text_of(&file, MAX_FILE)
        && let Ok(key) = text.parse()
    {
        return Ok(key);
    }
    let key = MachineKey::generate().map_err(Failure::failed)?;
    write(&file, &key.private_text())?;
    Ok(key)
}

/// The enrolment has ended: its key is this machine's.
pub(crate) fn use_next_key(paths: &Paths) -> Result<(), Failure> {
    write(&file(paths, "machine.key"), &next_key(paths)?.private_text())?;
    remove(&file(paths, "machine.key.next"))
}

/// Forgets the server.
pub(crate) fn forget(paths: &Paths) -> Result<(), Failure> {
    ["machine.key", "machine.key.next", "machine.json", "flush"]
        .iter()
        .try_for_each(|it| remove(&file(paths, it)))
}

/// Somebody waits until everything is shipped.
pub(crate) fn ask_to_flush(paths: &Paths) -> Result<(), Failure> {
    write(&file(paths, "flush"), "")
}

/// Whether somebody waits for that; asked once.
pub(crate) fn was_asked_to_flush(paths: &Paths) -> bool {
    let file = file(paths, "flush");
    file.exists() && remove(&file).is_ok()
}

/// Held by whoever ships.
pub(crate) fn shipping_lock(paths: &Paths) -> Result<Option<fs::File>, Failure> {
    let file = file(paths, "shipping.lock");
    let failed =
        |err: io::Error| Failure::failed(format!("cannot lock `{}`: {err}", file.display()));
    let lock = private_file::open_lock(&file).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(err)) => Err(failed(err)),
    }
}

fn write(file: &std::path::Path, text: &str) -> Result<(), Failure> {
    private_file::write(file, text, Durability::PowerLoss)
        .map_err(|err| Failure::failed(format!("cannot write `{}`: {err}", file.display())))
}

#[expect(clippy::disallowed_methods, reason = "the program's own file, in no workspace")]
fn remove(file: &std::path::Path) -> Result<(), Failure> {
    match fs::remove_file(file) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(Failure::failed(err)),
        _ => Ok(()),
    }
}
