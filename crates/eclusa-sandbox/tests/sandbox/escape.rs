//! Ways out, each refused, and nothing outside changed by the attempt.

use eclusa_sandbox::How;

use crate::world::{World, run};

/// Runs a text with the staged workspace as working directory and `$OUT` naming what is outside.
/// Every line of the text must have failed with one of the messages, and nothing changed.
fn refused(text: &str, says: &[&str]) {
    for staged in [true, false] {
        let world = World::new();
        let before = world.outside();
        // `$OUT` is one word, whatever is in the path.
        let words = format!("IFS=; {text}");
        let mut plan = if staged { world.staged(&words) } else { world.in_place(&words) };
        plan.env.push(("OUT".into(), world.path("outside").into()));
        plan.env.push(("LC_ALL".into(), "C".into()));
        let exit = run(&plan);
        let output = exit.output.text();
        for line in output.lines() {
            let known = says.iter().any(|says| line.contains(says));
            assert!(known, "staged: {staged}, `{text}` said {output}");
        }
        assert!(!output.is_empty(), "`{text}` said nothing: {exit:?}");
        assert_eq!(world.outside(), before, "`{text}` changed something outside");
    }
}

const READ_ONLY: &str = "Read-only file system";
const NOT_PERMITTED: &str = "Operation not permitted";
const DENIED: &str = "Permission denied";

/// One system call by number, through perl; prints the error.
fn call(number: libc::c_long, arguments: &str) -> String {
    format!(
        "perl -e '@a = ({arguments}); $r = syscall({number}, @a); print $r == -1 ? \"$!\\n\" : \"went through\\n\"'"
    )
}

#[test]
fn writing_outside() {
    eclusa_testing::needs!(Namespaces);
    // S1.18
    refused("echo x > $OUT/new", &[READ_ONLY, DENIED]);
    refused("echo x >> $OUT/out.txt", &[READ_ONLY, DENIED]);
    refused("truncate -s 0 $OUT/out.txt", &[READ_ONLY, DENIED]);
    refused("rm $OUT/out.txt 2>&1; rm -rf $OUT", &[READ_ONLY, DENIED]);
    refused("mkdir $OUT/d; mv $OUT/out.txt $OUT/b; ln -s x $OUT/l", &[READ_ONLY, DENIED]);
    refused("mv in.txt $OUT/", &[READ_ONLY, DENIED]);
    refused("dd if=/dev/zero of=$OUT/out.txt count=1 2>&1 | head -1", &[READ_ONLY, DENIED]);
}

#[test]
fn metadata_outside() {
    eclusa_testing::needs!(Namespaces);
    refused("chmod 777 $OUT/out.txt", &[READ_ONLY]);
    refused("chmod 777 $OUT", &[READ_ONLY]);
    refused("touch -d 2001-01-01 $OUT/out.txt", &[READ_ONLY, DENIED]);
    refused("chown $(id -u) $OUT/out.txt", &[READ_ONLY]);
    let set = format!(
        "perl -e '$p = \"$ENV{{OUT}}/out.txt\"; $n = \"user.x\"; $v = \"1\";
        print syscall({}, $p, $n, $v, 1, 0) == -1 ? \"$!\\n\" : \"went through\\n\"'",
        libc::SYS_setxattr
    );
    refused(&set, &[READ_ONLY, DENIED]);
}

#[test]
fn links_to_the_outside() {
    eclusa_testing::needs!(Namespaces);
    // C26
    refused("ln -s $OUT/out.txt link; echo x > link", &[READ_ONLY, DENIED]);
    refused("ln $OUT/out.txt hard", &["cross-device", "Cross-device", READ_ONLY, DENIED]);
    refused("ln -s $OUT dir; touch dir/new", &[READ_ONLY, DENIED]);
    refused("ln -s $OUT dir; cp in.txt dir/out.txt", &[READ_ONLY, DENIED]);
}

#[test]
fn renames_across_the_wall() {
    eclusa_testing::needs!(Namespaces);
    refused("mv $OUT ${OUT}2; mv $OUT here", &[READ_ONLY, DENIED, "cannot remove", "busy"]);
    refused("mv $OUT/out.txt .; rm -f out.txt", &[READ_ONLY, DENIED]);
    let rename = |from: &str, to: &str, flags: u32| {
        format!(
            "perl -e '$f = {from}; $t = {to}; print syscall({}, -100, $f, -100, $t, {flags}) == -1 \
             ? \"$!\\n\" : \"went through\\n\"'",
            libc::SYS_renameat2
        )
    };
    let out = "\"$ENV{OUT}/out.txt\"";
    // Over it, in exchange for it, and leaving a mark of the overlay in its place.
    for flags in [0, 2, 4] {
        let says = [READ_ONLY, DENIED, NOT_PERMITTED, "cross-device", "Invalid"];
        refused(&rename("\"in.txt\"", out, flags), &says);
        refused(&rename(out, "\"in.txt\"", flags), &says);
    }
    // The parent of the workspace, under the feet of whoever stands in it.
    refused(
        "mv ../ws ../ws2; mv ../../*/ws moved",
        &[READ_ONLY, DENIED, "busy", "subdirectory", "itself", "cannot"],
    );
}

