//! What a machine holds of its fleet: documents that were checked when they came, and are checked whenever they are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    DocumentBundle, DocumentKind, FleetAnchor, FleetError, FleetRoot, Invite, JobEnrolment,
    JobToken, PeoplePayload, PolicyFile, PolicyPayload, SignedDocument, Verified, time_text,
};

/// How far the clock may be behind the time of the last synchronisation, in milliseconds.
const MAX_CLOCK_BACK: u64 = 5 * 60 * 1_000;

/// The documents in force on a machine, all of them signed as its pinned root says.
#[derive(Debug, Clone)]
pub struct Membership {
    kept: KeptDocuments,
    /// Every root from the pinned one on, and the one in force, which is the last.
    roots: Vec<FleetRoot>,
    root: FleetRoot,
    policy: Verified,
    files: Vec<PolicyFile>,
    people: Option<(Verified, PeoplePayload)>,
    invite: Option<Invite>,
}

/// How they are kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptDocuments {
    documents: DocumentBundle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invite: Option<SignedDocument>,
    /// What the token of the job said by which this machine was let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job: Option<Map<String, Value>>,
    /// Since when this policy is in force, in milliseconds since 1970.
    since: u64,
    /// When documents were last fetched: the clock is not before that.
    synced: u64,
}

/// What came of fetching documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenDocuments {
    /// There was nothing new.
    Unchanged,
    /// A newer policy, people or root is in force.
    Newer,
}

impl Membership {
    /// Reads what a machine holds, and checks every signature. Expiry is not checked: see [`Membership::stale`].
    pub fn load(text: &str, anchor: &FleetAnchor) -> Result<Membership, FleetError> {
        let kept: KeptDocuments = serde_json::from_str(text).map_err(|err| {
            FleetError::malformed(format!("the documents that are kept here cannot be read: {err}"))
        })?;
        Membership::check(kept, anchor)
    }

    /// The first documents of a machine. `usable` says whether it can load the files.
    pub fn begin(
        documents: DocumentBundle,
        invite: Option<SignedDocument>,
        anchor: &FleetAnchor,
        (now, program): (u64, &str),
        usable: impl Fn(u64, &[PolicyFile]) -> Result<(), String>,
    ) -> Result<Membership, FleetError> {
        let kept = KeptDocuments { documents, invite, job: None, since: now, synced: now };
        let new = Membership::check(kept, anchor)?;
        if let Some(invite) = &new.kept.invite {
            let root = new.root();
            invite.verify(DocumentKind::Invite, root)?.check_time(now)?;
        }
        new.check_offered((now, program), usable)?;
        Ok(new)
    }

    /// Takes newer documents in the place of these, all of them or none. Never goes back: neither to an older version,
    /// nor to another text of the same.
    pub fn take(
        &self,
        offered: DocumentBundle,
        anchor: &FleetAnchor,
        (now, program): (u64, &str),
        usable: impl Fn(u64, &[PolicyFile]) -> Result<(), String>,
    ) -> Result<(Membership, TakenDocuments), FleetError> {
        let (invite, job) = (self.kept.invite.clone(), self.kept.job.clone());
        let kept = KeptDocuments { documents: offered, invite, job, since: now, synced: now };
        let mut new = Membership::check(kept, anchor)?;
        let (held, root) = (self.root(), new.root());
        let goes_on = new.roots.iter().any(|it| it.digest == held.digest);
        if root.version < held.version || !goes_on {
            let (kind, found) = (DocumentKind::Root, root.version);
            return Err(FleetError::Rollback { kind, found, held: held.version });
        }
        self.check_version(&self.policy, Some(&new.policy), root)?;
        if let Some((people, _)) = &self.people {
            self.check_version(people, new.people.as_ref().map(|it| &it.0), root)?;
        }
        new.check_offered((now, program), usable)?;
        if new.policy.heading() == self.policy.heading() {
            new.kept.since = self.kept.since;
        }
        let same = new.kept.documents == self.kept.documents;
        Ok((new, if same { TakenDocuments::Unchanged } else { TakenDocuments::Newer }))
    }

