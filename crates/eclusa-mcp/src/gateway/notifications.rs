//! Notifications of a server: lists that changed, and resources that did. Servers of the older era just
//! tell; those of the newer one are listened to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::model::{
    ClientRequest, LoggingMessageNotificationParam, ServerNotification, SubscribeRequest,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequest, UnsubscribeRequestParams,
};
use tokio::{
    sync::{broadcast, watch},
    time::{Instant, sleep},
};

use super::upstream::{Connection, Upstream};
use crate::era::Era;

/// How long a server is left alone that ended a subscription.
const RESUBSCRIBE_PAUSE: Duration = Duration::from_secs(5);

/// How many resources of one server are watched at most.
const MAX_WATCHED: usize = 1000;

/// Something about a server that clients want to know.
#[derive(Debug, Clone)]
pub(crate) enum Notification {
    /// It has other tools. Clients hear of those from the registry.
    Tools,
    /// It has other prompts.
    Prompts,
    /// It has other resources.
    Resources,
    /// What is in this resource has changed.
    Updated(Arc<str>),
    /// It says something that belongs to no call.
    Said(Arc<LoggingMessageNotificationParam>),
}

/// How many news, and how many messages, a client may be behind.
const NOTIFICATION_BACKLOG: usize = 256;
const LOG_BACKLOG: usize = 64;

/// Where news go. Messages go by themselves: whoever is late loses words and no news.
#[derive(Clone)]
pub(super) struct Broadcaster {
    news: broadcast::Sender<Notification>,
    messages: broadcast::Sender<Notification>,
}

impl Default for Broadcaster {
    fn default() -> Broadcaster {
        let (news, messages) =
            (broadcast::Sender::new(NOTIFICATION_BACKLOG), broadcast::Sender::new(LOG_BACKLOG));
        Broadcaster { news, messages }
    }
}

impl Broadcaster {
    /// Subscribes to notifications, and to messages of the log.
    pub(super) fn heard(
        &self,
    ) -> (broadcast::Receiver<Notification>, broadcast::Receiver<Notification>) {
        (self.news.subscribe(), self.messages.subscribe())
    }
}

/// How many messages that belong to no call a server may have passed on, in which time.
const LOG_RATE: (u32, Duration) = (100, Duration::from_secs(10));

/// How many it has had lately.
#[derive(Default)]
pub(super) struct RateLimit(Mutex<(u32, Option<Instant>)>);

impl RateLimit {
    /// Takes one, if one is left.
    pub(super) fn take(&self) -> bool {
        let mut had = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if had.1.is_none_or(|it| it.elapsed() > LOG_RATE.1) {
            *had = (0, Some(Instant::now()));
        }
        had.0 += 1;
        had.0 <= LOG_RATE.0
    }
}

/// The resources that somebody watches, and how many do.
pub(super) type Watched = watch::Sender<BTreeMap<String, usize>>;

/// A resource that is watched until this is dropped.
pub(crate) struct ResourceWatch {
    upstream: Arc<Upstream>,
    uri: String,
}

impl Drop for ResourceWatch {
    fn drop(&mut self) {
        self.upstream.watched.send_modify(|watched| {
            if let Some(count) = watched.get_mut(&self.uri) {
                *count -= 1;
            }
            watched.retain(|_, count| *count > 0);
        });
    }
}

impl Upstream {
    /// Watches a resource.
    pub(super) fn watch(self: &Arc<Upstream>, uri: &str) -> Result<ResourceWatch, String> {
        let mut full = false;
        self.watched.send_modify(|watched| {
            full = watched.len() >= MAX_WATCHED && !watched.contains_key(uri);
            if !full {
                *watched.entry(uri.to_owned()).or_default() += 1;
            }
        });
        match full {
            false => Ok(ResourceWatch { upstream: self.clone(), uri: uri.to_owned() }),
            true => Err(format!("{MAX_WATCHED} resources of one server are watched at most")),
        }
    }

