//! Programs that talk through sockets of the file system, through the real binary: each as it is used.
//!
//! What is not installed is said to be not checked.

use std::path::Path;

use serde_json::json;

use crate::{
    hook::{before, claude, rewritten, shell},
    world::{Ran, World},
};

/// Whether a program is installed; if not, that is said.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = program.starts_with('/') && Path::new(program).exists()
        || std::env::split_paths(&path).any(|it| it.join(program).exists());
    if !found {
        eprintln!("not checked: `{program}` is not installed");
    }
    found
}

fn world() -> World {
    World::with("mode = \"auto-approve\"\n")
}

fn exec(world: &World, command: &str) -> Ran {
    world.eclusa(&["exec", "--", command])
}

#[track_caller]
fn says(world: &World, command: &str, expected: &str) {
    let ran = exec(world, command);
    assert!(ran.code == 0 && ran.out.contains(expected), "{ran:?}");
}

#[test]
fn processes_of_python_share_a_manager_and_a_server_of_forks() {
    eclusa_testing::needs!(Namespaces);
    if !is_installed("/usr/bin/python3") {
        return;
    }
    let world = world();
    let script = "import multiprocessing as m
def double(n, into): into[n] = 2 * n
if __name__ == '__main__':
    m.set_start_method('forkserver')
    with m.Manager() as manager:
        into = manager.dict()
        all = [m.Process(target=double, args=(n, into)) for n in range(3)]
        [it.start() for it in all]; [it.join() for it in all]
        print(dict(sorted(into.items())))
";
    world.write("workspace/many.py", script);
    says(&world, "/usr/bin/python3 many.py", "{0: 0, 1: 2, 2: 4}");
    let command = json!({"command": "/usr/bin/python3 many.py"}).to_string();
    let ran = world.eclusa(&["run", "bash", &command]);
    assert!(ran.out.contains("{0: 0, 1: 2, 2: 4}"), "{ran:?}");
}

#[test]
fn a_server_of_node_listens_at_a_path() {
    eclusa_testing::needs!(Namespaces);
    if !is_installed("node") {
        return;
    }
    let world = world();
    let script = "const net = require('net'); const at = process.argv[2];
const server = net.createServer(it => it.end('over a path')).listen(at, () =>
  net.connect(at).on('data', it => console.log(String(it))).on('close', () => server.close()));";
    world.write("workspace/path.js", script);
    for at in ["/tmp/node", "/run/node", "here"] {
        says(&world, &format!("node path.js {at}"), "over a path");
    }
    // What is left of it in the workspace is no change.
    assert!(!world.path("workspace/here").exists());
}

#[test]
fn a_terminal_multiplexer_has_its_server() {
    eclusa_testing::needs!(Namespaces);
    if !is_installed("tmux") {
        return;
    }
    let command = "tmux -f /dev/null new-session -d -s inside 'sleep 1000' && tmux list-sessions; tmux kill-server";
    says(&world(), command, "inside: 1 windows");
}

#[test]
fn agents_of_keys_answer() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    if is_installed("ssh-agent") {
        let command = "eval $(ssh-agent) && ssh-keygen -q -t ed25519 -N '' -f /tmp/key && ssh-add /tmp/key 2>&1 \
                       && ssh-add -l; ssh-agent -k";
        says(&world, command, "ED25519");
    }
    if is_installed("gpg") {
        let command = "export GNUPGHOME=/tmp/gpg; mkdir -m 700 $GNUPGHOME \
                       && gpg --batch --quiet --passphrase '' --quick-generate-key me@example.invalid default default never 2>&1 \
                       && echo text | gpg --batch --armor --sign 2>&1; gpgconf --kill gpg-agent";
        says(&world, command, "BEGIN PGP MESSAGE");
    }
}

/// Where PostgreSQL keeps its programs.
fn postgres() -> Option<String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let mut found: Vec<_> = versions.map(|it| it.path().join("bin")).collect();
    found.sort();
    Some(found.pop()?.display().to_string())
}

