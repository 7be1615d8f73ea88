//! How what a command writes is kept in hand on this machine, and how that is called.

use std::path::Path;

use eclusa::{
    Touch, Workspace,
    settings::RequiredEnforcement,
    workspace::{IoFailure, LiveDirectories, SnapshotError, SnapshotOptions},
};
use eclusa_sandbox::{
    Enforcement, Missing, Plan, Signing, StagingMethod, git_signing, personal_git_settings,
};

use super::{CommandOrder, RunError, SandboxSettings, Sandboxes, Writes};

/// Of so many directories that are written at once a command in the background may write to: each is opened beforehand.
const MAX_LIVE: usize = 24;

/// How what a command writes to the workspace is kept in hand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTracking {
    /// It goes to a layer.
    Overlay,
    /// It goes to the real files, which are put back before it is judged.
    Snapshot,
    /// It is applied at once, and cannot be taken back.
    Nothing,
}

impl Sandboxes {
    /// How what a command writes is kept in hand here: found out once.
    pub fn write_tracking(&self) -> WriteTracking {
        *self.0.write_tracking.get_or_init(|| match self.capabilities().staging_method() {
            StagingMethod::OverlayInUserNamespace | StagingMethod::OverlayAsRoot => {
                WriteTracking::Overlay
            }
            // The state holds what is put back.
            StagingMethod::InPlace if self.workspace().is_ok() => WriteTracking::Snapshot,
            StagingMethod::InPlace | StagingMethod::Refuse => WriteTracking::Nothing,
        })
    }

    /// The harmless part of the person's own git configuration: found out once.
    pub(super) fn git_settings(&self) -> &[(String, String)] {
        let SandboxSettings { root, home, .. } = self.settings();
        self.0.git_settings.get_or_init(|| {
            home.as_ref().map(|it| personal_git_settings(it, root)).unwrap_or_default()
        })
    }

    /// What is to be signed in the repository of this directory.
    pub(crate) fn signing(&self, cwd: &Path) -> Signing {
        git_signing(&[cwd.to_owned()], self.git_settings())
    }

    /// The workspace, with what is kept of it in the state.
    pub(super) fn workspace(&self) -> Result<Workspace, IoFailure> {
        Workspace::attach(&self.settings().root, &self.settings().state)
    }

    /// Lets a plan write outside of the workspace, and one of a command in the background to what a snapshot would
    /// not put back either. Nobody changes which directories these are until what comes with them is dropped.
    pub(super) fn let_write_outside(
        &self,
        plan: &mut Plan,
        order: &CommandOrder,
    ) -> Result<Option<LiveDirectories>, RunError> {
        let settings = self.settings();
        plan.write.extend(settings.writable_now());
        if !order.background || settings.read_only {
            return Ok(None);
        }
        let options = SnapshotOptions { live: self.live(), ..SnapshotOptions::default() };
        let workspace = self.workspace().map_err(SnapshotError::Failed)?;
        let found = workspace.live_directories(&options, MAX_LIVE)?;
        plan.write.extend(found.paths.iter().map(|it| settings.root.join(it)));
        Ok(Some(found))
    }

    /// Whether a command that does this with its writes is held as well as the settings want; a
    /// person must be asked otherwise. One that would be refused needs no question.
    pub fn is_held(&self, writes: Writes) -> bool {
        let nothing = matches!(writes, Writes::Refused | Writes::Outside);
        let staged = nothing || self.write_tracking() != WriteTracking::Nothing;
        match self.settings().least {
            RequiredEnforcement::Full => true,
            RequiredEnforcement::FullOrAsk if writes == Writes::Refused => {
                self.capabilities().holds_reading()
            }
            RequiredEnforcement::FullOrAsk => {
                self.capabilities().holds_commands()
                    || (writes == Writes::Staged && self.holds_snapshots())
            }
            RequiredEnforcement::Snapshot | RequiredEnforcement::Partial => staged,
        }
    }

    /// What a call touches whose command is not held as well as the settings want.
    pub fn unheld(&self) -> Touch {
        let level = self.level();
        let help = self.capabilities().first_fix();
        let help = help.map(|it| format!("; what helps: {it}")).unwrap_or_default();
        Touch::Unheld(format!("the level is `{level}`{help} (`eclusa doctor` says more)"))
    }

    /// Whether commands run on the real files here, which are put back, and are held outside of them:
    /// signals, and metadata of other files.
    pub fn holds_snapshots(&self) -> bool {
        self.capabilities().holds_outside() && self.write_tracking() == WriteTracking::Snapshot
    }

    /// How a command that writes is held here, in words: `full`, `snapshot`, `partial` and what is
    /// missing, `none`.
    pub fn level(&self) -> String {
        match (self.write_tracking(), self.capabilities().enforcement()) {
            (WriteTracking::Snapshot, Enforcement::Partial(mut missing)) => {
                missing.retain(|it| *it != Missing::Staging);
                if missing.is_empty() || self.holds_snapshots() {
                    return "snapshot".to_owned();
                }
                let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
                format!("snapshot, without {}", missing.join(", "))
            }
            (_, enforcement) => enforcement.to_string(),
        }
    }
}
