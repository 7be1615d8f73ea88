//! What changes while somebody looks: one task looks at all queues, and every open page is told
//! which question changed, and nothing else.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::{
    Response,
    body::{Bytes, Frame},
    header::{CONTENT_TYPE, HeaderValue},
};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    task::JoinHandle,
};

use super::Answer;
use crate::workspaces::Workspaces;

/// How often the queues are looked at.
const LOOK: Duration = Duration::from_millis(300);

/// How often a page that hears nothing is told that it is still connected.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(super) struct Live {
    changed: broadcast::Sender<String>,
    looking: JoinHandle<()>,
}

impl Live {
    pub(super) fn start(workspaces: Arc<dyn Workspaces>) -> Live {
        let (changed, _) = broadcast::channel(256);
        let tell = changed.clone();
        let looking = tokio::spawn(async move {
            let mut points: HashMap<String, u64> = HashMap::new();
            let mut first = true;
            loop {
                if tell.receiver_count() > 0 {
                    for workspace in workspaces.list() {
                        let Some(questions) = workspaces.questions(&workspace.key) else {
                            continue;
                        };
                        let known = points.get(&workspace.key).copied().unwrap_or(0);
                        let Ok((changed, point)) = questions.changes(known).await else {
                            continue;
                        };
                        points.insert(workspace.key.clone(), point);
                        // What changed before anybody looked is no news.
                        for id in changed.iter().filter(|_| !first) {
                            drop(tell.send(format!("{}/{id}", workspace.key)));
                        }
                    }
                    first = false;
                }
                tokio::time::sleep(LOOK).await;
            }
        });
        Live { changed, looking }
    }

    /// A stream of changes, for as long as the page is open.
    pub(super) fn stream(&self) -> Answer {
        let hello = stream::iter(["retry: 2000\n\n".to_owned()]);
        let news = stream::unfold(self.changed.subscribe(), |mut changed| async move {
            let news = match tokio::time::timeout(HEARTBEAT, changed.recv()).await {
                Ok(Ok(which)) => format!("event: changed\ndata: {which}\n\n"),
                // Some were missed: everything may have changed.
                Ok(Err(RecvError::Lagged(_))) => "event: changed\ndata: *\n\n".to_owned(),
                Ok(Err(RecvError::Closed)) => return None,
                Err(_elapsed) => ": still here\n\n".to_owned(),
            };
            Some((news, changed))
        });
        let frame = |text: String| Ok::<_, Infallible>(Frame::data(Bytes::from(text)));
        let body = StreamBody::new(hello.chain(news).map(frame));
        let mut answer = Response::new(body.boxed_unsync());
        let kind = HeaderValue::from_static("text/event-stream");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        answer
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.looking.abort();
    }
}
