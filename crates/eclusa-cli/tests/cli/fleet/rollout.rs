//! A new version of the policy comes to some machines first: who they are, what holds it, what takes it back, and a server
//! that would choose something else.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use eclusa_fleet::{MachineKey, rollout_place};
use serde_json::{Value, json};

use super::{
    DENY_TIME,
    server::{Trail, worker},
    sync,
};
use crate::world::{Ran, World, until};

/// Where a machine stands among a hundred for a version.
fn place(machine: &World, version: u64) -> u8 {
    let key: MachineKey = machine.read("state/eclusa/fleet/machine.key").parse().unwrap();
    rollout_place(key.public(), version)
}

/// Signs this as `all.toml` and hands it to the server, to be offered so far.
fn push(trail: &Trail, text: &str, staging: &[&str]) -> Ran {
    trail.fleet.world.write("workspace/policy/all.toml", text);
    let address = trail.database.address();
    let args = [&["push", "policy", "--database", &address], staging].concat();
    trail.fleet.signed(&args, "--to", "policy-1")
}

fn rollout(trail: &Trail, args: &[&str]) -> Ran {
    let address = trail.database.address();
    trail.fleet.world.eclusa(&[&["fleet", "rollout", "--database", &address], args].concat())
}

pub(super) fn machines(trail: &Trail, args: &[&str]) -> Ran {
    let address = trail.database.address();
    trail.fleet.world.eclusa(&[&["fleet", "machines", "--database", &address], args].concat())
}

fn in_force(machine: &World) -> u64 {
    let told = machine.eclusa(&["--json", "fleet", "status"]).json();
    told["policy"]["version"].as_u64().unwrap()
}

fn until_in_force(machine: &World, version: u64) {
    until("the version is in force", || {
        sync(machine);
        (in_force(machine) == version).then_some(())
    });
}

/// A machine whose place for version 2 is below this one and not below that one.
fn machine_between(trail: &Trail, from: u8, to: u8) -> World {
    loop {
        let machine = trail.machine();
        if (from..to).contains(&place(&machine, 2)) {
            return machine;
        }
    }
}