#[test]
fn what_others_have_in_their_environment_and_memory() {
    eclusa_testing::needs!(Namespaces);
    // A process of the same user, outside, with a secret in both.
    let mut other = std::process::Command::new("/bin/sleep")
        .arg("1000")
        .env("OTHERS", "their-secret")
        .spawn()
        .unwrap();
    let pid = other.id();
    let world = World::new();
    let text = format!(
        "cat /proc/{pid}/environ /proc/*/environ | tr '\\0' '\\n' | grep their-secret
         cat /proc/{pid}/mem /proc/{pid}/maps; ls /proc/{pid}/fd; kill {pid}; cat /proc/1/environ /proc/1/maps"
    );
    let said = run(&world.staged(&text)).output.text();
    assert!(!said.contains("their-secret"), "{said}");
    assert!(other.try_wait().unwrap().is_none(), "it was killed");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn the_root_of_others() {
    eclusa_testing::needs!(Namespaces);
    refused("echo x > /proc/self/root$OUT/out.txt", &[READ_ONLY, DENIED]);
    refused("echo x > /proc/1/root$OUT/out.txt", &[DENIED, READ_ONLY]);
    refused("echo x > /proc/self/cwd/../outside/out.txt", &[READ_ONLY, DENIED]);
    refused("cat /proc/1/environ", &[DENIED]);
    refused(&call(libc::SYS_chroot, "\"/\""), &[NOT_PERMITTED]);
}

#[test]
fn only_its_own_processes_are_seen() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let exit = run(&world.staged("ls -d /proc/[0-9]* | wc -l; cat /proc/self/status | grep ^Cap"));
    let output = exit.output.text();
    let mut lines = output.lines();
    let processes: usize = lines.next().unwrap().parse().unwrap();
    assert!(processes <= 4, "{output}");
    for line in lines {
        assert!(line.ends_with("0000000000000000"), "a capability is left: {output}");
    }
    refused(
        "kill -9 1000 2>&1; kill -9 $PPID; echo 'No such process'",
        &["No such process", NOT_PERMITTED],
    );
}

#[test]
fn mounts_and_namespaces() {
    eclusa_testing::needs!(Namespaces);
    refused(
        "mkdir m; mount -t tmpfs none m 2>&1 | head -1",
        &["permission denied", "must be superuser", NOT_PERMITTED],
    );
    refused(
        "mount -o remount,rw / 2>&1 | head -1",
        &["permission denied", "must be superuser", NOT_PERMITTED],
    );
    // Newer ones ask the kernel by descriptor, which says that there is no such mount.
    refused("umount -l /proc 2>&1 | head -1", &["must be superuser", NOT_PERMITTED, "No such"]);
    refused("unshare -U true; unshare -r true; unshare -m true; unshare -n true", &[NOT_PERMITTED]);
    refused(&call(libc::SYS_setns, "0, 0"), &[NOT_PERMITTED]);
    refused(&call(libc::SYS_fsopen, "\"tmpfs\", 0"), &[NOT_PERMITTED]);
    refused(&call(libc::SYS_open_tree, "-100, \"/\", 1"), &[NOT_PERMITTED]);
    refused(&call(libc::SYS_mount_setattr, "-100, \"/\", 0, 0, 0"), &[NOT_PERMITTED]);
    refused(&call(libc::SYS_clone, "0x10000000|17, 0, 0, 0, 0"), &[NOT_PERMITTED]);
    refused(&call(libc::SYS_clone3, "0, 0"), &["Function not implemented"]);
}

#[test]
fn calls_into_the_kernel() {
    eclusa_testing::needs!(Namespaces);
    let refused_calls = [
        (libc::SYS_ptrace, "16, 1, 0, 0"),
        (libc::SYS_process_vm_readv, "1, 0, 0, 0, 0, 0"),
        (libc::SYS_pidfd_getfd, "0, 0, 0"),
        (libc::SYS_bpf, "0, 0, 0"),
        (libc::SYS_perf_event_open, "0, 0, -1, -1, 0"),
        (libc::SYS_userfaultfd, "0"),
        (libc::SYS_keyctl, "0, -3, 0, 0, 0"),
        (libc::SYS_add_key, "\"user\", \"x\", \"y\", 1, -3"),
        (libc::SYS_request_key, "\"user\", \"x\", 0, -3"),
        (libc::SYS_open_by_handle_at, "-100, 0, 0"),
        (libc::SYS_init_module, "0, 0, 0"),
        (libc::SYS_kexec_load, "0, 0, 0, 0"),
        (libc::SYS_syslog, "3, 0, 0"),
        (libc::SYS_reboot, "0, 0, 0, 0"),
    ];
    let texts: Vec<String> =
        refused_calls.iter().map(|(number, arguments)| call(*number, arguments)).collect();
    refused(&texts.join("\n"), &[NOT_PERMITTED]);
    for number in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, 467, 500, 1000] {
        refused(&call(number, "1, 0, 0"), &["Function not implemented"]);
    }
    // The other interface of the processor, which only some have.
    refused(&call(0x4000_0000 | 39, "0"), &[NOT_PERMITTED, "not implemented"]);
}

