//! Tests of what is read from messages.

use super::*;
use crate::plan::Plan;

fn plan() -> Plan {
    let mut plan = Plan::bash("", "/ws/sub");
    plan.write.push("/ws".into());
    plan.hide.push("/home/a/.ssh".into());
    plan
}

fn one(line: &str) -> Option<Refusal> {
    let mut found = refusals(line, &plan());
    assert!(found.len() <= 1, "{found:?}");
    found.pop()
}

#[test]
fn messages_of_real_programs_name_what_was_refused() {
    let write = |path: &str| Some(Refusal::Write(path.into()));
    for (line, path) in [
        ("touch: cannot touch '/etc/x': Read-only file system", "/etc/x"),
        ("/bin/bash: line 1: /etc/passwd: Read-only file system", "/etc/passwd"),
        ("OSError: [Errno 30] Read-only file system: '/opt/a b'", "/opt/a b"),
        ("Error: EROFS: read-only file system, open '/usr/x'", "/usr/x"),
        ("rm: cannot remove '../../etc/x': Read-only file system", "/etc/x"),
        (
            "error: could not lock config file /root/.gitconfig: Read-only file system",
            "/root/.gitconfig",
        ),
    ] {
        assert_eq!(one(line), write(path), "{line}");
    }
    let hidden = Some(Refusal::Hidden("/home/a/.ssh".into()));
    assert_eq!(one("cat: /home/a/.ssh/id_rsa: Permission denied"), hidden);
    let host = Some(Refusal::Network(Some("example.com".into())));
    assert_eq!(one("curl: (6) Could not resolve host: example.com"), host);
    assert_eq!(
        one(
            "npm error request to https://example.com failed, reason: getaddrinfo ENOTFOUND example.com"
        ),
        host
    );
    let owner = Some(Refusal::Owner(Some("/ws/a.txt".into())));
    assert_eq!(
        one("touch: cannot touch '/ws/a.txt': Value too large for defined data type"),
        owner
    );
    assert_eq!(
        one("bash: line 1: a.txt: Value too large for defined data type"),
        Some(Refusal::Owner(None))
    );
    assert_eq!(one("stat: cannot stat '/big': Value too large for defined data type"), None);
    assert_eq!(one("ping: connect: Network is unreachable"), Some(Refusal::Network(None)));
    assert_eq!(
        one("unshare: unshare failed: Operation not permitted"),
        Some(Refusal::Call("unshare".into()))
    );
    assert_eq!(
        one("bash: fork: Resource temporarily unavailable"),
        Some(Refusal::Limit("the number of processes"))
    );
}

#[test]
fn what_the_plan_did_not_refuse_is_not_blamed_on_it() {
    for line in [
        "cat: /root/x: Permission denied",
        "touch: cannot touch '/ws/x': Read-only file system",
        "all is well",
        "",
    ] {
        assert_eq!(one(line), None, "{line}");
    }
}

#[test]
fn grants_are_the_smallest_and_messages_name_the_path() {
    let refusal = Refusal::Write("/opt/a/b".into());
    assert_eq!(refusal.to_string(), "writing `/opt/a/b` was refused");
    assert_eq!(refusal.grant().unwrap(), "make `/opt/a` writable");
    assert_eq!(Refusal::Network(Some("x.org".into())).grant().unwrap(), "allow the host `x.org`");
    let many: String =
        (0..100).map(|n| format!("touch: cannot touch '/e{n}': Read-only file system\n")).collect();
    assert_eq!(refusals(&many, &plan()).len(), MAX_REFUSALS);
}
