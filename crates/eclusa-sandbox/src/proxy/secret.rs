//! The word of a proxy that others could find: whoever does not say it is not served.
//!
//! Commands of one session share a loopback network, in which `/proc/net/tcp` shows where proxies listen. The
//! word is in the address that a command is given (`http://eclusa:WORD@127.x.y.z:PORT`), and programs send it
//! with each request.

use std::{fmt, net::TcpListener, os::fd::OwnedFd};

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// Who a command says it is. Nobody looks at it.
const NAME: &str = "eclusa";

/// The word of one proxy.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ProxySecret(String);

impl ProxySecret {
    /// The word that these bytes make, which nobody can guess.
    pub(crate) fn new(bytes: [u8; 16]) -> ProxySecret {
        ProxySecret(bytes.iter().map(|it| format!("{it:02x}")).collect())
    }

    /// What stands before the host in the address of the proxy.
    pub(crate) fn userinfo(&self) -> String {
        format!("{NAME}:{}@", self.0)
    }

    /// Whether the head of a request says the word, once.
    pub(super) fn is_said_in(&self, head: &[u8]) -> bool {
        let lines = head.split(|it| *it == b'\n').filter_map(|line| {
            let colon = line.iter().position(|it| *it == b':')?;
            let (name, value) = line.split_at_checked(colon)?;
            name.eq_ignore_ascii_case(b"proxy-authorization").then(|| value.get(1..))?
        });
        let said: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii).collect();
        let [said] = said.as_slice() else { return false };
        let Some((scheme, word)) = said.split_at_checked(6) else { return false };
        let expected = BASE64_STANDARD.encode(format!("{NAME}:{}", self.0));
        scheme.eq_ignore_ascii_case(b"basic ") && same(word.trim_ascii(), expected.as_bytes())
    }
}

/// Compares without telling how much was right.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differs == 0
}

impl fmt::Debug for ProxySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxySecret")
    }
}

/// Where a proxy takes calls, and the word that callers have to say, if others could find it.
#[derive(Debug)]
pub struct ProxyListener {
    pub(super) listener: OwnedFd,
    pub(super) secret: Option<ProxySecret>,
}

impl ProxyListener {
    #[cfg(enforced)]
    pub(crate) fn new(listener: OwnedFd, secret: Option<ProxySecret>) -> ProxyListener {
        ProxyListener { listener, secret }
    }
}

impl From<OwnedFd> for ProxyListener {
    fn from(listener: OwnedFd) -> ProxyListener {
        ProxyListener { listener, secret: None }
    }
}

impl From<TcpListener> for ProxyListener {
    fn from(listener: TcpListener) -> ProxyListener {
        OwnedFd::from(listener).into()
    }
}

impl From<ProxyListener> for TcpListener {
    fn from(listener: ProxyListener) -> TcpListener {
        listener.listener.into()
    }
}