#[test]
fn a_terminal_is_not_typed_into() {
    eclusa_testing::needs!(Namespaces);
    let type_into =
        "perl -e '$c = \"x\"; print ioctl(STDIN, 0x5412, $c) ? \"went through\\n\" : \"$!\\n\"'";
    refused(type_into, &[NOT_PERMITTED]);
    refused("echo x > /dev/tty", &["No such", DENIED]);
}

#[test]
fn set_user_id_programs_lend_nothing() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let exit = run(&world.staged(
        "su -c id nobody </dev/null 2>&1; grep NoNewPrivs /proc/self/status; newgrp 2>&1; id -u",
    ));
    let output = exit.output.text();
    assert!(output.contains("NoNewPrivs:\t1"), "{output}");
    let own = rustix::process::geteuid().as_raw().to_string();
    assert_eq!(output.lines().last(), Some(own.as_str()));
    refused("cp /bin/true t; chmod u+s t; chmod 4755 t", &[NOT_PERMITTED]);
    refused("mknod dev c 1 3; mknod blk b 8 0", &[NOT_PERMITTED]);
}

#[test]
fn the_kernel_is_not_tuned() {
    eclusa_testing::needs!(Namespaces);
    refused("echo 1 > /proc/sys/kernel/pid_max", &[READ_ONLY, DENIED]);
    refused("echo x > /proc/sys/kernel/core_pattern", &[READ_ONLY, DENIED]);
    refused("echo b > /proc/sysrq-trigger", &[READ_ONLY, DENIED, "No such"]);
    refused("mkdir /sys/fs/cgroup/x", &[READ_ONLY, DENIED, NOT_PERMITTED, "No such"]);
    refused("echo 0 > /sys/kernel/mm/ksm/run", &[READ_ONLY, DENIED, "No such"]);
}

#[test]
fn moving_what_is_hidden_does_not_show_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir_all(world.path("ws/.git/hooks")).unwrap();
    std::fs::write(world.path("ws/.env"), "KEY=secret\n").unwrap();
    std::fs::create_dir(world.path("outside/.ssh")).unwrap();
    std::fs::write(world.path("outside/.ssh/id"), "secret\n").unwrap();
    let text = "cat .env; mv .env e2; cp .env e3; ln .env e4; cat e2 e3 e4; chmod 644 .env; rm -f .env
        S=$OUT/.ssh; cat $S/id; ls $S; chmod 755 $S; mv $S ${S}2; cat ${S}2/id; tar cf - $S | strings
        mv .git .git2; mkdir -p .git/hooks; echo moved";
    let mut plan = world.staged(text);
    plan.env.push(("OUT".into(), world.path("outside").into()));
    plan.hide = vec![world.path("ws/.env"), world.path("outside/.ssh")];
    let output = run(&plan).output.text();
    assert!(!output.contains("secret"), "{output}");
    assert!(output.contains("moved"));
    assert_eq!(world.read("ws/.env"), "KEY=secret\n");
    assert_eq!(world.read("outside/.ssh/id"), "secret\n");
    assert!(world.has("ws/.git/hooks"), "the real one is where it was");
}

#[test]
fn descriptors_and_environment_are_exactly_what_was_given() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let (read, _write) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(&read, rustix::io::FdFlags::empty()).unwrap();
    let exit = run(&world.staged("ls /proc/self/fd | tr '\\n' ' '; env | sort"));
    assert_eq!(
        exit.output.text(),
        format!(
            "0 1 2 3 PATH=/usr/local/bin:/usr/bin:/bin\nPWD={}\nSHLVL=1\n_=/usr/bin/env\n",
            world.ws().display()
        )
    );
    let exit = run(&World::new().staged("exec 0<&- 1>&- 2>&-; echo lost; sleep 0.01; exit 5"));
    assert_eq!((exit.how, exit.output.text().as_str()), (How::Code(5), ""));
}

#[test]
fn a_bash_on_the_path_is_not_taken() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("ws/bin")).unwrap();
    for name in ["bash", "sh"] {
        let path = world.path("ws/bin").join(name);
        std::fs::write(&path, "#!/bin/true\n").unwrap();
        std::os::unix::fs::chown(&path, None, None).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
    }
    let mut plan = world.staged("echo mine; f 2>/dev/null; echo $X");
    plan.env.clear();
    plan.env.push(("PATH".into(), format!("{}/bin:/usr/bin:/bin", world.ws().display()).into()));
    plan.env.push(("BASH_ENV".into(), "in.txt".into()));
    plan.env.push(("SHELLOPTS".into(), "xtrace".into()));
    plan.env.push(("BASH_FUNC_f%%".into(), "() { echo theirs; }".into()));
    assert_eq!(run(&plan).output.text(), "mine\n\n");
}
