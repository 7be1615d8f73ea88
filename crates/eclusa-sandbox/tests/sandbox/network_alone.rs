//! The network of a command without a network namespace: its own servers, its proxy, and nothing else.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;

use eclusa_sandbox::{HostCapabilities, OwnServers, Plan, Sandbox};

use crate::reading::machine;
use crate::world::World;

fn writing(world: &World, text: &str, machine: &HostCapabilities) -> Plan {
    let mut plan = world.in_place(text);
    plan.may_lack = machine.missing();
    plan
}

fn said(world: &World, text: &str, machine: &HostCapabilities) -> String {
    let plan = writing(world, text, machine);
    Sandbox::spawn(&plan, machine, |_| {}).unwrap().wait().unwrap().output.text()
}

/// A test that starts a server on localhost and calls it.
#[test]
fn a_server_of_its_own_is_reached_by_the_command() {
    let machine = machine();
    let world = World::new();
    for address in ["127.0.0.1", "0.0.0.0"] {
        let text = r#"perl -MIO::Socket -e '$l = IO::Socket::INET->new(Listen => 1, LocalAddr => "ADDRESS", ReuseAddr => 1) or die $!;
            $port = $l->sockport; print $l->sockhost, "\n";
            for (1, 2) { if (!fork) { $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die $!;
                print $c "hello\n"; print "peer ", $c->peerhost, "\n"; exit } 
              print $l->accept->getline; wait }
            close $l; $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:$port", ReuseAddr => 1) or die $!;
            print "again\n"; close $l; IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or print "$!\n"'"#;
        let said = said(&world, &text.replace("ADDRESS", address), &machine);
        let mut lines: Vec<_> = said.lines().collect();
        lines[1..5].sort_unstable();
        let peer = "peer 127.0.0.1";
        let expected = ["127.0.0.1", "hello", "hello", peer, peer, "again", "Connection refused"];
        assert_eq!(lines, expected, "{said}");
    }
    // All addresses, which is a socket of version 6 with many programs, is reached by either.
    let text = r#"perl -MSocket=:all -e 'socket(L, AF_INET6, SOCK_STREAM, 0) or die $!;
        bind(L, pack_sockaddr_in6(0, inet_pton(AF_INET6, "::"))) or die $!; listen(L, 4) or die $!;
        ($port) = unpack_sockaddr_in6(getsockname L); $six = pack_sockaddr_in6($port, inet_pton(AF_INET6, "::1"));
        for ([AF_INET, pack_sockaddr_in($port, inet_aton("127.0.0.1"))], [AF_INET6, $six]) {
            if (!fork) { socket(C, $_->[0], SOCK_STREAM, 0) or die $!; connect(C, $_->[1]) or die $!; syswrite(C, "hello\n"); exit }
            accept(S, L) or die $!; print scalar <S>; close S; wait }
        close L; socket(C, AF_INET6, SOCK_STREAM, 0) or die $!; connect(C, $six) or print "$!\n";'"#;
    let six = said(&world, text, &machine);
    assert_eq!(six, "hello\nhello\nConnection refused\n");
    // Descriptors that do not wait, as programs with an event loop have them.
    let text = r#"python3 - <<'END'
import asyncio
async def serve(reader, writer):
    writer.write(await reader.readline()); await writer.drain(); writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
    writer.write(b"echo\n"); print((await reader.readline()).decode(), end=""); server.close()
asyncio.run(main())
END"#;
    let mut plan = writing(&world, text, &machine);
    plan.tmp = Some(world.path("outside"));
    let said = Sandbox::spawn(&plan, &machine, |_| {}).unwrap().wait().unwrap().output.text();
    assert!(said == "echo\n" || said.contains("not found"), "{said}");
}

/// As where commands have one network namespace together.
#[test]
fn a_server_is_reached_by_the_commands_that_share_servers_and_by_no_others() {
    served_by(|_| {});
}

/// As a command in the background at level `snapshot`.
#[test]
fn a_server_may_write_nothing() {
    served_by(|plan| {
        plan.write.clear();
        plan.proxy = true;
    });
}

/// Starts a server by a plan that is changed so, and calls it by others.
fn served_by(change: impl FnOnce(&mut Plan)) {
    let (machine, world, servers) = (machine(), World::new(), OwnServers::default());
    let text = r#"perl -MIO::Socket -e '$| = 1; $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die $!;
        print $l->sockport, "\n"; while ($c = $l->accept) { print $c "served\n"; close $c }'"#;
    let mut plan = writing(&world, text, &machine);
    plan.servers = servers.clone();
    change(&mut plan);
    let (tell, told) = mpsc::channel();
    let server = Sandbox::spawn(&plan, &machine, move |it| drop(tell.send(it.to_vec()))).unwrap();
    let mut port = String::new();
    while !port.ends_with('\n') {
        port.push_str(&String::from_utf8(told.recv().unwrap()).unwrap());
    }
    let text = format!("exec 3<>/dev/tcp/127.0.0.1/{}; cat <&3", port.trim());
    let mut plan = writing(&world, &text, &machine);
    plan.servers = servers;
    let ask =
        |plan: &Plan| Sandbox::spawn(plan, &machine, |_| {}).unwrap().wait().unwrap().output.text();
    assert_eq!(ask(&plan), "served\n");
    assert!(said(&world, &text, &machine).contains("Connection refused"));
    server.canceller().cancel();
    server.wait().unwrap();
    assert!(ask(&plan).contains("Connection refused"));
}