#[test]
fn a_new_version_comes_to_the_first_machines_and_then_to_more() {
    let Some(trail) = Trail::new() else { return };
    let (first, second) = (machine_between(&trail, 0, 50), machine_between(&trail, 50, 100));
    let percent = (place(&first, 2) + 1).to_string();
    let ran = push(&trail, DENY_TIME, &["--percent", &percent]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let offered =
        format!("policy 2: offered to {percent} of 100 machines\npolicy 1: offered to everyone\n");
    assert!(ran.out.ends_with(&offered), "{ran:?}");
    until_in_force(&first, 2);
    assert_eq!(sync(&second).code, 0);
    assert_eq!(in_force(&second), 1);
    // The server knows what each has, because the machines say so.
    assert_eq!(sync(&first).code, 0);
    let told = machines(&trail, &["--json"]).json();
    let of = |it: &Value| (it["in_force"].as_u64(), it["offered"].as_u64());
    let told: Vec<_> = told.as_array().unwrap().iter().map(of).collect();
    assert!(told.contains(&(Some(2), Some(2))) && told.contains(&(Some(1), Some(1))), "{told:?}");
    // Whoever enrols meanwhile gets what is offered to them.
    let third = machine_between(&trail, 50, 100);
    assert_eq!(in_force(&third), 1);
    // What machines have stays with them, so fewer is nothing that could be done.
    let ran = rollout(&trail, &["--percent", "0"]);
    assert!(ran.code == 1 && ran.err.contains("offered to more machines already"), "{ran:?}");
    // Signed anew it is offered as far as before, to the same machines.
    let ran = trail.fleet.signed(&["push", "--renew"], "--to", "policy-1");
    assert_eq!(ran.code, 0, "{ran:?}");
    let file = trail.fleet.documents().display().to_string();
    let ran = trail.fleet.world.eclusa(&["fleet", "publish", &file, "--server", &trail.server.url]);
    assert_eq!(ran.code, 0, "{ran:?}");
    until_in_force(&first, 3);
    assert_eq!(sync(&second).code, 0);
    assert_eq!(in_force(&second), 1);
    // Whoever was among the first is among more.
    let percent = (place(&second, 2) + 1).to_string();
    assert_eq!(rollout(&trail, &["--percent", &percent]).code, 0);
    until_in_force(&second, 3);
    assert_eq!(sync(&first).code, 0);
    assert_eq!(in_force(&first), 3);
    let ran = rollout(&trail, &["--everyone"]);
    assert_eq!(ran.out, "policy 3: offered to everyone\n", "{ran:?}");
    until_in_force(&third, 3);
    let ran = rollout(&trail, &["--percent", "100"]);
    assert!(ran.code == 1 && ran.err.contains("nothing to roll out"), "{ran:?}");
}

#[test]
fn a_machine_that_cannot_load_a_version_holds_it() {
    let Some(trail) = Trail::new() else { return };
    let (first, second) = (machine_between(&trail, 0, 99), machine_between(&trail, 0, 99));
    let own = first.read("config/eclusa/eclusa.toml");
    let rule = "[[rules]]\nid = \"mine\"\ndecision = \"ask\"\ntool = \"echo\"\n";
    first.write("config/eclusa/eclusa.toml", &(own + rule));
    let text = "[[rules]]\nid = \"mine\"\ndecision = \"deny\"\ntool = \"time\"\n";
    assert_eq!(push(&trail, text, &["--percent", "99"]).code, 0);
    until("it hears of the version", || {
        let ran = sync(&first);
        (ran.code == 1 && ran.err.contains("policy 2 cannot be loaded")).then_some(())
    });
    let ran = rollout(&trail, &[]);
    let held = "policy 2: held at 99 of 100 machines: machine ";
    assert!(ran.out.starts_with(held) && ran.out.contains("cannot load it: policy 2"), "{ran:?}");
    let told = rollout(&trail, &["--json"]).json();
    assert_eq!((&told[0]["held"], &told[1]["version"]), (&true.into(), &1.into()));
    // From then on nobody is offered it who has it not, and the one that failed is offered what it has.
    assert_eq!(sync(&first).code, 0);
    assert_eq!(sync(&second).code, 0);
    assert_eq!(in_force(&second), 1);
    let ran = machines(&trail, &[]);
    assert!(ran.out.contains("cannot load 2: policy 2 cannot be loaded"), "{ran:?}");
    let told = machines(&trail, &["--json", "--team", "web"]).json();
    let failed = told.as_array().unwrap().iter().filter(|it| it["cannot_load"]["version"] == 2);
    assert_eq!(failed.count(), 1, "{told}");
    // A person lets it go on, and what is known of already does not hold it again.
    assert_eq!(rollout(&trail, &["--percent", "99"]).code, 0);
    until_in_force(&second, 2);
    assert_eq!(sync(&first).code, 1);
    assert!(rollout(&trail, &[]).out.starts_with("policy 2: offered to 99 of 100 machines"));
    // By hand it is held as well.
    let ran = rollout(&trail, &["--hold"]);
    assert!(ran.out.starts_with("policy 2: held at 99 of 100 machines: somebody"), "{ran:?}");
    assert_eq!(sync(&second).code, 0, "it keeps what it has");
    assert_eq!(in_force(&second), 2);
}

#[test]
fn the_content_of_an_earlier_version_comes_back_as_a_new_one() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    assert_eq!(push(&trail, DENY_TIME, &["--now"]).code, 0);
    until_in_force(&machine, 2);
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"));
    let address = trail.database.address();
    let back = |version: &str| {
        trail.fleet.signed(&["rollback", version, "--database", &address], "--to", "policy-1")
    };
    let ran = back("9");
    assert!(ran.code == 1 && ran.err.contains("there never was a policy 9"), "{ran:?}");
    let ran = back("1");
    assert!(ran.out.starts_with("acme policy 3, with the content of 1, good until"), "{ran:?}");
    until_in_force(&machine, 3);
    assert!(!machine.eclusa(&["check", "time"]).out.starts_with("deny"));
}

