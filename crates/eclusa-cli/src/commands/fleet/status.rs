//! `eclusa fleet status`: what is in force on this machine, whether it is stale, and which layer won.

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_config::{Config, Layer, Setting};
use eclusa_fleet::{MachineState, Membership, RefusedSeal, time_text};
use serde_json::{Value, json};

use crate::{
    config_layers::{layers, unusable},
    failure::{Exit, Failure},
    fleet,
    fleet_standing::{FleetStanding, is_of_policy},
    paths::Paths,
    screen::{Screen, Style, sanitize},
};

/// What the policy says of one key, and what holds.
struct PolicySetting {
    said: Setting,
    /// What holds in its place, where that is something stricter of another file.
    instead: Option<Setting>,
}

pub(super) fn run(paths: &Paths, json: bool, screen: &mut Screen) -> Result<Exit, Failure> {
    let Some(standing) = fleet::look(paths)? else {
        match json {
            true => screen.json(&json!({"fleet": null}))?,
            false => {
                screen.line("this machine is in no fleet; `eclusa fleet enroll CODE` enters one")?
            }
        }
        return Ok(Exit::Done);
    };
    let stale = standing.stale(SystemClock.unix_ms());
    let layers = layers(paths)?;
    let config = Config::load(&layers).map_err(unusable)?;
    let settings = settings(&layers, &config)?;
    let exit = if stale.is_some() { Exit::Failed } else { Exit::Done };
    if json {
        let shipping = fleet::shipping(paths);
        screen.json(&as_json(&standing, (stale, shipping), &settings))?;
        return Ok(exit);
    }
    let summary = standing.summary(SystemClock.unix_ms()).into_iter();
    for line in summary.chain(fleet::owner(paths)).chain(fleet::shipping(paths)) {
        let style = if line.contains(": stale") { Style::Bad } else { Style::Plain };
        screen.styled(style, &sanitize(&line))?;
    }
    if let Ok(membership) = &standing.membership {
        let seal = standing.machine.as_ref().ok().and_then(|it| it.as_ref()?.seal_line());
        for line in details(membership).into_iter().chain(seal) {
            screen.line(&sanitize(&line))?;
        }
    }
    for PolicySetting { said, instead } in &settings {
        let line = format!("  {} = {}", said.key, said.value);
        let holds = match instead {
            None => said.origin.clone(),
            Some(other) => format!(
                "{}; stricter and in force: {} of {}",
                said.origin, other.value, other.origin
            ),
        };
        screen.setting(&sanitize(&line), &sanitize(&holds))?;
    }
    Ok(exit)
}

/// The documents, in a line each.
fn details(it: &Membership) -> Vec<String> {
    let mut lines = vec![
        format!(
            "in force since {}, signed by {}",
            time_text(it.since()),
            it.policy().signers().join(", ")
        ),
        format!("fetched last at {}", time_text(it.synced())),
        format!("root sha256:{}", it.root().digest),
    ];
    let labels: Vec<String> =
        it.labels().iter().map(|(name, value)| format!("{name}={value}")).collect();
    lines.push(match labels.is_empty() {
        true => "labels: none".to_owned(),
        false => format!("labels: {}", labels.join(", ")),
    });
    if let Some((document, people)) = it.people() {
        let (version, until) = (document.heading().version, time_text(document.heading().expires));
        lines.push(format!("people {version}: {}, good until {until}", people.people.len()));
    }
    lines
}

/// What the files of the policy say, each by itself, beside what holds of all layers together.
fn settings(layers: &[Layer], config: &Config) -> Result<Vec<PolicySetting>, Failure> {
    let in_force = config.settings();
    let mut all = Vec::new();
    for layer in layers.iter().filter(|it| is_of_policy(&it.name)) {
        let alone = Config::load(std::slice::from_ref(layer)).map_err(unusable)?;
        let own = alone
            .settings()
            .into_iter()
            .filter(|it| it.origin.starts_with(&layer.name) && !it.key.starts_with("fleet"));
        for said in own {
            let holds = in_force.iter().any(|it| it.key == said.key && it.origin == said.origin);
            let instead = match holds {
                true => None,
                false => in_force.iter().find(|it| it.key == said.key).cloned(),
            };
            all.push(PolicySetting { said, instead });
        }
    }
    Ok(all)
}

fn as_json(
    standing: &FleetStanding,
    (stale, shipping): (Option<String>, Option<String>),
    settings: &[PolicySetting],
) -> Value {
    let setting = |it: &Setting| json!({"key": it.key, "value": it.value, "origin": it.origin});
    let settings: Vec<Value> = settings
        .iter()
        .map(|it| json!({"said": setting(&it.said), "instead": it.instead.as_ref().map(setting)}))
        .collect();
    let membership = standing.membership.as_ref().ok();
    let machine = standing.machine.as_ref().ok().and_then(Option::as_ref);
    let policy = membership.map(|it| {
        let heading = it.policy().heading();
        json!({
            "version": heading.version, "expires": time_text(heading.expires),
            "since": time_text(it.since()), "signers": it.policy().signers(),
        })
    });
    json!({
        "fleet": standing.anchor.name,
        "named_in": standing.named_in,
        "mandatory": standing.mandatory,
        "root": membership.map(|it| it.root().version),
        "policy": policy,
        "people": membership.and_then(|it| it.people().map(|it| it.0.heading().version)),
        "labels": membership.map(Membership::labels),
        "stale": stale,
        "shipping": shipping,
        "seal": machine.map(MachineState::seen_seal).filter(|it| it.size > 0),
        "seal_refused": machine.and_then(|it| it.refused_seal.as_ref()).map(RefusedSeal::describe),
        "settings": settings,
    })
}
