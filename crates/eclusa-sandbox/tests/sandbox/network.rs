//! Without hosts there is no network; with hosts there is one listener, and nothing else.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use eclusa_sandbox::{Sandbox, SharedNetwork};

use crate::world::{World, capabilities, run};

/// Tries to reach an address by a perl expression that opens a socket.
fn reaches(open: &str) -> String {
    let text = format!(
        "perl -MSocket -MIO::Socket -e '$! = 0; $s = {open}; print $s ? \"open\\n\" : \"refused: $!\\n\"' 2>&1"
    );
    run(&World::new().staged(&text)).output.text()
}

#[test]
fn tcp_and_udp_end_at_the_sandbox() {
    eclusa_testing::needs!(Namespaces);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let said = reaches(&format!("IO::Socket::INET->new(PeerAddr => \"127.0.0.1:{port}\")"));
    assert!(said.starts_with("refused: Connection refused"), "{said}");
    let said = reaches("IO::Socket::INET->new(PeerAddr => \"1.1.1.1:53\", Timeout => 2)");
    assert!(said.starts_with("refused: Network is unreachable"), "{said}");

    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let port = udp.local_addr().unwrap().port();
    let text = format!(
        "echo x > /dev/udp/127.0.0.1/{port}; echo x > /dev/udp/8.8.8.8/53; getent hosts example.com || echo no name"
    );
    let said = run(&World::new().staged(&text)).output.text();
    assert!(said.contains("Network is unreachable") && said.contains("no name"), "{said}");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
}

