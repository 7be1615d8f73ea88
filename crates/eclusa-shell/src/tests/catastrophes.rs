//! Catastrophes: every spelling of them is found, and what only looks like one is not.

use super::corpus::is_catastrophic;
use super::split::argv;
use crate::catastrophe::{of_words, of_write};
use crate::programs::{class_through, printed, read, run_with_input, searched_places as places};
use crate::{NestedCommands, Word};

fn found(command: &str) -> bool {
    is_catastrophic(command)
}

/// The removal table of the mission: S1.35, A12 and the table of section S.
#[test]
fn removal_of_root_home_and_system_is_found_in_every_spelling() {
    let flags = [
        "-rf",
        "-fr",
        "-r -f",
        "-R",
        "-Rf",
        "--recursive --force",
        "-r --no-preserve-root",
        "--recurs",
        "-vrf",
        "-r -- ",
        "-rf --",
    ];
    let targets = [
        "/",
        "//",
        "/.",
        "/./",
        "/../",
        "/..",
        "/etc/..",
        "/etc/../",
        "/usr/bin/../..",
        "/*",
        "/**",
        "/.*",
        "/*/",
        "/?*",
        "/e*",
        "/[a-z]*",
        "/etc",
        "/etc/",
        "//etc//",
        "/usr",
        "/tmp",
        "/home",
        "/home/",
        "/etc/*",
        "/usr/*",
        "/var",
        "/boot",
        "/lib",
        "/home/ana",
        "/home/*",
        "/root",
        "/Users/ana",
        "$HOME",
        "${HOME}",
        "\"$HOME\"",
        "\"${HOME}/\"",
        "$HOME/",
        "$HOME/*",
        "\"$HOME\"/*",
        "~",
        "~/",
        "~/*",
        "~/.",
        "~root",
        "~ana/",
        "*",
        "./*",
        ".",
        "./",
        "..",
        "../",
        "../..",
        "../*",
        ".*",
        "$PWD",
        "\"$PWD\"/*",
        "/proc/self/root",
        "/proc/1/root/etc",
        "'/'",
        "\"/\"",
        "/''",
        "x y ~/",
        "build / dist",
    ];
    let mut missed = Vec::new();
    for flags in flags {
        for target in targets {
            let command = format!("rm {flags} {target}");
            if !found(&command) {
                missed.push(command);
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn removal_of_other_things_is_not_a_catastrophe() {
    let targets = [
        "dist/",
        "build",
        "/usr/local",
        "/usr/local/lib/x",
        "/tmp/build/x",
        "$HOME/code/x",
        "~/code/x",
        "node_modules",
        "./build",
        "build/*",
        "*.o",
        "../other/build",
        "/var/tmp/x",
        "/opt/app/cache",
        "/home/ana/code",
        "$x",
        "src/*",
        "a/..b",
        "/tmp/x*",
        "/mnt/data/x",
    ];
    for target in targets {
        assert!(!found(&format!("rm -rf {target}")), "{target}");
    }
    for command in ["rm /", "rm -f notes.txt", "echo 'rm -rf /'", "grep 'rm -rf /' x", "ls /"] {
        assert!(!found(command), "{command}");
    }
}

/// Wrapped in anything, a catastrophe stays one (A8, S3.18).
#[test]
fn wrappers_do_not_hide_a_catastrophe() {
    let wrappers = [
        "sudo",
        "sudo -u root",
        "doas",
        "env",
        "env -i A=b",
        "timeout 5",
        "timeout -s KILL 5",
        "nohup",
        "nice",
        "nice -n 5",
        "nice -5",
        "ionice -c3",
        "stdbuf -o0",
        "setsid",
        "time",
        "time -p",
        "command",
        "exec",
        "builtin command",
        "xargs",
        "xargs -0 -n1",
        "busybox",
        "toybox",
        "chrt -i 0",
        "taskset 1",
        "parallel",
        "watch -n 5",
        "find . -exec",
        "/usr/bin/env",
        "sudo env nice -n 3 timeout 5",
    ];
    let cases = [
        "rm -rf /",
        "/bin/rm -rf /",
        "dd if=x of=/dev/sda",
        "mkfs.ext4 /dev/sdb",
        "chmod -R 777 /",
    ];
    for wrapper in wrappers {
        for case in cases {
            assert!(found(&format!("{wrapper} {case}")), "{wrapper} {case}");
        }
    }
    for case in cases {
        for shell in ["sh -c", "bash -lc", "sudo bash -c", "eval", "env sh -ec", "busybox sh -c"] {
            assert!(found(&format!("{shell} '{case}'")), "{shell} {case}");
        }
        assert!(found(&format!("trap '{case}' EXIT")), "{case}");
        assert!(found(&format!("find . -name x -exec {case} \\;")), "{case}");
        assert!(found(&format!("git -c alias.q='!{case}' q")), "{case}");
    }
}

#[test]
fn programs_by_another_path_are_the_same_program() {
    let names = [
        "/bin/rm",
        "/usr/bin/rm",
        "/usr/bin/../bin/rm",
        "//bin//rm",
        "/bin/./rm",
        "/usr/local/bin/rm",
        "RM",
        "/tmp/rm",
        "./rm",
    ];
    for name in names {
        assert!(found(&format!("{name} -rf /")), "{name}");
    }
    assert!(!read(&argv("/tmp/ls")).class.is_read_only());
    assert!(!read(&argv("./ls")).class.is_read_only());
    assert!(!read(&argv("bin/ls")).class.is_read_only());
    assert!(read(&argv("/bin/ls")).class.is_read_only());
    assert!(read(&argv("/usr/bin/../bin/ls -la")).class.is_read_only());
}

#[test]
fn devices_and_file_systems_are_found() {
    let cases = [
        "dd if=/dev/zero of=/dev/sda bs=1M",
        "dd of=/dev/nvme0n1 if=image.iso",
        "dd of=//dev/./sda",
        "mkfs.ext4 /dev/sda1",
        "mkfs -t ext4 /dev/sda1",
        "/sbin/mkfs.btrfs -f /dev/vda",
        "mkswap /dev/sda2",
        "cp image.iso /dev/sdb",
        "shred -n 3 /dev/sda",
        "tee /dev/sda",
        "parted -s /dev/sda mklabel gpt",
        "sgdisk -Z /dev/sda",
        "wipefs -a /dev/sda",
        "blkdiscard /dev/nvme0n1",
        "fdisk /dev/sda",
        "cryptsetup luksFormat /dev/sda",
        "truncate -s 0 /dev/sda",
        "mv x /dev/sda",
        "ln -sf x /dev/sda",
        "install x /dev/sdb",
        "cp -t /dev/sdb x",
        "cp --target-directory=/dev/sdb x",
        "sort -o /dev/sda x",
        "sed 'w /dev/sda' x",
        "tee /proc/sysrq-trigger",
        "rm -rf /dev/sda",
        "dd of=/dev/disk/by-id/x",
    ];
    for case in cases {
        assert!(found(case), "{case}");
    }
    for case in [
        "dd if=a of=b",
        "dd if=/dev/zero of=disk.img",
        "cp a /dev/null",
        "tee /dev/stderr",
        "mkfs.ext4 disk.img",
        "dd if=/dev/sda of=/dev/null",
        "tee /dev/shm/x",
        "fdisk -l",
        "cat /dev/urandom",
    ] {
        assert!(!found(case), "{case}");
    }
    for target in
        ["/dev/sda", "/dev//sda1", "/dev/../dev/sda", "/dev/mapper/root", "/proc/sysrq-trigger"]
    {
        assert!(of_write(&Word::literal(target)).is_some(), "{target}");
    }
    for target in ["/dev/null", "out.txt", "/dev/stderr", "/dev/fd/2", "/dev/tty"] {
        assert!(of_write(&Word::literal(target)).is_none(), "{target}");
    }
}

#[test]
fn other_ways_to_destroy_a_machine_are_found() {
    let cases = [
        "chmod -R 777 /",
        "chmod 777 / -R",
        "chmod -R 000 /etc",
        "chmod --recursive 777 ~",
        "chown -R nobody /",
        "chgrp -R x /usr",
        "mv / /tmp/x",
        "mv /* /tmp/x",
        "mv ~ /tmp/x",
        "mv -t /tmp/x /etc",
        "find / -delete",
        "find / -exec rm -rf {} +",
        "find /etc -delete",
        "find ~ -delete",
        "find / -type f -delete",
        "find / -name '*' -delete",
        "find -L / -delete",
        "rsync -a --delete empty/ /",
        "kill -9 -1",
        "kill -KILL -1",
        "kill -s 9 -1",
        "kill -9 -- -1",
        "kill 1",
        "killall5 -9",
        "chmod 777 /etc/passwd",
        "chmod a+w /etc/shadow",
        "chmod 0666 /etc/passwd",
        "rimraf /",
        "chmod 000 /",
        "find / -execdir rm {} \\;",
    ];
    for case in cases {
        assert!(found(case), "{case}");
    }
    for case in [
        "chmod -R 755 build",
        "chmod +x run.sh",
        "chown -R me .",
        "mv a b",
        "mv * dest/",
        "find . -name '*.pyc' -delete",
        "rsync -a --delete a/ b/",
        "kill -9 1234",
        "kill -1 1234",
        "kill -l",
        "find / -name core",
        "chmod -R 777 .",
        "find / -name x -exec ls {} +",
    ] {
        assert!(!found(case), "{case}");
    }
}

/// What a script certainly runs is known, even where the rest of it is not.
#[test]
fn a_script_that_is_known_in_part_is_followed() {
    for case in [
        "bash -c \"rm -rf / $x\"",
        "eval rm -rf / $x",
        "find . -exec sh -c 'rm -rf / {}' \\;",
        "sh -c \"ls; rm -rf / # $x\"",
        "xargs -I{} sh -c 'rm -rf / {}'",
        "xargs -I % rm -rf / %",
    ] {
        assert!(found(case), "{case}");
        let class = class_through(&argv(case));
        assert!(!class.is_read_only() || case.ends_with(";"), "{case}: {class}");
    }
}

/// A pipe whose text is known hides nothing.
#[test]
fn what_is_printed_into_a_shell_or_xargs_is_known() {
    let text = printed(&argv("echo 'rm -rf /'")).unwrap();
    assert_eq!(run_with_input(&argv("sudo sh"), &text), NestedCommands::default());
    let inner = run_with_input(&argv("sh"), &text);
    assert!(inner.scripts.iter().any(|it| found(&it.source)));
    let inner =
        run_with_input(&argv("xargs rm -rf"), &printed(&argv("printf '%s\\n' / x")).unwrap());
    let words = inner.runs.first().unwrap();
    assert!(of_words(words, &read(words), &[]).is_some());
    assert_eq!(printed(&argv("echo $x")), None);
    assert_eq!(printed(&argv("printf '%d' 1")), None);
    assert_eq!(places(&argv("find / -type f")), vec![Word::literal("/")]);
    assert!(places(&argv("find / -name x")).is_empty());
}
