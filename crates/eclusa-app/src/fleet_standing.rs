//! What this machine knows of its fleet, and the layers of configuration that follow from it.

use std::io;

use eclusa::{
    audit::{Clock as _, SystemClock},
    policy::STALE_RULE,
};
use eclusa_config::Layer;
use eclusa_fleet::{
    DEFAULT_OFFLINE, DocumentBundle, FleetAnchor, FleetError, MachineState, Membership, PolicyFile,
    time_text,
};

use crate::{
    failure::Failure,
    fleet_machine::{local_stores, machine_files},
    paths::Paths,
    read_text::read_text_of,
};

/// How layers of the fleet begin.
const LAYER: &str = "fleet policy ";

/// What this machine knows of its fleet.
pub struct FleetStanding {
    /// Which fleet it is in.
    pub anchor: FleetAnchor,
    /// The file that says so.
    pub named_in: String,
    /// Whether the administrator says so: then leaving it makes the machine stale.
    pub mandatory: bool,
    /// What is in force, or why nothing is.
    pub membership: Result<Membership, String>,
    /// What is known of the server, where this machine was enrolled at one.
    pub machine: Result<Option<MachineState>, String>,
    /// When the oldest record was written that is not at the server. It is looked for only where everything was last
    /// known to be there longer ago than records may wait.
    unshipped_since: Option<u64>,
}

impl FleetStanding {
    /// Why the machine is stale, if it is.
    pub fn stale(&self, now: u64) -> Option<String> {
        match &self.membership {
            Ok(membership) => membership.stale(now).or_else(|| self.behind(membership, now)),
            Err(why) => Some(why.clone()),
        }
    }

    /// Why this machine is stale because its records are not at the server, if it is.
    fn behind(&self, membership: &Membership, now: u64) -> Option<String> {
        let state = match &self.machine {
            Err(why) => return Some(why.clone()),
            // A policy that says how long records may wait is for machines that ship them.
            Ok(None) => {
                return membership.offline().map(|_| {
                    "its policy wants records to be shipped, and this machine is enrolled at no server; `eclusa fleet \
                     enroll CODE`"
                        .to_owned()
                });
            }
            Ok(Some(state)) => state,
        };
        if let Some(why) = state.stopped() {
            return Some(why.to_owned());
        }
        // As with records that are not there: what was sealed and is gone is shipped again, and a new seal follows.
        if let Some(refused) =
            state.refused_seal.as_ref().filter(|it| is_over(membership, it.since, now))
        {
            return Some(refused.describe());
        }
        let since = self.unshipped_since.filter(|it| is_over(membership, *it, now))?;
        Some(format!(
            "records since {} are not at the server; `eclusa fleet flush` ships them",
            time_text(since)
        ))
    }

    /// The layers that follow: the files of the policy for this machine and, where it is stale, the rule that asks.
    pub fn layers(&self, now: u64) -> Vec<Layer> {
        let mut layers = match &self.membership {
            Ok(it) => as_layers(it.policy().heading().version, &it.files()),
            Err(_) => Vec::new(),
        };
        if let Some(why) = self.stale(now) {
            let name = format!("fleet {}", self.anchor.name);
            layers.push(Layer::of_administrator(name, stale_rules(&self.anchor.name, &why)));
        }
        layers
    }

    /// What is in force and whether it is stale, in a line each.
    pub fn summary(&self, now: u64) -> Vec<String> {
        let name = &self.anchor.name;
        let mut lines = match &self.membership {
            Ok(it) => {
                let heading = it.policy().heading();
                let (version, until) = (heading.version, time_text(heading.expires));
                let root = it.root().version;
                vec![format!(
                    "fleet {name}: policy {version} in force, good until {until} (root {root})"
                )]
            }
            Err(_) => vec![format!("fleet {name}: no policy in force")],
        };
        if let Some(why) = self.stale(now) {
            lines.push(format!(
                "fleet {name}: stale, so that every call but those that only look is asked about: {why}"
            ));
        }
        if let Ok(Some(state)) = &self.machine {
            let (machine, server) = (state.machine, &state.server);
            lines.push(format!("fleet {name}: machine {machine} of the server at {server}"));
            lines.extend(
                state.refused_seal.as_ref().map(|it| format!("fleet {name}: {}", it.describe())),
            );
        }
        lines.push(match self.mandatory {
            true => {
                format!(
                    "fleet {name}: {} says so, and who leaves is asked about every call",
                    self.named_in
                )
            }
            false => format!(
                "fleet {name}: {} says so, and who may change that file can leave",
                self.named_in
            ),
        });
        lines
    }
}

