//! All documents of a fleet in one text: a file that any web server can hand out.

use serde::{Deserialize, Serialize};

use crate::{DocumentKind, FleetError, FleetRoot, SignedDocument, Verified};

/// The largest bundle that is read, in bytes.
const MAX_BUNDLE: usize = 16 << 20;

/// Documents that somebody sent. Nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentBundle {
    /// Every root since the first, in order.
    pub(crate) roots: Vec<SignedDocument>,
    /// The policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<SignedDocument>,
    /// The people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) people: Option<SignedDocument>,
}

impl DocumentBundle {
    /// The largest bundle that is read, in bytes.
    pub const MAX_BYTES: usize = MAX_BUNDLE;

    /// Reads a bundle.
    pub fn parse(text: &str) -> Result<DocumentBundle, FleetError> {
        if text.len() > MAX_BUNDLE {
            return Err(FleetError::malformed("the bundle of documents is too large"));
        }
        serde_json::from_str(text).map_err(|err| {
            FleetError::malformed(format!("this is not a bundle of documents: {err}"))
        })
    }

    /// The roots alone: who may sign what, and nothing that was signed.
    #[must_use]
    pub fn roots_alone(&self) -> DocumentBundle {
        DocumentBundle { roots: self.roots.clone(), policy: None, people: None }
    }

    /// The text of it.
    pub fn to_text(&self) -> String {
        // Texts can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The document of a kind of which there is one.
    pub fn document(&self, kind: DocumentKind) -> Option<&SignedDocument> {
        match kind {
            DocumentKind::Root => self.roots.last(),
            DocumentKind::Policy => self.policy.as_ref(),
            DocumentKind::People => self.people.as_ref(),
            DocumentKind::Invite => None,
        }
    }

    /// The roots from the one with this digest on, each signed by the one before it and by itself. Without a digest,
    /// from the first: for whoever makes documents and trusts the file.
    pub fn verified_roots(&self, pin: Option<crate::Digest>) -> Result<Vec<FleetRoot>, FleetError> {
        let mut chain: Vec<FleetRoot> = Vec::new();
        for document in &self.roots {
            let heading = document.heading()?;
            let root = FleetRoot::parse(document.payload(), heading.version, heading.expires)?;
            let Some(before) = chain.last() else {
                if pin.is_none_or(|it| it == root.digest) {
                    document.verify(DocumentKind::Root, &root)?;
                    chain.push(root);
                }
                continue;
            };
            let broken = |why: String| FleetError::BrokenRoots {
                found: root.version,
                held: before.version,
                why,
            };
            if root.version != before.version + 1 {
                return Err(broken("its version is not the next one".to_owned()));
            }
            document.verify(DocumentKind::Root, before).map_err(|err| broken(err.to_string()))?;
            document.verify(DocumentKind::Root, &root).map_err(|err| broken(err.to_string()))?;
            chain.push(root);
        }
        match (chain.is_empty(), pin) {
            (false, _) => Ok(chain),
            (true, Some(pin)) => Err(FleetError::OtherRoot(pin.to_string())),
            (true, None) => Err(FleetError::Missing(DocumentKind::Root)),
        }
    }

    /// The policy, signed as this root says.
    pub(crate) fn verified(
        &self,
        kind: DocumentKind,
        root: &FleetRoot,
    ) -> Result<Option<Verified>, FleetError> {
        self.document(kind).map(|it| it.verify(kind, root)).transpose()
    }
}
