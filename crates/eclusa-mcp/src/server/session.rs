//! Which session a request is part of, and when one ends.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use eclusa::Run;
use rmcp::{RoleServer, service::RequestContext};

use crate::{
    era::Era,
    server::{handler::Server, state::ServerState},
};

impl Server {
    /// A server over HTTP, where a client of the newer era comes anew with each request.
    pub(crate) fn over_http(shared: Arc<ServerState>) -> io::Result<Server> {
        let mut server = Server::new(shared)?;
        server.stays = false;
        Ok(server)
    }

    /// The session that a request is part of.
    pub(crate) fn session(&self, context: &RequestContext<RoleServer>) -> Arc<str> {
        if !self.stays && Era::of_request(context) == Era::Stateless {
            let client = context.client_info().map(|it| it.name).unwrap_or_default();
            return self.shared.session(&client);
        }
        self.spoken.store(true, Ordering::Relaxed);
        self.session.clone()
    }
}

impl Drop for Server {
    /// The client is gone, and its session with it.
    fn drop(&mut self) {
        if !*self.spoken.get_mut() {
            return;
        }
        if let Some(opened) = self.shared.opened_now() {
            let run = opened.gate.run().clone();
            let run = Run { session: self.session.clone(), ..run };
            opened.gate.for_run(run).end_session();
        }
    }
}
