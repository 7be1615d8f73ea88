//! Whoever shows the workspace to others in another form sees each change before it is made, while every step can
//! still be shown as it will be taken.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Dirs, Workspace,
    op::{Op, StepKind},
    parents::{self, Parents},
    stat::{self, Kind, NodeContent, Stat},
    transaction::Transaction,
};

/// One step of a change that is about to be made.
#[derive(Debug)]
pub struct ComingStep {
    /// Where, relative to the workspace.
    pub path: PathBuf,
    /// What will be there. The error says why that cannot be read.
    pub node: io::Result<ComingNode>,
}

/// What will be at a path.
#[derive(Debug)]
pub enum ComingNode {
    /// Nothing.
    Nothing,
    /// A file.
    File {
        /// Its content, open for reading.
        content: File,
        /// Its mode.
        mode: u32,
    },
    /// A directory with this mode.
    Directory(u32),
    /// A link to this target.
    Link(PathBuf),
}

/// Who is shown a change, step by step, with the call that makes it. What it returns is told with the call.
type Show = dyn Fn(u64, &mut dyn Iterator<Item = ComingStep>) -> Vec<String> + Send + Sync;

/// Who is shown changes, and what it said of the last.
#[derive(Clone)]
pub(super) struct BeforeChange {
    show: Arc<Show>,
    told: Arc<Mutex<(u64, Vec<String>)>>,
}

impl Workspace {
    /// Shows every change that is made here to somebody before it is made.
    #[must_use]
    pub fn with_before(
        mut self,
        show: impl Fn(u64, &mut dyn Iterator<Item = ComingStep>) -> Vec<String> + Send + Sync + 'static,
    ) -> Workspace {
        self.before = Some(BeforeChange { show: Arc::new(show), told: Arc::default() });
        self
    }

    /// What was said of the changes of a call by whoever was shown them, if they are the last that were made.
    #[must_use]
    pub fn told(&self, call: u64) -> Vec<String> {
        let Some(before) = &self.before else { return Vec::new() };
        let mut told = before.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.0 == call { std::mem::take(&mut told.1) } else { Vec::new() }
    }

    fn show(&self, call: u64, steps: &mut dyn Iterator<Item = ComingStep>) {
        if let Some(before) = &self.before {
            let said = (before.show)(call, steps);
            *before.told.lock().unwrap_or_else(PoisonError::into_inner) = (call, said);
        }
    }

    /// Shows what is at these paths now.
    pub(super) fn show_as_is<'a>(&self, call: u64, dirs: &Dirs, ops: impl Iterator<Item = &'a Op>) {
        let mut parents = Parents::new(&dirs.root);
        let as_is =
            |op: &Op| ComingStep { path: op.path.clone(), node: present(&mut parents, &op.path) };
        self.show(call, &mut ops.filter(|it| !it.passing).map(as_is));
    }
}

impl Transaction<'_> {
    /// Shows the steps that will be taken.
    pub(super) fn show_coming(&self, ops: &[&mut Op]) {
        let mut parents = Parents::new(&self.dirs.root);
        let coming = |op: &&mut Op| ComingStep {
            path: op.path.clone(),
            node: self.coming(op, &mut parents),
        };
        let steps = ops.iter().filter(|it| !it.passing);
        self.workspace.show(self.call, &mut steps.map(coming));
    }

    fn coming(&self, op: &Op, parents: &mut Parents<'_>) -> io::Result<ComingNode> {
        let Some(new) = op.new.as_ref().filter(|_| op.act != StepKind::Take) else {
            return Ok(ComingNode::Nothing);
        };
        match &new.what {
            NodeContent::Directory => Ok(ComingNode::Directory(new.mode)),
            NodeContent::Link(target) => Ok(ComingNode::Link(target.clone())),
            NodeContent::File(_) => {
                let content = self.coming_file(op, parents)?;
                Ok(ComingNode::File { content, mode: new.mode })
            }
        }
    }

    /// The content that a step will put in its place, where it is now.
    fn coming_file(&self, op: &Op, parents: &mut Parents<'_>) -> io::Result<File> {
        let name = op.slot.to_string();
        match (&op.other, &op.home) {
            _ if op.act == StepKind::Mode => open_at(parents, &op.path),
            (Some(from), _) => open_at(parents, from),
            (None, Some(home)) => {
                let home = stat::open_dir(&self.dirs.done, home.as_ref())?;
                stat::open_file(home, name.as_ref())
            }
            (None, None) => stat::open_file(self.slots(), name.as_ref()),
        }
    }
}

fn open_at(parents: &mut Parents<'_>, path: &Path) -> io::Result<File> {
    stat::open_file(&*parents.of(path)?, parents::name(path))
}

/// What is at a path of the workspace.
fn present(parents: &mut Parents<'_>, path: &Path) -> io::Result<ComingNode> {
    let dir = match parents.of(path) {
        Err(err) if parents::is_absent(&err) => return Ok(ComingNode::Nothing),
        dir => dir?,
    };
    let name = parents::name(path);
    let Some(found) = Stat::at(&*dir, name)? else { return Ok(ComingNode::Nothing) };
    match found.kind {
        Kind::Directory => Ok(ComingNode::Directory(found.mode)),
        Kind::Link => Ok(ComingNode::Link(stat::target(&*dir, name)?)),
        Kind::File => {
            Ok(ComingNode::File { content: stat::open_file(&*dir, name)?, mode: found.mode })
        }
        Kind::Other => Err(io::Error::other("it is neither file nor directory nor link")),
    }
}
