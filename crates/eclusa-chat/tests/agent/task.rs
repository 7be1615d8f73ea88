//! Tasks: a conversation inside a call, narrower than its parent and recorded under it.

use std::{sync::Arc, time::Duration};

use eclusa::{Mode, Scene};
use eclusa_chat::*;
use eclusa_models::*;
use serde_json::{Value, json};

use crate::world::*;

/// A message that gives these pieces of work: persona and prompt.
fn gives(text: &str, work: &[(&str, &str)]) -> String {
    let block = |(persona, prompt): &(&str, &str)| {
        let args = json!({"persona": persona, "prompt": prompt});
        format!("```tool\n{}\n```\n", json!({"name": "task", "args": args}))
    };
    format!("## says\n{text}\n{}", work.iter().map(block).collect::<String>())
}

/// A world in which work can be given to helpers: name, tools, script.
fn with_helpers(helpers: &[(&str, Option<&[&str]>, &str)], most: usize) -> World {
    let world = world();
    let role = |(name, tools, script): &(&str, Option<&[&str]>, &str)| TaskRole {
        persona: Persona {
            name: (*name).to_owned(),
            tools: tools.map(|it| it.iter().map(|it| (*it).to_owned()).collect()),
            mode: Some(Mode::ConfirmSensitive),
            ..Persona::coder()
        },
        model: Ok(Arc::new(ScriptModel::new(name, script).unwrap())),
        system: "help".to_owned(),
    };
    let roles = helpers.iter().map(role).collect();
    let tool = TaskTool::registration(roles, None, Scene::default(), most);
    world.gate.registry().register(tool).unwrap();
    world
}

fn children(world: &World, parent: &str) -> Vec<String> {
    let records = records(world);
    let session = |it: &Value| {
        let (_, rest) = it["call"].as_str()?.split_once('/')?;
        Some(rest.split_once(':')?.0.to_owned())
    };
    let own = records.iter().filter(|it| it["conversation"] == parent);
    let mut ids: Vec<String> = own.filter_map(session).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn records(world: &World) -> Vec<Value> {
    world.log.records().iter().map(|it| serde_json::from_str(&it.body).unwrap()).collect()
}

/// Shows S3.
#[tokio::test]
async fn a_task_works_with_fewer_tools_under_its_parent_and_gives_its_last_words() {
    let helper = says("I look.", &[("look", "x"), ("do", "y")])
        + "## expects no tool is called\n"
        + &says("Seen x.", &[]);
    let world = with_helpers(&[("reader", Some(&["look", "task"]), &helper)], 1);
    let script = gives("You look.", &[("reader", "look at x")])
        + "## expects Seen x.\n"
        + &says("Good.", &[]);
    let (report, conversation) = world.turn(&script).await;
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Done, "Good."));
    // Only the tool that the helper has was run, and all requests count to the turn.
    assert_eq!((world.ran(), report.requests), (1, 4));
    let records = records(&world);
    let find = |tool: &str, event: &str| {
        records.iter().position(|it| it["tool"] == tool && it["event"] == event).unwrap()
    };
    let task = &records[find("task", "started")];
    let look = &records[find("look", "started")];
    assert_eq!(look["parent"], task["number"], "{look}");
    assert_eq!(look["conversation"], task["conversation"]);
    assert_eq!(records[find("do", "ended")]["code"], "unknown_tool");
    // It is kept as a conversation of its own, which has its parent's name.
    let children = children(&world, conversation.id());
    let head = world.store.head(&children[0]).await.unwrap().unwrap();
    assert_eq!((children.len(), head.parent.as_deref()), (1, Some(conversation.id())));
    let items = world.store.items(&children[0]).await.unwrap();
    let kinds: Vec<&str> = items.iter().map(|it| it.body.kind()).collect();
    assert_eq!(kinds, ["opened", "said", "said", "call", "call", "answer", "answer", "said"]);
}

#[tokio::test]
async fn what_a_task_brings_from_outside_is_in_its_parent_too() {
    let helper = says("", &[("fetch", "x")]) + &says("Read.", &[]);
    let world = with_helpers(&[("reader", None, &helper)], 1);
    let script = gives("", &[("reader", "fetch it")]) + &says("Good.", &[]);
    let (report, conversation) = world.turn(&script).await;
    assert_eq!(report.taint.as_deref(), Some("a page (`fetch`)"));
    let child = &children(&world, conversation.id())[0];
    assert_eq!(world.store.head(child).await.unwrap().unwrap().taint, report.taint);
}

