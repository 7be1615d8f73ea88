//! A sandbox, the proxy that serves its listener and the scan of its upper layer, all at once.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use eclusa_sandbox::proxy::{Attempt, Hosts, Proxy};
use eclusa_sandbox::scan::{Kind, LayerScan, Moment};
use eclusa_sandbox::{Sandbox, refusals};

use crate::world::{World, capabilities, run};

#[test]
fn a_host_that_is_allowed_is_reached_through_the_proxy_and_no_other() {
    eclusa_testing::needs!(Namespaces);
    if !Path::new("/usr/bin/curl").exists() {
        return;
    }
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut request = [0; 4096];
        let count = stream.read(&mut request).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n")
            .unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let world = World::new();
    let port = address.port();
    // A loopback address would go past the proxy by `no_proxy`, to the sandbox's own loopback.
    let mut plan = world.staged(&format!(
        "curl -sS --noproxy '' http://127.0.0.1:{port}/; curl -sS https://example.com 2>&1; echo; curl -sS --noproxy '*' http://1.1.1.1 2>&1"
    ));
    let rule = format!("127.0.0.1:{port}");
    plan.hosts.push(rule.clone());
    let attempts = Arc::new(Mutex::new(Vec::<Attempt>::new()));
    let told = Arc::clone(&attempts);
    let mut sandbox = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap();
    let proxy =
        Proxy::new(Hosts::new(&[rule]).unwrap(), move |attempt| told.lock().unwrap().push(attempt));
    let serving = proxy.with_private(address).serve(sandbox.take_listener().unwrap()).unwrap();
    let said = sandbox.wait().unwrap().output.text();
    serving.stop();
    assert!(said.starts_with("hello\n"), "{said}");
    assert!(
        said.contains("403")
            && (said.contains("Couldn't connect") || said.contains("Could not connect")),
        "{said}"
    );
    assert!(served.join().unwrap().starts_with("GET / HTTP/1.1"));
    let attempts = attempts.lock().unwrap();
    assert_eq!(attempts.len(), 2, "{attempts:?}");
    assert!(attempts[0].outcome.is_ok() && attempts[1].outcome.is_err(), "{attempts:?}");
}

#[test]
fn what_a_staged_command_did_is_read_back() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("ws/dir")).unwrap();
    std::fs::write(world.path("ws/dir/gone"), "x").unwrap();
    std::fs::write(world.path("ws/dir/kept"), "y").unwrap();
    let upper = std::fs::File::open(world.path("state/upper")).unwrap();
    let began = Moment::on(&upper).unwrap();
    let exit = run(&world
        .staged("echo more >> in.txt; rm dir/gone; mv dir moved; echo new > new; ln -s new link"));
    assert!(exit.success(), "{}", exit.output.text());
    let layer = LayerScan::open(&world.ws(), &world.path("state/upper"), began).unwrap();
    let effects = layer.scan().unwrap();
    let kind = |path: &str| effects.get(Path::new(path)).map(|effect| effect.kind());
    assert_eq!(kind("new"), Some(Kind::Made));
    assert_eq!(kind("link"), Some(Kind::Made));
    assert_eq!(kind("dir/gone"), Some(Kind::Deleted));
    assert_eq!(kind("moved/kept"), Some(Kind::Moved));
    assert!(kind("in.txt").is_some() && kind("untouched").is_none());
    assert_eq!(world.read("ws/in.txt"), "inside\n");
}

#[test]
fn a_refusal_of_the_kernel_is_told_with_the_grant_that_would_allow_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let plan = world.staged("touch ../outside/new");
    let said = run(&plan).output.text();
    let refusals = refusals(&said, &plan);
    let outside = world.path("outside");
    let told: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(told, [format!("writing `{}/new` was refused", outside.display())]);
    assert_eq!(refusals[0].grant(), Some(format!("make `{}` writable", outside.display())));
}
