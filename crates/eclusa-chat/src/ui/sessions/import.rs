//! `eclusa sessions import`: what somebody said to another agent, as a session of this workspace.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use serde_json::{Value, json};

use super::unopened;
use crate::ui::{archive::Archive, context::AppContext, failure::Failure, screen::Screen, since};
use crate::{
    keep_import,
    transcript::{ImportFormat, import},
};

/// A file is not read further than this.
const MAX_BYTES: usize = 512 << 20;

pub(super) async fn run(
    ctx: &AppContext,
    archive: &Archive,
    format: ImportFormat,
    file: &Path,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let redactor = ctx.redactor()?;
    let lines: Vec<Value> =
        read_lines(file)?.iter().map(|it| redactor.value(it).0.into_owned()).collect();
    let imported = import(format, &lines);
    if imported.items.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` holds no session of {}",
            file.display(),
            format.as_str()
        ))
        .hint("`eclusa sessions import --help` says which files are read"));
    }
    let (count, left_out) = (imported.items.len(), imported.left_out.clone());
    let id = keep_import(archive, imported, format, since::now()).await.map_err(unopened)?;
    if json {
        screen.json(&json!({"session": id, "entries": count, "left_out": left_out}))?;
        return Ok(());
    }
    screen.line(&format!(
        "{id}: {count} entries of {}; resume it with `eclusa chat --resume {id}`",
        format.as_str()
    ))?;
    if !left_out.is_empty() {
        let each: Vec<String> =
            left_out.iter().map(|(what, count)| format!("{count} {what}")).collect();
        screen.foreign(&format!("left out: {}", each.join(", ")))?;
    }
    Ok(())
}

/// The lines of a file; what is no JSON stands as `null`.
fn read_lines(file: &Path) -> Result<Vec<Value>, Failure> {
    let failed = |err| Failure::usage(format!("`{}` cannot be read: {err}", file.display()));
    let (mut lines, mut bytes) = (Vec::new(), 0_usize);
    for line in BufReader::new(File::open(file).map_err(failed)?).split(b'\n') {
        let line = line.map_err(failed)?;
        bytes = bytes.saturating_add(line.len());
        if bytes > MAX_BYTES {
            return Err(Failure::usage(format!("`{}` is longer than 512 MB", file.display())));
        }
        if !line.trim_ascii().is_empty() {
            lines.push(serde_json::from_slice(&line).unwrap_or_default());
        }
    }
    Ok(lines)
}
