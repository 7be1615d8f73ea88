//! Details that newcomers stumbled over, one by one, through the binary.

use std::process::{Command, Stdio};

use expectrl::{ControlCode, Expect as _};
use serde_json::json;

use crate::{
    prompt::Person,
    world::{World, flowing, wait_until},
};

fn bash(command: &str) -> String {
    json!({ "command": command }).to_string()
}

/// A machine of its own: one address that counts as public, and the metadata address of clouds, each
/// with a web server; the first sends whoever asks for `/on` to the other. Then the calls.
const CLOUD: &str = r#"
import fcntl, http.server, json, socket, struct, subprocess, sys, threading
public, metadata = "93.184.216.34", "169.254.169.254"
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for name, address in (("lo", None), ("lo:1", public), ("lo:2", metadata)):
    if address:
        fcntl.ioctl(sock, 0x8916, struct.pack("16sHH4s8x", name.encode(), 2, 0, socket.inet_aton(address)))
    fcntl.ioctl(sock, 0x8914, struct.pack("16sh", name.encode(), 0x41))
class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        here = self.connection.getsockname()[0]
        if self.path == "/on":
            self.send_response(302)
            self.send_header("location", f"http://{metadata}/latest/")
        else:
            self.send_response(200)
            self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write(b"keys-of-the-machine" if here == metadata else b"a-page")
    def log_message(self, *words):
        pass
