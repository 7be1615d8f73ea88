//! The only way out of a sandbox: a proxy in this process, at a listener inside the sandbox's network.
//!
//! A program in the sandbox asks for a host by name. The name is judged by rules before anybody
//! resolves it; it is resolved once, here; every answer is judged; and the connection goes to an
//! address that was judged. A tunnel (`CONNECT`) carries TLS to the host that it was asked for and
//! nothing else: the name in the first message must be that of the host. A plain request is read,
//! checked and written anew, one for each connection, so that nothing can be smuggled behind it.
//! Programs that do not ask the proxy reach nothing, because there is nothing else.
//!
//! Each attempt is reported once, when it has ended, refused or not. Where others could find the listener, whoever
//! does not say its word is turned away, and is none of the command's attempts.
//!
//! One thread for each connection, at most [`Limits::connections`] of them: a command opens few,
//! and a sandbox that needs no runtime can be used anywhere.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    os::fd::OwnedFd,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use eclusa_net::metadata_service;
use rustix::event::{PollFd, PollFlags};

pub use eclusa_net::{Host, special};
pub use hosts::{HostRule, Hosts};
pub use resolve::{Resolver, SystemResolver};
pub use secret::ProxyListener;
pub(crate) use secret::ProxySecret;

mod head;
mod hello;
mod hosts;
mod live;
mod relay;
mod resolve;
mod secret;
mod serve;
#[cfg(test)]
mod tests;

/// Where the listener of a sandbox with hosts is, on its own loopback interface.
pub const PROXY_PORT: u16 = 3128;

/// What a proxy lets through, and whom it tells.
pub struct Proxy {
    hosts: Hosts,
    private: Vec<SocketAddr>,
    secret: Option<ProxySecret>,
    model_proxy: Option<ModelService>,
    resolver: Arc<dyn Resolver>,
    limits: Limits,
    report: AttemptReport,
}

/// Who is told of attempts.
type AttemptReport = Arc<dyn Fn(Attempt) + Send + Sync>;

/// How much a command may ask of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at the same time.
    pub connections: usize,
    /// Bytes of the head of a request.
    pub head: usize,
    /// How long a connection may be silent in both directions.
    pub idle: Duration,
    /// How long it may take to reach a host.
    pub connect: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 64,
            head: 32 * 1024,
            idle: Duration::from_secs(120),
            connect: Duration::from_secs(15),
        }
    }
}

/// A service that is asked for a sandbox, by somebody outside of it who has the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelService {
    /// Where that somebody listens.
    pub proxy: SocketAddr,
    /// The host of the service, as attempts name it.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// One attempt to reach a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Who was to be reached. Empty when that could not be read.
    pub host: String,
    /// At which port.
    pub port: u16,
    /// How.
    pub way: Way,
    /// The address that was connected to, or why none was.
    pub outcome: Result<SocketAddr, Refusal>,
    /// Bytes that the command sent to the host.
    pub sent: u64,
    /// Bytes that it got.
    pub received: u64,
}

/// How a host is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Through a tunnel that carries TLS.
    Tunnel,
    /// By a request that everybody on the way can read.
    Plain,
}

/// Why an attempt was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No rule allows the host.
    #[error("`{0}` is not among the hosts that this command may reach")]
    Host(String),
    /// A rule closes the host, whatever else allows it.
    #[error("a rule denies `{0}`")]
    Rule(String),
    /// The host has an address that is not public.
    #[error("`{host}` has the address {address}, which is {what}")]
    Special {
        /// The host.
        host: String,
        /// Its address.
        address: std::net::IpAddr,
        /// What is special about it.
        what: &'static str,
    },
    /// The host has no address.
    #[error("`{host}` cannot be resolved: {why}")]
    Unresolved {
        /// The host.
        host: String,
        /// What the resolver said.
        why: String,
    },
    /// Nobody answers.
    #[error("`{host}` cannot be reached: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// What the kernel said.
        why: String,
    },
    /// The tunnel would lead to another host than the one that was asked for.
    #[error("the tunnel was asked for `{asked}`, and the TLS greeting in it names `{named}`")]
    OtherName {
        /// The host that was asked for.
        asked: String,
        /// The host that the greeting names.
        named: String,
    },
    /// The tunnel does not say where it leads.
    #[error("what is sent through the tunnel to `{host}` is no TLS greeting that names it: {why}")]
    NoName {
        /// The host that was asked for.
        host: String,
        /// What is wrong with the greeting.
        why: &'static str,
    },
    /// A request that could be read in two ways, or in none.
    #[error("the request to the proxy is malformed: {0}")]
    Malformed(String),
    /// Somebody who is not the command of this proxy.
    #[error("this proxy is another command's: the address in `http_proxy` is the one to use")]
    Stranger,
    /// Too many at once.
    #[error("more than {0} connections at once")]
    Busy(usize),
    /// The command ended first.
    #[error("the command ended before the connection was made")]
    Ended,
}

