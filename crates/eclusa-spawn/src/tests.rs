//! Programs through the one place that starts them.

use std::time::Duration;

use super::*;

fn shell(script: &str) -> Program {
    Program {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: std::env::temp_dir(),
        env: Vec::new(),
        set: Vec::new(),
    }
}

async fn run(script: &str) -> Finished {
    shell(script).run(Vec::new(), Streams::Together).await.unwrap()
}

fn alive(pid: &str) -> bool {
    // A zombie that its new parent has not reaped yet is dead enough.
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim().starts_with('Z'))
}

#[tokio::test]
async fn outputs_come_in_the_order_they_were_written() {
    let ended = run("echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 3").await;
    assert_eq!((ended.out.as_str(), ended.err.as_str(), ended.code), ("1\n2\n3\n4\n", "", Some(3)));
}

#[tokio::test]
async fn outputs_can_be_kept_apart() {
    let ended = shell("echo 1; echo 2 >&2").run(Vec::new(), Streams::Apart).await.unwrap();
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("1\n", "2\n"));
}

/// Shows E12.
#[tokio::test]
async fn stdin_is_closed_after_the_input() {
    let ended = shell("cat").run(b"all of it".to_vec(), Streams::Together).await.unwrap();
    assert_eq!((ended.out.as_str(), ended.code), ("all of it", Some(0)));
}

#[tokio::test]
async fn a_program_that_reads_nothing_ends_with_a_large_input() {
    let ended = shell("exit 0").run(vec![b'x'; 1 << 20], Streams::Together).await.unwrap();
    assert_eq!(ended.code, Some(0));
}

#[tokio::test]
async fn a_program_that_closes_its_stdin_is_waited_for() {
    let program = shell("exec <&-; sleep 0.1; echo done");
    let ended = program.run(vec![b'x'; 1 << 20], Streams::Together).await.unwrap();
    assert_eq!(ended.out, "done\n");
}

#[tokio::test]
async fn whoever_was_left_in_the_background_is_ended() {
    let ended = run("sleep 300 & echo $!").await;
    // It was told to end; that takes the kernel a moment.
    while alive(&ended.out) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Shows E9.
#[tokio::test]
async fn dropping_the_future_ends_the_whole_group() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = shell("trap '' TERM; sleep 300 & echo $! > pids; echo $$ >> pids; sleep 300");
    program.directory = dir.path().to_owned();
    let pids = dir.path().join("pids");
    let running = program.run(Vec::new(), Streams::Together);
    let written = async {
        while std::fs::read_to_string(&pids).unwrap_or_default().lines().count() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = running => panic!("it should not end by itself"),
        () = written => {}
    }
    tokio::task::spawn_blocking(wait_for_killers).await.unwrap();
    // Told to end, and the kernel takes a moment. The sleeping would take minutes.
    let pids = std::fs::read_to_string(&pids).unwrap();
    for _ in 0..6000 {
        if !pids.lines().any(alive) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("some of {pids} live");
}

#[tokio::test]
async fn a_program_may_tidy_up_before_it_is_killed() {
    // It has a second, in which a busy machine may not let it run at all.
    for _ in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        let mut program = shell("trap ': > tidied; exit' TERM; sleep 300 & : > ready; wait");
        program.directory = dir.path().to_owned();
        let ready = async {
            while !dir.path().join("ready").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = program.run(Vec::new(), Streams::Together) => panic!("it should not end by itself"),
            () = ready => {}
        }
        tokio::task::spawn_blocking(wait_for_killers).await.unwrap();
        if dir.path().join("tidied").exists() {
            return;
        }
    }
    panic!("it was killed before it had tidied up");
}

#[tokio::test]
async fn the_environment_is_a_list() {
    let mut program = shell("env");
    program.env = vec!["CARGO_PKG_NAME".to_owned()];
    program.set = vec![("ECLUSA_CALL".to_owned(), "c1".into())];
    let ended = program.run(Vec::new(), Streams::Together).await.unwrap();
    let mut names: Vec<&str> =
        ended.out.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names
        .retain(|it| !["PATH", "HOME", "LANG", "TERM", "PWD", "SHLVL", "_", "OLDPWD"].contains(it));
    names.sort_unstable();
    assert_eq!(names, ["CARGO_PKG_NAME", "ECLUSA_CALL"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_with_its_name() {
    let program = Program { command: vec!["no-such-program".to_owned()], ..shell("") };
    let err = program.run(Vec::new(), Streams::Together).await.unwrap_err();
    assert!(err.to_string().contains("`no-such-program` cannot be started"), "{err}");
}