#[test]
fn ipv6_and_raw_sockets_do_not_reach_out_either() {
    eclusa_testing::needs!(Namespaces);
    let tcp = TcpListener::bind("[::1]:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let text = format!("echo x > /dev/tcp/::1/{port}");
    let said = run(&World::new().staged(&text)).output.text();
    assert!(
        said.contains("refused") || said.contains("unreachable") || said.contains("assign"),
        "{said}"
    );
    for (name, open) in [
        ("raw", "socket(S, 2, 3, 1)"),
        ("packet", "socket(S, 17, 3, 768)"),
        ("vsock", "socket(S, 40, 1, 0)"),
        ("alg", "socket(S, 38, 5, 0)"),
        ("netlink audit", "socket(S, 16, 3, 9)"),
        ("bluetooth", "socket(S, 31, 3, 1)"),
    ] {
        let said = reaches(open);
        assert!(said.starts_with("refused: Operation not permitted"), "{name}: {said}");
    }
}

#[test]
fn sockets_of_daemons_are_out_of_reach() {
    eclusa_testing::needs!(Namespaces);
    use std::os::linux::net::SocketAddrExt as _;
    let world = World::new();
    let path = world.path("outside/docker.sock");
    let _by_path = UnixListener::bind(&path).unwrap();
    let name = format!("eclusa-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let connect = |path: &str| {
        reaches(&format!("socket(S, 1, 1, 0) && connect(S, pack_sockaddr_un(\"{path}\"))"))
    };
    let said = connect(path.to_str().unwrap());
    assert!(said.starts_with("refused: Connection refused"), "{said}");
    let said = connect(&format!("\\0{name}"));
    let says = ["refused: Operation not permitted", "refused: Connection refused"];
    assert!(says.iter().any(|it| said.starts_with(it)), "{said}");
    let said = run(&world.staged("ls /run /var/run | grep -v :; perl -MSocket -e 'print socketpair(A, B, 1, 1, 0) ? \"pair\\n\" : $!'"));
    assert_eq!(said.output.text(), "\npair\n");
}

#[test]
fn inside_the_sandbox_servers_and_clients_work() {
    eclusa_testing::needs!(Namespaces);
    let text = "perl -MIO::Socket -e '
        $l = IO::Socket::INET->new(LocalAddr => \"127.0.0.1:8000\", Listen => 5) or die $!;
        if (!fork) { $c = IO::Socket::INET->new(PeerAddr => \"127.0.0.1:8000\") or die $!; print $c \"hello\\n\"; exit }
        print $l->accept->getline'";
    assert_eq!(run(&World::new().staged(text)).output.text(), "hello\n");
}

#[test]
fn with_hosts_the_caller_serves_the_only_listener() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged(
        "echo $https_proxy $HTTP_PROXY; exec 3<>/dev/tcp/127.0.0.1/3128; echo question >&3; cat <&3; echo x > /dev/tcp/1.1.1.1/443",
    );
    plan.hosts.push("example.com".into());
    let mut sandbox = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap();
    let listener = TcpListener::from(sandbox.take_listener().unwrap());
    let (mut stream, from) = listener.accept().unwrap();
    assert!(from.ip().is_loopback());
    let mut question = [0; 9];
    stream.read_exact(&mut question).unwrap();
    stream.write_all(b"answer\n").unwrap();
    drop(stream);
    let said = sandbox.wait().unwrap().output.text();
    assert_eq!(&question, b"question\n");
    assert!(said.starts_with("http://127.0.0.1:3128 http://127.0.0.1:3128\nanswer\n"), "{said}");
    assert!(said.contains("Network is unreachable"), "{said}");
}

#[test]
fn without_hosts_there_is_no_listener() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut sandbox =
        Sandbox::spawn(&world.staged("echo $http_proxy"), capabilities(), |_| {}).unwrap();
    assert!(sandbox.take_listener().is_none());
    assert_eq!(sandbox.wait().unwrap().output.text(), "\n");
}

/// A server that waits for one caller, at a port that it tells.
const SERVER: &str = "perl -MIO::Socket -e '$| = 1; $s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\");
    print $s->sockport, \"\\n\"; $c = $s->accept; print $c \"hello\\n\"; close $c; sleep 1000'";

#[test]
fn sandboxes_of_one_network_reach_each_other_and_nobody_else() {
    eclusa_testing::needs!(Namespaces);
    let shared = SharedNetwork::new(capabilities()).unwrap();
    let worlds = [World::new(), World::new(), World::new()];
    let mut plan = worlds[0].staged(SERVER);
    plan.network = Some(shared.clone());
    plan.proxy = true;
    plan.limits.wall = None;
    let (said, hear) = std::sync::mpsc::channel();
    let tell = move |bytes: &[u8]| drop(said.send(bytes.to_vec()));
    let mut server = Sandbox::spawn(&plan, capabilities(), tell).unwrap();
    assert!(server.take_listener().is_some());
    let port: u16 = String::from_utf8(hear.recv().unwrap()).unwrap().trim().parse().unwrap();
    let outside = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ask = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3; echo x > /dev/tcp/127.0.0.1/{outside}"
    );
    let alone = run(&worlds[1].staged(&ask)).output.text();
    assert!(alone.contains("refused") && !alone.contains("hello"), "{alone}");
    // Its proxy listens beside that of the first, and the processes of the first are not seen.
    let mut plan =
        worlds[2].staged(&format!("{ask}; kill -9 -1; ls /proc | grep -c '^[0-9]'; id -u"));
    plan.network = Some(shared);
    plan.proxy = true;
    let mut second = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap();
    assert!(second.take_listener().is_some());
    let exit = second.wait().unwrap();
    let text = exit.output.text();
    assert!(text.starts_with("hello\n") && text.contains("refused"), "{text}");
    assert_eq!(exit.enforcement, eclusa_sandbox::Enforcement::Full);
    server.canceller().cancel();
    server.wait().unwrap();
}

#[test]
fn a_tmp_that_lasts_is_seen_by_the_next() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let tmp = world.path("lasting");
    std::fs::create_dir(&tmp).unwrap();
    let mut plan =
        world.read_only("echo one > /tmp/a; cat /var/tmp/a; chmod u+s /tmp/a || echo refused");
    plan.tmp = Some(tmp.clone());
    assert!(run(&plan).output.text().starts_with("one\n"));
    let mut plan = world.staged("cat /tmp/a; rm /tmp/a");
    plan.tmp = Some(tmp.clone());
    assert_eq!(run(&plan).output.text(), "one\n");
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0);
}
