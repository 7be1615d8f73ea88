//! A whole fleet on one machine with one command, which leaves nothing running.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use super::server::{work, worker};
use crate::world::until;

#[test]
fn a_fleet_begins_and_ends_with_one_command() {
    if super::postgres::Postgres::shared().is_none() {
        return;
    }
    let machine = worker();
    // As root the database belongs to another user, who must reach it.
    let place = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path(), open).unwrap();
    let dir = place.path().join("fleet").display().to_string();
    for round in 1..=2 {
        let mut command = machine.command(&["fleet", "dev", &dir, "--listen", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let said: Vec<String> = lines.by_ref().take_while(|it| it != "Ctrl-C ends it").collect();
        assert!(said[0].starts_with("serving at http://127.0.0.1:"), "{said:?}");
        assert_eq!(said[1], "enrolled in dev (team=dev): policy 1 is in force");
        let address = said.iter().find_map(|it| it.trim().strip_prefix("export ECLUSA_DATABASE='"));
        let address = address.unwrap().trim_end_matches('\'').to_owned();
        work(&machine, 2);
        until("calls are shipped by themselves", || {
            let ran = machine.eclusa(&["fleet", "log", "--database", &address]);
            (ran.out.lines().count() == 1 + 2 * round).then_some(())
        });
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let rest: Vec<String> = lines.collect();
        assert_eq!(rest[0], "left dev: its policy holds here no longer", "{rest:?}");
        assert!(rest[1].starts_with("ended; everything stays in "), "{rest:?}");
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(machine.eclusa(&["fleet", "status"]).out.contains("this machine is in no fleet"));
        let database = place.path().join("fleet/database");
        assert!(!database.join("data/postmaster.pid").exists(), "the database has ended");
    }
}
