//! Two who say yes to the same change at the same moment: it is applied once, and the other is told. Off: only one
//! of them says yes.

use std::{sync::Barrier, thread};

use serde_json::{Value, json};

use super::{
    Way, agents,
    in_front::{self, Stands},
    queued::Desk,
    somebody::{Said, Somebody, Wanted, waiting},
};
use crate::{mcp::client::Client, world::until};

pub(super) fn play(way: Way, who: &Somebody<'_>, wanted: &Wanted, off: bool) -> String {
    let count = if off { 1 } else { 2 };
    match way {
        Way::Terminal => in_front_of_two(who, false, wanted, off),
        Way::Chat => in_front_of_two(who, true, wanted, off),
        Way::Page | Way::Queue | Way::Webhook | Way::Phone => answers(way, who, wanted, off),
        Way::Form => requests(who, &agents::tools_call(wanted), off, &|it| agents::result(it)),
        Way::PromptTool => {
            let call = agents::approve(who.world, wanted);
            requests(who, &call, off, &|it| agents::runs_itself(who.world, wanted, it))
        }
        Way::AgentPrompt => agents::agent_prompt_runs(who, wanted, count),
        Way::Editor => agents::editor_runs(who, wanted, count),
    }
}

/// In no order: who was quicker does not matter.
pub(super) fn in_no_order(mut told: Vec<String>) -> String {
    told.sort();
    told.join(" and ")
}

/// The same call in front of two people: both are asked before either answers.
fn in_front_of_two(who: &Somebody<'_>, chat: bool, wanted: &Wanted, off: bool) -> String {
    let start = || if chat { in_front::talks(who, wanted) } else { in_front::calls(who, wanted) };
    let end = chat.then_some(in_front::LAST_WORDS);
    let mut two = [start(), start()];
    for person in &mut two {
        match in_front::next(person, end) {
            Stands::Asks(shown) => who.is_asked("here", &shown),
            Stands::Ended(screen) => panic!("it does not ask: {screen}"),
        };
    }
    let [first, second] = &mut two;
    first.types("y");
    if off {
        second.types("n");
        second.sees("Why?");
        second.types("");
    } else {
        second.types("y");
    }
    let told = two.map(|mut it| {
        let ended = match in_front::next(&mut it, end) {
            Stands::Ended(screen) => in_front::reply(&screen),
            Stands::Asks(shown) => format!("asks again: {shown}"),
        };
        if chat {
            in_front::leave(it);
        }
        ended
    });
    in_no_order(told.into())
}

/// Two answers to one question of a call that nobody waits for any more.
fn answers(way: Way, who: &Somebody<'_>, wanted: &Wanted, off: bool) -> String {
    let world = who.world;
    let desk = Desk::open(way, world);
    desk.answering(world, |answer| {
        let (tool, args) = wanted.call();
        let parked = world.eclusa(&["--json", "run", "--park", tool, &args.to_string()]);
        let question = until("the question", || waiting(world).into_iter().next());
        who.is_asked("in the queue", &question.text);
        let count = if off { 1 } else { 2 };
        let together = Barrier::new(count);
        let came_to: Vec<String> = thread::scope(|scope| {
            let one = || {
                together.wait();
                answer(&question, Said::Yes)
            };
            let answering: Vec<_> = (0..count).map(|_| scope.spawn(one)).collect();
            answering.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let known =
            ["applied already", "being applied", "already taken", "already used", "is approved"];
        let short = |it: &String| match () {
            () if it.contains("yes, applied as call") => "applied it".to_owned(),
            () if known.iter().any(|word| it.contains(word)) => "told that it is taken".to_owned(),
            () => it.clone(),
        };
        who.is_told(&in_no_order(came_to.iter().map(short).collect()));
        in_front::told(&parked.json())
    })
}

/// The same request of two clients: both are asked before either answers.
fn requests(
    who: &Somebody<'_>,
    call: &Value,
    off: bool,
    read: &dyn Fn(&Value) -> String,
) -> String {
    let client = || Client::legacy(who.world, "2025-11-25", json!({"elicitation": {}}));
    let mut two = [client(), client()].map(|mut client| {
        let id = client.request("tools/call", call.clone());
        let form = client.asked("elicitation/create");
        who.is_asked("in a form", "");
        (client, id, form)
    });
    for ((client, _, form), no) in two.iter_mut().zip([false, off]) {
        let content = json!({"answer": if no { "no" } else { "yes" }, "reason": ""});
        client.reply(form, json!({"action": "accept", "content": content}));
    }
    in_no_order(two.map(|(mut client, id, _)| read(&client.answer(id))).into())
}

/// Starts something so many times at the same moment.
pub(super) fn together(count: usize, run: impl Fn() -> String + Sync) -> String {
    let barrier = Barrier::new(count);
    let told = thread::scope(|scope| {
        let one = || {
            barrier.wait();
            run()
        };
        let running: Vec<_> = (0..count).map(|_| scope.spawn(one)).collect();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    });
    in_no_order(told)
}
