//! Keys of platforms that issue tokens to jobs: fetched when they are needed, kept for a while.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use eclusa_fleet::{IssuerKey, JobEnrolment, JobToken};
use futures::future::BoxFuture;

/// Fetches what an issuer publishes: a JSON Web Key Set.
pub type FetchKeys =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// How long keys are kept, and how soon they are fetched again where a token names another one.
const KEEP: Duration = Duration::from_secs(3_600);
const AGAIN: Duration = Duration::from_secs(60);

/// The keys that are known.
pub(crate) struct Issuers {
    fetch: Option<FetchKeys>,
    known: Mutex<HashMap<String, (Instant, Vec<IssuerKey>)>>,
}

impl Issuers {
    pub(crate) fn new(fetch: Option<FetchKeys>) -> Issuers {
        Issuers { fetch, known: Mutex::default() }
    }

    /// The keys of the issuer of a token, if the policy names it and no keys for it. Nobody else's are ever fetched.
    pub(crate) async fn keys(
        &self,
        enrolments: &[JobEnrolment],
        token: &JobToken,
    ) -> Result<Vec<IssuerKey>, String> {
        let issuer = token.issuer();
        if !enrolments.iter().any(|it| it.issuer == issuer && it.keys.is_empty()) {
            return Ok(Vec::new());
        }
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, keys)) = known().get(issuer) {
            let has = keys.iter().any(|it| it.kid == token.key());
            if at.elapsed() < if has { KEEP } else { AGAIN } {
                return Ok(keys.clone());
            }
        }
        let fetch = self.fetch.as_ref().ok_or("this server fetches no keys of issuers")?;
        let failed = |why: String| format!("the keys of `{issuer}` cannot be fetched: {why}");
        let text = fetch(issuer.to_owned()).await.map_err(failed)?;
        let keys = IssuerKey::parse_all(&text).map_err(|err| failed(err.to_string()))?;
        known().insert(issuer.to_owned(), (Instant::now(), keys.clone()));
        Ok(keys)
    }
}
