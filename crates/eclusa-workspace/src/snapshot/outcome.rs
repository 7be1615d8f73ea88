//! What a command did, as changes: the same that an overlay gives.

use std::{
    collections::{HashMap, HashSet},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, FileType},
    io::Errno,
};

use super::{
    PutBack, What,
    compare::{Act, Difference},
    live::is_build_output,
    manifest::Saved,
    restore::Restorer,
    walk::{Meta, Seen},
};
use crate::{
    Change, Changes, Content, ContentDigest, FileNode, Node, Stamp,
    commit::{
        IoFailure, parents,
        stat::{self, Kind},
    },
};

/// How many notes are told.
const MAX_NOTES: usize = 20;

impl Restorer<'_> {
    /// Moves what was taken to a layer, and describes what the command did.
    pub(super) fn hand_over(
        &mut self,
        differences: &[Difference<'_>],
        layer: &Path,
    ) -> Result<PutBack, IoFailure> {
        self.workspace.step("hand over");
        if self.is_dropped() {
            return Ok(PutBack::default());
        }
        match rustix::fs::renameat(CWD, &self.taken, CWD, layer) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(err) => return Err(IoFailure::at("move to the layer", layer)(err.into())),
        }
        let mut changes = Vec::new();
        for it in differences {
            match self.change(it, layer) {
                Ok(change) => changes.extend(change),
                Err(why) => self.note(it.path(), &format!("is left out: {why}")),
            }
        }
        find_moves(&mut changes, differences);
        // Departures stand before arrivals, so that what was moved keeps its origin.
        changes.sort_by_key(|it| it.after.is_some());
        let mut notes = std::mem::take(&mut self.notes);
        if notes.len() > MAX_NOTES {
            let more = notes.len() - MAX_NOTES;
            notes.truncate(MAX_NOTES);
            notes.push(format!("and {more} more remarks of this kind"));
        }
        Ok(PutBack { changes: Changes::of(changes), notes })
    }

    /// Keeps what a command had changed that died with its program.
    pub(super) fn rescue(&self, began: i64) -> Result<Option<PathBuf>, IoFailure> {
        let all = self.workspace.state().join("rescued");
        let to = all.join(format!("snapshot-{began}"));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&all);
        made.map_err(IoFailure::at("make", &all))?;
        match rustix::fs::renameat(CWD, &self.taken, CWD, &to) {
            Ok(()) => Ok(Some(to)),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(IoFailure::at("keep what a command changed in", &to)(err.into())),
        }
    }

    fn note(&mut self, path: &Path, text: &str) {
        let path = path.to_string_lossy();
        self.notes.push(format!("`{}` {text}", crate::one_line(&path)));
    }

    /// The change of a path. `None`: there is none that lasts. An error: why it is left out.
    fn change(&mut self, it: &Difference<'_>, layer: &Path) -> Result<Option<Change>, String> {
        let path = it.path();
        let old = it.old.filter(|it| !matches!(it.what, What::Live | What::Foreign));
        if path.as_os_str().is_empty() {
            if let (Some(old), Some(new)) = (old, &it.new)
                && old.meta.permissions() != new.meta.permissions()
            {
                let (was, is) = (old.meta.permissions(), new.meta.permissions());
                self.notes.push(format!(
                    "the mode of the workspace itself stays {was:04o}, not {is:04o}"
                ));
            }
            return Ok(None);
        }
        if it.act == Act::Touch && old.is_some_and(|it| it.what == What::Special) {
            return Ok(None);
        }
        let specials = [old.map(|it| &it.meta), it.new.as_ref().map(|it| &it.meta)];
        if let Some(kind) = specials.into_iter().flatten().find_map(special) {
            return Err(format!("it is {kind}, which is never committed"));
        }
        let before = old.map(|it| self.before(it)).transpose().map_err(|err| err.to_string())?;
        let after = match &it.new {
            Some(new) => Some(after(it, new, layer)?),
            None => None,
        };
        self.note_names(it, old);
        if let (Some(old), Some(new)) = (old, &it.new)
            && old.meta.owner != new.meta.owner
            && it.act == Act::Touch
        {
            let ((user, group), (was_user, was_group)) = (new.meta.owner, old.meta.owner);
            let text = format!(
                "would belong to {user}:{group} instead of {was_user}:{was_group}, which is not kept"
            );
            self.note(path, &text);
        }
        let change = Change { path: path.to_owned(), from: None, before, after };
        Ok(change.changes().then_some(change))
    }

    /// Tells of names that are lost or shared. Build tools link what they make, and nobody needs to
    /// know.
    fn note_names(&mut self, it: &Difference<'_>, old: Option<&Saved>) {
        let path = it.path();
        if it.act == Act::Touch || is_build_output(path) {
            return;
        }
        if let Some(old) = old.filter(|it| it.file().is_some() && it.meta.links > 1) {
            let names = old.meta.links;
            self.note(path, &format!("has {names} names, and stays as it was under the others"));
        }
        let shared = |it: &&Seen| it.meta.kind() == Kind::File && it.meta.links > 1;
        if let Some(new) = it.new.as_ref().filter(shared) {
            self.note(path, &format!("was given {} names", new.meta.links));
        }
    }

    /// What is there again, with what tells it apart now.
    fn before(&mut self, old: &Saved) -> io::Result<Node> {
        let mode = old.meta.permissions();
        Ok(match &old.what {
            What::Link(target) => Node::Link { target: target.clone() },
            What::File(file) => {
                let (dir, name) = (self.parents.of(&old.path)?, parents::name(&old.path));
                let raw = rustix::fs::statat(&*dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let (digest, size) = (file.digest, file.size);
                let stamp = Some(stamp(&Meta::from(raw)));
                Node::File(FileNode { digest, size, mode, content: Content::InPlace, stamp })
            }
            _ => Node::Directory { mode },
        })
    }
}

