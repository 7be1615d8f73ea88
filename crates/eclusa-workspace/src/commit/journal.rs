//! What a transaction is about to do, on disk before it does it; afterwards, what it did.
//!
//! One file of JSON lines: a head, a line for each step, and a check over them. When all steps are
//! taken, one more line says when each path was last changed, again with a check. A file without
//! a good first check was cut short before any step; one without a second, before the last.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    Intent, KeepStrategy,
    op::{Op, StepKind},
    stat::{Expected, NodeContent, NodeIdentity},
};
use crate::ContentDigest;

const VERSION: u32 = 1;

/// A journal as it was read.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) head: JournalHead,
    pub(crate) ops: Vec<Op>,
    /// True when every step was taken.
    pub(crate) finished: bool,
}

/// What a transaction is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JournalHead {
    version: u32,
    /// Its place among all transactions.
    pub(crate) sequence: u64,
    /// The call that it belongs to.
    pub(crate) call: u64,
    /// The calls that it undoes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undoes: Vec<u64>,
    /// True when the workspace is on another filesystem than the state.
    copied: bool,
    /// Why it cannot be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) irreversible: Option<String>,
}

impl JournalHead {
    pub(crate) fn new(sequence: u64, intent: &Intent<'_>, aside: KeepStrategy) -> JournalHead {
        let Intent { call, undoes, irreversible, .. } = *intent;
        JournalHead {
            version: VERSION,
            sequence,
            call,
            undoes: undoes.to_vec(),
            copied: aside == KeepStrategy::Copied,
            irreversible: irreversible.map(str::to_owned),
        }
    }

    pub(crate) fn aside(&self) -> KeepStrategy {
        if self.copied { KeepStrategy::Copied } else { KeepStrategy::Renamed }
    }
}

#[derive(Serialize, Deserialize)]
struct OpLine {
    path: Name,
    act: StepKindWord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    home: Option<String>,
    slot: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old: Option<ExpectedLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    new: Option<ExpectedLine>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    passing: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepKindWord {
    Put,
    Swap,
    Take,
    Mode,
}

#[derive(Serialize, Deserialize)]
struct ExpectedLine {
    #[serde(flatten)]
    what: ContentLine,
    mode: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inode: Option<u64>,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    modified: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContentLine {
    File(String),
    Directory(()),
    Link(Name),
}

/// A path: as text where it is text, else in hexadecimal.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes { hex: String },
}

#[derive(Serialize, Deserialize)]
struct JournalCheck {
    check: String,
}

#[derive(Serialize, Deserialize)]
struct Finish {
    /// When each step's path was last changed.
    changed: Vec<Option<i64>>,
}

/// The first part: what is about to be done.
pub(crate) fn begin<'a>(
    head: &JournalHead,
    ops: impl Iterator<Item = &'a Op>,
) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(4096);
    line(&mut out, head)?;
    for op in ops {
        line(&mut out, &OpLine::from(op))?;
    }
    seal(out)
}

/// The second part: all of it was done.
pub(crate) fn finish<'a>(ops: impl Iterator<Item = &'a Op>) -> serde_json::Result<Vec<u8>> {
    let changed = ops.map(|op| op.new.as_ref()?.id?.changed).collect();
    let mut out = Vec::new();
    line(&mut out, &Finish { changed })?;
    seal(out)
}

fn line(out: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.push(b'\n');
    Ok(())
}

fn seal(mut out: Vec<u8>) -> serde_json::Result<Vec<u8>> {
    let check = blake3::hash(&out).to_hex().to_string();
    line(&mut out, &JournalCheck { check })?;
    Ok(out)
}

/// Reads a journal. `None`: it was cut short, so that no step was taken. One that is whole and
/// cannot be understood is an error, because steps may have been taken.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Journal>, String> {
    let Some((first, rest)) = sealed(bytes) else { return Ok(None) };
    let mut lines = first.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    let head: Option<JournalHead> = lines.next().and_then(|it| serde_json::from_slice(it).ok());
    let Some(head) = head.filter(|it| it.version == VERSION) else {
        return Err("the journal was written by another version".to_owned());
    };
    let op = |it| serde_json::from_slice::<OpLine>(it).ok()?.try_into().ok();
    let ops: Option<Vec<Op>> = lines.map(op).collect();
    let mut ops = ops.ok_or("the journal has a line that cannot be understood")?;
    let finish = sealed(rest).and_then(|(it, _)| serde_json::from_slice::<Finish>(it).ok());
    if let Some(Finish { changed }) = &finish {
        for (op, changed) in ops.iter_mut().zip(changed) {
            if let Some(id) = op.new.as_mut().and_then(|it| it.id.as_mut()) {
                id.changed = *changed;
            }
        }
    }
    Ok(Some(Journal { head, ops, finished: finish.is_some() }))
}