    /// Hears what a server tells.
    pub(super) fn handle_notification(&self, news: Notification) {
        match &news {
            // It is told when it is known what has changed.
            Notification::Tools | Notification::Prompts | Notification::Resources => {
                self.list_again()
            }
            Notification::Updated(uri) if self.watched.borrow().contains_key(&**uri) => {
                self.spread(news)
            }
            Notification::Updated(_) => {}
            Notification::Said(_) => self.spread(news),
        }
    }

    /// Tells clients.
    pub(super) fn spread(&self, news: Notification) {
        let to = match &news {
            Notification::Said(_) => &self.spread.messages,
            _ => &self.spread.news,
        };
        // An error means that there are none.
        let _ = to.send(news);
    }

    /// Has the server tell its news, for as long as it is up.
    pub(super) async fn receive_notifications(&self, connection: &Connection) {
        match connection.era {
            Era::Stateless => self.listen(connection).await,
            Era::Legacy => self.subscribe(connection).await,
        }
    }

    /// Listens (2026-07-28). Who wants to watch something else has to listen anew.
    async fn listen(&self, connection: &Connection) {
        let mut watched = self.watched.subscribe();
        loop {
            let uris: Vec<String> = watched.borrow_and_update().keys().cloned().collect();
            let Some(filter) = filter(connection, uris) else {
                // Nothing to hear, until somebody wants to.
                let _ = watched.changed().await;
                continue;
            };
            let Ok(mut listening) = connection.peer.listen(filter).await else {
                // It cannot: it is asked again when there is something else to ask.
                let _ = watched.changed().await;
                continue;
            };
            loop {
                let told = tokio::select! {
                    told = listening.next() => told,
                    _ = watched.changed() => break,
                };
                match told {
                    Ok(Some(told)) => self.handle_server_notification(told),
                    Ok(None) | Err(_) => {
                        sleep(RESUBSCRIBE_PAUSE).await;
                        break;
                    }
                }
            }
        }
    }

    fn handle_server_notification(&self, told: ServerNotification) {
        match told {
            ServerNotification::ToolListChangedNotification(_) => {
                self.handle_notification(Notification::Tools)
            }
            ServerNotification::PromptListChangedNotification(_) => {
                self.handle_notification(Notification::Prompts)
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                self.handle_notification(Notification::Resources);
            }
            ServerNotification::ResourceUpdatedNotification(it) => {
                self.handle_notification(Notification::Updated(it.params.uri.into()));
            }
            _ => {}
        }
    }

    /// Subscribes to what is watched, one by one (up to 2025-11-25).
    async fn subscribe(&self, connection: &Connection) {
        let mut watched = self.watched.subscribe();
        let mut subscribed = BTreeSet::new();
        loop {
            let wanted: BTreeSet<String> = watched.borrow_and_update().keys().cloned().collect();
            for uri in wanted.difference(&subscribed) {
                let request = SubscribeRequest::new(SubscribeRequestParams::new(uri));
                // An error means that it is not going to tell.
                let _ =
                    connection.peer.send_request(ClientRequest::SubscribeRequest(request)).await;
            }
            for uri in subscribed.difference(&wanted) {
                let request = UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri));
                let _ =
                    connection.peer.send_request(ClientRequest::UnsubscribeRequest(request)).await;
            }
            subscribed = wanted;
            // It cannot close: it is the server's own.
            let _ = watched.changed().await;
        }
    }
}

/// What the server can tell, and somebody wants to know; `None` for nothing.
fn filter(connection: &Connection, uris: Vec<String>) -> Option<SubscriptionFilter> {
    let info = connection.peer.peer_info()?;
    let can = &info.capabilities;
    let mut filter = SubscriptionFilter::default();
    let told = |it: Option<Option<bool>>| it.flatten().filter(|it| *it);
    filter.tools_list_changed = told(can.tools.as_ref().map(|it| it.list_changed));
    filter.prompts_list_changed = told(can.prompts.as_ref().map(|it| it.list_changed));
    filter.resources_list_changed = told(can.resources.as_ref().map(|it| it.list_changed));
    let watches = told(can.resources.as_ref().map(|it| it.subscribe)).is_some();
    filter.resource_subscriptions = Some(uris).filter(|it| watches && !it.is_empty());
    (filter != SubscriptionFilter::default()).then_some(filter)
}
