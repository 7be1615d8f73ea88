//! How a server is operated: whether it is of use, what it counts, and the files for those who watch it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Stdio,
};

use regex::Regex;

use super::{
    DENY_TIME, Fleet,
    postgres::Postgres,
    server::{enrolled_at, migrate, work},
    sync,
};
use crate::world::until;

/// What is at an address.
fn get(server: &str, path: &str) -> (u16, String) {
    let address = server.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split_whitespace().nth(1).unwrap().parse().unwrap(), body.to_owned())
}

fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/fleet");
    fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn a_server_says_how_it_is() {
    let Some(mut postgres) = Postgres::start() else { return };
    let fleet = Fleet::new(&[]);
    fleet.push(DENY_TIME);
    postgres.query("postgres", "create database fleet");
    let address = postgres.address("fleet");
    migrate(&fleet, &address);
    let sealing = ["--seal-key", "../acme/keys/acme-seal-1.key", "--seal-every", "1"];
    let here = ["--listen", "127.0.0.1:0", "--operations", "127.0.0.1:0"];
    let args = [&["fleet", "serve", "--database", &address], &sealing[..], &here[..]].concat();
    let mut command = fleet.world.command(&args);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.next().unwrap().strip_prefix("serving at ").unwrap().to_owned();
    let operations = lines.next().unwrap().strip_prefix("operations at ").unwrap().to_owned();
    let machine = enrolled_at(&fleet, &url);
    work(&machine, 3);
    assert_eq!(sync(&machine).code, 0);
    assert_eq!(get(&operations, "/health"), (200, "ok\n".to_owned()));
    assert_eq!(get(&operations, "/ready"), (200, "ready\n".to_owned()));
    assert_eq!(get(&operations, "/v1/sync").0, 404, "nothing else is there");
    assert_eq!(get(&url, "/metrics").0, 404, "machines are told nothing of it");
    let (status, metrics) = get(&operations, "/metrics");
    assert_eq!(status, 200);
    for line in [
        "eclusa_fleet_records_total 6",
        "eclusa_fleet_shipments_total{result=\"kept\"} 1",
        "eclusa_fleet_ship_seconds_count 1",
        "eclusa_fleet_machines{state=\"seen\"} 1",
        "eclusa_fleet_machines{state=\"stale\"} 0",
        "eclusa_fleet_in_force{version=\"1\"} 1",
        "eclusa_fleet_rollout_percent{version=\"1\"} 100",
        "eclusa_fleet_rollout_held 0",
        "eclusa_fleet_forks 0",
        "eclusa_fleet_partition_days_ahead 7",
        "eclusa_fleet_database_up 1",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
    // What people are woken by and look at is what there is.
    let name = Regex::new(r"eclusa_fleet_[a-z_]+").unwrap();
    for text in [file("alerts.yaml"), file("dashboard.json")] {
        for found in name.find_iter(&text) {
            let found = found.as_str();
            assert!(metrics.contains(&format!("\n{found}")), "{found}");
        }
    }
    assert!(serde_json::from_str::<serde_json::Value>(&file("dashboard.json")).is_ok());
    until("heads are sealed", || {
        let metrics = get(&operations, "/metrics").1;
        let none = metrics.contains("\neclusa_fleet_sealed_heads 0\n");
        (metrics.contains("\neclusa_fleet_sealed_heads ") && !none).then_some(())
    });
    // It lives without its database, is of no use, and still says what it counted.
    postgres.kill();
    assert_eq!(get(&operations, "/health").0, 200);
    let (status, why) = get(&operations, "/ready");
    assert!(status == 503 && why.starts_with("the database does not answer: "), "{why}");
    let (status, metrics) = get(&operations, "/metrics");
    assert_eq!(status, 200);
    assert!(metrics.contains("\neclusa_fleet_database_up 0\n"), "{metrics}");
    assert!(metrics.contains("\neclusa_fleet_records_total 6\n"), "{metrics}");
    assert!(!metrics.contains("eclusa_fleet_forks"), "{metrics}");
    postgres.restart();
    assert_eq!(get(&operations, "/ready").0, 200);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_compose_file_starts_what_there_is() {
    let world = crate::world::World::new();
    let command = Regex::new(r#"command: (\["fleet".*\])"#).unwrap();
    let text = file("compose.yaml");
    let found: Vec<_> = command.captures_iter(&text).collect();
    assert_eq!(found.len(), 2);
    for found in found {
        let args: Vec<String> = serde_json::from_str(&found[1]).unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = world.eclusa(&[&args[..], &["--database", "nowhere"]].concat());
        let why = "this is not the address of a PostgreSQL database";
        assert!(ran.code == 2 && ran.err.contains(why), "{args:?}: {ran:?}");
    }
}
