//! `[fleet]` of a configuration file: which fleet a machine is in, and by which root it knows it.

use serde::Deserialize;

use crate::{Digest, FleetError, key::check_name};

/// Which fleet a machine is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetAnchor {
    /// Its name.
    pub name: String,
    /// The digest of the root that counts.
    pub root: Digest,
    /// Where the documents are: an address, or a file. The root's own addresses where nothing is said.
    pub from: Option<String>,
}

#[derive(Deserialize)]
struct OnlyFleet {
    fleet: Option<FleetTable>,
}

#[derive(Deserialize)]
struct FleetTable {
    name: Option<String>,
    root: Option<String>,
    from: Option<String>,
}

impl FleetAnchor {
    /// The fleet that a configuration file names, if it does. A file that cannot be read names none: whoever reads all
    /// of it says what is wrong.
    pub fn parse(text: &str) -> Result<Option<FleetAnchor>, FleetError> {
        // Most files say nothing of it, and are read by somebody else.
        if !text.contains("fleet") {
            return Ok(None);
        }
        let read: Option<OnlyFleet> = toml::from_str(text).ok();
        match read.and_then(|it| it.fleet) {
            None | Some(FleetTable { name: None, root: None, from: None }) => Ok(None),
            Some(FleetTable { name: Some(name), root: Some(root), from }) => {
                check_name(&name)?;
                Ok(Some(FleetAnchor { name, root: root.parse()?, from }))
            }
            Some(_) => Err(FleetError::malformed(
                "`[fleet]` needs `name` and `root`; `eclusa fleet init` prints both",
            )),
        }
    }
}