impl Attempt {
    /// The smallest rule that would have let this attempt through. `None`: no rule would, or none
    /// is needed.
    pub fn grant(&self) -> Option<String> {
        match &self.outcome {
            _ if metadata_service(&self.host).is_some() => None,
            Err(Refusal::Host(_)) if self.port == self.way.usual_port() => Some(self.host.clone()),
            Err(Refusal::Host(_)) => Some(format!("{}:{}", self.host, self.port)),
            _ => None,
        }
    }
}

impl Way {
    /// The port that a rule means when it names none.
    pub fn usual_port(self) -> u16 {
        match self {
            Way::Tunnel => 443,
            Way::Plain => 80,
        }
    }
}

impl Proxy {
    /// A proxy that lets these hosts be reached and tells `report` of every attempt. `report` is
    /// called from the threads of the proxy, and never twice for one attempt.
    pub fn new(hosts: Hosts, report: impl Fn(Attempt) + Send + Sync + 'static) -> Proxy {
        Proxy {
            hosts,
            private: Vec::new(),
            secret: None,
            model_proxy: None,
            resolver: Arc::new(SystemResolver),
            limits: Limits::default(),
            report: Arc::new(report),
        }
    }

    /// The same, with another resolver than the system's.
    #[must_use]
    pub fn resolving(mut self, resolver: impl Resolver + 'static) -> Proxy {
        self.resolver = Arc::new(resolver);
        self
    }

    /// The same, with other limits.
    #[must_use]
    pub fn limited(mut self, limits: Limits) -> Proxy {
        self.limits = limits;
        self
    }

    /// The same, and this address and port may be connected to although it is not public.
    #[must_use]
    pub fn with_private(mut self, place: SocketAddr) -> Proxy {
        self.private.push(SocketAddr::new(place.ip().to_canonical(), place.port()));
        self
    }

    /// The same, and requests that are made to the proxy itself, as to any server, go here: to
    /// what asks a model for the sandbox, outside of it.
    #[must_use]
    pub fn with_model_proxy(mut self, service: ModelService) -> Proxy {
        self.model_proxy = Some(service);
        self
    }

    /// Serves a listener, wherever it was made: a socket stays in the network that it was made in.
    pub fn serve(mut self, listener: impl Into<ProxyListener>) -> io::Result<Serving> {
        let ProxyListener { listener, secret } = listener.into();
        self.secret = secret;
        let listener = TcpListener::from(listener);
        // Whoever called may have gone again between the poll and the accept.
        listener.set_nonblocking(true)?;
        let wake = Arc::new(crate::reach::wake_event()?);
        let live = Arc::new(live::Live::new(self.report.clone(), self.limits.connections));
        let mut serving = Serving { wake: wake.clone(), live: live.clone(), thread: None };
        let proxy = Arc::new(self);
        let accept = move || accept(&proxy, &listener, &wake, &live);
        serving.thread = Some(std::thread::Builder::new().name("proxy".to_owned()).spawn(accept)?);
        Ok(serving)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("hosts", &self.hosts).field("limits", &self.limits).finish()
    }
}

/// A proxy at work. It stops when this is dropped.
#[must_use = "a proxy stops when this is dropped"]
pub struct Serving {
    wake: Arc<OwnedFd>,
    live: Arc<live::Live>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Serving")
    }
}

impl Serving {
    /// Closes every connection. When this returns, every attempt has been reported, and no other
    /// will be.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
            // A thread that panicked serves nobody any more, which is what is wanted.
            let _ = thread.join();
            self.live.end();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.end();
    }
}

/// Takes calls until it is told to stop.
fn accept(proxy: &Arc<Proxy>, listener: &TcpListener, wake: &OwnedFd, live: &Arc<live::Live>) {
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        match rustix::event::poll(&mut ready, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let [_, woken] = &ready;
        if !woken.revents().is_empty() {
            return;
        }
        match listener.accept() {
            Ok((client, _)) => serve::start(proxy, live, client),
            // Out of descriptors, or the caller has gone: the next one may fare better.
            Err(err) if err.kind() != io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => {}
        }
    }
}
