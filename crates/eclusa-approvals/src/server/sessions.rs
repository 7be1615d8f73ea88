//! Who is looking: links that work once, and the cookies that they are exchanged for.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use eclusa::{
    Hash,
    random::{RandomnessError, random_name},
};
use hyper::{HeaderMap, header::COOKIE};

/// How long the link works that is shown when the page is served: it is opened where it is read.
const LINK_TIME: Duration = Duration::from_secs(2 * 60);

/// How long somebody stays.
const SESSION_TIME: Duration = Duration::from_secs(12 * 60 * 60);

/// So many random bytes have a link and a cookie.
const CODE_BYTES: usize = 24;

/// So many may look at once; the oldest goes.
const MAX_SESSIONS: usize = 64;

/// Who looks.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) person: String,
    /// The key that this browser answers with.
    pub(super) key: String,
    since: Instant,
}

/// Everybody who may look. Only digests are kept, so that comparing tells nothing.
pub(super) struct Sessions {
    cookie: String,
    secure: bool,
    links: Mutex<HashMap<Hash, (String, Instant)>>,
    sessions: Mutex<HashMap<Hash, Session>>,
}

impl Sessions {
    /// Cookies know no ports, so each port has a name of its own.
    pub(super) fn new(port: u16, secure: bool) -> Sessions {
        let cookie = match secure {
            true => "__Host-eclusa-approvals".to_owned(),
            false => format!("eclusa-approvals-{port}"),
        };
        Sessions { cookie, secure, links: Mutex::default(), sessions: Mutex::default() }
    }

    /// The code of a link that lets this person in, once.
    pub(super) fn link(&self, person: &str) -> Result<String, RandomnessError> {
        let code = random_name::<CODE_BYTES>()?;
        let until = Instant::now() + LINK_TIME;
        lock(&self.links).insert(Hash::sha256(code.as_bytes()), (person.to_owned(), until));
        Ok(code)
    }

    /// Whose link this is. It works once, in time.
    pub(super) fn redeem(&self, code: &str, now: Instant) -> Option<String> {
        let (person, until) = lock(&self.links).remove(&Hash::sha256(code.as_bytes()))?;
        (now < until).then_some(person)
    }

    /// Lets somebody in, and gives the cookie for it.
    pub(super) fn open(&self, person: &str, key: &str) -> Result<String, RandomnessError> {
        let token = random_name::<CODE_BYTES>()?;
        let session =
            Session { person: person.to_owned(), key: key.to_owned(), since: Instant::now() };
        let mut all = lock(&self.sessions);
        if all.len() >= MAX_SESSIONS {
            let oldest = all.iter().min_by_key(|(_, it)| it.since).map(|(hash, _)| *hash);
            oldest.and_then(|it| all.remove(&it));
        }
        all.insert(Hash::sha256(token.as_bytes()), session);
        let secure = if self.secure { "; Secure" } else { "" };
        let (name, time) = (&self.cookie, SESSION_TIME.as_secs());
        Ok(format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={time}{secure}"))
    }

    /// Who sends this request.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<Session> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
        let pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        let mut ours = pairs.filter(|(name, _)| *name == self.cookie);
        // Another port of this host can set a second one, but not make one that counts.
        let (_, token) = ours.find(|(_, it)| self.has(it))?;
        lock(&self.sessions).get(&Hash::sha256(token.as_bytes())).cloned()
    }

    fn has(&self, token: &str) -> bool {
        let all = lock(&self.sessions);
        let found = all.get(&Hash::sha256(token.as_bytes()));
        found.is_some_and(|it| it.since.elapsed() < SESSION_TIME)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
