//! Connections to PostgreSQL: a few, opened when they are needed, thrown away when anything went wrong on them.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{
    Client, Config, NoTls, Row,
    config::{Host, SslMode},
    types::{ToSql, Type},
};

use crate::{ServerError, metrics::micros};

/// How many connections an instance has.
const CONNECTIONS: usize = 8;

/// How long connecting may take.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// How long a statement may take, and how long somebody waits for a connection.
const STATEMENT_TIME: Duration = Duration::from_secs(10);

/// A value of a statement and its type.
pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The database of a fleet.
pub struct Database {
    config: Config,
    room: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// Statements that were sent, how many came to nothing, and how long they took, in microseconds.
    counted: [AtomicU64; 3],
}

/// A connection for a while. It is kept for the next one only after a success.
pub(crate) struct Lent<'a> {
    database: &'a Database,
    client: Option<Client>,
    _room: SemaphorePermit<'a>,
}

impl Database {
    /// The database at an address such as `postgres://user@localhost/fleet` or `host=/run/postgresql dbname=fleet`.
    pub fn open(address: &str) -> Result<Database, ServerError> {
        let mut config: Config = address.parse().map_err(|err| {
            ServerError::Address(format!("this is not the address of a PostgreSQL database: {err}"))
        })?;
        let local = |it: &Host| match it {
            Host::Unix(_) => true,
            Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        };
        if config.get_ssl_mode() == SslMode::Require || !config.get_hosts().iter().all(local) {
            return Err(ServerError::Address(
                "the database is reached without TLS, so only by a Unix socket or on this machine; put a pooler or a \
                 tunnel here that speaks TLS to it"
                    .to_owned(),
            ));
        }
        if config.get_hosts().is_empty() {
            config.host_path("/run/postgresql");
        }
        config.ssl_mode(SslMode::Disable).connect_timeout(CONNECT_TIME);
        config.application_name("eclusa");
        Ok(Database {
            config,
            room: Semaphore::new(CONNECTIONS),
            idle: Mutex::default(),
            counted: Default::default(),
        })
    }

    async fn connect(&self) -> Result<Client, ServerError> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move {
            // Whoever waits for an answer on it is told; there is nobody else to tell.
            drop(connection.await);
        });
        Ok(client)
    }

    /// Lends a connection.
    pub(crate) async fn lend(&self) -> Result<Lent<'_>, ServerError> {
        let room = within(async {
            self.room.acquire().await.map_err(|_| ServerError::Database("it is closed".to_owned()))
        })
        .await?;
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let client = loop {
            match idle() {
                Some(client) if client.is_closed() => {}
                Some(client) => break client,
                None => break within(self.connect()).await?,
            }
        };
        Ok(Lent { database: self, client: Some(client), _room: room })
    }

    /// Sends one statement.
    pub(crate) async fn query(
        &self,
        statement: &str,
        values: &[Parameter<'_>],
    ) -> Result<Vec<Row>, ServerError> {
        let began = Instant::now();
        let rows = async { self.lend().await?.query(statement, values).await }.await;
        let [statements, failures, time] = &self.counted;
        statements.fetch_add(1, Relaxed);
        failures.fetch_add(u64::from(rows.is_err()), Relaxed);
        time.fetch_add(micros(began.elapsed()), Relaxed);
        rows
    }

    /// How many statements were sent, how many came to nothing, and how long they took, in microseconds.
    pub(crate) fn counted(&self) -> (u64, u64, u64) {
        let [statements, failures, time] = &self.counted;
        (statements.load(Relaxed), failures.load(Relaxed), time.load(Relaxed))
    }

    /// Sends statements without values, in one transaction unless they say otherwise.
    pub(crate) async fn batch(&self, statements: &str) -> Result<(), ServerError> {
        let mut lent = self.lend().await?;
        let client = lent.client()?;
        client.batch_execute(statements).await?;
        lent.give_back(client);
        Ok(())
    }
}

impl Lent<'_> {
    /// The connection, which whoever takes it gives back after a success.
    pub(crate) fn client(&mut self) -> Result<Client, ServerError> {
        self.client.take().ok_or_else(|| ServerError::Database("the connection is gone".to_owned()))
    }

    pub(crate) fn give_back(&self, client: Client) {
        self.database.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
    }

    async fn query(
        &mut self,
        statement: &str,
        values: &[Parameter<'_>],
    ) -> Result<Vec<Row>, ServerError> {
        let client = self.client()?;
        let rows = within(async { Ok(client.query_typed(statement, values).await?) }).await?;
        self.give_back(client);
        Ok(rows)
    }
}

/// An error where it takes too long.
pub(crate) async fn within<T>(
    work: impl Future<Output = Result<T, ServerError>>,
) -> Result<T, ServerError> {
    match tokio::time::timeout(STATEMENT_TIME, work).await {
        Ok(done) => done,
        Err(_) => Err(ServerError::Database("it took longer than 10 s".to_owned())),
    }
}
