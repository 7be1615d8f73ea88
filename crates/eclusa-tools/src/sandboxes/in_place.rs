//! A command on the real workspace, where no layer can be had: what it changes is recorded call by
//! call, and taken back when it has ended. From then on its changes wait as staged ones do.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa_sandbox::{
    Hold, HostCapabilities, Layer, Missing, Plan, Sandbox,
    notify::{UndoLog, Watching, Withdrawn, keep_undo_log},
};

use super::{
    ReadBack, RunError, changes, private,
    stage::{LayerPools, LayerSet},
};

/// What is kept of a command that runs in place.
pub(super) struct InPlace {
    place: Arc<LayerSet>,
    watching: Option<Watching<UndoLog>>,
    /// Two logs of one workspace would record each other's changes.
    _alone: fs::File,
}

impl InPlace {
    /// Makes room for the log. Waits until no other command runs in place here. Without a mount
    /// namespace there is no private `/tmp`, so the command gets a directory of its own.
    pub(super) fn new(
        pools: &LayerPools,
        state: &Path,
        capabilities: &HostCapabilities,
    ) -> io::Result<InPlace> {
        private(state)?;
        let alone =
            fs::OpenOptions::new().create(true).append(true).open(state.join("in-place"))?;
        alone.lock()?;
        let place = Arc::new(pools.take(capabilities.missing().contains(&Missing::Namespaces))?);
        Ok(InPlace { place, watching: None, _alone: alone })
    }

    /// What was there before.
    fn saved(&self) -> PathBuf {
        self.place.layer.work()
    }

    /// What is new.
    fn new_contents(&self) -> PathBuf {
        self.place.layer.upper()
    }

    /// Lets a plan write to the workspace, with every change held.
    pub(super) fn furnish(&self, plan: &mut Plan, root: &Path) {
        plan.write.push(root.to_owned());
        plan.hold = Hold::Writes;
        if let Some(tmp) = self.place.beside.as_ref().map(Layer::upper) {
            plan.env.retain(|(name, _)| name != "TMPDIR");
            plan.env.push(("TMPDIR".into(), tmp.clone().into()));
            plan.write.push(tmp);
        }
    }

    /// Begins to record what the command of a sandbox does.
    pub(super) fn begin(
        &mut self,
        sandbox: &mut Sandbox,
        root: &Path,
        most: u64,
        live: &[PathBuf],
    ) -> io::Result<()> {
        let held = sandbox.take_held().ok_or_else(|| io::Error::other("its calls are not held"))?;
        self.watching = Some(keep_undo_log(held, root, &self.saved(), most, live)?);
        Ok(())
    }

    /// Takes back what the command did, when it has ended with everything it started. Its changes
    /// are what they would have been in a layer.
    pub(super) fn read_back(mut self) -> Result<ReadBack, RunError> {
        let stays = |err: io::Error| RunError::Stays(err.to_string());
        let Some(watching) = self.watching.take() else { return Ok(ReadBack::default()) };
        let mut log = watching.finish().map_err(stays)?;
        let mut effects = log.effects().map_err(stays)?;
        let kept = match log.withdraw(&mut effects, &self.new_contents()).map_err(stays)? {
            Withdrawn::Kept(kept) => kept,
            Withdrawn::Lost(why) => return Err(RunError::Effects(why.to_string())),
            Withdrawn::Changed(paths) => {
                let paths: Vec<_> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
                let text = format!("somebody else changed {} meanwhile", paths.join(", "));
                return Err(RunError::Stays(text));
            }
        };
        Ok(changes::read_back(|path| kept.get(path).cloned(), effects, self.place))
    }
}
