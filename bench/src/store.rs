//! Whole calls with the SQLite log, 64 callers at once, beside plain appends to a synced file.

use std::{
    fs::File,
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use eclusa::ToolCall;
use eclusa::audit::Log as _;
use eclusa_store::{Durability, Options, SqliteStore};

use crate::{
    gate::{args, setup},
    measure::{Told, rate},
};

const CALLERS: usize = 64;
const CALLS: usize = 1_000;

pub(crate) fn run() -> Told {
    let place = tempfile::tempdir_in(".")?;
    let baseline = synced_appends(&place.path().join("plain"))?;
    rate("baseline: write 128 records and fdatasync, as calls", baseline, "calls/s", baseline);
    for (name, durability) in [
        ("power-loss (goal: 30,000)", Durability::PowerLoss),
        ("crash (goal: 50,000)", Durability::Crash),
    ] {
        let mut best = 0.0_f64;
        for run in 0..5 {
            let file = place.path().join(format!("{name}-{run}.db"));
            best = best.max(calls_per_second(&file, durability)?);
        }
        rate(&format!("{CALLERS} callers, SQLite, {name}"), best, "calls/s", baseline);
    }
    Ok(())
}

/// What the disk gives: two records of 500 bytes for each of 64 calls, then a sync.
fn synced_appends(path: &Path) -> Result<f64, Box<dyn std::error::Error>> {
    let mut file = File::create(path)?;
    let batch = vec![b'x'; 2 * CALLERS * 500];
    let start = Instant::now();
    let mut batches = 0u32;
    while start.elapsed() < Duration::from_secs(1) {
        file.write_all(&batch)?;
        file.sync_data()?;
        batches += 1;
    }
    Ok(f64::from(batches) * CALLERS as f64 / start.elapsed().as_secs_f64())
}

fn calls_per_second(
    path: &Path,
    durability: Durability,
) -> Result<f64, Box<dyn std::error::Error>> {
    let store = SqliteStore::open(path, Options { durability, ..Options::default() })?;
    let gate = setup(Arc::new(store.clone()))?.build()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let start = Instant::now();
    let ok: usize = runtime.block_on(async {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let gate = gate.clone();
                tokio::spawn(async move {
                    let mut ok = 0;
                    for call in 0..CALLS {
                        let call = ToolCall::new(format!("{caller}-{call}"), "nothing", args());
                        ok += usize::from(gate.pass(call).await.code() == "ok");
                    }
                    ok
                })
            })
            .collect();
        let mut ok = 0;
        for caller in callers {
            ok += caller.await.unwrap_or_default();
        }
        ok
    });
    let took = start.elapsed();
    drop(gate);
    if ok != CALLERS * CALLS {
        return Err(format!("only {ok} of {} calls went through", CALLERS * CALLS).into());
    }
    store.verify()?;
    store.close()?;
    Ok(ok as f64 / took.as_secs_f64())
}
