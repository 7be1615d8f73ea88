//! `eclusa fleet enroll --oidc`: the machine of a job enters a fleet by the identity token of its platform, without any secret.

use std::{env, path::Path};

use eclusa_fleet::{FleetAnchor, JobEnrolment};

use crate::{failure::Failure, fleet, paths::Paths, read_text::read_text};

/// The file of a policy that says which jobs may enrol. It is for the server and no layer of a machine.
pub(super) const ENROLMENTS: &str = "enroll.toml";

/// How a job says who it is, and which fleet it means.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct JobArgs {
    /// Enter as a job of CI, at this server, by the token of its platform
    #[arg(long, value_name = "URL", conflicts_with = "code")]
    pub(super) oidc: Option<String>,
    /// The file with the token; without it, ECLUSA_ID_TOKEN or what GitHub Actions hands out
    #[arg(long, value_name = "FILE", requires = "oidc")]
    token_file: Option<std::path::PathBuf>,
    /// For whom a token is asked of GitHub Actions; `eclusa-NAME` unless said
    #[arg(long, value_name = "NAME", requires = "oidc")]
    audience: Option<String>,
    /// The name of the fleet, where /etc/eclusa/eclusa.toml does not say it
    #[arg(long, value_name = "NAME", requires = "root")]
    fleet: Option<String>,
    /// The digest of its root
    #[arg(long, value_name = "sha256:DIGEST", requires = "fleet")]
    root: Option<String>,
}

/// The jobs that a directory of rules lets in.
pub(super) fn enrolments(dir: &Path) -> Result<Vec<JobEnrolment>, Failure> {
    let file = dir.join(ENROLMENTS);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read `{}`: {why}", file.display()))
    };
    let text = read_text(&file).map_err(|err| wrong(&err))?;
    JobEnrolment::parse_all(&text).map_err(|err| wrong(&err))
}

impl JobArgs {
    /// The fleet that is meant: the one that the administrator's file names, or that is named here.
    pub(super) fn anchor(&self, paths: &Paths) -> Result<FleetAnchor, Failure> {
        let named = match (&self.fleet, &self.root) {
            (Some(name), Some(root)) => {
                let root = root.parse().map_err(Failure::usage)?;
                Some(FleetAnchor { name: name.clone(), root, from: None })
            }
            _ => None,
        };
        let held = fleet::look(paths)?.map(|it| it.anchor);
        named.or(held).ok_or_else(|| {
            Failure::usage("nothing says which fleet is meant")
                .hint("pass `--fleet NAME --root sha256:DIGEST`, or put both into /etc/eclusa/eclusa.toml")
        })
    }

    /// The token of the job.
    pub(super) async fn token(&self, fleet: &str) -> Result<String, Failure> {
        if let Some(file) = &self.token_file {
            let text = read_text(file).map_err(|err| {
                Failure::usage(format!("cannot read `{}`: {err}", file.display()))
            })?;
            return Ok(text.trim().to_owned());
        }
        if let Ok(token) = env::var("ECLUSA_ID_TOKEN") {
            return Ok(token.trim().to_owned());
        }
        let (url, bearer) =
            (env::var("ACTIONS_ID_TOKEN_REQUEST_URL"), env::var("ACTIONS_ID_TOKEN_REQUEST_TOKEN"));
        let (Ok(url), Ok(bearer)) = (url, bearer) else {
            return Err(Failure::usage("there is no token of a job here").hint(
                "pass `--token-file FILE` or set ECLUSA_ID_TOKEN; in GitHub Actions give the job `id-token: write`",
            ));
        };
        let audience = self.audience.clone().unwrap_or_else(|| format!("eclusa-{fleet}"));
        fleet::ask_for_token(&url, &bearer, &audience).await
    }
}
