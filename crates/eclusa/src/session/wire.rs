//! What is kept of a session, as a text: for whoever keeps it in a file or a database.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::SessionRecord;
use crate::{ChangeTotals, Hash, SessionError};

/// The form of the text. One of another form is not read.
const FORM: u32 = 1;

/// The text, with every part that is not empty.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionText {
    v: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    taint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<SpentText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grants: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<(PathText, String)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpentText {
    files: Vec<PathText>,
    deleted: u64,
    lines: u64,
    bytes: u64,
}

/// A path: as text where it is text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl PathText {
    fn new(path: &Path) -> PathText {
        match path.to_str() {
            Some(text) => PathText::Text(text.to_owned()),
            None => PathText::Bytes { bytes: OsStr::as_bytes(path.as_os_str()).to_vec() },
        }
    }

    fn path(self) -> PathBuf {
        match self {
            PathText::Text(text) => text.into(),
            PathText::Bytes { bytes } => OsString::from_vec(bytes).into(),
        }
    }
}

impl SessionRecord {
    /// All of it as a text that [`from_text`](SessionRecord::from_text) reads.
    pub fn to_text(&self) -> String {
        let spent = self.spent.as_ref().map(|it| {
            let (files, [deleted, lines, bytes]) = it.parts();
            SpentText { files: files.map(PathText::new).collect(), deleted, lines, bytes }
        });
        let grants = self.grants.iter().flat_map(|it| it.iter()).cloned();
        let made = self.made.iter().flat_map(|it| it.iter());
        let text = SessionText {
            v: FORM,
            taint: self.taint.as_deref().map(str::to_owned),
            spent,
            grants: grants.collect(),
            mode: self.mode.map(|it| it.to_string()),
            made: made.map(|(path, digest)| (PathText::new(path), digest.clone())).collect(),
        };
        // Nothing in it can fail to be written; an empty text is none that could be read.
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// Reads what [`to_text`](SessionRecord::to_text) wrote. What cannot be read is an error, and
    /// counts as tainted, spent and not granted.
    pub fn from_text(text: &str) -> Result<SessionRecord, SessionError> {
        let text: SessionText =
            serde_json::from_str(text).map_err(|err| format!("its state cannot be read: {err}"))?;
        if text.v != FORM {
            return Err("another version of this program has kept it".into());
        }
        let mut record =
            SessionRecord { taint: text.taint.map(Into::into), ..SessionRecord::default() };
        if let Some(it) = text.spent {
            let files: Vec<PathBuf> = it.files.into_iter().map(PathText::path).collect();
            let counts = [it.deleted, it.lines, it.bytes];
            record.set_spent(Arc::new(ChangeTotals::from_parts(&files, counts)));
        }
        for grant in text.grants {
            let grant = Hash::from_hex(&grant).ok_or("an answer that is kept cannot be read")?;
            record.grant(grant);
        }
        for (path, digest) in text.made {
            record.note_made(path.path(), digest);
        }
        record.mode = text.mode.map(|it| it.parse()).transpose().map_err(|_unknown| {
            SessionError("the mode that is kept of it is none of this program".to_owned())
        })?;
        Ok(record)
    }
}
