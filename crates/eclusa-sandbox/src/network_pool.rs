//! Networks made before a sandbox wants one: a network namespace is the dearest part of a sandbox,
//! so a thread makes it for which nobody waits.
//!
//! INVARIANT: a network leaves the pool once, for one sandbox or one conversation, and never comes
//! back. It is then joined as a network that is shared is, and ends with whoever has it. Where none
//! is ready, a sandbox makes its own; one that is ready and cannot be joined is an error.

use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::capabilities::{Enforcement, HostCapabilities, Missing, Namespaces};
use crate::clone::{self, high};
use crate::shared_network::SharedNetwork;
use crate::step::SandboxError;

/// So many wait.
const READY: usize = 2;

/// The networks of those who have a user namespace, and of root, who has none.
static OF_USERS: NetworkPool = NetworkPool::new(Namespaces::User);
static OF_ROOT: NetworkPool = NetworkPool::new(Namespaces::Root);

/// Networks of one kind.
struct NetworkPool {
    namespaces: Namespaces,
    networks: Mutex<Networks>,
    taken: Condvar,
}

struct Networks {
    ready: Vec<SharedNetwork>,
    maker: Maker,
}

/// The thread that makes them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Maker {
    /// Nobody has wanted a network yet.
    Idle,
    /// Somebody has. A program that wants one more will want others too; one that runs a single
    /// command never gets here, and pays for nothing that it does not use.
    Wanted,
    /// It runs.
    Running,
    /// It could not go on: every sandbox makes its own.
    Gone,
}

/// A network that nobody has had, if one is ready.
pub(crate) fn take(namespaces: Namespaces) -> Option<SharedNetwork> {
    match namespaces {
        Namespaces::User => OF_USERS.take(),
        Namespaces::Root => OF_ROOT.take(),
        Namespaces::None => None,
    }
}

impl SharedNetwork {
    /// A network whose namespaces another process has open and has sent here: first the user namespace,
    /// where there is one, then the network.
    pub fn from_descriptors(fds: Vec<OwnedFd>) -> Result<SharedNetwork, SandboxError> {
        let mut fds = fds.into_iter().map(high).collect::<Result<Vec<_>, _>>()?;
        let network = fds.pop();
        let none = || SandboxError::Plan("descriptors of the network are missing".to_owned());
        Ok(SharedNetwork::from_namespaces(fds.pop(), network.ok_or_else(none)?))
    }

    /// A new network. There is none where there are no namespaces, or where none can be joined.
    pub fn new(capabilities: &HostCapabilities) -> Result<SharedNetwork, SandboxError> {
        let (namespaces, enforcement) = (capabilities.namespaces, capabilities.enforcement());
        let none = namespaces == Namespaces::None || enforcement == Enforcement::None;
        if none || !capabilities.join {
            return Err(SandboxError::Unable { lacking: Missing::Namespaces, enforcement });
        }
        take(namespaces).map_or_else(|| make(namespaces), Ok)
    }
}

/// Makes a network now.
pub(crate) fn make(namespaces: Namespaces) -> Result<SharedNetwork, SandboxError> {
    let (user, network) = clone::network(namespaces)?;
    let (user, network) = (user.map(high).transpose()?, high(network)?);
    Ok(SharedNetwork::from_namespaces(user, network))
}

/// Which ones are ready, for tests.
pub(crate) fn ready() -> Vec<u64> {
    let number = |it: &SharedNetwork| rustix::fs::fstat(it.network()).ok().map(|it| it.st_ino);
    let numbers = |pool: &NetworkPool| pool.lock().ready.iter().filter_map(number).collect();
    [&OF_USERS, &OF_ROOT].into_iter().flat_map(|it| -> Vec<u64> { numbers(it) }).collect()
}

impl NetworkPool {
    const fn new(namespaces: Namespaces) -> NetworkPool {
        let networks = Networks { ready: Vec::new(), maker: Maker::Idle };
        NetworkPool { namespaces, networks: Mutex::new(networks), taken: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Networks> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&'static self) -> Option<SharedNetwork> {
        let mut networks = self.lock();
        match networks.maker {
            Maker::Idle => networks.maker = Maker::Wanted,
            Maker::Wanted => {
                let thread = std::thread::Builder::new().name("network-pool".into());
                let started = thread.spawn(|| self.make_all());
                networks.maker = if started.is_ok() { Maker::Running } else { Maker::Gone };
            }
            Maker::Running | Maker::Gone => {}
        }
        let network = networks.ready.pop()?;
        drop(networks);
        self.taken.notify_one();
        Some(network)
    }

    /// What the thread does: keeps some ready, until one cannot be made.
    fn make_all(&self) {
        loop {
            let made = make(self.namespaces);
            let mut networks = self.lock();
            match made {
                Ok(network) => networks.ready.push(network),
                Err(_) => {
                    networks.maker = Maker::Gone;
                    return;
                }
            }
            while networks.ready.len() >= READY {
                networks = self.taken.wait(networks).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}
