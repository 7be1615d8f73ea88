//! Who reviews, thinks the other way and opens checkpoints, as the configuration says.

use std::{path::Path, sync::Arc, time::Duration};

use eclusa::{
    AuditSink, Redactor, Reviewer, Rules,
    audit::SystemClock,
    preflight::{Checkpoint, ReverseThinker},
    settings::Endpoint,
};
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
        let about = settings.about.clone().map(|it| Rules::new(vec![it], workspace));
        let settings = settings.clone();
        reviewers.push(Arc::new(ExternalReviewer { settings, time, at, about }));
    }
    Ok(reviewers)
}

/// Who argues the other side, for tools that demand it.
pub fn reverse_thinker(
    config: &Config,
    workspace: &Path,
    redactor: Arc<Redactor>,
    log: Arc<dyn AuditSink>,
) -> Result<Option<Arc<dyn ReverseThinker>>, Failure> {
    let Some(thinker) = &config.reverse_thinker else { return Ok(None) };
    Ok(Some(match &thinker.reach {
        PreflightReach::Endpoint(endpoint) => {
            Arc::new(external(config, workspace, thinker, endpoint)?)
        }
        PreflightReach::Model(name) => Arc::new(ConfiguredThinker {
            name: name.clone(),
            config: config.clone(),
            workspace: workspace.to_owned(),
            redactor,
            log,
            clock: Arc::new(SystemClock),
            time: thinker.time.unwrap_or(config.limits.checkpoint),
            administrators: thinker.administrators,
            opened: OnceCell::new(),
        }),
    }))
}

/// Who opens checkpoints, in place of the terminal.
pub fn checkpoint(
    config: &Config,
    workspace: &Path,
) -> Result<Option<Arc<dyn Checkpoint>>, Failure> {
    let Some(it) = &config.checkpoint else { return Ok(None) };
    let PreflightReach::Endpoint(endpoint) = &it.reach else { return Ok(None) };
    Ok(Some(Arc::new(external(config, workspace, it, endpoint)?)))
}

fn external(
    config: &Config,
    workspace: &Path,
    settings: &PreflightSettings,
    endpoint: &Endpoint,
) -> Result<ExternalPreflight, Failure> {
    let time = settings.time.unwrap_or(config.limits.checkpoint);
    let at = reached(endpoint, workspace, time)
        .map_err(|err| Failure::usage(format!("{}: {err}", settings.origin)))?;
    Ok(ExternalPreflight { at, time, administrators: settings.administrators })
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
