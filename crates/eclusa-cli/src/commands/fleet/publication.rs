//! What is shared by commands that sign: keys in files, times, and the file with all documents.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{Author, DocumentBundle, DocumentKind, SigningKey};

use crate::{failure::Failure, read_text::read_text_of, screen::Screen};

/// A day, in milliseconds.
pub(super) const DAY: u64 = 86_400_000;

/// The longest that a document is good for, in days.
const MAX_DAYS: u64 = 3_650;

/// The file with all documents.
pub(super) fn open(file: &Path) -> Result<Author, Failure> {
    let name = file.display();
    let max = u64::try_from(DocumentBundle::MAX_BYTES).unwrap_or(u64::MAX);
    let text = read_text_of(file, max).map_err(|err| {
        Failure::usage(format!("cannot read `{name}`: {err}"))
            .hint("it begins as the `documents.json` that `eclusa fleet init` wrote")
    })?;
    let wrong = |err| Failure::usage(format!("`{name}`: {err}"));
    Author::open(DocumentBundle::parse(&text).map_err(wrong)?).map_err(wrong)
}

/// Writes it in the place of the one that may be there: whoever reads it reads all of it. Everybody may.
pub(super) fn write(file: &Path, author: &Author) -> Result<(), Failure> {
    let failed =
        |err: std::io::Error| Failure::failed(format!("cannot write `{}`: {err}", file.display()));
    let parent = file.parent().filter(|it| !it.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    let builder = builder.permissions(fs::Permissions::from_mode(0o644));
    let mut new = builder.tempfile_in(parent.unwrap_or(Path::new("."))).map_err(failed)?;
    std::io::Write::write_all(&mut new, author.bundle().to_text().as_bytes()).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    new.persist(file).map_err(|err| failed(err.error))?;
    Ok(())
}

/// The keys in these files.
pub(super) fn keys(files: &[PathBuf]) -> Result<Vec<SigningKey>, Failure> {
    let key = |file: &PathBuf| {
        let wrong = |why: String| Failure::usage(format!("cannot use `{}`: {why}", file.display()));
        let text = read_text_of(file, 1 << 14).map_err(|err| wrong(err.to_string()))?;
        text.parse().map_err(|err: eclusa_fleet::FleetError| wrong(err.to_string()))
    };
    files.iter().map(key).collect()
}

/// When something expires that is good for so long from now on: `14d`, `12h`, `30m`.
pub(super) fn expiry(text: &str) -> Result<u64, Failure> {
    Ok(SystemClock.unix_ms().saturating_add(span(text)?))
}

/// The time so long ago.
#[cfg(feature = "fleet-server")]
pub(super) fn before_now(text: &str) -> Result<u64, Failure> {
    Ok(SystemClock.unix_ms().saturating_sub(span(text)?))
}

/// A span of time, in milliseconds.
pub(super) fn span(text: &str) -> Result<u64, Failure> {
    let wrong =
        || Failure::usage(format!("`{text}` is not a span of time; write it like `14d` or `12h`"));
    let split = text.find(|it: char| !it.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let unit = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => DAY,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = number.checked_mul(unit).filter(|it| (1..=MAX_DAYS * DAY).contains(it));
    millis.ok_or_else(wrong)
}

/// Says how many signatures a document still needs.
pub(super) fn tell_missing(
    author: &Author,
    kind: DocumentKind,
    file: &Path,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let (found, need) = author.signatures(kind).map_err(Failure::failed)?;
    if found < need {
        screen.line(&format!(
            "{found} of {need} signatures: no machine takes it before `eclusa fleet sign {} --key FILE` has added the rest",
            file.display()
        ))?;
    }
    Ok(())
}