#[tokio::test]
async fn tasks_use_what_is_left_of_the_turn_and_start_no_tasks() {
    let busy: String = (0..20).map(|n| says("", &[("look", &n.to_string())])).collect();
    let deeper =
        gives("", &[("reader", "again")]) + "## expects no tool is called\n" + &says("No.", &[]);
    let helpers = [("busy", None, &*busy), ("deeper", None, &*deeper), ("reader", None, &*busy)];
    let world = with_helpers(&helpers, 1);
    let limits = TurnLimits { requests: Some(6), ..TurnLimits::default() };
    let script = gives("", &[("busy", "a"), ("busy", "b")]) + &says("never", &[]);
    let setup = ConversationSetup { limits, ..world.scripted(&script) };
    let (mut conversation, _) = Conversation::open(setup).await.unwrap();
    let report = conversation.turn("go".into()).await;
    assert!(matches!(report.end, TurnEnd::Limit(_)), "{report:?}");
    // Two at once, and not one request too many.
    let sent = world.events().iter().filter(|it| *it == "sent").count();
    assert_eq!((sent, report.requests), (6, 6));
    let script = gives("", &[("deeper", "go deeper")]) + "## expects No.\n" + &says("So.", &[]);
    let (report, _) = world.turn(&script).await;
    assert_eq!(report.text, "So.");
    // Where it is allowed they do.
    let deeper = gives("", &[("reader", "again")]) + "## expects In.\n" + &says("Out.", &[]);
    let world = with_helpers(&[("deeper", None, &deeper), ("reader", None, &says("In.", &[]))], 2);
    let script = gives("", &[("deeper", "go deeper")]) + "## expects Out.\n" + &says("So.", &[]);
    assert_eq!(world.turn(&script).await.0.text, "So.");
}

#[tokio::test]
async fn an_interrupted_task_answers_its_calls_and_can_be_gone_on_with() {
    let helper = says("I wait.", &[("wait", "")]) + &says("On.", &[]);
    let world = with_helpers(&[("reader", None, &helper)], 1);
    let (mut conversation, _) =
        world.open(&(gives("", &[("reader", "wait")]) + &says("never", &[]))).await;
    let (handle, parent) = (conversation.handle(), conversation.id().to_owned());
    let turn = tokio::spawn(async move { conversation.turn("go".into()).await });
    while world.ran() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let child = children(&world, &parent)[0].clone();
    // A copy of it, made while its call runs, finds in the log that the call may have happened.
    let copy = fork(&world.store, &child, None, 5).await.unwrap();
    let (copy, _) = Conversation::resume(world.scripted(&helper), &copy).await.unwrap();
    assert_eq!(codes(&copy), ["may_have_run"]);
    handle.interrupt();
    assert_eq!(turn.await.unwrap().end, TurnEnd::Interrupted);
    let (mut child, _) = Conversation::resume(world.scripted(&helper), &child).await.unwrap();
    assert_eq!(codes(&child), ["cancelled"]);
    assert_eq!(child.turn("go on".into()).await.text, "On.");
    assert_eq!(world.ran(), 1);
}

#[tokio::test]
async fn a_task_that_cannot_begin_says_why() {
    let world = with_helpers(&[("reader", None, &says("x", &[]))], 1);
    let limits = TurnLimits { money: Some(5), ..TurnLimits::default() };
    let script = gives("", &[("reader", "go")]) + "## expects price\n" + &says("I see.", &[]);
    let setup = ConversationSetup { limits, ..world.scripted(&script) };
    let (mut conversation, _) = Conversation::open(setup).await.unwrap();
    assert_eq!(conversation.turn("go".into()).await.text, "I see.");
    // Outside of a session there is nobody to work for.
    let call = eclusa::ToolCall::new("t", "task", json!({"prompt": "go"}));
    let reply = world.gate.pass(call).await;
    assert!(reply.error().unwrap().contains("part of a session"), "{:?}", reply.error());
}
