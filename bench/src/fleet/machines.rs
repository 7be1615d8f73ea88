//! Machines at a server: all of them wait, ship a little now and then, and come back together with an hour's records.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{
    MachineKey, RequestLine, shipment,
    wire::{
        ChainHead, ChainRequest, ChainState, EnrolRequest, Enrolled, InForce, SyncAnswer,
        SyncRequest,
    },
};
use futures::{StreamExt as _, stream};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{sleep, sleep_until};

use super::{
    FleetLoad, Outcome,
    database::{Postgres, memory, worked},
    deployment::{Deployment, ServerProcess},
    records::{Dice, GrowingChain},
    wire::{Answer, Connection, REQUEST_TIME},
};
use crate::measure;

/// How often a machine ships, and how many records.
const EVERY: Duration = Duration::from_secs(10);
const AT_ONCE: usize = 4;

/// What a machine with 500 calls a day writes in an hour.
const HOUR: usize = 42;

/// How long everybody only waits while that is measured.
const WAITING: Duration = Duration::from_secs(20);

/// How long the records of an hour may take.
const MAX_BACKLOG: Duration = Duration::from_secs(600);

/// A machine of its own key and chain.
pub(super) struct PlayedMachine {
    pub(super) number: u32,
    pub(super) chain: u32,
    key: MachineKey,
    records: GrowingChain,
    connection: Connection,
    dice: Dice,
}

impl PlayedMachine {
    /// Enrols and begins its chain.
    pub(super) async fn enrol(
        deployment: &Deployment,
        server: usize,
        at: usize,
    ) -> Outcome<PlayedMachine> {
        let server = deployment.servers.get(server).ok_or("there is no such server")?;
        let (key, code) = (MachineKey::generate()?, &deployment.code);
        let request = EnrolRequest {
            invite: code.invite.clone(),
            secret: code.secret.clone(),
            key: key.public().to_base64(),
            name: format!("machine-{at}"),
        };
        let mut machine = PlayedMachine {
            number: 0,
            chain: 0,
            key,
            records: GrowingChain::new(at as u64 + 1),
            connection: Connection::new(server.at, at),
            dice: Dice::new(at as u64 + 77),
        };
        let enrolled: Enrolled = machine.ask("/v1/enroll", &request).await?;
        machine.number = enrolled.machine;
        let begins = ChainHead::from(machine.records.head);
        let request =
            ChainRequest { store: format!("store-{at}"), workspace: "/src/web".to_owned(), begins };
        let begun: ChainState = machine.ask("/v1/chains", &request).await?;
        machine.chain = begun.chain;
        Ok(machine)
    }

    /// Asks for what is answered at once.
    pub(super) async fn ask<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Outcome<T> {
        let body = serde_json::to_vec(body)?;
        for _ in 0..5 {
            let answer = self.send(("POST", path), &body, REQUEST_TIME).await?;
            match answer.status {
                200 => return Ok(serde_json::from_slice(&answer.body)?),
                503 => sleep(Duration::from_secs(answer.retry_after.clamp(1, 5))).await,
                status => {
                    let said = String::from_utf8_lossy(&answer.body).into_owned();
                    return Err(format!("{path}: {status}: {said}").into());
                }
            }
        }
        Err(format!("{path}: busy").into())
    }

    async fn send(
        &mut self,
        line: (&str, &str),
        body: &[u8],
        time: Duration,
    ) -> io::Result<Answer> {
        let (method, path) = line;
        let signed = RequestLine { fleet: "acme", method, path, body };
        let header = signed.sign(&self.key, self.number, SystemClock.unix_ms());
        self.connection.send(line, &header, body, time).await
    }

    /// A connection of its own for waiting.
    pub(super) fn waiting(&self, server: &ServerProcess) -> Outcome<PlayedMachine> {
        Ok(PlayedMachine {
            number: self.number,
            chain: self.chain,
            key: self.key.private_text().parse()?,
            records: self.records.clone(),
            connection: Connection::new(server.at, usize::try_from(self.number)?),
            dice: Dice::new(u64::from(self.number)),
        })
    }

    /// Waits for news, so many seconds at most.
    pub(super) async fn sync(
        &mut self,
        wait: u64,
        acks: Vec<eclusa_fleet::mirror::Ack>,
    ) -> Outcome<SyncAnswer> {
        let request = SyncRequest {
            program: "0.1.0".to_owned(),
            in_force: InForce { root: 1, policy: 1, people: 1 },
            documents: u64::MAX,
            wait,
            acks,
            ..SyncRequest::default()
        };
        let known = self.known().await?;
        let body = serde_json::to_vec(&SyncRequest { documents: known, ..request })?;
        let time = REQUEST_TIME + Duration::from_secs(wait);
        let answer = self.send(("POST", "/v1/sync"), &body, time).await?;
        match answer.status {
            200 => Ok(serde_json::from_slice(&answer.body)?),
            status => Err(format!("sync: {status}").into()),
        }
    }

