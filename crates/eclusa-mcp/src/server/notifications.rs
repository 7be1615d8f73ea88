//! What a client is told without asking: tools, prompts and resources that come, go and change.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::Gate;
use rmcp::{
    ErrorData, RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam, ResourceUpdatedNotificationParam},
    service::{Peer, SubscriptionContext},
};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

use crate::{
    gateway::{Gateway, Notification, ResourceWatch},
    server::{startup::StartedGate, state::ServerState},
};

/// The resources that a client of the older era watches.
#[derive(Clone, Default)]
pub(crate) struct Subscriptions(Arc<Mutex<HashMap<String, ResourceWatch>>>);

impl Subscriptions {
    /// Subscriptions a resource too.
    pub(crate) fn watch(
        &self,
        gate: &Gate,
        gateway: &Gateway,
        uri: String,
    ) -> Result<(), ErrorData> {
        let watch = gateway.watch(gate, &uri)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri, watch);
        Ok(())
    }

    /// Ends the subscription to a resource.
    pub(crate) fn forget(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn has(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(uri)
    }
}

/// Which messages of servers a client of the older era wants to hear: from this level on.
pub(crate) type LevelFilter = Arc<Mutex<LoggingLevel>>;

fn current_level(level: &LevelFilter) -> LoggingLevel {
    *level.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that there is to hear.
struct Listener {
    tools: watch::Receiver<()>,
    servers: Option<(broadcast::Receiver<Notification>, broadcast::Receiver<Notification>)>,
}

impl Listener {
    fn new(opened: &StartedGate) -> Listener {
        let tools = opened.gate.registry().changes();
        Listener { tools, servers: opened.gateway.as_ref().map(|it| it.news()) }
    }

    /// What is new; `None` when nothing is going to be.
    async fn next(&mut self) -> Option<Notification> {
        let servers = async {
            loop {
                let Some((news, messages)) = self.servers.as_mut() else {
                    return std::future::pending().await;
                };
                let (heard, words) = tokio::select! {
                    biased;
                    news = news.recv() => (news, false),
                    message = messages.recv() => (message, true),
                };
                match heard {
                    Ok(Notification::Tools) => {}
                    // Words are missed by nobody.
                    Err(RecvError::Lagged(_)) if words => {}
                    // What was missed may have been anything that can be asked for.
                    Err(RecvError::Lagged(_)) => return Some(Notification::Resources),
                    Err(RecvError::Closed) => return None,
                    Ok(news) => return Some(news),
                }
            }
        };
        tokio::select! {
            changed = self.tools.changed() => changed.ok().map(|()| Notification::Tools),
            news = servers => news,
        }
    }
}

/// Tells a client of the older era, while it is there.
pub(crate) async fn forward(
    shared: Arc<ServerState>,
    watches: Subscriptions,
    level: LevelFilter,
    peer: Peer<RoleServer>,
) {
    let Ok(opened) = shared.opened().await else { return };
    let mut listener = Listener::new(&opened);
    while let Some(news) = listener.next().await {
        let told = match news {
            Notification::Tools => peer.notify_tool_list_changed().await,
            Notification::Prompts => peer.notify_prompt_list_changed().await,
            Notification::Resources => peer.notify_resource_list_changed().await,
            Notification::Updated(uri) if watches.has(&uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(&*uri)).await
            }
            Notification::Said(said) if said.level as u8 >= current_level(&level) as u8 => {
                let mut said = LoggingMessageNotificationParam::clone(&said);
                said.data = opened.gate.redactor().value(&said.data).0.into_owned();
                peer.notify_logging_message(said).await
            }
            Notification::Updated(_) | Notification::Said(_) => Ok(()),
        };
        if told.is_err() {
            return;
        }
    }
}

/// Tells a client of the newer era what it listens to, until it has heard enough.
pub(crate) async fn listen(
    shared: &ServerState,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let opened = shared.opened().await?;
    let mut listener = Listener::new(&opened);
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    let _watches: Vec<ResourceWatch> = match &opened.gateway {
        // What cannot be watched does not change, as far as anybody can forward.
        Some(gateway) => {
            gateway.ready().await;
            uris.iter().filter_map(|uri| gateway.watch(&opened.gate, uri).ok()).collect()
        }
        None => Vec::new(),
    };
    let sink = context.sink();
    loop {
        let news = tokio::select! {
            () = context.cancelled() => return Ok(()),
            () = shared.gone.cancelled() => return Ok(()),
            news = listener.next() => news,
        };
        // An error means that the client did not want to know, or is gone.
        let _ = match news {
            None => return Ok(()),
            Some(Notification::Tools) => sink.notify_tool_list_changed().await,
            Some(Notification::Prompts) => sink.notify_prompt_list_changed().await,
            Some(Notification::Resources) => sink.notify_resource_list_changed().await,
            Some(Notification::Updated(uri)) => sink.notify_resource_updated(&*uri).await,
            // In the newer era messages come with requests, and with nothing else.
            Some(Notification::Said(_)) => continue,
        };
    }
}
