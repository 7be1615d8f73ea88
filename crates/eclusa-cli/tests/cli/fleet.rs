//! One policy for many machines, through the front door: made, signed, fetched, put in force, and everything that a
//! hostile carrier of documents could send.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use serde_json::Value;

use crate::world::{Ran, World};

mod attacks;
mod dev;
mod docs;
mod failures;
mod inbox;
mod inbox_attacks;
mod jobs;
mod notify;
mod office;
mod operations;
mod page;
mod page_attacks;
mod page_people;
mod postgres;
mod replay;
mod rollout;
mod seals;
mod server;
mod stale;
mod trail;
mod trail_attacks;
mod verify;
mod watch;

/// What an administrator has: keys, and the file with all documents.
struct Fleet {
    world: World,
}

impl Fleet {
    fn new(args: &[&str]) -> Fleet {
        let world = World::new();
        let ran = world.eclusa(&[&["fleet", "init", "../acme", "--name", "acme"], args].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        std::fs::create_dir_all(world.path("workspace/policy/team")).unwrap();
        Fleet { world }
    }

    fn documents(&self) -> PathBuf {
        self.world.path("acme/documents.json")
    }

    fn published(&self) -> String {
        self.world.read("acme/documents.json")
    }

    fn publish(&self, text: &str) {
        self.world.write("acme/documents.json", text);
    }

    fn root(&self) -> String {
        let bundle: Value = serde_json::from_str(&self.published()).unwrap();
        let note = bundle["roots"][0]["note"].as_str().unwrap();
        let line = note.lines().find(|it| it.starts_with("sha256 ")).unwrap();
        line.replace(' ', ":")
    }

    /// Runs a command of `fleet` with the file of documents and a key of this role.
    fn signed(&self, args: &[&str], option: &str, key: &str) -> Ran {
        let file = self.documents().display().to_string();
        let key = format!("../acme/keys/acme-{key}.key");
        let args = [&["fleet"], args, &[option, &file, "--key", &key]].concat();
        self.world.eclusa(&args)
    }

    /// Signs this as `all.toml`.
    fn push(&self, text: &str) {
        self.world.write("workspace/policy/all.toml", text);
        let ran = self.signed(&["push", "policy"], "--to", "policy-1");
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    fn code(&self, from: &str, labels: &[&str]) -> String {
        let args = [&["invite", "--from", from], labels].concat();
        let ran = self.signed(&args, "--documents", "enroll-1");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out.split_whitespace().last().unwrap().to_owned()
    }

    /// A machine that was enrolled from the file.
    fn machine(&self, config: &str) -> World {
        let machine = World::with(config);
        let code = self.code(&self.documents().display().to_string(), &["--team", "web"]);
        let ran = machine.eclusa(&["fleet", "enroll", &code]);
        assert_eq!(ran.code, 0, "{ran:?}");
        machine
    }
}

fn sync(machine: &World) -> Ran {
    machine.eclusa(&["fleet", "sync", "--once"])
}

/// A machine that is in a fleet whose policy says nothing.
pub(crate) fn enrolled() -> World {
    let fleet = Fleet::new(&[]);
    fleet.push("# nothing\n");
    fleet.machine("")
}

const DENY_TIME: &str = "[[rules]]\nid = \"no-time\"\ndecision = \"deny\"\ntool = \"time\"\n\
                         reason = \"acme does not ask the time\"\n";

#[test]
fn a_policy_holds_like_the_administrators_file() {
    let fleet = Fleet::new(&[]);
    fleet.push(DENY_TIME);
    let allow = "mode = \"yolo\"\n[[rules]]\ndecision = \"allow\"\ntool = \"time\"\n";
    let machine = fleet.machine(allow);
    let ran = machine.eclusa(&["run", "time"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("acme does not ask the time"), "{ran:?}");
    let ran = machine.eclusa(&["check", "time"]);
    assert!(ran.out.contains("fleet policy 1: all.toml:1"), "{ran:?}");
    // A newer version holds once it was fetched, and not before.
    fleet.push("[[rules]]\ndecision = \"ask\"\ntool = \"time\"\n");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    let ran = sync(&machine);
    assert!(ran.code == 0 && ran.out.starts_with("acme policy 2 is now in force"), "{ran:?}");
    let ran = machine.eclusa(&["check", "time"]);
    assert!(ran.out.starts_with("ask"), "no mode answers for the fleet: {ran:?}");
    assert!(sync(&machine).out.contains("policy 2 is still in force"));
    // Whoever may change the file that names the fleet can leave.
    let ran = machine.eclusa(&["fleet", "leave"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("allow"));
    assert!(machine.read("config/eclusa/eclusa.toml").starts_with(allow));
    assert_eq!(sync(&machine).code, 2);
}

#[test]
fn the_stricter_value_holds_and_status_says_which_layer_won() {
    let fleet = Fleet::new(&[]);
    fleet.push(&format!("mode = \"confirm-all\"\n[limits]\ntime = \"20s\"\n{DENY_TIME}"));
    let machine = fleet.machine("mode = \"yolo\"\n[limits]\ntime = \"5s\"\n");
    let ran = machine.eclusa(&["fleet", "status"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let own = machine.path("config/eclusa/eclusa.toml").display().to_string();
    let lines: Vec<&str> = ran.out.lines().collect();
    for line in [
        "  mode = \"confirm-all\"  # fleet policy 1: all.toml:1".to_owned(),
        format!(
            "  limits.time = \"20s\"  # fleet policy 1: all.toml:3; stricter and in force: \"5s\" of {own}:3"
        ),
        "labels: team=web".to_owned(),
    ] {
        assert!(lines.contains(&line.as_str()), "{line}\n{}", ran.out);
    }
    assert!(ran.out.contains("fleet acme: policy 1 in force, good until "), "{ran:?}");
    let told = machine.eclusa(&["--json", "fleet", "status"]).json();
    assert_eq!((&told["policy"]["version"], &told["stale"]), (&1.into(), &Value::Null));
    assert_eq!(told["policy"]["signers"][0], "acme-policy-1");
    for command in ["doctor", "status"] {
        let ran = machine.eclusa(&[command]);
        assert!(ran.out.contains("fleet acme: policy 1 in force"), "{command}: {ran:?}");
        assert!(ran.out.contains("who may change that file can leave"), "{command}: {ran:?}");
    }
    // Where there is no fleet nothing is said of one.
    assert!(!World::new().eclusa(&["doctor"]).out.contains("fleet"));
}

#[test]
fn labels_of_the_invite_choose_the_files() {
    let fleet = Fleet::new(&[]);
    fleet.world.write(
        "workspace/policy/team/web.toml",
        &format!("[fleet]\nfor = {{ team = \"web\" }}\n{DENY_TIME}"),
    );
    fleet.world.write(
        "workspace/policy/team/ops.toml",
        "[fleet]\nfor = { team = \"ops\" }\n[[rules]]\ndecision = \"deny\"\ntool = \"echo\"\n",
    );
    fleet.push("# for everybody\n");
    let machine = fleet.machine("");
    assert!(machine.eclusa(&["check", "time"]).out.contains("fleet policy 1: team/web.toml:3"));
    assert!(!machine.eclusa(&["check", "echo", "text=x"]).out.starts_with("deny"));
    // A machine that its administrator put into the fleet has no labels.
    let text = format!(
        "[fleet]\nname = \"acme\"\nroot = \"{}\"\nfrom = \"{}\"\n",
        fleet.root(),
        fleet.documents().display()
    );
    let plain = World::with(&text);
    assert_eq!(sync(&plain).code, 0);
    assert!(!plain.eclusa(&["check", "time"]).out.starts_with("deny"));
    assert!(plain.eclusa(&["fleet", "status"]).out.contains("labels: none"));
}

#[test]
fn two_people_sign_where_two_must() {
    let fleet = Fleet::new(&["--need", "2"]);
    fleet.world.write("workspace/policy/all.toml", DENY_TIME);
    let ran = fleet.signed(&["push", "policy"], "--to", "policy-1");
    assert!(ran.code == 0 && ran.out.contains("1 of 2 signatures"), "{ran:?}");
    let text = format!(
        "[fleet]\nname = \"acme\"\nroot = \"{}\"\nfrom = \"{}\"\n",
        fleet.root(),
        fleet.documents().display()
    );
    let machine = World::with(&text);
    let ran = sync(&machine);
    assert!(ran.code == 1 && ran.err.contains("has 1 of 2 signatures"), "{ran:?}");
    let file = fleet.documents().display().to_string();
    let sign = |key: &str| {
        fleet.world.eclusa(&["fleet", "sign", &file, "--key", &format!("../acme/keys/{key}.key")])
    };
    assert_eq!(sign("acme-policy-1").code, 2, "a key signs once");
    assert_eq!(sign("acme-root-1").code, 2, "a key of another role signs nothing");
    assert_eq!(sign("acme-policy-3").code, 0);
    assert_eq!(sync(&machine).code, 0);
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
}

#[test]
fn a_stolen_key_is_taken_out_and_machines_follow() {
    let fleet = Fleet::new(&[]);
    fleet.push("# one\n");
    let machine = fleet.machine("");
    let before = fleet.published();
    let args = ["rotate", "policy", "--remove", "acme-policy-1", "--new-key", "../new.key"];
    let ran = fleet.signed(&args, "--to", "root-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, "root 2: policy is signed by acme-policy-r2\n");
    let ran = sync(&machine);
    assert!(ran.code == 0, "{ran:?}");
    assert!(machine.eclusa(&["fleet", "status"]).out.contains("(root 2)"));
    // The old key signs nothing for it any more, and nobody takes the machine back.
    assert_eq!(fleet.signed(&["push", "policy"], "--to", "policy-1").code, 2);
    fleet.publish(&before);
    let ran = sync(&machine);
    assert!(ran.code == 1 && ran.err.contains("a machine never goes back"), "{ran:?}");
}

#[test]
fn a_policy_that_this_machine_cannot_load_is_held_back() {
    let fleet = Fleet::new(&[]);
    fleet.push(DENY_TIME);
    let machine = fleet.machine("[[rules]]\nid = \"mine\"\ndecision = \"ask\"\ntool = \"echo\"\n");
    // What no machine can load is not signed.
    fleet.world.write("workspace/policy/all.toml", "mdoe = \"yolo\"\n");
    let ran = fleet.signed(&["push", "policy"], "--to", "policy-1");
    assert!(ran.code == 2 && ran.err.contains("unknown key `mdoe`"), "{ran:?}");
    // What only this one cannot load stays out here, and the old one stays in force.
    fleet.push("[[rules]]\nid = \"mine\"\ndecision = \"allow\"\ntool = \"time\"\n");
    let ran = sync(&machine);
    assert!(ran.code == 1 && ran.err.contains("policy 2 cannot be loaded: "), "{ran:?}");
    assert!(ran.err.contains("policy 1 stays in force"), "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    // So does one that needs a newer program.
    let ran = fleet.signed(&["push", "policy", "--needs", "99.1"], "--to", "policy-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(sync(&machine).err.contains("needs eclusa 99.1 or newer"));
}

#[test]
fn people_are_signed_and_carried() {
    let fleet = Fleet::new(&[]);
    fleet.push("# one\n");
    let key = fleet.world.path("ana.key").display().to_string();
    let ran = fleet.world.eclusa(&["people", "add", "ana", "--group", "ops", "--new-key", &key]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = fleet.signed(&["people"], "--to", "people-1");
    assert!(ran.out.starts_with("acme people 1: 1 with keys"), "{ran:?}");
    let machine = fleet.machine("");
    assert!(machine.eclusa(&["fleet", "status"]).out.contains("people 1: 1, good until"));
    assert_eq!(fleet.signed(&["people"], "--to", "policy-1").code, 2, "another role");
}

/// A web server on loopback that answers every request with this.
struct Address {
    url: String,
    answer: Arc<Mutex<String>>,
}

impl Address {
    fn new() -> Address {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/documents.json", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(String::new()));
        let said = answer.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (mut request, mut byte) = (Vec::new(), [0]);
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                    request.push(byte[0]);
                }
                let _ = stream.write_all(said.lock().unwrap().as_bytes());
            }
        });
        Address { url, answer }
    }

    fn says(&self, head: &str, body: &str) {
        let length = body.len();
        *self.answer.lock().unwrap() = format!(
            "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
    }
}

#[test]
fn documents_come_from_an_address() {
    let (fleet, address) = (Fleet::new(&[]), Address::new());
    fleet.push(DENY_TIME);
    address.says("200 OK", &fleet.published());
    let machine = World::new();
    let code = fleet.code(&address.url, &["--team", "web"]);
    let ran = machine.eclusa(&["fleet", "enroll", &code]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    fleet.push("# two\n");
    // Nothing but documents counts, and what was in force stays.
    let elsewhere = format!("302 Found\r\nlocation: {}?again", address.url);
    for (head, body) in [
        ("500 Oops", fleet.published()),
        (elsewhere.as_str(), fleet.published()),
        ("200 OK", "<html>sign in</html>".to_owned()),
        ("200 OK", String::new()),
    ] {
        address.says(head, &body);
        let ran = sync(&machine);
        assert!(ran.code == 1 && ran.err.contains("cannot fetch documents from"), "{ran:?}");
        assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    }
    address.says("200 OK", &fleet.published());
    assert_eq!(sync(&machine).code, 0);
    assert!(!machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    // Documents are not fetched where anybody on the way could withhold them unseen.
    let ran = machine.eclusa(&["fleet", "sync", "--once", "--from", "http://fleet.example/x"]);
    assert!(ran.code == 1 && ran.err.contains("use https"), "{ran:?}");
    let ran = machine.eclusa(&["fleet", "sync", "--once", "--from", "documents.json"]);
    assert!(ran.code == 1 && ran.err.contains("needs its whole path"), "{ran:?}");
}
