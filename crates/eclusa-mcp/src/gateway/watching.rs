//! News of a server: lists that changed, and resources that did. Servers of the older era just
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

use super::upstream::{Line, Upstream};

/// How long a server is left alone that ended a subscription.
const PAUSE: Duration = Duration::from_secs(5);

/// How many resources of one server are watched at most.
const WATCHED: usize = 1000;

/// Something about a server that clients want to know.
#[derive(Debug, Clone)]
pub(crate) enum News {
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
const NEWS: usize = 256;
const MESSAGES: usize = 64;

/// Where news go. Messages go by themselves: whoever is late loses words and no news.
#[derive(Clone)]
pub(super) struct Spread {
    news: broadcast::Sender<News>,
    messages: broadcast::Sender<News>,
}

impl Default for Spread {
    fn default() -> Spread {
        let (news, messages) = (broadcast::Sender::new(NEWS), broadcast::Sender::new(MESSAGES));
        Spread { news, messages }
    }
}

impl Spread {
    /// News, and messages.
    pub(super) fn heard(&self) -> (broadcast::Receiver<News>, broadcast::Receiver<News>) {
        (self.news.subscribe(), self.messages.subscribe())
    }
}

/// How many messages that belong to no call a server may have passed on, in which time.
const WORDS: (u32, Duration) = (100, Duration::from_secs(10));

/// How many it has had lately.
#[derive(Default)]
pub(super) struct Ration(Mutex<(u32, Option<Instant>)>);

impl Ration {
    /// Takes one, if one is left.
    fn take(&self) -> bool {
        let mut had = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if had.1.is_none_or(|it| it.elapsed() > WORDS.1) {
            *had = (0, Some(Instant::now()));
        }
        had.0 += 1;
        had.0 <= WORDS.0
    }
}

/// The resources that somebody watches, and how many do.
pub(super) type Watched = watch::Sender<BTreeMap<String, usize>>;

/// A resource that is watched until this is dropped.
pub(crate) struct Watch {
    upstream: Arc<Upstream>,
    uri: String,
}

impl Drop for Watch {
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
    pub(super) fn watch(self: &Arc<Upstream>, uri: &str) -> Result<Watch, String> {
        let mut full = false;
        self.watched.send_modify(|watched| {
            full = watched.len() >= WATCHED && !watched.contains_key(uri);
            if !full {
                *watched.entry(uri.to_owned()).or_default() += 1;
            }
        });
        match full {
            false => Ok(Watch { upstream: self.clone(), uri: uri.to_owned() }),
            true => Err(format!("{WATCHED} resources of one server are watched at most")),
        }
    }

    /// Hears what a server tells.
    pub(super) fn heard_news(&self, news: News) {
        match &news {
            // It is told when it is known what has changed.
            News::Tools | News::Prompts | News::Resources => self.list_again(),
            News::Updated(uri) if self.watched.borrow().contains_key(&**uri) => self.spread(news),
            News::Updated(_) => {}
            News::Said(_) if self.ration.take() => self.spread(news),
            News::Said(_) => tracing::debug!(server = self.settings.name, "it says too much"),
        }
    }

    /// Tells clients.
    pub(super) fn spread(&self, news: News) {
        let to = match &news {
            News::Said(_) => &self.spread.messages,
            _ => &self.spread.news,
        };
        // An error means that there are none.
        let _ = to.send(news);
    }

    /// Has the server tell its news, for as long as it is up.
    pub(super) async fn hear_news(&self, line: &Line) {
        match line.modern() {
            true => self.listen(line).await,
            false => self.subscribe(line).await,
        }
    }

    /// Listens (2026-07-28). Who wants to watch something else has to listen anew.
    async fn listen(&self, line: &Line) {
        let mut watched = self.watched.subscribe();
        loop {
            let uris: Vec<String> = watched.borrow_and_update().keys().cloned().collect();
            let Some(filter) = filter(line, uris) else {
                // Nothing to hear, until somebody wants to.
                let _ = watched.changed().await;
                continue;
            };
            let Ok(mut listening) = line.peer.listen(filter).await else {
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
                    Ok(Some(told)) => self.told_of(told),
                    Ok(None) | Err(_) => {
                        sleep(PAUSE).await;
                        break;
                    }
                }
            }
        }
    }

    fn told_of(&self, told: ServerNotification) {
        match told {
            ServerNotification::ToolListChangedNotification(_) => self.heard_news(News::Tools),
            ServerNotification::PromptListChangedNotification(_) => self.heard_news(News::Prompts),
            ServerNotification::ResourceListChangedNotification(_) => {
                self.heard_news(News::Resources);
            }
            ServerNotification::ResourceUpdatedNotification(it) => {
                self.heard_news(News::Updated(it.params.uri.into()));
            }
            _ => {}
        }
    }

    /// Subscribes to what is watched, one by one (up to 2025-11-25).
    async fn subscribe(&self, line: &Line) {
        let mut watched = self.watched.subscribe();
        let mut subscribed = BTreeSet::new();
        loop {
            let wanted: BTreeSet<String> = watched.borrow_and_update().keys().cloned().collect();
            for uri in wanted.difference(&subscribed) {
                let request = SubscribeRequest::new(SubscribeRequestParams::new(uri));
                // An error means that it is not going to tell.
                let _ = line.peer.send_request(ClientRequest::SubscribeRequest(request)).await;
            }
            for uri in subscribed.difference(&wanted) {
                let request = UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri));
                let _ = line.peer.send_request(ClientRequest::UnsubscribeRequest(request)).await;
            }
            subscribed = wanted;
            // It cannot close: it is the server's own.
            let _ = watched.changed().await;
        }
    }
}

/// What the server can tell, and somebody wants to know; `None` for nothing.
fn filter(line: &Line, uris: Vec<String>) -> Option<SubscriptionFilter> {
    let info = line.peer.peer_info()?;
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
