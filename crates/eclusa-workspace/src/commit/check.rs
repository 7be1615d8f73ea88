//! Compares what steps rest on with what is there now. Nothing is written here.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

use super::{
    IoFailure,
    conflict::{Clash, Conflict},
    op::{MadePaths, Op, StepKind},
    parents::{self, Parents},
    stat::{self, Expected, Kind, NodeContent, Stat},
};

/// Compares every path with what the steps expect, content included, and fills in how what is
/// there can be recognised. Returns what is not as expected.
pub(crate) fn contents<'a>(
    ops: impl Iterator<Item = &'a mut Op>,
    parents: &mut Parents<'_>,
) -> Result<Vec<Conflict>, IoFailure> {
    let mut made = MadePaths::new();
    let mut conflicts = Vec::new();
    for op in ops {
        let clash = match made.get(&op.path) {
            Some(earlier) => follows(op.old.as_ref(), earlier.as_ref()),
            None => first(op, parents, &made).map_err(IoFailure::at("look at", &op.path))?,
        };
        let clash = match clash {
            None if op.removes_directory() => {
                occupied(&op.path, parents, &made).map_err(IoFailure::at("look into", &op.path))?
            }
            clash => clash,
        };
        conflicts.extend(clash.map(|clash| Conflict { path: op.path.clone(), clash }));
        made.insert(op.path.clone(), op.new.clone());
    }
    Ok(conflicts)
}

/// Looks again, without reading, just before the first step: nothing may have moved since the
/// contents were compared. Also tells steps what the step before will have left, on the same path
/// or in the same slot.
pub(crate) fn stamps<'a>(
    ops: impl Iterator<Item = &'a mut Op>,
    parents: &mut Parents<'_>,
) -> Result<Vec<Conflict>, IoFailure> {
    let mut made = MadePaths::new();
    let mut moved = HashMap::new();
    let mut conflicts = Vec::new();
    for op in ops {
        if let Some(earlier) = made.get(&op.path) {
            let id = earlier.as_ref().and_then(|it| it.id);
            if let Some(old) = &mut op.old {
                old.id = id;
            }
            if op.act == StepKind::Mode
                && let Some(new) = &mut op.new
            {
                new.id = id;
            }
        } else {
            let now = seek(&op.path, parents, &made).map_err(IoFailure::at("look at", &op.path))?;
            let clash = match (now, &op.old) {
                (Seen::Clash(clash), _) => Some(clash),
                (Seen::Nothing, None) | (Seen::Hidden, _) => None,
                (Seen::Node(now), Some(old)) if now.is_still(old) => mode(&now, old),
                (Seen::Node(now), Some(old)) if now.kind != old.what.kind() => {
                    Some(Clash::Replaced { by: now.kind.article() })
                }
                (Seen::Node(_), Some(_)) => Some(Clash::Altered),
                (Seen::Nothing, Some(_)) => Some(Clash::Deleted),
                (Seen::Node(_), None) => Some(Clash::Appeared),
            };
            conflicts.extend(clash.map(|clash| Conflict { path: op.path.clone(), clash }));
        }
        match (op.act, &op.other, &mut op.new) {
            (StepKind::Take, Some(_), _) => {
                moved.insert(op.path.clone(), op.old.as_ref().and_then(|it| it.id));
            }
            (StepKind::Put, Some(other), Some(new)) => new.id = moved.get(other).copied().flatten(),
            _ => {}
        }
        made.insert(op.path.clone(), op.new.clone());
    }
    Ok(conflicts)
}

/// A path that no earlier step has made anything of.
fn first(op: &mut Op, parents: &mut Parents<'_>, made: &MadePaths) -> io::Result<Option<Clash>> {
    let now = match seek(&op.path, parents, made)? {
        Seen::Node(now) => Some(now),
        Seen::Nothing => None,
        Seen::Hidden => return Ok(None),
        Seen::Clash(clash) => return Ok(Some(clash)),
    };
    let clash = match (&op.old, &now) {
        (None, None) => None,
        (None, Some(_)) => Some(Clash::Appeared),
        (Some(_), None) => Some(Clash::Deleted),
        (Some(old), Some(now)) => differs(old, now, &op.path, parents)?,
    };
    if let (Some(old), Some(now)) = (&mut op.old, now) {
        old.id = Some(now.id);
        if op.act == StepKind::Mode
            && let Some(new) = &mut op.new
        {
            new.id = Some(now.id);
        }
    }
    Ok(clash)
}