    /// Refuses an older version, and another text of the same version. A root that changes the keys of a role counts
    /// anew, so that a stolen key which signed a very high version does not lock the fleet out.
    fn check_version(
        &self,
        held: &Verified,
        offered: Option<&Verified>,
        root: &FleetRoot,
    ) -> Result<(), FleetError> {
        let (kind, version) = (held.heading().kind, held.heading().version);
        let Some(offered) = offered else { return Err(FleetError::Missing(kind)) };
        let found = offered.heading();
        let anew = !root.has_same_keys(self.root(), kind.role());
        let newer =
            found.version > version || (found.version == version && found == held.heading());
        match anew || newer {
            true => Ok(()),
            false => Err(FleetError::Rollback { kind, found: found.version, held: version }),
        }
    }

    /// Checks every signature from the pinned root on.
    fn check(kept: KeptDocuments, anchor: &FleetAnchor) -> Result<Membership, FleetError> {
        let roots = kept.documents.verified_roots(Some(anchor.root))?;
        let root = roots.last().cloned().ok_or(FleetError::Missing(DocumentKind::Root))?;
        if root.name != anchor.name {
            let (found, expected) = (root.name.clone(), anchor.name.clone());
            return Err(FleetError::OtherFleet { kind: DocumentKind::Root, found, expected });
        }
        let policy = kept.documents.verified(DocumentKind::Policy, &root)?;
        let policy = policy.ok_or(FleetError::Missing(DocumentKind::Policy))?;
        let files = PolicyPayload::parse(policy.payload())?.files()?;
        let people = match kept.documents.verified(DocumentKind::People, &root)? {
            Some(people) => Some((people.clone(), PeoplePayload::parse(people.payload())?)),
            None => None,
        };
        let invite = match &kept.invite {
            Some(invite) => Some(verified_invite(invite, &roots)?),
            None => None,
        };
        Ok(Membership { kept, roots, root, policy, files, people, invite })
    }

    /// Whether what is offered is good now, and for this program.
    fn check_offered(
        &self,
        (now, program): (u64, &str),
        usable: impl Fn(u64, &[PolicyFile]) -> Result<(), String>,
    ) -> Result<(), FleetError> {
        let (root, version) = (self.root(), self.policy.heading().version);
        if root.expires <= now {
            let (kind, version, at) = (DocumentKind::Root, root.version, root.expires);
            return Err(FleetError::Expired { kind, version, at });
        }
        self.policy.check_time(now)?;
        if let Some((people, _)) = &self.people {
            people.check_time(now)?;
        }
        let payload = PolicyPayload::parse(self.policy.payload())?;
        if !payload.fits(program)? {
            let (needs, program) = (payload.needs.unwrap_or_default(), program.to_owned());
            return Err(FleetError::NewerProgram { version, needs, program });
        }
        let people = self.people.as_ref().map_or(0, |it| it.0.heading().version);
        if let Some(needs) = payload.people_min.filter(|it| *it > people) {
            return Err(FleetError::OlderPeople { version, needs });
        }
        usable(version, &self.files()).map_err(|why| FleetError::Unusable { version, why })
    }

    /// How it is kept.
    pub fn to_text(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string(&self.kept).unwrap_or_default()
    }

    /// The documents themselves, for whoever hands them on.
    pub fn documents(&self) -> &DocumentBundle {
        &self.kept.documents
    }

    /// The same documents with the policy of an earlier membership, for a machine that is not offered the newest yet.
    /// `None` where the root in force does not let the keys sign that policy which did.
    pub fn with_earlier_policy(&self, earlier: &Membership) -> Option<DocumentBundle> {
        let policy = earlier.kept.documents.policy.clone()?;
        policy.verify(DocumentKind::Policy, &self.root).ok()?;
        Some(DocumentBundle { policy: Some(policy), ..self.kept.documents.clone() })
    }

