//! One network for a session, one proxy for a command: what another command finds, it cannot use.

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, rewritten, shell},
    jobs::jobs,
    prompt::Person,
    world::{Ran, World, until},
};

fn call(world: &World, input: Value) -> Ran {
    crate::jobs::shown(shell(world, &rewritten(&claude(world, &before(world, "Bash", input)))))
}

/// Looks for listeners that are no server of its own, and asks each for a host, as often as one comes and in every dress.
const THIEF: &str = r#"
import base64, re, socket, time
asked = set()
def ask(place, text):
    s = socket.create_connection(place, 5)
    s.settimeout(20)
    s.sendall(text.encode())
    return s.recv(4096).decode().split('\r\n')[0]
def basic(word): return 'Proxy-Authorization: Basic ' + base64.b64encode(word.encode()).decode() + '\r\n'
while True:
    for line in open('/proc/net/tcp').readlines()[1:]:
        words = line.split()
        ip, port = words[1].split(':')
        place = (socket.inet_ntoa(bytes.fromhex(ip)[::-1]), int(port, 16))
        if words[3] != '0A' or place in asked: continue
        asked.add(place)
        dresses = ['', basic('eclusa:'), basic('eclusa:' + '0' * 32), basic(':'), 'Proxy-Authorization: Basic\r\n',
                   'Authorization: Basic x\r\n', basic('eclusa:x') + basic('eclusa:y')]
        heads = ['GET http://stolen.invalid/ HTTP/1.1\r\nHost: stolen.invalid\r\n',
                 'CONNECT stolen.invalid:443 HTTP/1.1\r\nHost: stolen.invalid:443\r\n', 'GET no address at all\r\n']
        said = {ask(place, head + dress + '\r\n') for head in heads for dress in dresses}
        said.add(ask(place, 'CONNECT ' + 'x' * 40000))
        print('found', sorted(said), flush=True)
        open('/tmp/found', 'w').write('x')
    time.sleep(0.02)
"#;

#[test]
fn a_job_that_finds_the_proxy_of_another_command_cannot_use_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "mode = \"auto-approve\"\n[commands]\nhosts = [\"stolen.invalid\", \"own.invalid\"]\n",
    );
    world.write("workspace/thief.py", THIEF);
    let ran = call(&world, json!({"command": "python3 thief.py", "run_in_background": true}));
    assert!(ran.out.contains("as job 1"), "{ran:?}");
    // The command has its own way out, also for programs that say the word only when they are asked for it.
    let own = "echo x > a; until [ -e /tmp/found ]; do sleep 0.05; done
               curl -sS -o /dev/null -w '%{http_code}\n' http://own.invalid/
               curl -sS --proxy-anyauth -o /dev/null -w '%{http_code}\n' http://own.invalid/
               curl -sS https://other.invalid/ 2>&1; true";
    let ran = call(&world, json!({"command": own}));
    assert_eq!(ran.out.lines().take(2).collect::<Vec<_>>(), ["502", "502"], "{ran:?}");
    assert!(ran.out.contains("response 403"), "{ran:?}");
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("other.invalid"), "its own attempts are told: {told}");
    assert!(!told.contains("stolen") && !told.contains("malformed"), "another's are not: {told}");
    let output = until("it has found it", || {
        let output = world.eclusa(&["jobs", "output", "1"]).out;
        output.contains("found").then_some(output)
    });
    assert_eq!(output.trim(), "found ['HTTP/1.1 407 Proxy Authentication Required']");
    let number = world.eclusa(&["--json", "jobs"]).json()["jobs"].as_array().map(Vec::len);
    assert_eq!((number, jobs(&world).len()), (Some(1), 1));
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn git_speaks_to_the_proxy_of_its_command() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    let ran = call(
        &world,
        json!({"command": "echo x > a; git ls-remote https://forge.invalid/x 2>&1; true"}),
    );
    assert!(ran.out.contains("403"), "{ran:?}");
    assert!(ran.out.contains("adding `forge.invalid`"), "{ran:?}");
}

/// A host that a person opens for one command is not open for jobs beside it: the question names them, and the command
/// has a network of its own while they go on.
#[test]
fn a_command_with_a_host_of_its_own_has_a_network_of_its_own_beside_jobs() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/a.txt", "of the job\n");
    let serve = "python3 -m http.server 5173 --bind 127.0.0.1 & echo started";
    let ran = world.eclusa(&["exec", "--keep", "--", serve]);
    assert!(ran.err.contains("as job 1"), "{ran:?}");
    until("it listens", || (jobs(&world)[0]["ports"] == json!([5173])).then_some(()));
    let own = "curl -sS http://127.0.0.1:5173/a.txt";
    assert_eq!(world.eclusa(&["exec", "--", own]).out, "of the job\n");
    let command =
        json!({"command": format!("curl -sS http://192.0.2.8/ | cat; {own}")}).to_string();
    let mut person = Person::runs(&world, &["run", "bash", &command]);
    person.sees("it tried to reach `192.0.2.8");
    person.sees("job 1 (");
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(seen.contains("has the address"), "{seen}");
    assert!(!seen.contains("of the job") && seen.contains("network of its own"), "{seen}");
    assert_eq!(world.eclusa(&["exec", "--", own]).out, "of the job\n");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
