//! Whose answers count on this machine: where a people document of the fleet is in force, those whom it names, with the
//! keys and groups that it says, and otherwise those of this machine's own list.

use std::sync::OnceLock;

use eclusa::{
    approve::{Proof, SignedAnswer, SignerDirectory},
    audit::{Clock as _, SystemClock},
};
use eclusa_approvals::{KnownSigners, People};
use eclusa_fleet::time_text;

use crate::{config_layers, fleet_standing::standing, paths::Paths};

/// The people whose answers count, looked up when the first one is checked.
pub struct Signers {
    paths: Paths,
    found: OnceLock<FoundSigners>,
}

enum FoundSigners {
    /// This machine's own list.
    Own(People),
    /// Those of the people document in force; none where it cannot be used.
    OfFleet(KnownSigners),
}

impl Signers {
    /// Those of this machine.
    pub fn new(paths: &Paths) -> Signers {
        Signers { paths: paths.clone(), found: OnceLock::new() }
    }

    fn found(&self) -> &FoundSigners {
        self.found.get_or_init(|| match of_fleet(&self.paths) {
            Ok(Some(known)) => FoundSigners::OfFleet(known),
            Ok(None) => FoundSigners::Own(People::new(self.paths.people())),
            // Nobody's key counts while it cannot be said whose do.
            Err(why) => {
                tracing::warn!("no signed answer counts: {why}");
                FoundSigners::OfFleet(KnownSigners::default())
            }
        })
    }

    /// Whose key this is, if it counts.
    pub fn owner(&self, key: &str) -> Option<String> {
        match self.found() {
            FoundSigners::Own(people) => people.key(key).ok().flatten().map(|it| it.0),
            FoundSigners::OfFleet(known) => known.owner(key).map(str::to_owned),
        }
    }
}

impl SignerDirectory for Signers {
    fn verify(&self, person: &str, signed: &SignedAnswer) -> Option<Proof> {
        match self.found() {
            FoundSigners::Own(people) => people.verify(person, signed),
            FoundSigners::OfFleet(known) => known.verify(person, signed),
        }
    }

    fn groups(&self, person: &str) -> Vec<String> {
        match self.found() {
            FoundSigners::Own(people) => people.groups(person),
            FoundSigners::OfFleet(known) => known.groups(person),
        }
    }
}

/// The people of the document in force; `None` where no fleet says who they are. The error says why it cannot be used.
pub fn of_fleet(paths: &Paths) -> Result<Option<KnownSigners>, String> {
    let mut found = None;
    let looked = config_layers::layers_with(paths, |own, administrator| {
        found = standing(paths, own, administrator)?;
        Ok(Vec::new())
    });
    looked.map_err(|err| err.message().to_owned())?;
    let Some(standing) = found else { return Ok(None) };
    let membership = standing.membership?;
    let Some((document, _)) = membership.people() else { return Ok(None) };
    let heading = document.heading();
    if heading.expires <= SystemClock.unix_ms() {
        let (version, at) = (heading.version, time_text(heading.expires));
        return Err(format!("the people document {version} expired at {at}"));
    }
    let known = KnownSigners::parse(document.payload());
    known.map(Some).map_err(|err| format!("the people document cannot be read: {err}"))
}
