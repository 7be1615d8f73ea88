//! A command that writes, without namespaces: it changes its own side, and nothing else.

use std::process::{Child, Command};

use eclusa_sandbox::{Exit, HostCapabilities, Missing, Plan, Sandbox};

use crate::reading::{VERSIONS, attempts, machine};
use crate::world::World;

fn writing(world: &World, text: &str, machine: &HostCapabilities) -> Plan {
    let mut plan = world.in_place(text);
    plan.may_lack = machine.missing();
    std::fs::create_dir_all(world.path("tmp")).unwrap();
    plan.tmp = Some(world.path("tmp"));
    plan.env.push(("OUT".into(), world.path("outside").into()));
    plan
}

fn run(plan: &Plan, machine: &HostCapabilities) -> Exit {
    Sandbox::spawn(plan, machine, |_| {}).unwrap().wait().unwrap()
}

/// Another process of this user.
struct Other(Child);

impl Other {
    fn new() -> Other {
        Other(Command::new("sleep").arg("1236").spawn().unwrap())
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn metadata_outside_stay_whatever_is_tried() {
    let machine = machine();
    assert!(machine.holds_outside(), "{machine:?}");
    for version in VERSIONS {
        let world = World::new();
        let flags = rustix::fs::XattrFlags::empty();
        let out = world.path("outside/out.txt");
        rustix::fs::setxattr(&out, c"user.kept", b"1", flags).unwrap();
        std::os::unix::fs::symlink(world.path("outside"), world.path("ws/link")).unwrap();
        let mut other = Other::new();
        std::fs::write(world.path("try.pl"), attempts(other.0.id())).unwrap();
        let older = machine.clone().with_landlock(version);
        assert!(older.holds_outside() && older.lacks_outside().is_empty());
        let text = "perl ../try.pl; exec 5< $OUT/out.txt
            chmod 600 link/out.txt ../outside/out.txt /proc/self/fd/5 /proc/$$/fd/5 $OUT && echo mode
            touch -h -d 2001-01-01 link/out.txt $OUT/out.txt $OUT && echo times
            ln -s $OUT/out.txt to; touch -d 2001-01-01 to && echo through; chown -R $(id -u) $OUT && echo owner";
        let plan = writing(&world, text, &older);
        let before = world.outside();
        let exit = run(&plan, &older);
        let said = exit.output.text();
        let refused = ["not permitted", "ermission denied", "levels of symbolic links"];
        for line in said.lines() {
            assert!(refused.iter().any(|it| line.contains(it)), "{said}");
        }
        assert_eq!(world.outside(), before, "with Landlock {version}");
        assert!(other.lives(), "with Landlock {version}");
    }
}

#[test]
fn metadata_of_what_may_be_written_are_changed() {
    let machine = machine();
    for version in VERSIONS {
        let world = World::new();
        let older = machine.clone().with_landlock(version);
        let text = r#"set -e; chmod 640 in.txt; stat -c %a in.txt; touch -d @1000 in.txt; stat -c %Y in.txt
            cp -p in.txt copy; stat -c '%a %Y' copy; chown $(id -u):$(id -g) copy; mkdir -m 700 d; stat -c %a d
            ln -s gone l; touch -h -d @1000 l; stat -c %Y l; install -m 755 in.txt d/run; ./d/run || stat -c %a d/run
            tar cf a.tar in.txt; rm in.txt; tar xpf a.tar; stat -c '%a %Y' in.txt
            perl -e '($f, $n, $v) = ("in.txt", "user.x", "v"); syscall(SETXATTR, $f, $n, $v, 1, 0) == 0 or die "x"'
            perl -e 'open F, ">", "d/f"; chmod 0604, *F or die; utime 5, 6, *F or die; utime 7, 8, "d/f"'
            stat -c '%a %X %Y' d/f; t=$(mktemp); chmod 444 $t; stat -c %a $t; chmod 750 .; stat -c %a ."#
            .replace("SETXATTR", &libc::SYS_setxattr.to_string());
        let exit = run(&writing(&world, &text, &older), &older);
        let said = exit.output.text();
        let said: Vec<_> = said.lines().filter(|it| !it.contains("inside")).collect();
        let expected = ["640", "1000", "640 1000", "700", "1000", "755", "640 1000"];
        let expected = [&expected[..], &["604 7 8", "444", "750"]].concat();
        assert_eq!(said, expected, "with Landlock {version}");
        let kept = rustix::fs::getxattr(world.path("ws/in.txt"), c"user.x", &mut [0_u8; 8][..]);
        assert_eq!(kept, Ok(1));
    }
}

/// Every way to send a signal that programs have.
#[test]
fn signals_reach_the_command_itself_and_nobody_else() {
    let machine = machine();
    for version in VERSIONS {
        let world = World::new();
        let mut other = Other::new();
        let older = machine.clone().with_landlock(version);
        assert!(!older.missing().contains(&Missing::Signals));
        let text = r#"kill -9 HOST && echo 1; kill -0 HOST && echo 2; kill -9 -HOST && echo 3; kill -0 -1 && echo all
            perl -e 'syscall(TKILL, HOST, 9) == 0 and print "5\n"; syscall(TGKILL, HOST, HOST, 9) == 0 and print "6\n";
                $info = pack("iiiiii", 9, 0, -1) . "\0" x 128; syscall(QUEUE, HOST, 9, $info) == 0 and print "7\n";
                syscall(TQUEUE, HOST, HOST, 9, $info) == 0 and print "8\n";
                $p = syscall(PIDFD, HOST, 0); syscall(PIDFD_SEND, $p, 9, 0, 0) == 0 and print "9\n";
                pipe R, W; fcntl(R, 10, 9); fcntl(R, 8, HOST) and fcntl(R, 4, 020000) and syswrite(W, "x");
                $own = pack("i", HOST); ioctl(R, 0x8901, $own) and syswrite(W, "x");'
            sleep 1237 & kill $!; wait $!; echo own $?; bash -c 'kill -ABRT $$'; echo self $?
            (trap 'echo caught' USR1; kill -USR1 $BASHPID); perl -e 'kill 9, $$'; echo $?"#;
        let numbers = [
            ("PIDFD_SEND", libc::SYS_pidfd_send_signal),
            ("PIDFD", libc::SYS_pidfd_open),
            ("TQUEUE", libc::SYS_rt_tgsigqueueinfo),
            ("QUEUE", libc::SYS_rt_sigqueueinfo),
            ("TGKILL", libc::SYS_tgkill),
            ("TKILL", libc::SYS_tkill),
            ("HOST", libc::c_long::from(other.0.id())),
        ];
        let text = numbers
            .into_iter()
            .fold(text.to_owned(), |text, (name, number)| text.replace(name, &number.to_string()));
        let exit = run(&writing(&world, &text, &older), &older);
        let said = exit.output.text();
        // Landlock lets a signal to everybody reach those whom it may.
        assert!(version >= 6 || !said.contains("all\n"), "with Landlock {version}: {said}");
        let digit = |it: &str| it.len() == 1 && it.parse::<u8>().is_ok();
        assert!(!said.lines().any(digit), "with Landlock {version}: {said}");
        assert!(other.lives(), "with Landlock {version}: {said}");
        for own in ["own 143", "self 134", "caught", "\n137\n"] {
            assert!(said.contains(own), "with Landlock {version}: {own}: {said}");
        }
    }
}

/// Without a supervisor nothing is promised, and it is said what is not.
#[test]
fn what_is_not_held_outside_is_named() {
    let lacking = machine().without(Missing::Signals);
    assert!(!lacking.holds_outside() && lacking.missing().contains(&Missing::Signals));
    assert_eq!(lacking.lacks_outside().len(), 2, "{lacking:?}");
}
