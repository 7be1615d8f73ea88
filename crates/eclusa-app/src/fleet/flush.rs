//! Waits until everything is at the server, and ships it where nobody else does.

use std::time::{Duration, Instant};

use eclusa::audit::{Clock as _, SystemClock};

use super::synchroniser::{Synchroniser, Turn, pause};
use crate::{failure::Failure, fleet_machine::machine_files, global::Global, paths::Paths};

/// How often it looks whether another process has shipped everything.
const LOOK: Duration = Duration::from_millis(100);

/// Ships what there is and says that this machine leaves. Says why the server does not know it; nothing where there is none.
pub async fn say_goodbye(global: &Global, paths: &Paths) -> Result<Option<String>, Failure> {
    match Synchroniser::open(global, paths)? {
        Turn::NoServer => Ok(None),
        Turn::Taken => Ok(Some("another process of this machine ships; end it first".to_owned())),
        Turn::Own(mut own) => Ok(own.leave().await.err()),
    }
}

/// Waits until everything that is on record now is at the server. An error says why it is not.
pub async fn flush(
    global: &Global,
    paths: &Paths,
    wait: Duration,
) -> Result<Result<(), String>, Failure> {
    let (begun, until) = (SystemClock.unix_ms(), Instant::now() + wait);
    let mut failures = 0;
    loop {
        let why = match Synchroniser::open(global, paths)? {
            Turn::NoServer => {
                return Err(Failure::usage("this machine is enrolled at no server").hint(
                    "`eclusa fleet enroll CODE`, with a code of `eclusa fleet invite --server URL`",
                ));
            }
            Turn::Own(mut own) => match own.ship().await {
                Ok(()) => return Ok(Ok(())),
                Err(why) => why,
            },
            Turn::Taken => {
                machine_files::ask_to_flush(paths)?;
                let state = machine_files::state(paths).map_err(Failure::failed)?;
                if state.as_ref().is_some_and(|it| it.caught_up >= begun) {
                    return Ok(Ok(()));
                }
                let stopped = state.and_then(|it| it.stopped().map(str::to_owned));
                stopped.unwrap_or_else(|| "another process ships, and has not ended".to_owned())
            }
        };
        if Instant::now() >= until {
            return Ok(Err(why));
        }
        failures += 1;
        let left = until.saturating_duration_since(Instant::now());
        tokio::time::sleep(pause(failures.min(1)).max(LOOK).min(left)).await;
    }
}
