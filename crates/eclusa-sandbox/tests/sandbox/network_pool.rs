//! Networks that are made ahead: each is used by one sandbox, and holds as one that it made itself.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use eclusa_sandbox::test_support::ready_networks;
use eclusa_sandbox::{Enforcement, Plan, Sandbox, SharedNetwork};

use crate::world::{World, capabilities, run};

/// Far longer than it takes to make a network, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// What a sandbox says of its network, in a line: its number, as `ready_networks` has it.
const NUMBER: &str = "perl -e 'print readlink(\"/proc/self/ns/net\") =~ /(\\d+)/, \"\\n\"'";

/// Waits until a network is ready.
fn wait_until_ready() -> Vec<u64> {
    let until = Instant::now() + LONG;
    loop {
        let ready = ready_networks();
        if !ready.is_empty() {
            return ready;
        }
        assert!(Instant::now() < until, "no network was made ahead");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Makes this process one that starts more than one sandbox.
fn start_two() {
    for _ in 0..2 {
        run(&World::new().read_only("true"));
    }
}

/// Starts something until it is in a network that was ready: other tests take some too.
fn ahead<T>(mut start: impl FnMut() -> (u64, T)) -> (u64, T) {
    start_two();
    let until = Instant::now() + LONG;
    loop {
        let ready = wait_until_ready();
        let (number, started) = start();
        if ready.contains(&number) {
            return (number, started);
        }
        assert!(Instant::now() < until, "none of those that were ready was used");
    }
}

/// A sandbox that is listened to.
struct Talking {
    sandbox: Sandbox,
    hear: Receiver<Vec<u8>>,
    heard: Vec<u8>,
}

impl Talking {
    fn start(plan: &Plan) -> Talking {
        let (said, hear) = std::sync::mpsc::channel();
        let tell = move |bytes: &[u8]| drop(said.send(bytes.to_vec()));
        let sandbox = Sandbox::spawn(plan, capabilities(), tell).unwrap();
        Talking { sandbox, hear, heard: Vec::new() }
    }

    /// Starts a plan whose first line is the number of its network.
    fn numbered(plan: &Plan) -> (u64, Talking) {
        let mut talking = Talking::start(plan);
        (talking.line().parse().unwrap(), talking)
    }

    fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return String::from_utf8(line).unwrap().trim().to_owned();
            }
            self.heard.extend(self.hear.recv_timeout(LONG).unwrap());
        }
    }
}

fn number_of(text: &str) -> u64 {
    text.lines().next().and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn every_sandbox_has_a_network_of_its_own() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let own = std::fs::metadata("/proc/self/ns/net").unwrap().ino();
    // All of them go on, so that no number is given again.
    let plan = world.read_only(&format!("{NUMBER}; sleep 1000"));
    let mut held = vec![Talking::numbered(&plan)];
    for _ in 0..4 {
        held.push(ahead(|| Talking::numbered(&plan)));
    }
    let numbers: HashSet<u64> = held.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers.len(), held.len(), "a network is used twice");
    assert!(!numbers.contains(&own));
    assert!(ready_networks().iter().all(|it| !numbers.contains(it)), "one is still to be had");
}

#[test]
fn a_network_made_ahead_ends_at_its_own_loopback() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let server = format!(
        "{NUMBER}; perl -MIO::Socket -e '$| = 1; $s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\");
        print $s->sockport, \"\\n\"; $c = $s->accept; print $c \"hello\\n\"; close $c; sleep 1000'"
    );
    let (_, mut server) = ahead(|| Talking::numbered(&world.read_only(&server)));
    let port: u16 = server.line().parse().unwrap();
    let host = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let outside = host.local_addr().unwrap().port();
    // Another one, made ahead too, reaches neither it nor the machine, and has a loopback that works.
    let text = format!(
        "{NUMBER}; for port in {port} {outside}; do echo x > /dev/tcp/127.0.0.1/$port; done
        perl -MIO::Socket -e '$l = IO::Socket::INET->new(LocalAddr => \"127.0.0.1:{port}\", Listen => 5) or die $!;
        if (!fork) {{ $c = IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\") or die $!; print $c \"own\\n\"; exit }}
        print $l->accept->getline'; echo x > /dev/tcp/1.1.1.1/53"
    );
    let (_, said) = ahead(|| {
        let exit = run(&World::new().staged(&text));
        assert_eq!(exit.enforcement, Enforcement::Full);
        let said = exit.output.text();
        (number_of(&said), said)
    });
    for port in [port, outside] {
        assert!(said.contains(&format!("127.0.0.1/{port}: Connection refused")), "{said}");
    }
    assert!(said.contains("\nown\n") && said.contains("Network is unreachable"), "{said}");
}

#[test]
fn the_network_of_a_conversation_may_be_one_that_was_ready() {
    eclusa_testing::needs!(Namespaces);
    let (world, other) = (World::new(), World::new());
    let plan = |world: &World, shared: &SharedNetwork| {
        let mut plan = world.read_only(NUMBER);
        plan.network = Some(shared.clone());
        plan
    };
    let (number, shared) = ahead(|| {
        let shared = SharedNetwork::new(capabilities()).unwrap();
        (number_of(&run(&plan(&world, &shared)).output.text()), shared)
    });
    assert_eq!(number_of(&run(&plan(&other, &shared)).output.text()), number);
    assert_ne!(number_of(&run(&other.read_only(NUMBER)).output.text()), number);
}

#[test]
fn with_hosts_its_listener_is_where_it_always_is() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.read_only(&format!(
        "{NUMBER}; echo $http_proxy; exec 3<>/dev/tcp/127.0.0.1/3128 && echo reached; sleep 1000"
    ));
    plan.hosts.push("example.com".into());
    let (_, mut talking) = ahead(|| Talking::numbered(&plan));
    let listener = talking.sandbox.take_listener();
    assert!(listener.is_some());
    assert_eq!(talking.line(), "http://127.0.0.1:3128");
    assert_eq!(talking.line(), "reached");
}

#[test]
fn it_dies_with_its_caller() {
    eclusa_testing::needs!(Namespaces);
    crate::limits::dies_with_its_caller("network_pool::caller_that_is_killed", "1234.8");
}

#[test]
#[ignore = "the other half of it_dies_with_its_caller"]
fn caller_that_is_killed() {
    if std::env::var_os("ECLUSA_KILLED").is_none() {
        return;
    }
    // Nobody else takes any in this process.
    start_two();
    wait_until_ready();
    crate::limits::sleep_until_killed();
}
