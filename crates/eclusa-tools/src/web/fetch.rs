//! From an address to what is there, hop by hop.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    Address, Checked, Host, HostRules, HttpTransport, Resolver, SystemResolver, Transport,
    WebAnswer, WebError, cache::Cache, check,
};

/// How much one fetch may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// All of it, from the first name that is resolved to the last byte.
    pub time: Duration,
    /// Bytes of the body, unpacked, when the call does not say.
    pub bytes: usize,
    /// Bytes of the body, whatever the call says.
    pub most_bytes: usize,
    /// Redirects that are followed.
    pub redirects: usize,
    /// How long an answer is good for another call; zero keeps nothing.
    pub keep: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(30),
            bytes: 1024 * 1024,
            most_bytes: 10 * 1024 * 1024,
            redirects: 5,
            keep: Duration::from_secs(15 * 60),
        }
    }
}

/// What to do with a redirect to another host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Elsewhere {
    /// Follow it only if a rule names the host; otherwise say where it leads, because whoever
    /// agreed to this host has not agreed to that one.
    #[default]
    Named,
    /// Follow it wherever the rules allow.
    Allowed,
}

/// Says whether a host (with its port where that is not the usual one) may be asked, to which the
/// fetch was sent on; the error says why not.
pub type MayFetch<'a> = &'a (dyn Fn(&str) -> Result<(), String> + Sync);

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it was in the end.
    pub address: Address,
    /// Every other host that it led over, with its port where that is not the usual one.
    pub over: Vec<String>,
    /// The status of the last answer.
    pub status: u16,
    /// What the server says it is.
    pub content_type: Option<String>,
    /// How long the server says it is, as it was sent.
    pub length: Option<u64>,
    /// The body, unpacked, as far as it was wanted.
    pub body: Vec<u8>,
    /// True if there was more.
    pub cut: bool,
}

/// Fetches addresses within rules and limits.
pub struct Fetcher {
    rules: HostRules,
    resolver: Arc<dyn Resolver>,
    transport: Arc<dyn Transport>,
    limits: Limits,
    elsewhere: Elsewhere,
    cache: Cache,
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("rules", &self.rules)
            .field("limits", &self.limits)
            .field("elsewhere", &self.elsewhere)
            .finish_non_exhaustive()
    }
}

impl Fetcher {
    /// A fetcher that asks the operating system for names and connects over HTTP.
    pub fn new(rules: HostRules, limits: Limits) -> Fetcher {
        Fetcher {
            rules,
            resolver: Arc::new(SystemResolver),
            transport: Arc::new(HttpTransport),
            limits,
            elsewhere: Elsewhere::default(),
            cache: Cache::default(),
        }
    }

    /// The same, with somebody else to ask for names.
    #[cfg(test)]
    pub(crate) fn with_resolver(self, resolver: impl Resolver + 'static) -> Fetcher {
        Fetcher { resolver: Arc::new(resolver), ..self }
    }

    /// The same, with another way to ask servers.
    #[cfg(test)]
    pub(crate) fn with_transport(self, transport: impl Transport + 'static) -> Fetcher {
        Fetcher { transport: Arc::new(transport), ..self }
    }

    /// The same, with another way with redirects to other hosts.
    #[cfg(test)]
    pub(crate) fn with_elsewhere(self, elsewhere: Elsewhere) -> Fetcher {
        Fetcher { elsewhere, ..self }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Fetches what is at an address, at most `most` bytes of it, and tells whether it was known
    /// already.
    pub async fn fetch(
        &self,
        address: Address,
        most: Option<usize>,
    ) -> Result<(Arc<Fetched>, bool), WebError> {
        self.fetch_where(address, most, None).await
    }

    /// The same, where somebody else says which other hosts it may be sent on to.
    pub async fn fetch_where(
        &self,
        address: Address,
        most: Option<usize>,
        may: Option<MayFetch<'_>>,
    ) -> Result<(Arc<Fetched>, bool), WebError> {
        self.rules.judge(&address)?;
        let most = most.unwrap_or(self.limits.bytes).min(self.limits.most_bytes);
        let url = address.to_string();
        // What is known came over hosts that another call was permitted, and this one may not be.
        let permitted =
            |it: &Arc<Fetched>| may.is_none_or(|may| it.over.iter().all(|host| may(host).is_ok()));
        if let Some(known) = self.cache.get(&url, self.limits.keep, most).filter(permitted) {
            return Ok((known, true));
        }
        let all = tokio::time::timeout(self.limits.time, self.follow(address, most, may));
        let fetched = all
            .await
            .map_err(|_| WebError::Slow { url: url.clone(), limit: self.limits.time })??;
        let fetched = Arc::new(fetched);
        if fetched.status == 200 && !self.limits.keep.is_zero() {
            self.cache.insert(url, fetched.clone());
        }
        Ok((fetched, false))
    }

    async fn follow(
        &self,
        start: Address,
        most: usize,
        may: Option<MayFetch<'_>>,
    ) -> Result<Fetched, WebError> {
        let mut hop = self.check(start.clone()).await?;
        let mut over = Vec::new();
        for _ in 0..=self.limits.redirects {
            let answer = self.transport.get(&hop, most).await?;
            let Some(location) = &answer.location else { return Ok(fetched(hop, over, answer)) };
            let here = hop.address();
            let next = self.next(&start, here, location, may).await;
            hop = next.map_err(|why| match why {
                // These two say by themselves where they come from.
                WebError::Downgrade { .. } | WebError::Elsewhere { .. } => why,
                why => WebError::Redirect { from: here.to_string(), why: Box::new(why) },
            })?;
            let host = hop.address().authority();
            if host != start.authority() {
                over.push(host);
            }
        }
        Err(WebError::Loop { url: start.to_string(), limit: self.limits.redirects })
    }

    async fn next(
        &self,
        start: &Address,
        here: &Address,
        location: &str,
        may: Option<MayFetch<'_>>,
    ) -> Result<Checked, WebError> {
        let next = here.redirect(location)?;
        let agreed = match may {
            _ if next.authority() == start.authority() => Ok(()),
            Some(may) => may(&next.authority()),
            None if self.rules.names(&next) || self.elsewhere == Elsewhere::Allowed => Ok(()),
            None => Err("that host was not approved".to_owned()),
        };
        let Err(why) = agreed else { return self.check(next).await };
        // The name is not even resolved: the question alone would tell its owner something.
        self.rules.judge(&next)?;
        let (from, to) = (here.to_string(), next.to_string());
        if let Host::Ip(_) = next.host() {
            self.check(next).await?;
        }
        Err(WebError::Elsewhere { from, to, why })
    }

    async fn check(&self, address: Address) -> Result<Checked, WebError> {
        check(address, &self.rules, self.resolver.as_ref()).await
    }
}

fn fetched(hop: Checked, over: Vec<String>, answer: WebAnswer) -> Fetched {
    Fetched {
        address: hop.address().clone(),
        over,
        status: answer.status,
        content_type: answer.content_type,
        length: answer.length,
        body: answer.body,
        cut: answer.cut,
    }
}
