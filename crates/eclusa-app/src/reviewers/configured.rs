//! Who reviews, thinks the other way and opens checkpoints, as the configuration says.

use std::{path::Path, sync::Arc, time::Duration};

use eclusa::{GateSetup, Reviewer, settings::Endpoint};
use eclusa_config::{Config, PreflightReach, PreflightSettings};
use tokio::sync::OnceCell;

use super::{
    ExternalReviewer, ReviewerEndpoint, model_thinker::ConfiguredThinker,
    preflight::ExternalPreflight, service::Service,
};
use crate::{failure::Failure, spawn::Program};

/// The reviewers that are configured, in their order. Programs run in the workspace.
pub fn configured(config: &Config, workspace: &Path) -> Result<Vec<Arc<dyn Reviewer>>, Failure> {
    let mut reviewers: Vec<Arc<dyn Reviewer>> = Vec::new();
    for settings in &config.reviewers {
        let time = settings.time.unwrap_or(config.limits.review);
        let at = reached(&settings.reach, workspace, time)
            .map_err(|err| Failure::usage(format!("{}: {err}", settings.origin)))?;
        reviewers.push(Arc::new(ExternalReviewer { settings: settings.clone(), time, at }));
    }
    Ok(reviewers)
}

/// Whoever is asked before a tool runs that demands it: a checkpoint of the configuration takes the
/// place of the terminal.
pub fn set_preflight(
    config: &Config,
    workspace: &Path,
    setup: &mut GateSetup,
) -> Result<(), Failure> {
    let made = |it: &PreflightSettings, endpoint: &Endpoint| {
        let time = it.time.unwrap_or(config.limits.checkpoint);
        let at = reached(endpoint, workspace, time)
            .map_err(|err| Failure::usage(format!("{}: {err}", it.origin)))?;
        Ok::<_, Failure>(ExternalPreflight { at, time })
    };
    if let Some(thinker) = &config.reverse_thinker {
        setup.reverse_thinker = Some(match &thinker.reach {
            PreflightReach::Endpoint(endpoint) => Arc::new(made(thinker, endpoint)?),
            PreflightReach::Model(name) => Arc::new(ConfiguredThinker {
                name: name.clone(),
                config: config.clone(),
                workspace: workspace.to_owned(),
                redactor: setup.redactor.clone(),
                log: setup.sink.clone(),
                clock: setup.clock.clone(),
                time: thinker.time.unwrap_or(config.limits.checkpoint),
                opened: OnceCell::new(),
            }),
        });
    }
    if let Some(checkpoint) = &config.checkpoint
        && let PreflightReach::Endpoint(endpoint) = &checkpoint.reach
    {
        setup.checkpoint = Some(Arc::new(made(checkpoint, endpoint)?));
    }
    Ok(())
}

fn reached(reach: &Endpoint, workspace: &Path, time: Duration) -> Result<ReviewerEndpoint, String> {
    Ok(match reach {
        Endpoint::Command(command) => ReviewerEndpoint::Command(Program {
            command: command.clone(),
            directory: workspace.to_owned(),
            env: Vec::new(),
            set: Vec::new(),
        }),
        Endpoint::Url { url, headers } => {
            let value = |(name, variable): (&String, &String)| {
                let value = std::env::var(variable).map_err(|_| {
                    format!("the variable `{variable}` for header `{name}` is not set")
                })?;
                Ok((name.clone(), value))
            };
            let headers = headers.iter().map(value).collect::<Result<Vec<_>, String>>()?;
            ReviewerEndpoint::Http(Service::new(url, &headers, time)?)
        }
    })
}
