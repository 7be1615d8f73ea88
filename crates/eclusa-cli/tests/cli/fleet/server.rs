//! Servers and machines of a fleet, as real processes, and requests that no machine of ours would send.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use eclusa_fleet::{EnrolmentCode, MachineKey, RequestLine, wire};
use serde_json::Value;

use super::{Fleet, postgres::TestDatabase};
use crate::world::{World, until};

/// A server that runs.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
}

impl Server {
    pub(super) fn start(world: &World, database: &str) -> Server {
        Server::start_with(world, database, &[])
    }

    pub(super) fn start_with(world: &World, database: &str, more: &[&str]) -> Server {
        let sealing = ["--seal-key", "../acme/keys/acme-seal-1.key"];
        Server::start_sealing(world, database, &[&sealing, more].concat())
    }

    /// One with another key of `seal`.
    pub(super) fn start_sealing(world: &World, database: &str, more: &[&str]) -> Server {
        let args = ["fleet", "serve", "--database", database, "--listen", "127.0.0.1:0"];
        let mut command = world.command(&[&args[..], &["--seal-every", "1"], more].concat());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("serving at ").unwrap_or_else(|| panic!("{line:?}"));
        Server { url: url.to_owned(), child }
    }

    pub(super) fn end(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A fleet with a server.
pub(super) struct Trail {
    pub(super) fleet: Fleet,
    pub(super) database: TestDatabase,
    pub(super) server: Server,
}

impl Trail {
    /// `None` where there is no PostgreSQL.
    pub(super) fn new() -> Option<Trail> {
        let database = TestDatabase::new()?;
        let fleet = Fleet::new(&[]);
        fleet.push("# one\n");
        migrate(&fleet, &database.address());
        let server = Server::start(&fleet.world, &database.address());
        Some(Trail { fleet, database, server })
    }

    /// A code for this many machines.
    pub(super) fn code(&self, uses: &str) -> String {
        code(&self.fleet, &self.server.url, uses)
    }

    /// A code for one machine with these labels.
    pub(super) fn code_of(&self, labels: &[&str]) -> String {
        let args = [&["invite", "--server", &self.server.url, "--team", "web"], labels].concat();
        let ran = self.fleet.signed(&args, "--documents", "enroll-1");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out.split_whitespace().last().unwrap().to_owned()
    }

    /// A machine that was enrolled at the server.
    pub(super) fn machine(&self) -> World {
        enrolled_at(&self.fleet, &self.server.url)
    }

    /// Waits until every head is sealed, of machines and of what was administered. Says how many seals cover.
    pub(super) fn sealed(&self) -> u64 {
        let open = "select (select count(*) from chains where sealed < seq) + coalesce((select max(seq) from acts), 0)
                    - coalesce((select max(seq) from leaves where chain = 0), 0)";
        until("everything is sealed", || (self.database.query(open) == "0").then_some(()));
        self.database.query("select max(size) from seals").parse().unwrap()
    }

    /// A key that was let in, for requests of one's own, and its number.
    pub(super) fn stranger(&self) -> (MachineKey, u32) {
        let key = MachineKey::generate().unwrap();
        let body = enrolment(&self.code("1"), &key);
        let (status, said) = signed(&self.server.url, &key, 0, "/v1/enroll", &body);
        assert_eq!(status, 200, "{said}");
        (key, said["machine"].as_u64().unwrap().try_into().unwrap())
    }
}

pub(super) fn migrate(fleet: &Fleet, database: &str) {
    let documents = fleet.documents().display().to_string();
    let args = ["fleet", "migrate", "--database", database, "--documents", &documents];
    let ran = fleet.world.eclusa(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
}

pub(super) fn code(fleet: &Fleet, server: &str, uses: &str) -> String {
    let args = ["invite", "--server", server, "--team", "web", "--uses", uses];
    let ran = fleet.signed(&args, "--documents", "enroll-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out.split_whitespace().last().unwrap().to_owned()
}

pub(super) fn enrolled_at(fleet: &Fleet, server: &str) -> World {
    let machine = worker();
    let ran = machine.eclusa(&["fleet", "enroll", &code(fleet, server, "1")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    machine
}

/// A machine on which `note` is allowed.
pub(super) fn worker() -> World {
    World::with("[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n")
}

/// Runs so many calls, which have two records each.
pub(super) fn work(machine: &World, calls: usize) {
    for _ in 0..calls {
        let ran = machine.eclusa(&["run", "note", "text=hello"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

/// The body of an enrolment.
pub(super) fn enrolment(code: &str, key: &MachineKey) -> Vec<u8> {
    let code: EnrolmentCode = code.parse().unwrap();
    let request = wire::EnrolRequest {
        invite: code.invite,
        secret: code.secret,
        key: key.public().to_base64(),
        name: "test".to_owned(),
    };
    serde_json::to_vec(&request).unwrap()
}

pub(super) fn now() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    since.as_millis().try_into().unwrap()
}

/// A request as a machine signs it.
pub(super) fn signed(
    server: &str,
    key: &MachineKey,
    machine: u32,
    path: &str,
    body: &[u8],
) -> (u16, Value) {
    let line = RequestLine { fleet: "acme", method: "POST", path, body };
    send(server, "POST", path, &line.sign(key, machine, now()), body)
}

/// Any request.
pub(super) fn send(
    server: &str,
    method: &str,
    path: &str,
    authorization: &str,
    body: &[u8],
) -> (u16, Value) {
    let address = server.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\
         authorization: {authorization}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server may answer before it has read all of it.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
    let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}
