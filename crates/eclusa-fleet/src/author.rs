//! Making documents: for whoever holds signing keys, on a machine that need not be in the fleet.

use std::collections::BTreeMap;

use crate::{
    DocumentBundle, DocumentKind, FleetError, FleetRoot, Invite, PeoplePayload, PolicyPayload,
    RoleKeys, SignedDocument, SigningKey, SigningRole, key::check_name,
};

/// A bundle that is being changed, and the root in force in it.
pub struct Author {
    bundle: DocumentBundle,
    root: FleetRoot,
}

/// A change of the keys of a role.
#[derive(Default)]
pub struct Rotation {
    /// A key that may sign from now on.
    pub add: Option<crate::PublicKey>,
    /// The name of a key that may not any more.
    pub remove: Option<String>,
    /// How many keys must sign from now on; as before unless said.
    pub need: Option<usize>,
}

impl Author {
    /// The first root of a fleet, signed by its own keys.
    pub fn begin(
        name: &str,
        addresses: &[String],
        roles: &BTreeMap<SigningRole, RoleKeys>,
        expires: u64,
        keys: &[SigningKey],
    ) -> Result<Author, FleetError> {
        check_name(name)?;
        let payload = FleetRoot::payload(name, addresses, roles)?;
        let root = FleetRoot::parse(&payload, 1, expires)?;
        let signing = of_role(&root.role(SigningRole::Root), keys);
        let first = SignedDocument::sign(name, DocumentKind::Root, (1, expires), payload, &signing);
        Author::open(DocumentBundle { roots: vec![first], policy: None, people: None })
    }

    /// A bundle that was made before. Its roots are checked from the first one on.
    pub fn open(bundle: DocumentBundle) -> Result<Author, FleetError> {
        let mut roots = bundle.verified_roots(None)?;
        let root = roots.pop().ok_or(FleetError::Missing(DocumentKind::Root))?;
        Ok(Author { bundle, root })
    }

    /// The root in force.
    pub fn root(&self) -> &FleetRoot {
        &self.root
    }

    /// The bundle as it is now.
    pub fn bundle(&self) -> &DocumentBundle {
        &self.bundle
    }

    /// How many keys of its role have signed a document, and how many must.
    pub fn signatures(&self, kind: DocumentKind) -> Result<(usize, usize), FleetError> {
        let document = self.bundle.document(kind).ok_or(FleetError::Missing(kind))?;
        match document.verify(kind, &self.root) {
            Ok(it) => Ok((it.signers().len(), self.root.role(kind.role()).need)),
            Err(FleetError::TooFewSignatures { found, need, .. }) => Ok((found, need)),
            Err(err) => Err(err),
        }
    }

    /// The files of the policy that is in the bundle; none where it has none.
    pub fn policy_files(&self) -> Result<BTreeMap<String, String>, FleetError> {
        let held = self.bundle.document(DocumentKind::Policy);
        held.map_or(Ok(BTreeMap::new()), |it| Ok(PolicyPayload::parse(it.payload())?.files))
    }

    /// Signs a policy as the next version.
    pub fn policy(
        &mut self,
        policy: &PolicyPayload,
        expires: u64,
        keys: &[SigningKey],
    ) -> Result<u64, FleetError> {
        policy.files()?;
        policy.fits("0")?;
        policy.check_offline()?;
        policy.check_enrolments()?;
        self.next(DocumentKind::Policy, policy.to_text(), expires, keys)
    }

    /// Signs a list of people as the next version.
    pub fn people(
        &mut self,
        people: &PeoplePayload,
        expires: u64,
        keys: &[SigningKey],
    ) -> Result<u64, FleetError> {
        let text = people.to_text();
        PeoplePayload::parse(&text)?;
        self.next(DocumentKind::People, text, expires, keys)
    }

    /// Signs the same content as the next version, to be good for longer.
    pub fn renew(
        &mut self,
        kind: DocumentKind,
        expires: u64,
        keys: &[SigningKey],
    ) -> Result<u64, FleetError> {
        let payload = self.payload(kind)?;
        self.next(kind, payload, expires, keys)
    }

    /// The content of a document.
    fn payload(&self, kind: DocumentKind) -> Result<String, FleetError> {
        let document = self.bundle.document(kind).ok_or(FleetError::Missing(kind))?;
        Ok(document.payload().to_owned())
    }

    /// Signs an invite. It is in no bundle: it goes to one machine.
    pub fn invite(
        &self,
        invite: &Invite,
        expires: u64,
        keys: &[SigningKey],
    ) -> Result<SignedDocument, FleetError> {
        invite.check()?;
        let signing = self.signing(SigningRole::Enroll, keys)?;
        let (kind, about) = (DocumentKind::Invite, (1, expires));
        let signed =
            SignedDocument::sign(&self.root.name, kind, about, invite.to_string(), &signing);
        signed.verify(kind, &self.root)?;
        Ok(signed)
    }