fn after(it: &Difference<'_>, new: &Seen, layer: &Path) -> Result<Node, String> {
    let mode = new.meta.permissions();
    match new.meta.kind() {
        Kind::Directory if new.is_closed => Err("it lies too deep, or cannot be read".to_owned()),
        Kind::Directory => Ok(Node::Directory { mode }),
        Kind::Link => Ok(Node::Link { target: it.target.clone().unwrap_or_default() }),
        Kind::Other => Err("it is no file".to_owned()),
        // Only its mode differs.
        Kind::File if it.act == Act::Touch => {
            let digest = it.digest.ok_or("it cannot be read")?;
            let (size, content) = (new.meta.size, Content::InPlace);
            Ok(Node::File(FileNode { digest, size, mode, content, stamp: None }))
        }
        Kind::File => {
            let at = layer.join(&new.path);
            let unread = |err: io::Error| format!("it cannot be read: {err}");
            let opened = std::fs::File::open(&at).map_err(unread)?;
            let meta = rustix::fs::fstat(&opened).map_err(|err| unread(err.into()))?;
            let meta = Meta::from(meta);
            let known = it.digest.filter(|_| meta.is_same_inode(&new.meta));
            let read = || stat::digest_of(opened).map_err(unread);
            let digest: ContentDigest = known.map_or_else(read, Ok)?;
            let (stamp, content) = (Some(stamp(&meta)), Content::Staged(at));
            Ok(Node::File(FileNode { digest, size: meta.size, mode, content, stamp }))
        }
    }
}

/// What something is that has no place in changes, with its article.
fn special(meta: &Meta) -> Option<&'static str> {
    Some(match meta.file_type() {
        FileType::RegularFile | FileType::Directory | FileType::Symlink => return None,
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    })
}

fn stamp(meta: &Meta) -> Stamp {
    Stamp {
        device: meta.device,
        inode: meta.inode,
        size: meta.size,
        modified: meta.modified.into(),
        changed: meta.changed.into(),
    }
}

/// What a thing has at both ends of a move.
#[derive(PartialEq, Eq, Hash)]
enum Trace {
    Inode(u64, u64, i64),
    Content(ContentDigest),
}

/// Fills in where things were moved from: the same file, or else the same content. Each source has
/// at most one destination; of several, the one that kept its name comes first.
fn find_moves(changes: &mut [Change], differences: &[Difference<'_>]) {
    let olds = differences.iter().filter_map(|it| it.old);
    let olds: HashMap<&Path, Meta> = olds.map(|it| (it.path.as_path(), it.meta)).collect();
    let news = differences.iter().filter_map(|it| it.new.as_ref());
    let news: HashMap<&Path, Meta> = news.map(|it| (it.path.as_path(), it.meta)).collect();
    let inode = |metas: &HashMap<&Path, Meta>, path: &Path, _: &Node| {
        metas.get(path).map(|it| Trace::Inode(it.device, it.inode, it.modified))
    };
    let content = |_: &HashMap<&Path, Meta>, _: &Path, node: &Node| {
        node.file().filter(|it| it.size > 0).map(|it| Trace::Content(it.digest))
    };
    type Evidence<'e> = &'e dyn Fn(&HashMap<&Path, Meta>, &Path, &Node) -> Option<Trace>;
    let mut gone = HashSet::new();
    for evidence in [&inode as Evidence<'_>, &content] {
        let mut sources: HashMap<Trace, Vec<PathBuf>> = HashMap::new();
        for it in changes.iter().filter(|it| it.after.is_none() && !gone.contains(&it.path)) {
            let movable = it.before.as_ref().filter(|it| !matches!(it, Node::Directory { .. }));
            if let Some(trace) = movable.and_then(|node| evidence(&olds, &it.path, node)) {
                sources.entry(trace).or_default().push(it.path.clone());
            }
        }
        for it in changes.iter_mut().filter(|it| it.from.is_none()) {
            let Some(node) = &it.after else { continue };
            // What only changed its mode has not moved.
            let stays =
                |was: &Node| was.file().map(|it| it.digest) == node.file().map(|it| it.digest);
            if matches!(node, Node::Directory { .. }) || it.before.as_ref().is_some_and(stays) {
                continue;
            }
            let trace = evidence(&news, &it.path, node);
            let Some(found) = trace.and_then(|it| sources.get_mut(&it)) else { continue };
            let name = it.path.file_name();
            let at = found.iter().position(|it| it.file_name() == name).unwrap_or(0);
            if at < found.len() {
                let from = found.remove(at);
                gone.insert(from.clone());
                it.from = Some(from);
            }
        }
    }
}
