//! Commits and tags that are to be signed: a person is asked whether their key may sign what a command made, and the
//! command runs again with somebody who signs exactly that.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{Changes, Job, SignatureRequest};
use eclusa_git::{ToSign, git_directory};
use eclusa_sandbox::{GitSigner, Signing};

use super::unsigned;
use crate::sandboxes::{
    Sandboxes, SigningPlace,
    signing::{Signatures, SigningService},
};

/// What people said yes to for their sessions: session, repository, key. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct SigningGrants(Arc<Mutex<HashSet<(String, PathBuf, String)>>>);

/// What becomes of signatures for one command.
pub(super) struct CommandSigning<'a> {
    sandboxes: &'a Sandboxes,
    grants: SigningGrants,
    cwd: PathBuf,
    signing: Signing,
    found: Option<Result<GitSigner, String>>,
    service: Option<SigningService>,
    /// Whether somebody was asked, or a key failed: it is not tried again.
    settled: bool,
    why: Option<String>,
}

impl<'a> CommandSigning<'a> {
    pub(super) fn new(
        sandboxes: &'a Sandboxes,
        grants: SigningGrants,
        cwd: &Path,
    ) -> CommandSigning<'a> {
        let (cwd, signing) = (cwd.to_owned(), sandboxes.signing(cwd));
        CommandSigning {
            sandboxes,
            grants,
            cwd,
            signing,
            found: None,
            service: None,
            settled: false,
            why: None,
        }
    }

    /// Where a command is signed for whose session has a yes already.
    pub(super) fn granted(&mut self, job: &Job) -> Option<SigningPlace> {
        if self.signing == Signing::default() || self.grants.is_empty() {
            return None;
        }
        let signer = self.find().ok()?;
        let grant = (job.session().to_owned(), self.repository(), signer.key().to_owned());
        if !self.grants.contains(&grant) {
            return None;
        }
        self.settled = true;
        self.open(signer, None)
    }

    /// Whether it is to run once more: a person said yes to signing what it made, or their key failed and it is
    /// made without.
    pub(super) async fn wants_another_run(
        &mut self,
        changes: &Changes,
        may_ask: bool,
        job: &Job,
    ) -> bool {
        if let Some(service) = self.service.take_if(|it| it.signatures().refused.is_some()) {
            self.why =
                service.signatures().refused.map(|it| format!("no signature was made ({it})"));
            return true;
        }
        if self.settled || !may_ask {
            return false;
        }
        let to_sign = unsigned::unsigned(changes, self.signing);
        if to_sign.is_empty() {
            return false;
        }
        self.settled = true;
        let signer = match self.find() {
            Ok(signer) => signer,
            Err(why) => {
                self.why = Some(why);
                return false;
            }
        };
        let request = SignatureRequest {
            key: signer.key().to_owned(),
            repository: self.repository(),
            what: to_sign.subjects().map(str::to_owned).collect(),
        };
        let Some(yes) = job.ask_to_sign(&request).await else {
            self.why = Some("nobody said yes to a signature".to_owned());
            return false;
        };
        if yes.lasts() {
            self.grants.insert((job.session().to_owned(), request.repository, request.key));
        }
        self.open(signer, Some(to_sign)).is_some()
    }

    /// Where the next run is signed.
    pub(super) fn place(&self) -> Option<SigningPlace> {
        self.service.as_ref().map(SigningService::place)
    }

    /// What is told of what was signed and what was not.
    pub(super) fn notes(&self, changes: &Changes) -> Vec<String> {
        let to_sign = unsigned::unsigned(changes, self.signing);
        let made = self.service.as_ref().map(SigningService::signatures).unwrap_or_default();
        let key = self.found.as_ref().and_then(|it| it.as_ref().ok()).map(GitSigner::key);
        let signed = |made: &Signatures| unsigned::signed(made, key?);
        unsigned::note(&to_sign, self.why.as_deref()).into_iter().chain(signed(&made)).collect()
    }

    fn find(&mut self) -> Result<GitSigner, String> {
        let home = self.sandboxes.settings().home.clone();
        let find = || match home {
            Some(home) => GitSigner::find(&home, &self.cwd),
            None => Err("there is no home with a key".to_owned()),
        };
        self.found.get_or_insert_with(find).clone()
    }

    /// The repository that the command stands in.
    fn repository(&self) -> PathBuf {
        let above = self.cwd.ancestors().find(|it| git_directory(it).is_some());
        above.unwrap_or(&self.cwd).to_owned()
    }

    fn open(&mut self, signer: GitSigner, only: Option<ToSign>) -> Option<SigningPlace> {
        let state = &self.sandboxes.settings().state;
        match SigningService::open(state, signer, self.signing, only) {
            Ok(service) => self.service.insert(service).place().into(),
            Err(err) => {
                self.why = Some(format!("no signature can be made ({err})"));
                None
            }
        }
    }
}

impl SigningGrants {
    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn contains(&self, grant: &(String, PathBuf, String)) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(grant)
    }

    fn insert(&self, grant: (String, PathBuf, String)) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(grant);
    }

    pub(super) fn forget(&self, session: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| it.0 != session);
    }
}