    /// What the invite says, and whether it is good now: for a server that lets a machine in.
    pub fn check_invite(&self, invite: &SignedDocument, now: u64) -> Result<Invite, FleetError> {
        let verified = invite.verify(DocumentKind::Invite, &self.root)?;
        verified.check_time(now)?;
        verified.payload().parse()
    }

    /// How long records may wait to be shipped, in milliseconds, where the policy says it.
    pub fn offline(&self) -> Option<u64> {
        let payload = PolicyPayload::parse(self.policy.payload()).ok()?;
        payload.offline.as_deref().and_then(crate::policy::parse_span)
    }

    /// The root in force.
    pub fn root(&self) -> &FleetRoot {
        &self.root
    }

    /// Every root from the pinned one on; the one in force is the last.
    pub fn roots(&self) -> &[FleetRoot] {
        &self.roots
    }

    /// The policy in force.
    pub fn policy(&self) -> &Verified {
        &self.policy
    }

    /// Since when it is in force, in milliseconds since 1970.
    pub fn since(&self) -> u64 {
        self.kept.since
    }

    /// When documents were last fetched.
    pub fn synced(&self) -> u64 {
        self.kept.synced
    }

    /// The people document in force.
    pub fn people(&self) -> Option<(&Verified, &PeoplePayload)> {
        self.people.as_ref().map(|(document, people)| (document, people))
    }

    /// The same for the machine of a job, by its own token: what it is, is what the policy says of such jobs.
    #[must_use]
    pub fn of_job(mut self, token: &JobToken) -> Membership {
        self.kept.job = Some(token.claims().clone());
        self
    }

    /// Which jobs may enrol.
    pub fn enrolments(&self) -> Vec<JobEnrolment> {
        PolicyPayload::parse(self.policy.payload()).map(|it| it.enroll).unwrap_or_default()
    }

    /// What the invite says this machine is, or the policy of its job.
    pub fn labels(&self) -> BTreeMap<String, String> {
        if let Some(job) = &self.kept.job {
            let taken = self.enrolments().into_iter().find(|it| it.takes(job));
            return taken.map(|it| it.labels).unwrap_or_default();
        }
        self.invite.as_ref().map(|it| it.labels.clone()).unwrap_or_default()
    }

    /// The files of the policy that are for this machine.
    pub fn files(&self) -> Vec<PolicyFile> {
        let labels = self.labels();
        self.files.iter().filter(|it| it.is_for(&labels)).cloned().collect()
    }

    /// Why this machine is stale, if it is.
    pub fn stale(&self, now: u64) -> Option<String> {
        let heading = self.policy.heading();
        let fetch = "`eclusa fleet sync --once` fetches newer documents";
        if now.saturating_add(MAX_CLOCK_BACK) < self.kept.synced {
            let synced = time_text(self.kept.synced);
            return Some(format!("the clock is before {synced}, the last synchronisation; set it"));
        }
        if heading.expires <= now {
            let (version, at) = (heading.version, time_text(heading.expires));
            return Some(format!("policy {version} expired at {at}; {fetch}"));
        }
        let root = self.root();
        let (version, at) = (root.version, time_text(root.expires));
        (root.expires <= now).then(|| format!("root {version} expired at {at}; {fetch}"))
    }
}

/// The invite, if any root since the pinned one lets its keys sign it: an invite is used once and lasts longer than the
/// keys that signed it.
fn verified_invite(invite: &SignedDocument, roots: &[FleetRoot]) -> Result<Invite, FleetError> {
    let mut refused = FleetError::Missing(DocumentKind::Invite);
    for root in roots.iter().rev() {
        match invite.verify(DocumentKind::Invite, root) {
            Ok(it) => return it.payload().parse(),
            Err(err) => refused = err,
        }
    }
    Err(refused)
}