    /// Adds a signature to every document that this key may sign and has not signed, and says which.
    pub fn cosign(&mut self, key: &SigningKey) -> Result<Vec<DocumentKind>, FleetError> {
        let mut signed = Vec::new();
        for kind in [DocumentKind::Policy, DocumentKind::People] {
            let may = self.root.role(kind.role()).keys.contains(key.public());
            let Some(document) = self.bundle.document(kind).filter(|_| may) else { continue };
            if !document.note()?.is_signed_by(key.public()) {
                let document = document.signed_also(key)?;
                self.put(kind, document);
                signed.push(kind);
            }
        }
        match signed.is_empty() {
            false => Ok(signed),
            true => Err(FleetError::WrongKey(format!(
                "there is nothing that `{}` may sign and has not signed",
                key.public().name()
            ))),
        }
    }

    /// A new root with other keys for a role, signed by enough keys of the old one and of the new one; the role's
    /// document is signed anew, so that nothing counts any more that only the old keys signed.
    pub fn rotate(
        &mut self,
        role: SigningRole,
        change: Rotation,
        (root_expires, expires): (u64, u64),
        keys: &[SigningKey],
    ) -> Result<u64, FleetError> {
        let mut roles = self.root.roles().clone();
        let of_role = roles.entry(role).or_default();
        if let Some(name) = &change.remove {
            let before = of_role.keys.len();
            of_role.keys.retain(|it| it.name() != name);
            if of_role.keys.len() == before {
                return Err(FleetError::WrongKey(format!("`{role}` has no key `{name}`")));
            }
        }
        of_role.keys.extend(change.add);
        of_role.need = change.need.unwrap_or(of_role.need).max(1);
        let (name, version) = (self.root.name.clone(), self.root.version + 1);
        let payload = FleetRoot::payload(&name, &self.root.addresses, &roles)?;
        let root = FleetRoot::parse(&payload, version, root_expires)?;
        let mut signing = self.signing(SigningRole::Root, keys)?;
        signing.extend(of_role_only(&root.role(SigningRole::Root), keys, &signing));
        let about = (version, root_expires);
        let document = SignedDocument::sign(&name, DocumentKind::Root, about, payload, &signing);
        let mut bundle = self.bundle.clone();
        bundle.roots.push(document);
        let mut changed = Author::open(bundle)?;
        let kind = match role {
            SigningRole::Policy => Some(DocumentKind::Policy),
            SigningRole::People => Some(DocumentKind::People),
            SigningRole::Root | SigningRole::Enroll | SigningRole::Seal => None,
        };
        if let Some(kind) = kind.filter(|it| changed.bundle.document(*it).is_some()) {
            changed.renew(kind, expires, keys)?;
        }
        *self = changed;
        Ok(version)
    }

    /// Signs a payload as the next version of its kind.
    fn next(
        &mut self,
        kind: DocumentKind,
        payload: String,
        expires: u64,
        keys: &[SigningKey],
    ) -> Result<u64, FleetError> {
        let signing = self.signing(kind.role(), keys)?;
        let version = match self.bundle.document(kind) {
            Some(held) => held.heading()?.version + 1,
            None => 1,
        };
        let name = &self.root.name;
        let document = SignedDocument::sign(name, kind, (version, expires), payload, &signing);
        self.put(kind, document);
        Ok(version)
    }

    fn put(&mut self, kind: DocumentKind, document: SignedDocument) {
        match kind {
            DocumentKind::Policy => self.bundle.policy = Some(document),
            DocumentKind::People => self.bundle.people = Some(document),
            DocumentKind::Root | DocumentKind::Invite => {}
        }
    }

    /// Those of the keys that are of a role.
    fn signing<'a>(
        &self,
        role: SigningRole,
        keys: &'a [SigningKey],
    ) -> Result<Vec<&'a SigningKey>, FleetError> {
        let known = self.root.role(role);
        let signing = of_role(&known, keys);
        if !signing.is_empty() {
            return Ok(signing);
        }
        let names: Vec<&str> = known.keys.iter().map(crate::PublicKey::name).collect();
        Err(FleetError::WrongKey(match names.is_empty() {
            true => format!("the fleet has no key for `{role}`"),
            false => format!("no key of `{role}` was given; they are {}", names.join(", ")),
        }))
    }
}

/// Those of the keys that are of a role.
fn of_role<'a>(role: &RoleKeys, keys: &'a [SigningKey]) -> Vec<&'a SigningKey> {
    keys.iter().filter(|it| role.keys.contains(it.public())).collect()
}

/// The same without those that are there already.
fn of_role_only<'a>(
    role: &RoleKeys,
    keys: &'a [SigningKey],
    without: &[&SigningKey],
) -> Vec<&'a SigningKey> {
    let known = |it: &&SigningKey| without.iter().any(|other| other.public() == it.public());
    of_role(role, keys).into_iter().filter(|it| !known(it)).collect()
}
