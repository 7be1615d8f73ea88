//! A witness at a server of a fleet in which it is nobody: seals, their roots and leaves are read by anyone.

use std::time::Duration;

use eclusa_fleet::{DocumentBundle, SealWitness, Witnessed, seal::TreeHash, wire::SealedLeaves};
use reqwest::{Client, Url};
use serde::de::DeserializeOwned;

use super::client::{plain_client, safe_address};
use crate::{failure::Failure, reviewers::service::chain};

/// How long a request may take.
const TIME: Duration = Duration::from_secs(20);

/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// The most leaves that a seal may be ahead: a server that never ends is not waited for.
const MAX_AHEAD: u64 = 50_000_000;

/// A server that is watched.
pub struct WatchedServer {
    http: Client,
    server: Url,
}

/// What a look at a server came to.
pub struct WitnessLook {
    /// The seal, as it was signed.
    pub note: String,
    /// What it is.
    pub found: Witnessed,
}

impl WatchedServer {
    /// The server at this address.
    pub fn new(server: &str) -> Result<WatchedServer, Failure> {
        let failed = |why: String| Failure::usage(format!("cannot watch `{server}`: {why}"));
        let url = safe_address(server).map_err(failed)?;
        Ok(WatchedServer { http: plain_client().map_err(failed)?, server: url })
    }

    /// Looks once, and lets the witness take what it sees. An error says why nothing was seen.
    pub async fn look(&self, witness: &mut SealWitness) -> Result<WitnessLook, String> {
        let roots: DocumentBundle = self.get("/log/roots").await?;
        let note: String = self.get("/log/checkpoint").await?;
        let seal = witness.read(&note, &roots).map_err(|err| err.to_string())?;
        let (mut leaves, from): (Vec<TreeHash>, u64) = (Vec::new(), witness.size());
        let wanted = seal.size.saturating_sub(from);
        if wanted > MAX_AHEAD {
            return Err(format!("the seal is {wanted} heads ahead, which is too much to read"));
        }
        let count = |leaves: &[TreeHash]| u64::try_from(leaves.len()).unwrap_or(u64::MAX);
        while count(&leaves) < wanted {
            let path = format!("/log/leaves?from={}", from + count(&leaves));
            let more: SealedLeaves = self.get(&path).await?;
            if more.leaves.is_empty() {
                break;
            }
            for it in &more.leaves {
                let hash = eclusa::Hash::from_hex(it);
                leaves.push(*hash.ok_or("the server gives a leaf that is no hash")?.as_bytes());
            }
        }
        // What was sealed after the seal that was read is for the next look.
        leaves.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
        let found = witness.take(&note, &seal, &leaves).map_err(|err| err.to_string())?;
        Ok(WitnessLook { note, found })
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, String> {
        let url = self.server.join(path).map_err(|err| err.to_string())?;
        let sent = self.http.get(url).timeout(TIME).send().await;
        let mut response =
            sent.map_err(|err| format!("the server is not reached: {}", chain(&err)))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|err| chain(&err))? {
            body.extend_from_slice(&part);
            if body.len() > MAX_ANSWER {
                return Err("its answer is too long".to_owned());
            }
        }
        if !status.is_success() {
            let said: eclusa_fleet::wire::RefusedRequest =
                serde_json::from_slice(&body).unwrap_or_default();
            return Err(format!("the server answered {status}: {}", said.error));
        }
        serde_json::from_slice(&body).map_err(|err| format!("its answer cannot be read: {err}"))
    }
}
