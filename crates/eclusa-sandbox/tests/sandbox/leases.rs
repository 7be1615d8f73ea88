//! Secrets inside a workspace that a command may write, without namespaces: whatever opens one ends the
//! command, and nothing of it is read.

use std::fs;

use eclusa_sandbox::{Ended, Exit, HostCapabilities, How, Plan, Sandbox, probe, test_support};

use crate::world::{World, test_root};

fn machine() -> HostCapabilities {
    test_support::namespaces().unwrap();
    let state = tempfile::tempdir_in(test_root()).unwrap();
    probe(state.path())
}

/// A workspace with two secrets, one of them in a directory that is hidden whole.
fn world() -> World {
    let world = World::new();
    fs::write(world.path("ws/.env"), "secret\n").unwrap();
    fs::create_dir(world.path("ws/.ssh")).unwrap();
    fs::write(world.path("ws/.ssh/key"), "secret\n").unwrap();
    world
}

fn writing(world: &World, text: &str, machine: &HostCapabilities) -> Plan {
    let mut plan = world.in_place(text);
    plan.may_lack = machine.missing();
    plan.hide = vec![world.path("ws/.env"), world.path("ws/.ssh")];
    plan
}

fn run(plan: &Plan, machine: &HostCapabilities) -> Exit {
    Sandbox::spawn(plan, machine, |_| {}).unwrap().wait().unwrap()
}

#[test]
fn whatever_opens_a_secret_ends_the_command_and_reads_nothing() {
    let machine = machine();
    let attempts = [
        "cat .env",
        "cat .ssh/key",
        "ln .env other; cat other",
        "mv .env other; cat other",
        "cp --reflink=auto .env other; cat other",
        "cat < .env; cat .env",
        "perl -e 'while (1) { sysopen F, \".env\", 04000 and print <F> }'",
        "perl -e 'sysopen F, \".env\", 010000000; open G, \"/proc/self/fd/\".fileno(F); print <G>'",
        "truncate -s 0 .env",
        "echo over > .env",
        "for n in 1 2 3 4 5; do cat .env & done; wait",
        "(setsid cat .env &) ; sleep 100",
        "chmod 777 .env; . ./.env",
    ];
    for text in attempts {
        let world = world();
        let exit = run(&writing(&world, text, &machine), &machine);
        assert_eq!(exit.ended, Some(Ended::Secret), "{text}: {exit:?}");
        assert!(!exit.output.text().contains("secret"), "{text}: {}", exit.output.text());
        let kept = ["ws/.env", "ws/other"].into_iter().find(|it| world.has(it)).unwrap();
        assert_eq!(world.read(kept), "secret\n", "{text}");
        assert!(!world.has("ws/other") || !text.contains("cp "), "{text}: it was copied");
    }
}

#[test]
fn what_is_around_a_secret_is_written_as_ever() {
    let machine = machine();
    let world = world();
    let text = "echo new > new; mkdir d; echo x > d/x; sed -i s/inside/changed/ in.txt; ls -A | tr '\\n' ' '
        mv d e; rm new; cat e/x; ls -l .env | wc -l";
    let exit = run(&writing(&world, text, &machine), &machine);
    assert_eq!((exit.ended, &exit.how), (None, &How::Code(0)), "{}", exit.output.text());
    assert_eq!(exit.output.text(), ".env .ssh d in.txt new x\n1\n");
    assert_eq!(
        (world.read("ws/in.txt"), world.read("ws/.env")),
        ("changed\n".into(), "secret\n".into())
    );
    // It can be opened again.
    let exit = run(&writing(&world, "true", &machine), &machine);
    assert_eq!(exit.ended, None);
}

/// What another thread forks has every file open until it starts its program.
#[test]
fn who_has_a_secret_open_in_passing_is_waited_for() {
    let machine = machine();
    let world = world();
    let mut holder = std::process::Command::new("sh")
        .args(["-c", "exec 3< .env; echo open; sleep 0.2"])
        .current_dir(world.path("ws"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut opened = [0; 5];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut opened).unwrap();
    let exit = run(&writing(&world, "true", &machine), &machine);
    assert_eq!((exit.ended, &exit.how), (None, &How::Code(0)));
    holder.wait().unwrap();
}

#[test]
fn a_secret_that_somebody_has_open_is_named_and_nothing_runs() {
    let machine = machine();
    let world = world();
    let open = fs::File::open(world.path("ws/.env")).unwrap();
    let plan = writing(&world, "touch new", &machine);
    let error = Sandbox::spawn(&plan, &machine, |_| {}).unwrap_err().to_string();
    assert!(error.contains("/.env` can't be kept from a command"), "{error}");
    assert!(error.ends_with("another program has it open"), "{error}");
    assert!(!world.has("ws/new"));
    drop(open);
    assert_eq!(run(&plan, &machine).ended, None);
}
