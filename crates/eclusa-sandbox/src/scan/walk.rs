//! Walks the upper layer beside what is below it.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};

use super::{
    Effect, Effects, LayerScan, Note, ScanError, ScannedFile, ScannedNode,
    handle::{self, Look, Marks, Sort},
    later::{LARGE, Later},
    moves::{self, Moves},
    shut::{Readable, Shut},
};

/// A directory that is still to be visited.
enum Pending {
    /// It is in the upper layer; `below` says whether one is below it too. With `hides`, it is in
    /// an opaque directory and as opaque as that, though it has no mark of its own.
    Layered { path: PathBuf, below: bool, hides: bool },
    /// It was below, and everything in it is gone.
    Gone { path: PathBuf },
}

struct Walk<'a> {
    layer: &'a LayerScan,
    entries: Vec<Effect>,
    moves: Moves,
    unchanged: u64,
    /// How many names may still be looked at.
    left: usize,
    /// How many bytes may still be read.
    bytes: u64,
    pending: Vec<Pending>,
    /// Files that are gone, and not read yet.
    later: Later,
    shut: Shut<'a>,
}

/// Reads a layer back.
pub(super) fn run(layer: &LayerScan) -> Result<Effects, ScanError> {
    let root = Path::new("");
    let look = |dir: &OwnedFd| Look::of(dir).map_err(ScanError::at("look at", root));
    let (was, is) = (look(&layer.lower)?.mode, look(&layer.upper)?.mode);
    let mut walk = Walk {
        layer,
        entries: Vec::new(),
        moves: Moves::default(),
        unchanged: 0,
        left: layer.bounds.names,
        bytes: layer.bounds.bytes,
        pending: vec![Pending::Layered { path: PathBuf::new(), below: true, hides: false }],
        later: Later::default(),
        shut: Shut::new(&layer.upper),
    };
    while let Some(next) = walk.pending.pop() {
        match next {
            Pending::Layered { path, below, hides } => walk.layered(&path, below, hides)?,
            Pending::Gone { path } => walk.gone_inside(&path)?,
        }
    }
    walk.read_later();
    let Walk { mut entries, moves, unchanged, .. } = walk;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    moves::find(&mut entries, &moves);
    Ok(Effects { entries, root: (was != is).then_some((was, is)), unchanged })
}

