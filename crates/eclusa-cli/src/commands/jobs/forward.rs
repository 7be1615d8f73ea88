//! `eclusa jobs forward`: what a job serves on its loopback network, for programs of the person.

use std::{io, net::Ipv4Addr, path::Path, sync::Arc, time::Duration};

use eclusa_sandbox::SharedNetwork;
use eclusa_tools::OwnerClient;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::found;
use crate::{failure::Failure, screen::Screen, signals::asked_to_end};

/// How often is looked whether the job still runs.
const STEP: Duration = Duration::from_secs(1);
/// The most connections at once.
const MAX_CONNECTIONS: usize = 256;

/// Forwards until the job has ended, or whoever asked for it ends it.
pub(super) async fn run(state: &Path, job: u64, port: u16, at: Option<u16>) -> Result<(), Failure> {
    let view = found(state, job)?;
    if !view.runs() {
        return Err(Failure::failed(format!("job {job} {}", view.state())));
    }
    let owner = OwnerClient::connect(state, &view.record.session).map_err(Failure::failed)?;
    let ending = || Failure::failed(format!("job {job} is ending"));
    let network = owner.ok_or_else(ending)?.network().map_err(Failure::failed)?;
    let none = || Failure::failed(format!("job {job} has no network of its own"));
    let network = network.ok_or_else(none)?;
    let at = (Ipv4Addr::LOCALHOST, at.unwrap_or(port));
    let listener = TcpListener::bind(at).await.map_err(|err| {
        Failure::failed(format!("port {} of this machine cannot be listened on: {err}", at.1))
            .hint("`--at PORT` takes another one")
    })?;
    let address = listener.local_addr()?;
    let mut screen = Screen::stdout();
    screen
        .line(&format!("http://{address} reaches port {port} of job {job}, until this is ended"))?;
    screen.flush()?;
    tokio::select! {
        () = serve(listener, network, port) => Ok(()),
        () = asked_to_end() => Ok(()),
        ended = until_it_ends(state, job) => {
            screen.line(&ended?)?;
            Ok(screen.flush()?)
        }
    }
}

async fn until_it_ends(state: &Path, job: u64) -> Result<String, Failure> {
    loop {
        tokio::time::sleep(STEP).await;
        let view = found(state, job)?;
        if !view.runs() {
            return Ok(format!("job {job} {}", view.state()));
        }
    }
}

async fn serve(listener: TcpListener, network: SharedNetwork, port: u16) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = listener.accept().await;
        let (Ok((stream, _)), Ok(turn)) = (accepted, room.clone().acquire_owned().await) else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let network = network.clone();
        tokio::spawn(async move {
            // An error means that one of the two went away.
            let _ = relay(stream, network, port).await;
            drop(turn);
        });
    }
}

async fn relay(mut stream: TcpStream, network: SharedNetwork, port: u16) -> io::Result<()> {
    let inside = tokio::task::spawn_blocking(move || network.connect(port)).await;
    let inside = inside.map_err(io::Error::other)??;
    inside.set_nonblocking(true)?;
    let mut inside = TcpStream::from_std(inside)?;
    copy_bidirectional(&mut stream, &mut inside).await.map(drop)
}
