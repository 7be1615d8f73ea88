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

/// How many connections there are, if a process may have as many files.
const CONNECTIONS: usize = 1000;
/// Files that client and server have open besides.
const OTHER_FILES: usize = 128;
/// How many clients call at the same moment; each has its share of the connections.
const CLIENTS: usize = 200;
/// How often they do.
const ROUNDS: usize = 25;

/// How long calls took, and what the server holds while all connections are there.
pub(super) struct Crowd {
    pub(super) connections: usize,
    pub(super) median: Duration,
    pub(super) slow: Duration,
    pub(super) memory: f64,
}

/// Calls a server as a crowd does.
pub(super) fn call(server: Command) -> Result<Crowd, Failed> {
    let web = Web::start(server)?;
    let count = CONNECTIONS.min(most_files()?.saturating_sub(OTHER_FILES));
    let connections =
        (0..count).map(|_| web.connect()).collect::<Result<Vec<Connection>, Failed>>()?;
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
    Ok(Crowd {
        connections: count,
        median: middle(took.clone()),
        slow: percentile_99(took),
        memory,
    })
}

/// How many files a process may have open here.
fn most_files() -> Result<usize, Failed> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|it| it.strip_prefix("Max open files"));
    let soft = line.and_then(|it| it.split_whitespace().next());
    Ok(soft.and_then(|it| it.parse().ok()).unwrap_or(usize::MAX))
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