#[test]
fn a_rollout_grows_by_the_clock() {
    let Some(trail) = Trail::new() else { return };
    let ran = push(&trail, DENY_TIME, &["--over", "2h"]);
    assert!(ran.out.contains("policy 2: offered to 20 of 100 machines"), "{ran:?}");
    for (minutes, percent) in [(29, "20"), (31, "40"), (61, "60"), (91, "80")] {
        trail
            .database
            .query(&format!("update rollouts set began = now() - interval '{minutes} minutes'"));
        let ran = rollout(&trail, &[]);
        let said = format!("policy 2: offered to {percent} of 100 machines\n");
        assert!(ran.out.starts_with(&said), "{minutes}: {ran:?}");
    }
    // What is held does not grow.
    assert_eq!(rollout(&trail, &["--hold"]).code, 0);
    trail.database.query("update rollouts set began = now() - interval '3 hours'");
    assert!(rollout(&trail, &[]).out.starts_with("policy 2: held at 80 of 100 machines"));
    assert_eq!(rollout(&trail, &["--over", "2h"]).code, 0);
    trail.database.query("update rollouts set began = now() - interval '121 minutes'");
    assert_eq!(rollout(&trail, &[]).out, "policy 2: offered to everyone\n");
    let machine = worker();
    let ran = machine.eclusa(&["fleet", "enroll", &trail.code("1")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    until_in_force(&machine, 2);
}

/// A server that answers a machine whatever it likes.
fn hostile(number: u64, documents: &Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let handed = json!({"number": number, "documents": documents}).to_string();
    let now = super::server::now();
    let news = json!({"now": now, "documents": number, "chains": []}).to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut request, mut byte) = (Vec::new(), [0]);
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                request.push(byte[0]);
            }
            let body = if request.starts_with(b"GET /v1/documents") { &handed } else { &news };
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nconnection: close";
            let _ = write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        }
    });
    url
}

#[test]
fn a_server_that_offers_an_older_or_an_unsigned_version_changes_nothing() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    let older: Value = serde_json::from_str(&trail.fleet.published()).unwrap();
    assert_eq!(push(&trail, DENY_TIME, &[]).code, 0);
    until_in_force(&machine, 2);
    let newest: Value = serde_json::from_str(&trail.fleet.published()).unwrap();
    let mut changed = newest.clone();
    let payload = changed["policy"]["payload"].as_str().unwrap().replace("deny", "allow");
    changed["policy"]["payload"] = payload.into();
    // A heading of its own making, which the key did not sign.
    let mut unsigned = newest.clone();
    let note = unsigned["policy"]["note"].as_str().unwrap().replace("version 2", "version 9");
    unsigned["policy"]["note"] = note.into();
    let mut none = newest.clone();
    none.as_object_mut().unwrap().remove("policy");
    for (number, (documents, why)) in (77..).zip([
        (older, "a machine never goes back"),
        (changed, "is not the one that was signed"),
        (unsigned, "has 0 of 1 signatures"),
        (none, "there is no policy document"),
    ]) {
        let server = hostile(number, &documents);
        let file = "state/eclusa/fleet/machine.json";
        let mut state: Value = serde_json::from_str(&machine.read(file)).unwrap();
        state["server"] = server.into();
        machine.write(file, &state.to_string());
        let ran = sync(&machine);
        assert!(ran.code == 1 && ran.err.contains(why), "{why}: {ran:?}");
        assert_eq!(in_force(&machine), 2);
        assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"), "{why}");
    }
}