impl Walk<'_> {
    /// A directory of the upper layer, and the one below it.
    fn layered(&mut self, path: &Path, below: bool, hides: bool) -> Result<(), ScanError> {
        let upper = self.shut.open(path).map_err(ScanError::at("open", path))?;
        let names = self.names(&upper, path)?;
        let lower = if below { self.below(path)? } else { None };
        let hides =
            hides || is_opaque(&upper).map_err(ScanError::at("read an attribute of", path))?;
        if let Some(lower) = lower.as_ref().filter(|_| hides) {
            let here: HashSet<&OsString> = names.iter().collect();
            for name in self.names(lower, path)? {
                if !here.contains(&name) {
                    self.gone(lower, &name, path.join(&name))?;
                }
            }
        }
        for name in names {
            self.entry((&upper, hides), lower.as_ref(), &name, path.join(&name))?;
        }
        Ok(())
    }

    /// The directory of the workspace at this path. `None`: somebody took it away meanwhile.
    fn below(&self, path: &Path) -> Result<Option<OwnedFd>, ScanError> {
        match handle::beneath(&self.layer.lower, path, OFlags::RDONLY) {
            Ok(dir) => Ok(Some(dir)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            // It can still be looked into by name, which is all that a merged directory needs.
            Err(Errno::ACCESS) => handle::beneath(&self.layer.lower, path, handle::SEARCH)
                .map(Some)
                .map_err(ScanError::at("open", path)),
            Err(err) => Err(ScanError::at("open", path)(err)),
        }
    }

    /// A name in the upper layer.
    fn entry(
        &mut self,
        (upper, hides): (&OwnedFd, bool),
        lower: Option<&OwnedFd>,
        name: &OsStr,
        path: PathBuf,
    ) -> Result<(), ScanError> {
        let Some(above) = look(upper, name, &path)? else {
            return Err(ScanError::Disturbed(path));
        };
        let _readable = Readable::make(upper, name, &above);
        let marks = Marks::read(upper, name).map_err(ScanError::at("look at", &path))?;
        if marks.is_foreign() {
            return Err(ScanError::Foreign(path));
        }
        if above.is_whiteout() || (above.sort == Sort::File && marks.has("whiteout")) {
            return lower.map_or(Ok(()), |lower| self.gone(lower, name, path));
        }
        let under = match lower {
            Some(lower) => look(lower, name, &path)?.map(|it| (lower, it)),
            None => None,
        };
        let mut notes = Vec::new();
        let before = match &under {
            Some((lower, under)) => Some(self.before(lower, name, under, &path, &mut notes)?),
            None => None,
        };
        let after = self.after(upper, name, &above, &path, &mut notes)?;
        let merges = matches!(under, Some((_, under)) if under.sort == Sort::Directory);
        if above.sort == Sort::Directory {
            self.pending.push(Pending::Layered { path: path.clone(), below: merges, hides });
        } else if merges {
            self.pending.push(Pending::Gone { path: path.clone() });
        }
        let (over, under) = ((upper, &above), under.as_ref().map(|(dir, look)| (*dir, look)));
        compare(over, under, name, &marks, &mut notes)
            .map_err(ScanError::at("read an attribute of", &path))?;
        let same = before.as_ref().is_some_and(|it| it.same(&after));
        let shares =
            |it: &Note| !matches!(it, Note::Linked { .. } | Note::Shared { .. } | Note::Since);
        if same && !notes.iter().any(shares) {
            self.unchanged += u64::from(above.sort != Sort::Directory);
            return Ok(());
        }
        if before.is_none() {
            self.moves.arrived(&path, &above, &marks);
        }
        self.entries.push(Effect { path, from: None, before, after: Some(after), notes });
        Ok(())
    }

    /// A name that was below, and is no longer seen.
    fn gone(&mut self, lower: &OwnedFd, name: &OsStr, path: PathBuf) -> Result<(), ScanError> {
        // The mark of a deletion outlives what was deleted, if somebody else deleted it too.
        let Some(under) = look(lower, name, &path)? else { return Ok(()) };
        let mut notes = Vec::new();
        let large = under.sort == Sort::File && under.stamp.size >= LARGE;
        let before = match large {
            true => self.before_later(lower, name, &under, &path, &mut notes)?,
            false => self.before(lower, name, &under, &path, &mut notes)?,
        };
        if under.sort == Sort::Directory {
            self.pending.push(Pending::Gone { path: path.clone() });
        }
        self.moves.left(&path, &under);
        self.entries.push(Effect { path, from: None, before: Some(before), after: None, notes });
        if self.later.is_full() {
            self.read_later();
        }
        Ok(())
    }

    /// The file that was at a name of the workspace, which is read later. It becomes the next entry.
    fn before_later(
        &mut self,
        lower: &OwnedFd,
        name: &OsStr,
        look: &Look,
        path: &Path,
        notes: &mut Vec<Note>,
    ) -> Result<ScannedNode, ScanError> {
        self.afford_before(look, path, notes)?;
        let opened = handle::open_file(lower, name).and_then(|it| Ok((Look::of(&it)?.stamp, it)));
        let stamp = match opened {
            Ok((stamp, file)) => {
                self.later.add(self.entries.len(), file, look.stamp.size.min(stamp.size));
                stamp
            }
            Err(err) => {
                notes.push(Note::Unread(std::io::Error::from(err).to_string()));
                look.stamp
            }
        };
        let file = ScannedFile { digest: None, size: stamp.size, mode: look.mode, stamp };
        Ok(ScannedNode::File(file))
    }

    /// Reads what was left for later.
    fn read_later(&mut self) {
        for (entry, read) in self.later.read() {
            let Some(Effect { before: Some(ScannedNode::File(file)), notes, .. }) =
                self.entries.get_mut(entry)
            else {
                continue;
            };
            match read {
                Ok(digest) => file.digest = Some(digest),
                Err(err) => notes.push(Note::Unread(err.to_string())),
            }
        }
    }

    /// Everything in a directory that is gone.
    fn gone_inside(&mut self, path: &Path) -> Result<(), ScanError> {
        let opened = handle::beneath(&self.layer.lower, path, OFlags::RDONLY);
        match opened {
            Ok(lower) => {
                for name in self.names(&lower, path)? {
                    self.gone(&lower, &name, path.join(&name))?;
                }
                Ok(())
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
            Err(err @ (Errno::ACCESS | Errno::XDEV)) => {
                let why = match err {
                    Errno::XDEV => "something is mounted on it".to_owned(),
                    err => std::io::Error::from(err).to_string(),
                };
                let of = self.entries.iter_mut().rev().find(|it| it.path == path);
                of.into_iter().for_each(|it| it.notes.push(Note::Unread(why.clone())));
                Ok(())
            }
            Err(err) => Err(ScanError::at("open", path)(err)),
        }
    }

    /// What was at a name of the workspace.
    fn before(
        &mut self,
        lower: &OwnedFd,
        name: &OsStr,
        look: &Look,
        path: &Path,
        notes: &mut Vec<Note>,
    ) -> Result<ScannedNode, ScanError> {
        self.afford_before(look, path, notes)?;
        node(lower, name, look, notes).map_err(ScanError::at("read", path))
    }

    /// Counts what was at a name of the workspace, and notes what its node does not say.
    fn afford_before(
        &mut self,
        look: &Look,
        path: &Path,
        notes: &mut Vec<Note>,
    ) -> Result<(), ScanError> {
        if look.sort != Sort::Directory {
            if look.stamp.changed > self.layer.began.0 {
                notes.push(Note::Since);
            }
            if look.links > 1 {
                notes.push(Note::Linked { names: look.links });
            }
        }
        self.afford(look, path)
    }

    /// What is at a name of the upper layer.
    fn after(
        &mut self,
        upper: &OwnedFd,
        name: &OsStr,
        look: &Look,
        path: &Path,
        notes: &mut Vec<Note>,
    ) -> Result<ScannedNode, ScanError> {
        if look.sort != Sort::Directory && look.links > 1 {
            notes.push(Note::Shared { names: look.links });
        }
        self.afford(look, path)?;
        node(upper, name, look, notes).map_err(ScanError::at("read", path))
    }

    /// Counts the bytes of a file that is about to be read.
    fn afford(&mut self, look: &Look, path: &Path) -> Result<(), ScanError> {
        let size = if look.sort == Sort::File { look.stamp.size } else { 0 };
        let most = self.layer.bounds.bytes;
        let left = self.bytes.checked_sub(size);
        self.bytes = left.ok_or_else(|| ScanError::TooLarge { path: path.to_owned(), most })?;
        Ok(())
    }

    fn names(&mut self, dir: &OwnedFd, path: &Path) -> Result<Vec<OsString>, ScanError> {
        let names = handle::names(dir, self.left).map_err(ScanError::at("list", path))?;
        match self.left.checked_sub(names.len()) {
            Some(left) => self.left = left,
            None => return Err(ScanError::TooMany(self.layer.bounds.names)),
        }
        Ok(names)
    }
}

fn look(dir: &OwnedFd, name: &OsStr, path: &Path) -> Result<Option<Look>, ScanError> {
    Look::at(dir, name).map_err(ScanError::at("look at", path))
}

/// The node that is at a name. A file that may not be read has no digest, and a note says why.
fn node(
    dir: &OwnedFd,
    name: &OsStr,
    look: &Look,
    notes: &mut Vec<Note>,
) -> rustix::io::Result<ScannedNode> {
    Ok(match look.sort {
        Sort::Directory => ScannedNode::Directory { mode: look.mode },
        Sort::Link => ScannedNode::Link { target: handle::target(dir, name)? },
        Sort::Other(special) => ScannedNode::Other(special),
        Sort::File => {
            let read =
                handle::open_file(dir, name).map_err(std::io::Error::from).and_then(|file| {
                    // The stamp is older than what is read: whoever writes meanwhile changes it.
                    let stamp = Look::of(&file)?.stamp;
                    Ok((stamp, Some(handle::digest(&file, look.stamp.size.min(stamp.size))?)))
                });
            let (stamp, digest) = read.unwrap_or_else(|err| {
                notes.push(Note::Unread(err.to_string()));
                (look.stamp, None)
            });
            ScannedNode::File(ScannedFile { digest, size: stamp.size, mode: look.mode, stamp })
        }
    })
}

fn is_opaque(dir: &OwnedFd) -> rustix::io::Result<bool> {
    // `x` instead of `y` says only that files marked as whiteouts are in it.
    let marked = |key| Ok(handle::attribute(dir, OsStr::new("."), key)?.as_deref() == Some(b"y"));
    Ok(marked("user.overlay.opaque")? || marked("trusted.overlay.opaque")?)
}

/// Notes what the nodes do not say: owners and extended attributes.
fn compare(
    (upper, above): (&OwnedFd, &Look),
    under: Option<(&OwnedFd, &Look)>,
    name: &OsStr,
    marks: &Marks,
    notes: &mut Vec<Note>,
) -> rustix::io::Result<()> {
    let under = under.filter(|(_, under)| under.sort == above.sort);
    if let Some((_, under)) = under
        && under.owner != above.owner
    {
        notes.push(Note::Owner { before: under.owner, after: above.owner });
    }
    if notes.iter().any(|it| matches!(it, Note::Unread(_))) {
        return Ok(());
    }
    let new = marks.others();
    let mut differ: Vec<OsString> = Vec::new();
    if let Some((lower, _)) = under {
        let old = Marks::read(lower, name)?.others();
        differ.extend(old.iter().filter(|it| !new.contains(it)).cloned());
        for key in new {
            if !old.contains(&key)
                || handle::value(upper, name, &key)? != handle::value(lower, name, &key)?
            {
                differ.push(key);
            }
        }
    } else {
        differ = new;
    }
    if !differ.is_empty() {
        notes.push(Note::Attributes(differ));
    }
    Ok(())
}