/// Only what a transaction is, without its steps and unchecked: for lists.
pub(crate) fn head(bytes: &[u8]) -> Option<JournalHead> {
    serde_json::from_slice(bytes.split(|it| *it == b'\n').next()?).ok()
}

/// Splits at the first check, if that is right.
fn sealed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::find(bytes, b"\n{\"check\":")? + 1;
    let (part, rest) = bytes.split_at_checked(at)?;
    let end = memchr::memchr(b'\n', rest)?;
    let (check, rest) = rest.split_at_checked(end)?;
    let JournalCheck { check } = serde_json::from_slice(check).ok()?;
    let good = blake3::hash(part).to_hex().as_str() == check;
    good.then(|| (part, rest.strip_prefix(b"\n").unwrap_or_default()))
}

impl From<&Op> for OpLine {
    fn from(op: &Op) -> OpLine {
        let act = match op.act {
            StepKind::Put => StepKindWord::Put,
            StepKind::Swap => StepKindWord::Swap,
            StepKind::Take => StepKindWord::Take,
            StepKind::Mode => StepKindWord::Mode,
        };
        OpLine {
            path: Name::from(op.path.clone()),
            act,
            home: op.home.clone(),
            slot: op.slot,
            other: op.other.clone().map(Name::from),
            old: op.old.as_ref().map(ExpectedLine::from),
            new: op.new.as_ref().map(ExpectedLine::from),
            passing: op.passing,
        }
    }
}

impl TryFrom<OpLine> for Op {
    type Error = ();

    fn try_from(line: OpLine) -> Result<Op, ()> {
        let act = match line.act {
            StepKindWord::Put => StepKind::Put,
            StepKindWord::Swap => StepKind::Swap,
            StepKindWord::Take => StepKind::Take,
            StepKindWord::Mode => StepKind::Mode,
        };
        let OpLine { path, home, slot, other, old, new, passing, .. } = line;
        let other = other.map(PathBuf::try_from).transpose()?;
        let old = old.map(Expected::try_from).transpose()?;
        let new = new.map(Expected::try_from).transpose()?;
        Ok(Op { path: path.try_into()?, act, home, slot, other, old, new, passing })
    }
}

impl From<&Expected> for ExpectedLine {
    fn from(seen: &Expected) -> ExpectedLine {
        let what = match &seen.what {
            NodeContent::File(digest) => {
                ContentLine::File(blake3::Hash::from_bytes(digest.0).to_hex().to_string())
            }
            NodeContent::Directory => ContentLine::Directory(()),
            NodeContent::Link(target) => ContentLine::Link(Name::from(target.clone())),
        };
        ExpectedLine {
            what,
            mode: seen.mode,
            inode: seen.id.map(|it| it.inode),
            size: seen.id.map_or(0, |it| it.size),
            modified: seen.id.map_or(0, |it| it.modified),
            changed: seen.id.and_then(|it| it.changed),
        }
    }
}

impl TryFrom<ExpectedLine> for Expected {
    type Error = ();

    fn try_from(line: ExpectedLine) -> Result<Expected, ()> {
        let ExpectedLine { what, mode, inode, size, modified, changed } = line;
        let what = match what {
            ContentLine::File(hex) => {
                let hash = blake3::Hash::from_hex(hex).map_err(|_| ())?;
                NodeContent::File(ContentDigest(*hash.as_bytes()))
            }
            ContentLine::Directory(()) => NodeContent::Directory,
            ContentLine::Link(target) => NodeContent::Link(target.try_into()?),
        };
        let id = inode.map(|inode| NodeIdentity { inode, size, modified, changed });
        Ok(Expected { what, mode, id })
    }
}

impl From<PathBuf> for Name {
    fn from(path: PathBuf) -> Name {
        match path.into_os_string().into_string() {
            Ok(text) => Name::Text(text),
            Err(bytes) => {
                let bytes = bytes.into_vec();
                let hex = bytes.iter().map(|it| format!("{it:02x}")).collect();
                Name::Bytes { hex }
            }
        }
    }
}

impl TryFrom<Name> for PathBuf {
    type Error = ();

    fn try_from(name: Name) -> Result<PathBuf, ()> {
        match name {
            Name::Text(text) => Ok(PathBuf::from(text)),
            Name::Bytes { hex } => {
                let pairs = hex.as_bytes().chunks(2);
                let bytes = pairs.map(|it| {
                    let text = str::from_utf8(it).map_err(|_| ())?;
                    u8::from_str_radix(text, 16).map_err(|_| ())
                });
                Ok(PathBuf::from(OsString::from_vec(bytes.collect::<Result<_, ()>>()?)))
            }
        }
    }
}
