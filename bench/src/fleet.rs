//! `eclusa-bench fleet --machines N`: the server of a fleet under load, beside raw `COPY` of the same records into the
//! same database. Everything runs here: PostgreSQL of the distribution in a directory, two servers of the program that
//! was built beside this one, and machines with keys and chains of their own, on loopback. It ends after some minutes.

mod answers;
mod database;
mod deployment;
mod machines;
mod records;
mod store;
mod wire;

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::measure::{self, Told};

/// The most machines that are played.
const MAX_MACHINES: usize = 10_000;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What is measured and how.
struct FleetLoad {
    machines: usize,
    /// For how long machines ship steadily.
    steady: Duration,
    /// The program.
    program: PathBuf,
}

impl FleetLoad {
    fn read(words: &[&str]) -> Result<FleetLoad, String> {
        let beside =
            std::env::current_exe().map_err(|err| err.to_string())?.with_file_name("eclusa");
        let mut load =
            FleetLoad { machines: 500, steady: Duration::from_secs(60), program: beside };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().copied().unwrap_or_default();
            let number = || value.parse::<usize>().map_err(|_| format!("`{word}` takes a number"));
            match *word {
                "--machines" => load.machines = number()?.clamp(10, MAX_MACHINES),
                "--seconds" => load.steady = Duration::from_secs(number()?.clamp(20, 600) as u64),
                "--program" => load.program = value.into(),
                _ => {
                    return Err(format!(
                        "`{word}`: use --machines N, --seconds N or --program FILE"
                    ));
                }
            }
        }
        match load.program.is_file() {
            true => Ok(load),
            false => Err(format!(
                "there is no program at `{}`; build it with `cargo build --release -p eclusa-cli`",
                load.program.display()
            )),
        }
    }
}

/// Measures, and keeps nothing.
pub(crate) fn run(words: &[&str], json: bool) -> Told {
    let load = FleetLoad::read(words)?;
    measure::begin("fleet", json);
    measure::tell(format_args!(
        "  (the machine's load at the beginning: {})",
        crate::report::load()
    ));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(whole(load)).map_err(|err| err.to_string())?;
    runtime.shutdown_timeout(Duration::from_secs(5));
    Ok(())
}

async fn whole(load: FleetLoad) -> Outcome<()> {
    let postgres = Arc::new(database::Postgres::start()?);
    store::measure(&postgres).await?;
    let deployment = deployment::Deployment::start(&load.program, &postgres).await?;
    machines::measure(&deployment, &postgres, &load).await?;
    answers::measure(&deployment, &postgres).await
}
