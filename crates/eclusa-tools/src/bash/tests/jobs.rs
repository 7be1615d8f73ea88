//! Commands in the background: started, read, signalled, listed, ended.

use std::time::Duration;

use eclusa::{Run, ToolCall};
use serde_json::json;

use super::World;

/// Starts a job, and gives its number.
async fn start(world: &World, command: &str) -> u64 {
    let reply = world.pass("bash", json!({"command": command, "background": true})).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    reply.data().unwrap()["job"].as_u64().unwrap()
}

/// Reads a job until it has said this.
async fn until(world: &World, id: u64, word: &str) -> String {
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
async fn jobs_run_in_the_background_and_end() {
    let world = World::yes();
    let args = json!({"command": "echo one; echo real > live; sleep 1000", "background": true});
    let reply = world.pass("bash", args).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    let asked = world.asked.lock().unwrap().clone();
    assert!(asked[0].preview.is_none(), "it runs live, so it is asked about before");
    let id = reply.data().unwrap()["job"].as_u64().unwrap();
    let read = json!({"action": "read", "id": id});
    let mut text = String::new();
    while !text.contains("one") {
        text.push_str(world.pass("jobs", read.clone()).await.text());
    }
    while world.read("live").is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let reply = world.pass("jobs", json!({"action": "list"})).await;
    assert!(reply.text().contains("runs"), "{}", reply.text());
    world.pass("jobs", json!({"action": "end", "id": id})).await;
    while !text.contains("ended") {
        text.push_str(world.pass("jobs", read.clone()).await.text());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let other = world.gate.for_run(Run { conversation: "other".into(), ..Run::default() });
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
    assert!(text.contains("no signal that can be sent"), "{text}");
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
    let world = World::yes();
    let id =
        start(&world, "echo ready; i=0; while :; do echo $((i += 1)) > count; sleep 0.01; done")
            .await;
    until(&world, id, "ready").await;
    let count = || world.read("count").and_then(|it| it.trim().parse::<u64>().ok()).unwrap_or(0);
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
    let world = World::yes();
    let id = start(
        &world,
        "trap 'echo gone > gone; exit' TERM; echo ready; while :; do sleep 0.02; done",
    )
    .await;
    until(&world, id, "ready").await;
    let other = world.gate.for_run(Run { conversation: "other".into(), ..Run::default() });
    other.end_conversation();
    let list = json!({"action": "list"});
    let reply = world.pass("jobs", list.clone()).await;
    assert!(reply.text().contains("runs"), "another's end is none of its business");
    world.gate.end_conversation();
    for _ in 0..6000 {
        if world.read("gone").is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(world.read("gone").as_deref(), Some("gone\n"));
    assert_eq!(world.pass("jobs", list).await.text(), "no jobs");
}