for address in (public, metadata):
    server = http.server.ThreadingHTTPServer((address, 80), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
for path in ("/page", "/on"):
    url = f"http://{public}{path}"
    for words in (["web_fetch", json.dumps({"url": url})], ["bash", json.dumps({"command": f"curl -sSL {url}"})]):
        ran = subprocess.run([sys.argv[1], "--mode", "yolo", "run", *words], capture_output=True, text=True)
        print(json.dumps([words[0], path, ran.stdout + ran.stderr]), flush=True)
"#;

/// A5: a page cannot send a fetch or a command on to where a cloud hands out the keys of the machine,
/// not even in the boldest mode and with both hosts open.
/// Shows A5.
#[test]
fn nobody_is_sent_on_to_a_metadata_service() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[commands]\nhosts = [\"93.184.216.34:80\", \"169.254.169.254:80\"]\n\
         [[rules]]\ndecision = \"allow\"\ndomain = \"*\"\ntainted = true\n",
    );
    let own = world.command(&[]);
    #[expect(clippy::disallowed_methods, reason = "the test starts the binary elsewhere")]
    let mut command = Command::new("unshare");
    command.args(["-r", "-n", "python3", "-c", CLOUD]).arg(own.get_program());
    command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(world.path("workspace")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said: Vec<(String, String, String)> =
        text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(said.len(), 4, "{output:?}");
    for (tool, path, said) in said {
        assert!(!said.contains("keys-of-the-machine"), "{tool} {path}: {said}");
        assert_eq!(said.contains("a-page"), path == "/page", "{tool} {path}: {said}");
        assert_eq!(said.contains("169.254.169.254"), path == "/on", "{tool} {path}: {said}");
    }
}

/// A2.1: what is written below the home fails, and says so: no push that never arrived.
/// Shows A2.1.
#[test]
fn nothing_below_the_home_vanishes_silently() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
    #[expect(clippy::disallowed_methods, reason = "the test prepares repositories")]
    let mut shell = Command::new("sh");
    let made =
        "git init -q --bare ~/origin.git && git init -q -b main . && echo a > a && git add a &&
                git commit -qm first && git remote add origin ~/origin.git";
    shell.args(["-ec", made]).current_dir(world.path("workspace"));
    assert!(shell.env("HOME", world.path("home")).status().unwrap().success());
    let ran = world.eclusa(&["--mode", "yolo", "run", "bash", &bash("git push origin main")]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(!ran.out.contains("[new branch]"), "{ran:?}");
    assert!(!world.path("workspace/.git/refs/remotes/origin/main").exists());
    let ran = world.eclusa(&[
        "--mode",
        "yolo",
        "run",
        "bash",
        &bash("echo x > ~/notes.txt && echo saved"),
    ]);
    assert!(ran.code != 0 && !ran.out.contains("saved\n"), "{ran:?}");
    let told = flowing(&format!("{}{}", ran.out, ran.err));
    assert!(told.contains("Read-only file system") && told.contains("commands.writable"), "{told}");
}

/// A4.6: whoever answers elsewhere is offered what works there, and no letters of a prompt.
/// Shows A4.6.
#[test]
fn a_waiting_question_offers_the_answers_that_exist_there() {
    let world = World::with("on_no_approver = \"queue\"\n");
    let mut command = world.command(&["run", "note", r#"{"text": "hello"}"#]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut listed = String::new();
    wait_until("the question waits", || {
        listed = world.eclusa(&["approvals"]).out;
        listed.contains("tool: note")
    });
    let told = flowing(&listed);
    assert!(told.contains("`eclusa approvals yes 1` approves it"), "{listed}");
    assert!(told.contains("`eclusa approvals no 1 REASON` refuses it"), "{listed}");
    for letter in ["[y/n", "yes, and always", "no, and end", "not offered"] {
        assert!(!told.contains(letter), "`{letter}`: {listed}");
    }
    assert_eq!(world.eclusa(&["approvals", "no", "1"]).code, 0);
    child.wait().unwrap();
}

/// A4.6: what is said after `^C` begins on a line of its own, and answers that a question does not
/// take are not listed in it.
/// Shows A4.6.
#[test]
fn after_ctrl_c_comes_a_new_line_and_only_answers_that_count_are_offered() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut person = Person::runs(&world, &["exec", "--", "echo x > a.txt"]);
    person.sees("Apply these changes? [");
    assert!(!person.seen.contains("not offered"), "{}", person.seen);
    assert!(!person.seen.contains("hard to"), "nothing is applied yet: {}", person.seen);
    person.sees("]");
    person.session.send(ControlCode::EndOfText).unwrap();
    let (code, seen) = person.ends();
    assert_eq!(code, 130, "{seen}");
    let (_, after) = seen.rsplit_once("Apply these changes?").unwrap();
    let (asked, rest) = after.split_once('\n').unwrap();
    assert!(!asked.contains("applied") && rest.contains("nothing was applied"), "{seen:?}");
}

/// A4.6: counted things are one or many; command output that draws over its lines can be read.
/// Shows A4.6.
#[test]
fn counts_and_carriage_returns_read_well() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[[rules]]\ndecision = \"deny\"\ncommand = \"git push\"\nmatch = [{ runs = \"git push origin\" }]\n",
    );
    let lint = world.eclusa(&["policy", "lint"]).out;
    assert!(lint.contains("1 rule of yours"), "{lint}");
    let checked = world.eclusa(&["policy", "test"]);
    assert!(!checked.out.contains("1 rules") && !checked.out.contains("1 examples"), "{checked:?}");
    let ran = world.eclusa(&["run", "bash", &bash(r"printf 'one\rtwo\r\nthree\n'")]);
    assert!(ran.code == 0 && !ran.out.contains("u{D}") && ran.out.contains("three"), "{ran:?}");
}

/// A4.6: lists have colours where a terminal has them.
/// Shows A4.6.
#[test]
fn lists_have_colours() {
    let rule = "[[rules]]\ndecision = \"deny\"\ncommand = \"git push\"\n";
    let world = World::with(&[rule, rule, "[servers.x]\ncommand = [\"x\"]\n"].concat());
    world.write("workspace/a.txt", "one\n");
    world.eclusa(&["--mode", "auto-approve", "run", "write", "path=b.txt", "content=y"]);
    for args in
        [&["log"][..], &["changes"], &["tools"], &["policy", "lint"], &["doctor"], &["servers"]]
    {
        let mut command = world.command(args);
        let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains('\u{1b}'), "{args:?}");
    }
}