    /// The number of the documents that there are, so that they are no news.
    async fn known(&mut self) -> Outcome<u64> {
        static KNOWN: tokio::sync::OnceCell<u64> = tokio::sync::OnceCell::const_new();
        let found = async {
            let request = SyncRequest { program: "0.1.0".to_owned(), ..SyncRequest::default() };
            let answer: SyncAnswer = self.ask("/v1/sync", &request).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(answer.documents)
        };
        KNOWN.get_or_try_init(|| found).await.copied()
    }

    /// Ships so many records, and comes again when it is told to. Says how long the shipment took that was taken.
    async fn ship(&mut self, count: usize, told: &mut Told, until: Instant) -> Outcome<()> {
        let before = self.records.head;
        let records = self.records.grow(count);
        let packed = shipment::pack(records.iter().map(|it| it.body.as_str()))?;
        let (chain, seq, hash) = (self.chain, before.seq, before.hash);
        let path = format!("/v1/records?chain={chain}&before={seq}&previous={hash}");
        while Instant::now() < until {
            let began = Instant::now();
            match self.send(("POST", &path), &packed, REQUEST_TIME).await {
                Ok(answer) if answer.status == 200 => {
                    told.latencies.push(began.elapsed());
                    told.records += count;
                    return Ok(());
                }
                Ok(answer) if answer.status == 503 => {
                    told.busy += 1;
                    let spread = Duration::from_millis(self.dice.below(1_000));
                    sleep(Duration::from_secs(answer.retry_after) + spread).await;
                }
                // It was kept, and the answer was lost.
                Ok(answer) if answer.status == 409 => {
                    told.again += 1;
                    let head = String::from_utf8_lossy(&answer.body)
                        .contains(&self.records.head.hash.to_string());
                    return if head { Ok(()) } else { Err("the server has another head".into()) };
                }
                Ok(answer) => return Err(format!("shipment: {}", answer.status).into()),
                Err(err) if err.kind() == io::ErrorKind::TimedOut => told.timed_out += 1,
                Err(_) => {
                    told.cut += 1;
                    sleep(Duration::from_millis(500)).await;
                }
            }
        }
        told.left += count;
        Ok(())
    }
}

/// What came of shipping.
#[derive(Default)]
struct Told {
    records: usize,
    latencies: Vec<Duration>,
    busy: usize,
    again: usize,
    timed_out: usize,
    cut: usize,
    left: usize,
}

impl Told {
    fn add(&mut self, other: Told) {
        self.records += other.records;
        self.latencies.extend(other.latencies);
        self.busy += other.busy;
        self.again += other.again;
        self.timed_out += other.timed_out;
        self.cut += other.cut;
        self.left += other.left;
    }

    fn tell(&self, what: &str) {
        measure::tell(format_args!(
            "  {what}: told to come later {}, recognised as kept {}, time-outs {}, cut {}, not shipped {}",
            self.busy, self.again, self.timed_out, self.cut, self.left
        ));
    }
}

/// What a phase costs.
struct Meter<'a> {
    began: Instant,
    server: &'a ServerProcess,
    postgres: &'a Postgres,
    worked: (Duration, Duration),
}

impl<'a> Meter<'a> {
    fn start(server: &'a ServerProcess, postgres: &'a Postgres) -> Meter<'a> {
        let worked = (worked(server.id()), postgres.worked());
        Meter { began: Instant::now(), server, postgres, worked }
    }

    /// Cores of the server and of PostgreSQL, and both for so many records.
    fn tell(&self, what: &str, records: usize) {
        let took = self.began.elapsed().as_secs_f64();
        let server = worked(self.server.id()).saturating_sub(self.worked.0).as_secs_f64();
        let postgres = self.postgres.worked().saturating_sub(self.worked.1).as_secs_f64();
        measure::number(&format!("{what}: cores of the server"), server / took, "");
        measure::number(&format!("{what}: cores of PostgreSQL"), postgres / took, "");
        if records > 0 {
            let micros = |it: f64| it * 1e6 / records as f64;
            measure::number(
                &format!("{what}: the server's processor for a record"),
                micros(server),
                "µs",
            );
            measure::number(
                &format!("{what}: PostgreSQL's processor for a record"),
                micros(postgres),
                "µs",
            );
        }
        let (now, most) = memory(self.server.id());
        measure::number(&format!("{what}: memory of the server"), now, "MB");
        measure::number(&format!("{what}: its memory at most so far"), most, "MB");
    }
}

