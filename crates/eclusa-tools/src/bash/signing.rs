//! Commits and tags that are to be signed: a person is asked whether their key may sign what a command made, and the
//! command runs again with somebody who signs exactly that.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{Changes, Job, SignatureRequest};
use eclusa_git::{Signable, ToSign, common_directory, git_directory};
use eclusa_sandbox::{GitSigner, Signing};

use super::unsigned;
use crate::sandboxes::{
    Sandboxes, SigningPlace,
    signing::{Signatures, SigningService},
};

/// What people said yes to for their sessions. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct SigningGrants(Arc<Mutex<HashSet<SigningGrant>>>);

/// A yes for a session to signatures of one kind, with one key, in one repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SigningGrant {
    session: String,
    repository: PathBuf,
    key: String,
    kind: Signable,
    /// Whether there was text from outside in the session: a yes from before that covers nothing after it.
    outside: bool,
}

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

    /// Whether it is to run once more: a person said yes to signing what it made, now or for their session, or their
    /// key failed and it is made without. Only what the first run made is signed in the second.
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
        let Some(repository) = self.repository_of(&to_sign) else {
            self.why = Some("they are in several repositories".to_owned());
            return false;
        };
        let key = signer.key().to_owned();
        let outside = job.has_text_from_outside();
        let grants: Vec<SigningGrant> = to_sign
            .kinds()
            .map(|kind| SigningGrant {
                session: job.session().to_owned(),
                repository: repository.clone(),
                key: key.clone(),
                kind,
                outside,
            })
            .collect();
        if !self.grants.cover(&grants) {
            let what = to_sign.described().collect();
            let request = SignatureRequest { key, repository, what };
            let Some(yes) = job.ask_to_sign(&request, changes).await else {
                self.why = Some("nobody said yes to a signature".to_owned());
                return false;
            };
            if yes.lasts() {
                self.grants.add(grants);
            }
        }
        self.open(signer, to_sign).is_some()
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

    /// The repository that all of them were made in, which may be another than the one that the command stands in.
    fn repository_of(&self, to_sign: &ToSign) -> Option<PathBuf> {
        let mut places: Vec<PathBuf> =
            to_sign.places().map(|it| self.sandboxes.settings().root.join(it)).collect();
        places.dedup();
        let [place] = places.as_slice() else { return None };
        let above = self.cwd.ancestors().find(|it| git_directory(it).is_some());
        let is_here = |it: &Path| {
            let own = git_directory(it).map(|it| common_directory(&it).canonicalize());
            own.is_some_and(|it| it.is_ok_and(|it| Ok(it) == place.canonicalize().map_err(drop)))
        };
        Some(match above.filter(|it| is_here(it)) {
            Some(above) => above.to_owned(),
            None if place.ends_with(".git") => place.parent()?.to_owned(),
            None => place.clone(),
        })
    }

    fn open(&mut self, signer: GitSigner, only: ToSign) -> Option<SigningPlace> {
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
    fn cover(&self, grants: &[SigningGrant]) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        grants.iter().all(|it| known.contains(it))
    }

    fn add(&self, grants: Vec<SigningGrant>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(grants);
    }

    pub(super) fn forget(&self, session: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| it.session != session);
    }
}