/// A4.6: a checkpoint shows arguments line by line.
/// Shows A4.6.
#[test]
fn a_checkpoint_shows_its_arguments_in_lines() {
    let tool = "[tools.go]\ndescription = \"goes\"\ncommand = [\"true\"]\nreads = []\n\
                checkpoint = true\nargs = { place = { type = \"string\" } }\n";
    let world = World::with(tool);
    let mut person = Person::runs(&world, &["--mode", "yolo", "run", "go", r#"{"place": "up"}"#]);
    person.sees("Type `go` to confirm");
    assert!(person.seen.contains("│   \"place\": \"up\""), "{}", person.seen);
    assert!(!person.seen.contains('⏎'), "{}", person.seen);
    person.types("go");
    assert_eq!(person.ends().0, 0);
}

/// A5: one thing has one name on every command line.
/// Shows A5.
#[test]
fn options_have_one_name() {
    let world = World::new();
    for command in [&["servers", "add"][..], &["mcp"], &["exec"], &["guard"]] {
        let help = world.eclusa(&[command, &["--help"]].concat()).out;
        assert!(help.contains("--allow-net <HOST>"), "{command:?}: {help}");
        assert!(!help.contains("--host <HOST>"), "{command:?}: {help}");
    }
    assert!(world.eclusa(&["up", "--help"]).out.contains("--host <NAME>"));
    let add = ["servers", "add", "x", "--allow-net", "a.example", "--", "it"];
    assert_eq!(world.eclusa(&add).code, 0);
    assert!(world.read("config/eclusa/eclusa.toml").contains("hosts = [\"a.example\"]"));
    // An agent is called the same wherever something of it is read.
    for words in [&["servers", "import"][..], &["policy", "import"]] {
        let help = world.eclusa(&[words, &["--help"]].concat()).out;
        assert!(help.contains("claude-code"), "{words:?}: {help}");
    }
    for name in ["claude-code", "claude"] {
        let ran = world.eclusa(&["servers", "import", "--from", name]);
        assert!(ran.err.contains("there is nothing to import"), "{ran:?}");
    }
}

/// A5: trusting a file shows what it may say from now on, and a file that loosens more since is called that.
/// Shows A5.
#[test]
fn trust_shows_what_it_opens_and_a_changed_file_is_called_changed() {
    let world = World::new();
    let allow = "[[rules]]\ndecision = \"allow\"\ncommand = \"make deploy\"\n";
    world.write("workspace/eclusa.toml", allow);
    let trusted = world.eclusa(&["config", "trust"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert!(trusted.out.contains("would be left out:\n  "), "{trusted:?}");
    let said = "  1: [[rules]] decision = \"allow\" command = \"make deploy\"\n";
    assert!(trusted.out.contains(said), "{trusted:?}");
    assert_eq!(world.eclusa(&["config", "check"]).code, 0);
    world.write("workspace/eclusa.toml", &format!("{allow}\n{}", allow.replace("deploy", "all")));
    let changed = world.eclusa(&["config", "check"]);
    assert_eq!(changed.code, 0, "{changed:?}");
    let told = flowing(&changed.err);
    assert!(told.contains("this file is not trusted since it was changed"), "{changed:?}");
    assert!(told.contains("cannot bring a rule that allows"), "{changed:?}");
    // What only tightens opens nothing.
    let deny = "[[rules]]\ndecision = \"deny\"\ncommand = \"make deploy\"\n";
    world.write("workspace/eclusa.toml", deny);
    let trusted = world.eclusa(&["config", "trust"]).out;
    assert!(!trusted.contains("would be left out"), "{trusted}");
    // A file with a mistake is not trusted.
    world.write("workspace/eclusa.toml", "mode = 5\n");
    assert_eq!(world.eclusa(&["config", "trust"]).code, 2);
}

/// A5: a command that has no network says so even where the program is silent, short lists are a flag
/// away, and nothing to list is said.
/// Shows A5.
#[test]
fn silence_is_explained_and_lists_have_a_length() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let ran = world.eclusa(&["run", "bash", &bash("curl -s http://192.0.2.8/")]);
    let told = flowing(&format!("{}{}", ran.out, ran.err));
    assert!(told.contains("192.0.2.8") && told.contains("commands.hosts"), "{ran:?}");
    let empty = world.eclusa(&["changes"]);
    assert_eq!((empty.code, &*empty.out), (0, "nothing was changed in this workspace yet\n"));
    for name in ["a", "b", "c"] {
        let path = format!("path={name}.txt");
        world.eclusa(&["--mode", "auto-approve", "run", "write", &path, "content=y"]);
    }
    for list in ["changes", "log"] {
        let ran = world.eclusa(&[list, "-n", "2"]);
        assert_eq!((ran.code, ran.out.lines().count()), (0, 3), "{ran:?}");
    }
    let told = world.eclusa(&["-v", "run", "list"]).err;
    assert!(told.contains("\"list\"") && told.contains("done"), "{told}");
    let told = world.eclusa(&["-vv", "run", "note", r#"{"text": "x"}"#]).err;
    assert!(told.contains("\"note\"") && !told.contains("globset"), "{told}");
}

/// Section 4: where a reviewer's change does not fit the tool, the message says whose it was.
#[test]
fn a_reviewers_change_that_does_not_fit_is_told_with_its_name() {
    let world = World::new();
    let script = world.script("desk", r#"echo '{"decision": "merge", "value": {"text": 5}}'"#);
    let config = format!("[[reviewers]]\nname = \"desk\"\non = \"input\"\ncommand = [{script}]\n");
    world.write("config/eclusa/eclusa.toml", &config);
    let ran = world.eclusa(&["run", "echo", r#"{"text": "hello"}"#]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(flowing(&ran.err).contains("as the reviewer `desk` changed them"), "{ran:?}");
}

/// Section 3: the eight wishes, each as people wrote it down.
#[test]
fn eight_wishes_come_true() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        r#"
[commands]
hosts = ["registry.example", "crates.example"]
[[redact.rules]]
name = "ours"
regex = "acme_[a-z0-9]{8}"
[[rules]]
decision = "allow"
command = "cargo test"
[[rules]]
decision = "ask"
command = "cargo publish"
[[rules]]
decision = "deny"
access = "write"
path = "migrations/**"
[[rules]]
decision = "ask"
effects = { files = "> 20" }
[[rules]]
decision = "deny"
domain = ["*", "!registry.example", "!crates.example"]
[[rules]]
id = "pushes"
decision = "deny"
command = "git push"
[[rules]]
decision = "allow"
command = "git push origin feature/*"
except = "pushes"
[[rules]]
decision = "deny"
path = "data/**"
reason = "customers stay here"
"#,
    );
    let decided = |command: &str| {
        let told = world.eclusa(&["--json", "check", "bash", &bash(command)]);
        told.json()["decision"].as_str().unwrap_or_default().to_owned()
    };
    for (command, wanted) in [
        ("cargo test --lib", "allow"),
        ("cargo publish", "ask"),
        ("cargo +nightly publish", "ask"),
        ("echo x > migrations/one.sql", "deny"),
        ("curl https://registry.example/x", "stage"),
        ("curl https://evil.example/x", "deny"),
        ("git push origin feature/login", "allow"),
        ("git push origin main", "deny"),
        ("cat data/customers.csv", "deny"),
    ] {
        assert_eq!(decided(command), wanted, "{command}");
    }
    let ran = world.eclusa(&["run", "bash", &bash("echo token acme_a1b2c3d4")]);
    assert_eq!(ran.out, "token [redacted:ours]\n");
    let ran = world.eclusa(&["run", "read", "path=data/customers.csv"]);
    assert!(ran.code == 3 && ran.err.contains("customers stay here"), "{ran:?}");
    let many = bash("for i in $(seq 21); do echo x > f$i; done");
    let ran = world.eclusa(&["--mode", "auto-approve", "run", "bash", &many]);
    assert!(ran.code == 3 && !world.path("workspace/f1").exists(), "{ran:?}");
    let few = bash("for i in $(seq 20); do echo x > f$i; done");
    let ran = world.eclusa(&["--mode", "auto-approve", "run", "bash", &few]);
    assert!(ran.code == 0 && world.path("workspace/f20").exists(), "{ran:?}");
}

/// A5: pages say what newcomers looked for in vain.
/// Shows A5.
#[test]
fn the_pages_say_it() {
    let page = |name: &str| {
        let file = format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
        flowing(&std::fs::read_to_string(file).unwrap())
    };
    let agents = page("agents");
    assert!(agents.contains("its own tools must be off"), "what else would stay ungated");
    let tools = page("tools");
    let introduction = "# Tools After this page you know every built-in tool";
    assert!(tools.starts_with(introduction), "the introduction comes first");
    let configuration = page("configuration");
    for word in ["exit code", "keywords", "checkpoint", "reverse_thinker", "`ask`"] {
        assert!(configuration.contains(word), "{word}");
    }
}
