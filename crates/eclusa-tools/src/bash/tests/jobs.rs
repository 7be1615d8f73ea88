//! Commands in the background: started, read, signalled, listed, ended.

use std::{fs, time::Duration};

use eclusa::{Answer, Run, ToolCall};
use serde_json::json;

use super::World;

/// A workspace with a directory that is written at once, in which jobs leave marks.
fn live() -> World {
    let world = World::new(Answer::Once, |it| it.live = vec!["target".into()]);
    fs::create_dir(world.path("target")).unwrap();
    world
}

/// A later command reaches the server of an earlier one, on localhost and nowhere else.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_the_background_is_reached_by_later_commands_of_the_conversation() {
    let world = World::yes();
    let server = "perl -MIO::Socket -e '$| = 1; $s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\");
        print \"at \", $s->sockport, \" \"; while ($c = $s->accept) { print $c \"served\n\"; close $c }'";
    let id = start(&world, server).await;
    let text = until(&world, id, "at ").await;
    let port = text.split("at ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let ask = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3");
    let reply = world.bash(&ask).await;
    assert_eq!(
        (reply.code(), reply.text()),
        (
            "ok", "served
"
        ),
        "{}",
        reply.content()
    );
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    let reply = other.pass(ToolCall::new("c1", "bash", json!({"command": ask}))).await;
    assert!(reply.content().contains("refused"), "{}", reply.content());
    world.pass("jobs", json!({"action": "end", "id": id})).await;
    until(&world, id, "ended").await;
    let reply = world.bash(&ask).await;
    assert!(reply.content().contains("refused"), "{}", reply.content());
}

/// Starts a job, and gives its number.
async fn start(world: &World, command: &str) -> u64 {
    let reply = world.pass("bash", json!({"command": command, "background": true})).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    reply.data().unwrap()["job"].as_u64().unwrap()
}

/// Reads a job until it has said this.
pub(super) async fn until(world: &World, id: u64, word: &str) -> String {
    let mut text = String::new();
    for _ in 0..6000 {
        text.push_str(world.pass("jobs", json!({"action": "read", "id": id})).await.text());
        if text.contains(word) {
            return text;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("no `{word}` in {text}");
}

async fn signal(world: &World, id: u64, name: &str) -> String {
    let reply = world.pass("jobs", json!({"action": "signal", "id": id, "signal": name})).await;
    reply.content().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_run_in_the_background_over_a_layer_and_end() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let args =
        json!({"command": "echo real > live; cat live; echo one; sleep 1000", "background": true});
    let reply = world.pass("bash", args).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(world.asked.lock().unwrap().len(), 0, "nothing of it is applied");
    let id = reply.data().unwrap()["job"].as_u64().unwrap();
    let read = json!({"action": "read", "id": id});
    let mut text = String::new();
    while !text.contains("one") {
        text.push_str(world.pass("jobs", read.clone()).await.text());
    }
    assert!(
        text.contains(
            "real
"
        ),
        "it sees what it wrote: {text}"
    );
    let reply = world.pass("jobs", json!({"action": "list"})).await;
    assert!(reply.text().contains("runs"), "{}", reply.text());
    world.pass("jobs", json!({"action": "end", "id": id})).await;
    while !text.contains("ended") {
        text.push_str(world.pass("jobs", read.clone()).await.text());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(world.read("live"), None);
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    let reply = other.pass(ToolCall::new("c1", "jobs", read)).await;
    assert!(reply.content().contains("there is no job"), "{}", reply.content());
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_get_signals_by_name() {
    let world = World::yes();
    // A shell around a program that handles them: only the program gets what would kill the shell.
    let script = "bash -c 'for s in HUP INT USR1 USR2 WINCH; do trap \"echo got-$s\" $s; done
        trap \"echo got-TERM; exit 7\" TERM; echo ready; while :; do sleep 0.02; done'; echo left-$?";
    let id = start(&world, script).await;
    until(&world, id, "ready").await;
    for name in ["USR1", "usr2", "SIGWINCH"] {
        assert!(signal(&world, id, name).await.contains("sent"), "{name}");
        let word = name.to_uppercase().replace("SIG", "");
        until(&world, id, &format!("got-{word}")).await;
    }
    let text = signal(&world, id, "NOTHING").await;
    assert!(text.contains("not a signal that can be sent"), "{text}");
    let reply = world.pass("jobs", json!({"action": "signal", "id": id})).await;
    assert!(reply.content().contains("`signal` is missing"), "{}", reply.content());
    let reply = world.pass("jobs", json!({"action": "read", "id": id, "signal": "INT"})).await;
    assert!(reply.is_error(), "{}", reply.content());
    signal(&world, id, "TERM").await;
    until(&world, id, "ended").await;
    let text = signal(&world, id, "TERM").await;
    assert!(text.contains("ended"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_can_be_stopped_continued_and_killed() {
    let world = live();
    let id = start(
        &world,
        "echo ready; i=0; while :; do echo $((i += 1)) > target/count; sleep 0.01; done",
    )
    .await;
    until(&world, id, "ready").await;
    let count =
        || world.read("target/count").and_then(|it| it.trim().parse::<u64>().ok()).unwrap_or(0);
    let moves = async || {
        let before = count();
        for _ in 0..3000 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if count() > before {
                return true;
            }
        }
        false
    };
    assert!(moves().await);
    signal(&world, id, "STOP").await;
    // It stands still from some moment on.
    let mut still = false;
    for _ in 0..50 {
        let before = count();
        tokio::time::sleep(Duration::from_millis(100)).await;
        still = count() == before;
        if still {
            break;
        }
    }
    assert!(still);
    signal(&world, id, "CONT").await;
    assert!(moves().await);
    signal(&world, id, "KILL").await;
    let text = until(&world, id, "ended").await;
    assert!(text.contains("ended by signal 9"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_stopped_can_be_ended() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let id =
        start(&world, "trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.02; done")
            .await;
    until(&world, id, "ready").await;
    signal(&world, id, "STOP").await;
    world.pass("jobs", json!({"action": "end", "id": id})).await;
    let text = until(&world, id, "ended").await;
    assert!(text.contains("cleaned"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_end_with_their_conversation() {
    let world = live();
    let id = start(
        &world,
        "trap 'echo gone > target/gone; exit' TERM; echo ready; while :; do sleep 0.02; done",
    )
    .await;
    until(&world, id, "ready").await;
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    other.end_session();
    let list = json!({"action": "list"});
    let reply = world.pass("jobs", list.clone()).await;
    assert!(reply.text().contains("runs"), "another's end is none of its business");
    world.gate.end_session();
    for _ in 0..6000 {
        if world.read("target/gone").is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(world.read("target/gone").as_deref(), Some("gone\n"));
    assert_eq!(world.pass("jobs", list).await.text(), "no jobs");
}

/// What `&` leaves is a job as well: told, reached, and ended with its session.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_leaves_running_is_a_job() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let left = "(trap 'echo cleaned; exit' TERM; echo begun; while :; do sleep 0.02; done) & echo made > made.txt";
    let reply = world.bash(left).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert!(reply.text().contains("as job 1"), "{}", reply.text());
    assert_eq!(world.read("made.txt").as_deref(), Some("made\n"), "what the call wrote is applied");
    let reply = world.pass("jobs", json!({"action": "end", "id": 1})).await;
    assert!(reply.text().contains("ended"), "{}", reply.text());
    until(&world, 1, "cleaned").await;
    let reply = world.bash("sleep 0.01 & true").await;
    assert!(!reply.text().contains("job"), "it ended by itself: {}", reply.text());
}