/// A look at a path.
enum Seen {
    Node(Stat),
    Nothing,
    /// It is in a directory that an earlier step opens: whoever takes it out will look at it.
    Hidden,
    Clash(Clash),
}

/// What is at a path. A path below what an earlier step makes a directory has nothing in it yet.
fn seek(path: &Path, parents: &mut Parents<'_>, made: &MadePaths) -> io::Result<Seen> {
    let is_made = |it: &Path| {
        matches!(made.get(it), Some(Some(Expected { what: NodeContent::Directory, .. })))
    };
    match parents.of(path).and_then(|dir| Stat::at(&*dir, parents::name(path))) {
        Ok(Some(stat)) => Ok(Seen::Node(stat)),
        Ok(None) => Ok(Seen::Nothing),
        Err(err) if parents::is_absent(&err) => {
            let made = path.parent().is_some_and(is_made);
            Ok(if made { Seen::Nothing } else { Seen::Clash(Clash::NoDirectory) })
        }
        Err(err) if parents::is_shut(&err) && path.ancestors().skip(1).any(is_made) => {
            Ok(Seen::Hidden)
        }
        Err(err) => Err(err),
    }
}

/// How what is there differs from what was expected, content included.
fn differs(
    old: &Expected,
    now: &Stat,
    path: &Path,
    parents: &mut Parents<'_>,
) -> io::Result<Option<Clash>> {
    if now.kind != old.what.kind() {
        return Ok(Some(Clash::Replaced { by: now.kind.article() }));
    }
    if let Some(clash) = mode(now, old) {
        return Ok(Some(clash));
    }
    let same = match &old.what {
        NodeContent::Directory => true,
        NodeContent::File(_) if old.id == Some(now.id) => true,
        NodeContent::File(digest) => {
            match stat::digest(&*parents.of(path)?, parents::name(path)) {
                Ok(found) => found == *digest,
                // Not even its owner may read it: what tells it from others has to do.
                Err(err) if parents::is_shut(&err) && now.is_still(old) => true,
                Err(err) => return Err(err),
            }
        }
        NodeContent::Link(target) => {
            stat::target(&*parents.of(path)?, parents::name(path))? == *target
        }
    };
    Ok((!same).then_some(Clash::Altered))
}

fn mode(now: &Stat, old: &Expected) -> Option<Clash> {
    let differs = now.kind != Kind::Link && now.mode != old.mode;
    differs.then_some(Clash::Mode { expected: old.mode, found: now.mode })
}

/// Whether a step fits to what an earlier step on the same path leaves.
fn follows(old: Option<&Expected>, earlier: Option<&Expected>) -> Option<Clash> {
    match (old, earlier) {
        (None, None) => None,
        (Some(old), Some(earlier)) => (!old.same(earlier)).then_some(Clash::Altered),
        (Some(_), None) => Some(Clash::Deleted),
        (None, Some(_)) => Some(Clash::Appeared),
    }
}

/// What is in a directory that should go, beyond what goes before it.
fn occupied(path: &Path, parents: &mut Parents<'_>, made: &MadePaths) -> io::Result<Option<Clash>> {
    let Ok(parent) = parents.of(path) else { return Ok(None) };
    let names = match stat::open_dir(&*parent, parents::name(path)).and_then(stat::names) {
        Ok(names) => names,
        // Made by an earlier step, hence empty.
        Err(err) if parents::is_absent(&err) => return Ok(None),
        // Opened by an earlier step: it is looked into when it has come out.
        Err(err) if parents::is_shut(&err) && made.contains_key(path) => return Ok(None),
        Err(err) => return Err(err),
    };
    let mut inside = names.into_iter().map(|name| path.join(name));
    let stays = |it: &PathBuf| !matches!(made.get(it), Some(None));
    Ok(inside.find(stays).map(|holds| Clash::NotEmpty { holds }))
}
