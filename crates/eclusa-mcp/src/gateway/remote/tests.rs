//! A server at an address that is down until somebody has logged in to it.

use std::{io, sync::Mutex, time::Duration};

use tokio::time::timeout;

use super::{Credentials, logged_in_anew};

/// One token in memory.
#[derive(Default)]
struct OneToken(Mutex<Option<Vec<u8>>>);

impl Credentials for OneToken {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn load(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn keep(&self, _: &str, token: Option<&[u8]>) -> io::Result<()> {
        *self.0.lock().unwrap() = token.map(<[u8]>::to_vec);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_is_tried_again_once_somebody_has_logged_in() {
    let keys = OneToken::default();
    for token in [b"one", b"two"] {
        let mut waiting = Box::pin(logged_in_anew("notes", &keys));
        // The clock stands still but for those who wait.
        assert!(timeout(Duration::from_secs(3600), &mut waiting).await.is_err());
        keys.keep("notes", Some(token)).unwrap();
        assert!(timeout(Duration::from_secs(2), waiting).await.is_ok());
    }
}
