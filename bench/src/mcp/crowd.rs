//! A thousand connections to one server, and two hundred calls at once.

use std::{
    process::Command,
    sync::Barrier,
    time::{Duration, Instant},
};

use super::{
    Failed, resident,
    web::{Connection, Web},
};
use crate::measure::{middle, percentile_99};

/// How many connections there are.
const CONNECTIONS: usize = 1000;
/// How many clients call at the same moment; each has its share of the connections.
const CLIENTS: usize = 200;
/// How often they do.
const ROUNDS: usize = 25;

/// How long calls took, and what the server holds while all connections are there.
pub(super) struct Crowd {
    pub(super) median: Duration,
    pub(super) slow: Duration,
    pub(super) memory: f64,
}

/// Calls a server as a crowd does.
pub(super) fn call(server: Command) -> Result<Crowd, Failed> {
    let web = Web::start(server)?;
    let connections =
        (0..CONNECTIONS).map(|_| web.connect()).collect::<Result<Vec<Connection>, Failed>>()?;
    let mut shares: Vec<Vec<Connection>> = Vec::new();
    for (at, connection) in connections.into_iter().enumerate() {
        match shares.get_mut(at % CLIENTS) {
            Some(share) => share.push(connection),
            None => shares.push(vec![connection]),
        }
    }
    let barrier = Barrier::new(CLIENTS);
    let calls: Vec<Result<Vec<Duration>, String>> = std::thread::scope(|scope| {
        let clients: Vec<_> =
            shares.iter_mut().map(|it| scope.spawn(|| client(it, &barrier))).collect();
        let ended = |it: std::thread::ScopedJoinHandle<'_, _>| {
            it.join().unwrap_or_else(|_| Err("a client panicked".to_owned()))
        };
        clients.into_iter().map(ended).collect()
    });
    let memory = resident(web.child.id())?;
    let took = calls.into_iter().collect::<Result<Vec<_>, String>>()?.concat();
    Ok(Crowd { median: middle(took.clone()), slow: percentile_99(took), memory })
}

/// One client: at each signal one call, on one of its connections after the other. It stays for every
/// signal, so that nobody waits for it forever.
fn client(share: &mut [Connection], barrier: &Barrier) -> Result<Vec<Duration>, String> {
    let mut took = Vec::with_capacity(ROUNDS);
    let mut failed = None;
    let mut turns = (0..share.len()).cycle();
    for _ in 0..ROUNDS {
        barrier.wait();
        let began = Instant::now();
        let Some(connection) = turns.next().and_then(|at| share.get_mut(at)) else { continue };
        match connection.call("echo") {
            Ok(answer) if answer.contains("the same") => took.push(began.elapsed()),
            Ok(answer) => failed = Some(answer),
            Err(err) => failed = Some(err.to_string()),
        }
    }
    failed.map_or(Ok(took), Err)
}