#[test]
fn a_machine_is_suspended_resumed_and_revoked() {
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    let mut service = machine.command(&["fleet", "sync"]).spawn().unwrap();
    let check = || machine.eclusa(&["check", "note", "text=x"]).out;
    until("it is seen", || machines(&trail, &[]).out.contains("in force\n").then_some(()));
    assert!(machines(&trail, &["--stale", "--json"]).json().as_array().unwrap().is_empty());
    let ran = machines(&trail, &["suspend", "1", "--why", "lost laptop"]);
    assert!(ran.out.starts_with("machine 1 is suspended: nothing is taken from it"), "{ran:?}");
    until("it hears of it while it waits", || check().contains("is stale here").then_some(()));
    assert!(check().contains("it is suspended: lost laptop"), "{}", check());
    assert!(machines(&trail, &["--stale"]).out.contains("it is suspended: lost laptop"));
    assert_eq!(machines(&trail, &["resume", "1"]).out, "machine 1 goes on\n");
    until("it hears of that, too", || (!check().contains("is stale here")).then_some(()));
    assert_eq!(machines(&trail, &["revoke", "1"]).code, 0);
    until("it is stale again", || check().contains("it is revoked").then_some(()));
    for action in ["resume", "suspend"] {
        let ran = machines(&trail, &[action, "1"]);
        assert!(ran.code == 2 && ran.err.contains("or it was revoked"), "{ran:?}");
    }
    service.kill().unwrap();
    service.wait().unwrap();
    // With another key it is another machine.
    let ran = machine.eclusa(&["fleet", "enroll", &trail.code("1")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!check().contains("is stale here"));
    assert_eq!(machines(&trail, &["--json"]).json().as_array().unwrap().len(), 2);
    assert_eq!(machines(&trail, &["suspend", "99"]).code, 2);
}

#[test]
fn a_push_says_what_it_newly_permits() {
    let fleet = super::Fleet::new(&[]);
    fleet.push(&format!("mode = \"confirm-all\"\n[limits]\ntime = \"20s\"\n{DENY_TIME}"));
    let write = |text: &str| fleet.world.write("workspace/policy/all.toml", text);
    write(
        "mode = \"confirm-sensitive\"\n[limits]\ntime = \"10s\"\n[[rules]]\nid = \"e\"\ndecision = \"allow\"\ntool = \"echo\"\n",
    );
    let ran = fleet.signed(&["push", "policy"], "--to", "policy-1");
    let said: Vec<&str> = ran.out.lines().skip(1).collect();
    assert_eq!(
        said,
        [
            "  loosens: all.toml: mode = \"confirm-sensitive\", was \"confirm-all\"",
            "  loosens: all.toml: rules = { decision = \"allow\", id = \"e\", tool = \"echo\" }",
            "  loosens: all.toml: no longer rules = { decision = \"deny\", id = \"no-time\", reason = \"acme does not ask \
             the time\", tool = \"time\" }",
            "  tightens: all.toml: limits.time = \"10s\", was \"20s\"",
        ],
        "{ran:?}"
    );
    // The same again changes nothing, and is said in JSON as well.
    let ran = fleet.signed(&["push", "policy"], "--to", "policy-1");
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    write("mode = \"confirm-all\"\n[fleet]\nfor = { team = \"web\" }\n");
    let file = fleet.documents().display().to_string();
    let key = "../acme/keys/acme-policy-1.key";
    let args = ["--json", "fleet", "push", "policy", "--to", &file, "--key", key];
    let told = fleet.world.eclusa(&args).json();
    let said = |it: &Value| format!("{} {}", it["direction"], it["key"]).replace('"', "");
    let mut said: Vec<String> = told["changes"].as_array().unwrap().iter().map(said).collect();
    said.sort();
    assert_eq!(
        said,
        ["changes fleet.for.team", "loosens limits.time", "tightens mode", "tightens rules"]
    );
}

#[test]
fn a_wave_is_of_the_machines_with_a_label() {
    let Some(trail) = Trail::new() else { return };
    let labelled = |label: &str| {
        let code = trail.code_of(&["--label", label]);
        let machine = worker();
        let ran = machine.eclusa(&["fleet", "enroll", &code]);
        assert_eq!(ran.code, 0, "{ran:?}");
        machine
    };
    let (ci, laptop, runner) =
        (labelled("pool=ci"), labelled("pool=laptop"), labelled("pool=runner"));
    let ran = push(&trail, DENY_TIME, &["--wave", "pool=ci"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("policy 2: offered to 0 of 100 machines, and to those with pool=ci\n"),
        "{ran:?}"
    );
    until_in_force(&ci, 2);
    for other in [&laptop, &runner] {
        assert_eq!(sync(other).code, 0);
        assert_eq!(in_force(other), 1);
    }
    let ran = rollout(&trail, &["--wave", "pool=runner"]);
    assert!(ran.code == 0 && ran.out.contains("pool=ci or pool=runner"), "{ran:?}");
    until_in_force(&runner, 2);
    assert_eq!(sync(&laptop).code, 0);
    assert_eq!(in_force(&laptop), 1);
    assert_eq!(rollout(&trail, &["--wave", "pool=runner"]).code, 1, "it is offered there already");
    assert_eq!(rollout(&trail, &["--wave", "ci"]).code, 2);
    // Held: nobody new, whatever their label.
    assert_eq!(rollout(&trail, &["--hold"]).code, 0);
    until("the servers hear of it", || (in_force(&labelled("pool=ci")) == 1).then_some(()));
    let late = labelled("pool=ci");
    assert_eq!(in_force(&late), 1);
    // The rest follows, and who has it keeps it.
    assert_eq!(rollout(&trail, &["--everyone"]).code, 0);
    until_in_force(&laptop, 2);
    until_in_force(&late, 2);
    assert_eq!(in_force(&ci), 2);
}
