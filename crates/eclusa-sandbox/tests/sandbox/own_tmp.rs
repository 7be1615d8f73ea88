//! `/tmp` of a command without namespaces: that of its session, for a command that names it.

use eclusa_sandbox::{Exit, HostCapabilities, Plan, Sandbox};

use crate::reading::{VERSIONS, attempts, machine};
use crate::world::World;

/// With a directory in the place of `/tmp`.
fn run(world: &World, plan: Plan, machine: &HostCapabilities) -> Exit {
    let mut plan = plan;
    plan.may_lack = machine.missing();
    std::fs::create_dir_all(world.path("tmp")).unwrap();
    plan.tmp = Some(world.path("tmp"));
    plan.env.push(("OUT".into(), world.path("outside").into()));
    Sandbox::spawn(&plan, machine, |_| {}).unwrap().wait().unwrap()
}

/// A beginning that no other process gives to its files.
fn own_name() -> String {
    format!("eclusa-own-tmp-{}", std::process::id())
}

#[test]
fn a_command_that_names_tmp_has_that_of_its_session() {
    let machine = machine();
    let name = own_name();
    for version in VERSIONS {
        let older = machine.clone().with_landlock(version);
        let world = World::new();
        let text = r#"set -e; n=/tmp/NAME
            echo one > $n-a; cat $n-a; test -w /tmp; stat -c %s $n-a
            mkdir -p $n-d/e; cd $n-d/e; echo two > f; cd ..; cat e/f $n-d/e/f; ls $n-d; cd /
            printf '#!/bin/sh\necho "ran $1"\n' > $n-s; chmod 700 $n-s; $n-s it; cp $n-s $n-t; (exec $n-t too)
            mv $n-a /var/tmp/NAME-b; cat $n-b; ln $n-b $n-c; ln -s NAME-c $n-l; cat $n-l; readlink $n-l
            rm -r $n-d; test ! -e $n-d; touch -d @1000 $n-b; stat -c %Y $n-b
            perl -e 'mkdir "/tmp/NAME-p" or die $!; rename "/tmp/NAME-p", "/tmp/NAME-q" or die $!; rmdir "/tmp/NAME-q" or die $!'
            seq 64 | xargs -P 8 -I{} sh -c 'echo {} > /tmp/NAME-n{}'; cat $n-n* | wc -l"#;
        let exit = run(&world, world.in_place(&text.replace("NAME", &name)), &older);
        let wanted = "one\n4\ntwo\ntwo\ne\nran it\nran too\none\none\nNAME-c\n1000\n64\n";
        assert_eq!(exit.output.text(), wanted.replace("NAME", &name), "with Landlock {version}");
        assert_eq!(world.read(&format!("tmp/{name}-b")), "one\n");
        // A later command finds it, also one that only reads; the machine's `/tmp` has nothing of it.
        let text = format!("cat /tmp/{name}-b; echo more > /tmp/{name}-m; ls /tmp | wc -l");
        let exit = run(&world, world.read_only(&text), &older);
        assert_eq!(exit.output.text(), "one\n70\n", "with Landlock {version}");
        let machines =
            std::fs::read_dir("/tmp").unwrap().chain(std::fs::read_dir("/var/tmp").unwrap());
        let left = machines.flatten().filter(|it| it.file_name().to_string_lossy().contains(&name));
        assert_eq!(left.count(), 0, "with Landlock {version}");
    }
}

/// Semaphores and shared memory, as C libraries make, find and remove them, of a command that names neither.
#[test]
fn objects_with_names_are_those_of_the_session() {
    let (machine, name) = (machine(), own_name());
    let text = r#"perl -MFcntl -e '$n = "/dev" . "/shm/NAME"; sysopen(F, "$n-a", O_RDWR | O_CREAT | O_EXCL) or die $!;
        print F "made\n"; close F; link "$n-a", "$n-b" or die $!;
        sysopen(F, "$n-b", O_RDWR | O_NOFOLLOW) or die $!; print <F>'
        ! command -v python3 > /dev/null || python3 -B -c 'import multiprocessing as it
with it.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, 2]) == [1, 2]'"#;
    for version in VERSIONS {
        let (older, world) = (machine.clone().with_landlock(version), World::new());
        let exit = run(&world, world.in_place(&text.replace("NAME", &name)), &older);
        assert_eq!(exit.output.text(), "made\n", "with Landlock {version}");
        assert_eq!(world.read(&format!("tmp/{name}-b")), "made\n");
        // One that only reads makes none, and the machine has none of them.
        let exit = run(&world, world.read_only(&text.replace("NAME", &name)), &older);
        assert!(exit.output.text().contains("Permission denied"), "{}", exit.output.text());
        let left = std::fs::read_dir("/dev/shm").unwrap().flatten();
        assert!(!left.into_iter().any(|it| it.file_name().to_string_lossy().contains(&name)));
    }
}

/// What is looked up for a command is held as ever.
#[test]
fn whoever_names_tmp_changes_nothing_outside() {
    let machine = machine();
    for version in VERSIONS {
        let older = machine.clone().with_landlock(version);
        let world = World::new();
        std::fs::write(world.path("try.pl"), attempts(std::process::id())).unwrap();
        std::fs::create_dir(world.path("tmp")).unwrap();
        let text = "perl ../try.pl; ln -s $OUT/out.txt /tmp/to; ln -s $OUT /tmp/in
            echo gone > /tmp/to && echo written; touch -d 2001-01-01 /tmp/to && echo times
            chmod 600 /tmp/to /tmp/in/out.txt && echo mode; rm -f /tmp/in/out.txt; mv /tmp/in/out.txt /tmp/it && echo moved
            ln /tmp/in/out.txt /tmp/linked && echo gone > /tmp/linked && echo linked
            echo x > /tmp/in/new && echo made; mkdir /tmp/in/d && echo made; truncate -s 0 /tmp/to && echo emptied
            echo x > /tmp/../$OUT/new && echo made";
        let before = world.outside();
        let exit = run(&world, world.in_place(text), &older);
        let said = exit.output.text();
        let done = ["written", "times", "mode", "moved", "linked", "made", "emptied"];
        assert!(!said.lines().any(|it| done.contains(&it)), "{said}");
        assert_eq!(world.outside(), before, "with Landlock {version}: {said}");
    }
}

/// A workspace in the machine's `/tmp` is where it is.
#[test]
fn a_workspace_in_tmp_is_seen_where_it_is() {
    let machine = machine();
    let world = World::in_tmp();
    let name = own_name();
    let text = format!(
        "cat {ws}/in.txt; echo new > {ws}/new; ls -d {root}; echo x > /tmp/{name}-w; cat /tmp/{name}-w",
        ws = world.ws().display(),
        root = world.path("").display(),
    );
    let exit = run(&world, world.in_place(&text), &machine);
    let wanted = format!("inside\n{}\nx\n", world.path("").display());
    assert_eq!(exit.output.text(), wanted);
    assert_eq!(
        (world.read("ws/new"), world.read(&format!("tmp/{name}-w"))),
        ("new\n".into(), "x\n".into())
    );
}
