//! Measures the log: so many callers at once, each writing the start and the end of a call and
//! waiting for both.
//!
//! `cargo run --release -p eclusa-store --example append -- [power-loss|crash] [CALLERS] [SECONDS] [DIRECTORY]`

use std::{
    error::Error,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use eclusa::audit::Log as _;
use eclusa::{AuditSink, audit::Draft};
use eclusa_store::{Durability, Options, SqliteStore};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let durability = match args.next().as_deref() {
        Some("crash") => Durability::Crash,
        _ => Durability::PowerLoss,
    };
    let callers: usize = args.next().as_deref().unwrap_or("64").parse()?;
    let seconds: u64 = args.next().as_deref().unwrap_or("5").parse()?;
    let directory = match args.next() {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from("target/bench-store"),
    };
    let path = directory.join(format!("{}.db", std::process::id()));
    let store = SqliteStore::open(&path, Options { durability, ..Options::default() })?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let mut times = runtime.block_on(measure(&store, callers, Duration::from_secs(seconds)))?;
    times.sort_unstable();
    let head = store.head()?;
    let at = |share: f64| {
        let place = (times.len() as f64 * share) as usize;
        times.get(place.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    println!(
        "{durability:?}, {callers} callers: {:.0} calls/s ({} records); one call p50 {:?} p99 {:?} p99.9 {:?} max {:?}",
        times.len() as f64 / seconds as f64,
        head.seq,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
    );
    let begun = Instant::now();
    store.verify()?;
    println!("verified {} records in {:?}; {}", head.seq, begun.elapsed(), path.display());
    Ok(store.close()?)
}

/// How long each call took.
async fn measure(
    store: &SqliteStore,
    callers: usize,
    time: Duration,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let over = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..callers)
        .map(|caller| tokio::spawn(calls(store.clone(), caller, over.clone())))
        .collect();
    tokio::time::sleep(time).await;
    over.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for task in tasks {
        times.append(&mut task.await??);
    }
    Ok(times)
}

async fn calls(
    store: SqliteStore,
    caller: usize,
    over: Arc<AtomicBool>,
) -> Result<Vec<Duration>, eclusa::audit::AuditError> {
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let started = store.append(Draft::new(body(caller, None))?).await?;
        let start = Some(started.seq);
        store.append(Draft::new(body(caller, start))?).await?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// As long as those of a small call.
fn body(caller: usize, start: Option<u64>) -> String {
    match start {
        None => format!(
            r#"{{"args":{{"text":"hello, this is caller {caller}"}},"args_sha256":"2f0b9d1f0c3f6f8e4f6ad3a3b0a4f1c7a9a1e9b6d8b7c6a5948372615049382f","at":1767225600000,"because":[{{"decision":"allow","origin":"eclusa.toml:12","text":"echo is always allowed"}}],"call":"call-{caller}","class":"generic","conversation":"bench","decision":"allow","event":"started","mode":"confirm-sensitive","origin":"native","principal":"bench","tool":"echo","tool_revision":"a1b2c3d4","v":1}}"#
        ),
        Some(start) => format!(
            r#"{{"args_sha256":"2f0b9d1f0c3f6f8e4f6ad3a3b0a4f1c7a9a1e9b6d8b7c6a5948372615049382f","at":1767225600000,"call":"call-{caller}","conversation":"bench","event":"ended","ms":0,"output":{{"bytes":26,"sha256":"7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069"}},"start":{start},"tool":"echo","v":1}}"#
        ),
    }
}
