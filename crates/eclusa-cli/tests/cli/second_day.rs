//! What was asked about, denied or wrong on days of other kinds, each beside a plain run: looking at the machine and at
//! what every program may read, what is the sandbox's own, and files that come back beside a job.

use std::process::Command;

use serde_json::json;

use crate::{
    mcp::client::{Client, text},
    world::{Ran, World, flowing},
};

fn plainly(world: &World, script: &str) -> (i32, String) {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell do what a person would")]
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(world.path("workspace"));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    let ran = shell.output().unwrap();
    let text = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    (ran.status.code().unwrap_or(128), text)
}

fn bash(world: &World, mode: &str, command: &str) -> Ran {
    let args = json!({"command": format!("export LC_ALL=C; {command}")}).to_string();
    world.eclusa(&["--mode", mode, "run", "bash", &args])
}

fn repository() -> World {
    let world = World::new();
    world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
    let (code, text) = plainly(
        &world,
        "git init -q -b main . && echo one > a.txt && git add -A && git commit -qm first",
    );
    assert_eq!(code, 0, "{text}");
    world
}

fn has(program: &str) -> bool {
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .any(|it| std::path::Path::new(it).join(program).exists())
}

/// Nobody is there, and nobody is asked: findings 12 and 13.
#[test]
fn what_only_looks_runs_unasked_and_says_what_it_says_plainly() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    plainly(
        &world,
        "mkdir d; echo x > d/x; tar -czf t.tgz d; openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -out c.crt -subj /CN=localhost -days 9 2>/dev/null",
    );
    // With the program that it needs; `=`: with the output of a plain run.
    let cases = [
        ("dpkg", "=dpkg -l coreutils | tail -1"),
        ("dpkg", "=dpkg -S /usr/bin/env; dpkg -L coreutils | head -3"),
        ("apt", "apt list --installed 2>/dev/null | head -2"),
        ("ip", "ip -br addr"),
        ("ip", "ip route get 127.0.0.1 | head -1"),
        ("sysctl", "=sysctl -n kernel.ostype"),
        ("tar", "=ls t.tgz | xargs tar -tzf"),
        ("openssl", "=openssl x509 -in c.crt -noout -subject"),
        ("openssl", "openssl s_client -connect localhost:1 2>&1 | head -1"),
        (
            "curl",
            "curl -s --retry 1 --retry-delay 1 http://127.0.0.1:1/; curl -s 'http://[::1]:1/'; true",
        ),
        ("curl", "curl -s --unix-socket ./none http://localhost/; true"),
        ("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f /tmp/k && ssh-keygen -l -f /tmp/k"),
        ("cat", "=coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x"),
        ("cat", "=cat /etc/os-release"),
        ("ls", "=ls /usr/share/doc > /dev/null; ls -d /etc /opt; readlink -f /bin/sh"),
        ("head", "=head -c 16 /dev/urandom | wc -c"),
        ("cat", "cat /proc/loadavg /proc/self/status /etc/resolv.conf > /dev/null"),
        ("find", "=find /usr/share/doc -maxdepth 1 -name bash"),
        ("du", "du -sh /var/log > /dev/null 2>&1; true"),
        ("nc", "nc -z -w 1 localhost 1; true"),
        ("tc", "tc qdisc show dev lo"),
    ];
    for (program, command) in cases {
        if !has(program) {
            continue;
        }
        let same = command.strip_prefix('=');
        let ran = bash(&world, "confirm-sensitive", same.unwrap_or(command));
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
        if let Some(command) = same {
            assert_eq!(ran.out, plainly(&world, command).1, "{command}: {}", ran.err);
        }
    }
}

/// What is the sandbox's own and not the machine's or the person's is told, and nothing else is.
#[test]
fn what_a_command_sees_of_the_sandbox_in_place_of_the_machine_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    for (command, told) in [
        ("git config --list", "the settings of git that it shows are those of the sandbox"),
        (
            "git config --global -l; true",
            "the settings of git that it shows are those of the sandbox",
        ),
        ("pgrep -x no-such-thing; true", "the processes that it shows are the sandbox's own"),
        ("ip -br addr; true", "the network that it shows is the sandbox's own"),
    ] {
        let ran = bash(&world, "confirm-sensitive", command);
        assert!(flowing(&format!("{}{}", ran.out, ran.err)).contains(told), "{command}: {ran:?}");
    }
    for command in ["git config --local --list", "git config user.name", "git log --oneline"] {
        let ran = bash(&world, "confirm-sensitive", command);
        assert!(!format!("{}{}", ran.out, ran.err).contains("sandbox"), "{command}: {ran:?}");
        assert_eq!(ran.out, plainly(&world, command).1, "{command}");
    }
}

/// While a job goes on, what was deleted and comes back is seen by later calls, however much else was deleted between.
#[test]
fn files_that_come_back_beside_a_job_are_seen_by_later_calls() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    plainly(
        &world,
        "mkdir docs; echo faq > docs/faq.md; echo x > docs/x.md; git add -A; git commit -qm docs",
    );
    let mut client = Client::start(&world, &["--mode", "auto-approve", "mcp"]);
    client.initialize("2025-06-18", json!({}));
    let job = client.call("bash", json!({"command": "sleep 1000", "background": true}));
    assert!(text(&job).contains("as job 1"), "{job}");
    let mut call =
        |command: &str| text(&client.call("bash", json!({"command": command}))).to_owned();
    call("echo news > docs/news.md; git mv docs/faq.md docs/questions.md");
    call("git add docs && git commit -qm two");
    call("git revert --no-edit HEAD > /dev/null");
    assert_eq!(plainly(&world, "ls docs; git status --short").1, "faq.md\nx.md\n");
    assert_eq!(call("ls docs; git status --short"), "faq.md\nx.md\n");
    call("rm docs/x.md; git commit -qam less");
    call("git revert --no-edit HEAD > /dev/null; cat docs/x.md docs/faq.md");
    assert_eq!(call("cat docs/x.md docs/faq.md; git status --short"), "x\nfaq\n");
}