#[test]
fn the_machine_and_others_are_out_of_reach() {
    let machine = machine();
    let world = World::new();
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    service.set_nonblocking(true).unwrap();
    let port = service.local_addr().unwrap().port();
    let text = r#"for a in 127.0.0.1/PORT 127.0.0.2/PORT 1.1.1.1/443 10.0.0.1/80; do echo x > /dev/tcp/$a; done
        echo x > /dev/udp/127.0.0.1/PORT; echo x > /dev/tcp/::1/PORT; echo x > /dev/tcp/2001:db8::1/443
        perl -MSocket -e '$to = sockaddr_in(PORT, inet_aton("127.0.0.1"));
            socket(S, AF_INET, SOCK_STREAM, 0) or die; send(S, "x", 0x20000000, $to) and print "sent\n";
            send(S, "x", 0, $to) and print "sent\n"; listen(S, 1) and print "listens\n";
            bind(S, sockaddr_in(0, inet_aton("10.0.0.1"))) and print "bound\n";
            connect(S, sockaddr_un("/run/x")) and print "unix\n"; socket(U, AF_UNIX, SOCK_STREAM, 0) and print "made\n";
            socket(D, AF_INET, SOCK_DGRAM, 0) and print "datagram\n"; connect(STDOUT, $to) and print "stdout\n";'"#;
    let said = said(&world, &text.replace("PORT", &port.to_string()), &machine);
    assert_eq!(said.matches("Connection refused").count(), 6, "{said}");
    assert_eq!(said.matches("Network is unreachable").count(), 6, "{said}");
    for word in ["sent", "listens", "bound", "unix", "made", "datagram", "stdout"] {
        assert!(!said.lines().any(|it| it == word), "{word}: {said}");
    }
    assert_eq!(service.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// A server of its own at the same port of another address opens no way to that of the machine.
#[test]
fn a_service_at_the_same_port_is_out_of_reach() {
    let machine = machine();
    let world = World::new();
    let service = TcpListener::bind("127.0.0.2:0").unwrap();
    service.set_nonblocking(true).unwrap();
    let text = r#"perl -MSocket -e 'socket(L, AF_INET, SOCK_STREAM, 0) or die $!;
        bind(L, sockaddr_in(PORT, inet_aton("127.0.0.1"))) or die $!; listen(L, 4) or die $!;
        for ("127.0.0.2", "127.0.0.1") { socket(C, AF_INET, SOCK_STREAM, 0) or die $!;
            connect(C, sockaddr_in(PORT, inet_aton($_))) ? print "$_ reached\n" : print "$_ $!\n"; }'"#;
    let port = service.local_addr().unwrap().port().to_string();
    let said = said(&world, &text.replace("PORT", &port), &machine);
    assert_eq!(said, "127.0.0.2 Connection refused\n127.0.0.1 reached\n");
    assert_eq!(service.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn the_proxy_is_the_only_way_out() {
    let machine = machine();
    let world = World::new();
    let text =
        "at=${https_proxy#*@}; exec 3<>/dev/tcp/${at%:*}/${at#*:}; echo question >&3; cat <&3";
    let mut plan = writing(&world, text, &machine);
    plan.hosts.push("example.com".into());
    let mut sandbox = Sandbox::spawn(&plan, &machine, |_| {}).unwrap();
    let listener = TcpListener::from(sandbox.take_listener().unwrap());
    let address: SocketAddr = listener.local_addr().unwrap();
    assert!(address.ip().is_loopback());
    let (mut stream, _) = listener.accept().unwrap();
    let mut question = [0; 9];
    stream.read_exact(&mut question).unwrap();
    stream.write_all(b"answer\n").unwrap();
    drop(stream);
    assert_eq!(sandbox.wait().unwrap().output.text(), "answer\n");
    assert_eq!(&question, b"question\n");
    // What may write nothing has no network at all.
    let mut plan = world.read_only("echo x > /dev/tcp/127.0.0.1/1");
    plan.may_lack = machine.missing();
    plan.hosts.push("example.com".into());
    let mut sandbox = Sandbox::spawn(&plan, &machine, |_| {}).unwrap();
    assert!(sandbox.take_listener().is_none());
    assert!(sandbox.wait().unwrap().output.text().contains("not permitted"));
}