pub(super) async fn measure(
    deployment: &Deployment,
    postgres: &Postgres,
    load: &FleetLoad,
) -> Outcome<()> {
    let [server, _] = &deployment.servers;
    let (began, count) = (Instant::now(), load.machines);
    let machines = stream::iter(0..count).map(|at| PlayedMachine::enrol(deployment, 0, at));
    let machines: Vec<_> = machines.buffer_unordered(32).collect().await;
    let machines = machines.into_iter().collect::<Outcome<Vec<_>>>()?;
    measure::number(
        &format!("{count} machines enrolled: a second"),
        count as f64 / began.elapsed().as_secs_f64(),
        "/s",
    );

    // Everybody waits, as machines do all the time.
    let stop = Arc::new(tokio::sync::Notify::new());
    let mut waiting = Vec::new();
    for it in &machines {
        let (mut machine, stop) = (it.waiting(server)?, stop.clone());
        waiting.push(tokio::spawn(async move {
            let forever = async {
                // They do not all come at one moment.
                sleep(Duration::from_millis(machine.dice.below(10_000))).await;
                let mut failed = 0_usize;
                loop {
                    if machine.sync(25, Vec::new()).await.is_err() {
                        failed += 1;
                        sleep(Duration::from_secs(1)).await;
                    }
                    if failed > 100 {
                        return;
                    }
                }
            };
            tokio::select! {
                () = forever => {}
                () = stop.notified() => {}
            }
        }));
    }
    sleep(Duration::from_secs(12)).await;
    let meter = Meter::start(server, postgres);
    sleep(WAITING).await;
    meter.tell(&format!("{count} machines that wait"), 0);

    let meter = Meter::start(server, postgres);
    let until = Instant::now() + load.steady;
    let ships = machines.into_iter().map(|mut it| {
        tokio::spawn(async move {
            let mut told = Told::default();
            let mut next = Instant::now() + Duration::from_millis(it.dice.below(10_000));
            while next < until {
                sleep_until(next.into()).await;
                it.ship(AT_ONCE, &mut told, until + REQUEST_TIME).await?;
                next += EVERY;
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((it, told))
        })
    });
    let (machines, told) = joined(ships.collect()).await?;
    meter.tell(&format!("{count} machines, {AT_ONCE} records each 10 s"), told.records);
    measure::plain("  a shipment, half of them", measure::middle(told.latencies.clone()));
    measure::plain(
        "  a shipment, one in a hundred takes longer",
        measure::percentile_99(told.latencies.clone()),
    );
    told.tell("steady");

    // All of them come back at one moment.
    let meter = Meter::start(server, postgres);
    let (began, until) = (Instant::now(), Instant::now() + MAX_BACKLOG);
    let ships = machines.into_iter().map(|mut it| {
        tokio::spawn(async move {
            let mut told = Told::default();
            it.ship(HOUR, &mut told, until).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((it, told))
        })
    });
    let (machines, told) = joined(ships.collect()).await?;
    let took = began.elapsed();
    meter.tell(&format!("an hour's backlog of {count} machines"), told.records);
    measure::number("  all of it is there after", took.as_secs_f64(), "s");
    measure::rate("  records a second", told.records as f64 / took.as_secs_f64(), "/s", 1.0);
    told.tell("backlog");
    stop.notify_waiters();
    for it in waiting {
        it.abort();
    }
    let client = postgres.connect("fleet").await?;
    let sql = "select count(*), sum(seq)::bigint, (select sum(last - first + 1)::bigint from segments) from chains";
    let rows = client.query_typed(sql, &[]).await?;
    let kept = rows
        .first()
        .map_or((0, 0, 0), |it| (it.get::<_, i64>(0), it.get::<_, i64>(1), it.get::<_, i64>(2)));
    let made: u64 = machines.iter().map(|it| it.records.head.seq).sum();
    measure::tell(format_args!(
        "  {} chains, {made} records made, {} at their heads, {} kept in segments",
        kept.0, kept.1, kept.2
    ));
    Ok(())
}

type Shipped = tokio::task::JoinHandle<Outcome<(PlayedMachine, Told)>>;

async fn joined(ships: Vec<Shipped>) -> Outcome<(Vec<PlayedMachine>, Told)> {
    let (mut machines, mut all) = (Vec::new(), Told::default());
    for it in ships {
        let (machine, told) = it.await??;
        machines.push(machine);
        all.add(told);
    }
    Ok((machines, all))
}