/// It refuses to be root's.
#[test]
fn a_database_answers_through_its_socket_in_its_call_and_in_later_ones() {
    eclusa_testing::needs!(Namespaces);
    let Some(bin) = postgres().filter(|_| !rustix::process::geteuid().is_root()) else {
        eprintln!("not checked: PostgreSQL is not installed, or this is root, whom it refuses");
        return;
    };
    let world = world();
    let start = format!(
        "export PATH={bin}:$PATH PGHOST=/tmp PGDATABASE=postgres; initdb -D /tmp/data -A trust -U me > /tmp/log 2>&1 \
         && pg_ctl -D /tmp/data -o \"-k /tmp -c listen_addresses=''\" -l /tmp/log -w start > /tmp/started 2>&1 || cat /tmp/log"
    );
    let asks = |number: u32| {
        format!("PATH={bin}:$PATH psql -h /tmp -U me -d postgres -Atc 'select {number} * 2'")
    };
    let stop = format!("{bin}/pg_ctl -D /tmp/data -m immediate stop");
    says(&world, &format!("{start}; {}; {stop}", asks(21)), "42");
    // What is left running is a job of the session, and its socket lies in the session's /tmp.
    let call = |command: &str| {
        shell(
            &world,
            &rewritten(&claude(&world, &before(&world, "Bash", json!({"command": command})))),
        )
    };
    let ran = call(&format!("echo > made; {start}"));
    assert!(format!("{}{}", ran.out, ran.err).contains("as job 1"), "{ran:?}");
    let ran = call(&asks(50));
    assert!(ran.out.contains("100"), "{ran:?}");
    let ended = world.eclusa(&["jobs", "end", "1"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn a_cache_of_values_answers_through_its_socket() {
    eclusa_testing::needs!(Namespaces);
    if !is_installed("redis-server") {
        return;
    }
    let command = "redis-server --port 0 --unixsocket /tmp/redis --save '' --daemonize yes > /dev/null; \
                   until redis-cli -s /tmp/redis ping; do sleep 0.05; done; redis-cli -s /tmp/redis shutdown nosave; true";
    says(&world(), command, "PONG");
}

/// A daemon of the person's own, where a command could find it: in the workspace, beside it and in the home.
#[test]
fn daemons_of_the_person_are_out_of_reach() {
    eclusa_testing::needs!(Namespaces);
    use std::os::unix::net::UnixListener;
    let world = world();
    let places = ["workspace/s", "home/s", "s"].map(|it| world.path(it));
    let listeners = places.clone().map(|it| UnixListener::bind(it).unwrap());
    for place in &places {
        let attempt = format!(
            "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die \"none: $!\"; \
             print connect(S, pack_sockaddr_un(\"{}\")) ? \"REACHED\" : \"$!\"'",
            place.display()
        );
        let ran = exec(&world, &attempt);
        let says = ["Connection refused", "No such file or directory"];
        assert!(says.iter().any(|it| ran.out.contains(it)), "{ran:?}");
    }
    for listener in &listeners {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err());
    }
}

/// Whoever lets a directory be written at once has no such sockets, and `doctor` says what is there otherwise.
#[test]
fn with_a_live_directory_they_stay_closed_and_doctor_knows_them() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n[commands]\nlive = [\"live\"]\n");
    std::fs::create_dir(world.path("workspace/live")).unwrap();
    let attempt = "perl -MSocket -e 'print socket(S, AF_UNIX, SOCK_STREAM, 0) ? \"MADE\" : \"$!\"'; echo x > y";
    let ran = exec(&world, attempt);
    assert!(ran.out.contains("Operation not permitted"), "{ran:?}");
    let told = world.eclusa(&["--json", "doctor"]).json();
    let part = told["parts"].as_array().unwrap().iter().find(|it| it["name"] == "unix sockets");
    assert_eq!(part.unwrap()["holds"], true, "{told}");
}

/// Takes a descriptor over a socket in `/tmp`, and writes through it whenever a line comes on another.
const TAKER: &str = r#"
import os, socket, time
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.bind('/tmp/take'); server.listen()
print('ready', flush=True)
taken, _ = server.accept()
_, found, _, _ = socket.recv_fds(taken, 10, 2)
taken.send(b'have'); taken.close()
while not os.path.exists('/tmp/go'): time.sleep(0.05)
os.lseek(found[0], 0, 0); os.write(found[0], b'evil\n')
try: os.write(os.open('made.txt', os.O_WRONLY | os.O_TRUNC, dir_fd=found[1]), b'evil\n')
except OSError as gone: print(gone)
print('wrote', flush=True)
time.sleep(600)
"#;

const GIVER: &str = r#"
import os, socket
file = os.open('made.txt', os.O_RDWR | os.O_CREAT, 0o644); os.write(file, b'good\n')
here = os.open('.', os.O_RDONLY)
to = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); to.connect('/tmp/take')
socket.send_fds(to, [b'x'], [file, here]); print(to.recv(4).decode())
"#;

#[test]
fn a_job_that_is_handed_a_descriptor_of_a_layer_never_writes_the_workspace() {
    eclusa_testing::needs!(Namespaces);
    if !is_installed("/usr/bin/python3") {
        return;
    }
    let world = world();
    world.write("workspace/taker.py", TAKER);
    world.write("workspace/giver.py", GIVER);
    let run = |input| {
        crate::jobs::shown(shell(
            &world,
            &rewritten(&claude(&world, &before(&world, "Bash", input))),
        ))
    };
    let job = run(json!({"command": "/usr/bin/python3 taker.py", "run_in_background": true}));
    assert!(job.out.contains("as job"), "{job:?}");
    let says = |what: &str| {
        crate::world::until(what, || {
            world.eclusa(&["jobs", "output", "1"]).out.contains(what).then_some(())
        });
    };
    says("ready");
    let gave = run(json!({"command": "/usr/bin/python3 giver.py"}));
    assert!(gave.code == 0 && gave.out.contains("have"), "{gave:?}");
    assert_eq!(world.read("workspace/made.txt"), "good\n");
    assert_eq!(run(json!({"command": "touch /tmp/go"})).code, 0);
    says("wrote");
    assert_eq!(world.read("workspace/made.txt"), "good\n");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
