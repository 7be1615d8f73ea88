//! Who is connected. There is room for so many; where it is full, the oldest connection of a stranger
//! makes room, so that nobody who only connects keeps the page's owner out.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// One connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// Whether a request on it came with a session.
    proven: AtomicBool,
    closed: Notify,
}

/// The connections that are open, oldest first.
#[derive(Debug)]
pub(super) struct Connections {
    open: Mutex<Vec<Arc<Connection>>>,
    limit: usize,
}

/// The room of a connection, until it is dropped.
pub(super) struct Admission {
    connections: Arc<Connections>,
    connection: Arc<Connection>,
}

impl Connection {
    /// Somebody who is known is at the other end.
    pub(super) fn prove(&self) {
        self.proven.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Relaxed)
    }

    /// Resolves when it has to make room.
    pub(super) async fn closed(&self) {
        self.closed.notified().await;
    }
}

impl Connections {
    pub(super) fn new(limit: usize) -> Arc<Connections> {
        Arc::new(Connections { open: Mutex::default(), limit })
    }

    /// Lets another one in, in the place of the oldest stranger if need be. `None` where everybody
    /// who is connected is known.
    pub(super) fn admit(self: &Arc<Connections>) -> Option<Admission> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= self.limit {
            let stranger = open.iter().position(|it| !it.is_proven())?;
            open.remove(stranger).closed.notify_one();
        }
        let connection = Arc::new(Connection::default());
        open.push(connection.clone());
        Some(Admission { connections: self.clone(), connection })
    }
}

impl Admission {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|it| !Arc::ptr_eq(it, &self.connection));
    }
}

#[cfg(test)]
mod tests;