/// The fleet that the administrator's file names, or else the person's.
fn anchor(
    own: Option<&Layer>,
    administrator: Option<&Layer>,
) -> Result<Option<(FleetAnchor, String, bool)>, Failure> {
    for (layer, mandatory) in [(administrator, true), (own, false)] {
        let Some(layer) = layer else { continue };
        let wrong = |err: FleetError| Failure::usage(format!("{}: {err}", layer.name));
        if let Some(anchor) = FleetAnchor::parse(&layer.text).map_err(wrong)? {
            return Ok(Some((anchor, layer.name.clone(), mandatory)));
        }
    }
    Ok(None)
}

/// What is known of it, from the files that may name one.
pub(crate) fn standing(
    paths: &Paths,
    own: Option<&Layer>,
    administrator: Option<&Layer>,
) -> Result<Option<FleetStanding>, Failure> {
    let Some((anchor, named_in, mandatory)) = anchor(own, administrator)? else { return Ok(None) };
    let max = u64::try_from(2 * DocumentBundle::MAX_BYTES).unwrap_or(u64::MAX);
    let membership = match read_text_of(&paths.fleet(), max) {
        Ok(text) => Membership::load(&text, &anchor)
            .map_err(|err| format!("{err}; `eclusa fleet sync --once` fetches them again")),
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            Err("no documents are here; `eclusa fleet sync --once` fetches them".to_owned())
        }
        Err(err) => Err(format!("`{}` cannot be read: {err}", paths.fleet().display())),
    };
    let machine = machine_files::state(paths);
    let unshipped_since = match (&membership, &machine) {
        (Ok(membership), Ok(Some(state)))
            if is_over(membership, state.caught_up, SystemClock.unix_ms()) =>
        {
            local_stores::unshipped(paths, state).0
        }
        _ => None,
    };
    Ok(Some(FleetStanding { anchor, named_in, mandatory, membership, machine, unshipped_since }))
}

/// Whether this was longer ago than records may wait.
fn is_over(membership: &Membership, at: u64, now: u64) -> bool {
    now.saturating_sub(at) > membership.offline().unwrap_or(DEFAULT_OFFLINE)
}

/// The layers of the fleet. Where no file names one, nothing is looked at.
pub(crate) fn layers(
    paths: &Paths,
    own: Option<&Layer>,
    administrator: Option<&Layer>,
) -> Result<Vec<Layer>, Failure> {
    let standing = standing(paths, own, administrator)?;
    Ok(standing.map(|it| it.layers(SystemClock.unix_ms())).unwrap_or_default())
}

/// Files of a policy as layers of the administrator's rank.
pub(crate) fn as_layers(version: u64, files: &[PolicyFile]) -> Vec<Layer> {
    let layer = |it: &PolicyFile| {
        Layer::of_administrator(format!("{LAYER}{version}: {}", it.name), it.text.as_str())
    };
    files.iter().map(layer).collect()
}

/// True for the name of a layer that comes from the policy of a fleet.
pub fn is_of_policy(layer: &str) -> bool {
    layer.starts_with(LAYER)
}

/// The rules of a stale machine: calls that only look go on, a person is asked about every other, and where nobody can be
/// asked it waits.
fn stale_rules(fleet: &str, why: &str) -> String {
    let reason = format!("the fleet `{fleet}` is stale here: {why}");
    // Without control characters a text of JSON is one of TOML.
    let reason: String = reason.chars().filter(|it| !it.is_control()).collect();
    let reason = serde_json::Value::from(reason);
    format!(
        "on_no_approver = \"queue\"\n\n[[rules]]\nid = \"{STALE_RULE}\"\ndecision = \"ask\"\n\
         class = [\"shell\", \"file\", \"web\", \"generic\"]\nreason = {reason}\n"
    )
}
