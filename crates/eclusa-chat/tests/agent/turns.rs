//! Turns: what is kept and when, what ends them, what leaves.

use std::{sync::Arc, time::Duration};

use eclusa::{Answer, Redactor};
use eclusa_chat::*;
use eclusa_models::*;

use crate::world::*;

#[tokio::test]
async fn a_turn_goes_from_the_words_to_the_last_message_and_everything_is_kept_in_order() {
    // S1.46, S1.48
    let world = world();
    let script = says("I look.", &[("look", "a"), ("look", "b")])
        + "## expects did b\n"
        + &says("Now I do it.", &[("do", "c")])
        + &says("Done.", &[]);
    let (report, conversation) = world.turn(&script).await;
    assert_eq!((report.end, report.text.as_str(), report.requests), (TurnEnd::Done, "Done.", 3));
    assert_eq!(world.ran(), 3);
    assert_eq!(
        kinds(&conversation),
        [
            "opened", "said", "said", "call", "call", "answer", "answer", "said", "call", "answer",
            "said"
        ]
    );
    // What leaves is on record before it does, and every call has its start and end.
    let events = world.events();
    let count = |word: &str| events.iter().filter(|it| *it == word).count();
    assert_eq!((count("sent"), count("started"), count("ended")), (3, 3, 3));
    assert_eq!((events[0].as_str(), events[8].as_str()), ("sent", "sent"));
    assert_eq!(conversation.head().title, "go");
    world.log.verify().unwrap();
}

#[tokio::test]
async fn what_a_rule_denies_is_told_and_the_turn_goes_on() {
    let world = world();
    let script =
        says("", &[("no", "a"), ("ask", "b")]) + "## expects denied\n" + &says("I see.", &[]);
    let (report, conversation) = world.turn(&script).await;
    assert_eq!((report.end, world.ran()), (TurnEnd::Done, 0));
    assert_eq!(codes(&conversation), ["denied_by_policy", "no_approver"]);
}

#[tokio::test]
async fn a_person_who_ends_the_turn_ends_it() {
    let world = world();
    world.answers.lock().unwrap().push(Answer::Abort);
    let script = says("", &[("ask", "a"), ("do", "b")]) + &says("never", &[]);
    let (report, conversation) = world.turn(&script).await;
    assert_eq!((report.end, world.ran()), (TurnEnd::Aborted, 0));
    assert_eq!(codes(&conversation), ["aborted", "aborted"]);
}

#[tokio::test]
async fn a_fault_is_tried_again_and_had_no_effect() {
    let world = world();
    let script = "## fails 529\n## breaks\n".to_owned()
        + &says("I do it. And more words.", &[("do", "a")])
        + &says("Done.", &[]);
    let (mut conversation, mut events) = world.open(&script).await;
    let report = conversation.turn("go".into()).await;
    assert_eq!((report.end, report.requests, world.ran()), (TurnEnd::Done, 4, 1));
    let mut retries = 0;
    while let Ok(event) = events.try_recv() {
        retries += usize::from(matches!(event, AgentEvent::Retry { .. }));
    }
    assert_eq!(retries, 2);
    assert_eq!(kinds(&conversation).iter().filter(|it| **it == "call").count(), 1);
}

#[tokio::test]
async fn a_model_that_fails_for_good_ends_the_turn_and_the_session_lives() {
    let world = world();
    let (report, mut conversation) = world.turn("## fails 401\n## says\nhello\n").await;
    assert!(matches!(&report.end, TurnEnd::Failed(why) if why.contains("401")), "{report:?}");
    assert_eq!(conversation.turn("again".into()).await.end, TurnEnd::Done);
}

#[tokio::test]
async fn limits_are_checked_before_each_request() {
    let world = world();
    let script = says("", &[("do", "1")]) + &says("", &[("do", "2")]) + &says("end", &[]);
    let limits = TurnLimits { requests: Some(2), ..TurnLimits::default() };
    let setup = ConversationSetup { limits, ..world.scripted(&script) };
    let (mut conversation, _) = Conversation::open(setup).await.unwrap();
    let report = conversation.turn("go".into()).await;
    assert!(
        matches!(&report.end, TurnEnd::Limit(what) if what.contains("2 requests")),
        "{report:?}"
    );
    assert_eq!((report.requests, world.ran()), (2, 2));
    let limits = TurnLimits { tokens: Some(10), ..TurnLimits::default() };
    let setup = ConversationSetup { limits, ..world.scripted(&script) };
    let (mut conversation, _) = Conversation::open(setup).await.unwrap();
    let report = conversation.turn("go".into()).await;
    assert_eq!((report.requests, matches!(report.end, TurnEnd::Limit(_))), (0, true));
}

#[tokio::test]
async fn the_same_call_with_the_same_answer_five_times_is_enough() {
    let world = world();
    let script = says("", &[("do", "same")]).repeat(9);
    let (report, _) = world.turn(&script).await;
    let TurnEnd::Stuck(why) = report.end else { panic!("{:?}", report.end) };
    assert!(
        why.contains("the same call 5 times") && why.contains("resume with other words"),
        "{why}"
    );
    assert_eq!(world.ran(), 5);
}

#[tokio::test]
async fn interrupting_waits_for_the_gate_and_keeps_what_was_said() {
    let world = world();
    let (conversation, mut events) =
        world.open(&(says("I wait.", &[("wait", "")]) + &says("Bye.", &[]))).await;
    let handle = conversation.handle();
    handle.say("go".into());
    let running = tokio::spawn(conversation.run());
    while let Some(event) = events.recv().await {
        match event {
            AgentEvent::Progress { .. } => handle.interrupt(),
            AgentEvent::Ended(report) => {
                assert_eq!(report.end, TurnEnd::Interrupted);
                break;
            }
            _ => {}
        }
    }
    handle.say("and now?".into());
    handle.close();
    let conversation =
        tokio::time::timeout(Duration::from_secs(60), running).await.unwrap().unwrap();
    assert_eq!(codes(&conversation), ["cancelled"]);
    assert!(
        matches!(&conversation.items().last().unwrap().body, ItemBody::Model { text, .. } if text == "Bye.")
    );
}

#[tokio::test]
async fn text_that_is_cut_off_is_kept_and_shown_to_the_model_again() {
    let world = world();
    let long = "word ".repeat(400);
    let script = format!("rate: 50\n## says\n{long}\n## says\nBye.\n");
    let (conversation, mut events) = world.open(&script).await;
    let handle = conversation.handle();
    handle.say("go".into());
    let running = tokio::spawn(conversation.run());
    while let Some(event) = events.recv().await {
        match event {
            AgentEvent::Text(_) => handle.interrupt(),
            AgentEvent::Ended(_) => break,
            _ => {}
        }
    }
    handle.close();
    let conversation = running.await.unwrap();
    let last = &conversation.items().last().unwrap().body;
    assert!(matches!(last, ItemBody::Partial { text } if text.starts_with("word")), "{last:?}");
}

#[tokio::test]
async fn what_is_said_meanwhile_goes_in_before_the_next_request() {
    let world = world();
    let script = "## expects and also this\n".to_owned()
        + &says("I do it.", &[("do", "a")])
        + &says("Both.", &[]);
    let (mut conversation, _) = world.open(&script).await;
    conversation.handle().say("and also this".into());
    conversation.handle().say_later("later".into());
    assert_eq!(conversation.handle().take_back().unwrap().text, "later");
    let report = conversation.turn("go".into()).await;
    assert_eq!(report.end, TurnEnd::Done, "{report:?}");
}

#[tokio::test]
async fn whoever_leaves_gets_back_what_has_not_gone_in_and_the_model_is_not_asked_again() {
    let world = world();
    let script = says("I wait.", &[("wait", "")]) + &says("Well.", &[]);
    let (conversation, mut events) = world.open(&script).await;
    let handle = conversation.handle();
    handle.say("go".into());
    let running = tokio::spawn(conversation.run());
    let mut unsent = Vec::new();
    while let Some(event) = events.recv().await {
        match event {
            AgentEvent::Progress { .. } if unsent.is_empty() => {
                handle.say_later("later".into());
                handle.say("now".into());
                unsent = handle.leave();
            }
            AgentEvent::Ended(_) => break,
            _ => {}
        }
    }
    let unsent: Vec<&str> = unsent.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(unsent, ["now", "later"]);
    let conversation = running.await.unwrap();
    assert_eq!((codes(&conversation), world.sent_bytes().len()), (vec!["cancelled".into()], 1));
}

#[tokio::test]
async fn an_archive_that_fails_ends_the_turn_before_anything_leaves() {
    let world = world();
    let (mut conversation, _) = world.open(&says("I do it.", &[("do", "a")])).await;
    world.store.fill_up();
    let report = conversation.turn("go".into()).await;
    assert!(matches!(report.end, TurnEnd::Failed(_)), "{report:?}");
    assert_eq!((world.ran(), world.events().len()), (0, 0));
}

#[tokio::test]
async fn secrets_are_taken_out_of_what_a_person_writes() {
    let world = world();
    assert!(Redactor::default().text(SECRET).1 > 0);
    let (mut conversation, mut events) = world.open(&says("Thanks.", &[])).await;
    conversation.turn(format!("use {SECRET}").as_str().into()).await;
    let kept = format!("{:?}", conversation.items());
    assert!(!kept.contains(SECRET), "{kept}");
    let mut told = false;
    while let Ok(event) = events.try_recv() {
        told |= matches!(event, AgentEvent::Notice(text) if text.contains("secret"));
    }
    assert!(told);
}

#[tokio::test]
async fn a_persona_is_kept_to_its_tools() {
    let world = world();
    let persona = Persona { tools: Some(vec!["look".to_owned()]), ..Persona::coder() };
    let script = says("", &[("do", "a"), ("look", "b")]) + &says("So.", &[]);
    let setup = ConversationSetup { persona, ..world.scripted(&script) };
    let (mut conversation, _) = Conversation::open(setup).await.unwrap();
    conversation.turn("go".into()).await;
    assert_eq!((codes(&conversation).join(" "), world.ran()), ("unknown_tool ok".to_owned(), 1));
}

#[tokio::test]
async fn a_full_window_is_made_smaller_by_a_summary_and_the_turn_goes_on() {
    let world = world();
    let long = "x".repeat(14_000);
    let script =
        says(&long, &[("do", "a")]) + "## says\nIn brief: a was done.\n" + &says("Done.", &[]);
    let model = ScriptModel::new("s", &script).unwrap().with_window(5_000, 1_000);
    let (mut conversation, mut events) =
        Conversation::open(world.setup(Arc::new(model))).await.unwrap();
    let report = conversation.turn("go".into()).await;
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Done, "Done."));
    assert!(kinds(&conversation).contains(&"summary"));
    let mut compacted = None;
    while let Ok(event) = events.try_recv() {
        if let AgentEvent::Compacted { before, after, summary } = event {
            compacted = Some((before > after, summary));
        }
    }
    assert_eq!(compacted, Some((true, Some("In brief: a was done.".to_owned()))));
}

/// How a turn ends, and how many summaries it has, with a window that each message nearly fills.
async fn with_a_small_window(script: &str) -> (TurnEnd, usize, usize) {
    let world = world();
    let model = ScriptModel::new("s", script).unwrap().with_window(5_000, 1_000);
    let (mut conversation, _) = Conversation::open(world.setup(Arc::new(model))).await.unwrap();
    let report = conversation.turn("go".into()).await;
    let summaries = kinds(&conversation).iter().filter(|it| **it == "summary").count();
    (report.end, summaries, world.ran())
}

#[tokio::test]
async fn a_turn_is_made_smaller_three_times_and_once_where_that_helps_little() {
    let full = || TurnEnd::Limit("the model's window is full".to_owned());
    let fills = |call: &str| says(&"x".repeat(14_000), &[("do", call)]);
    let brief = "## says\nIn brief.\n".to_owned();
    let script: String = ["a", "b", "c", "d", "e"].map(|it| fills(it) + &brief).concat();
    assert_eq!(with_a_small_window(&script).await, (full(), 3, 4));
    // A summary that fills two thirds is the last one.
    let long = format!("## says\n{}\n", "s".repeat(10_700));
    let script = fills("a") + &long + &says(&"x".repeat(4_000), &[("do", "b")]) + &brief;
    assert_eq!(with_a_small_window(&script).await, (full(), 1, 2));
    // One that fills all of it ends the turn at once.
    let script = fills("a") + &format!("## says\n{}\n", "s".repeat(17_000)) + &brief;
    assert_eq!(with_a_small_window(&script).await, (full(), 1, 1));
}

#[tokio::test]
async fn a_summary_that_is_too_long_itself_is_asked_for_again_with_less_and_with_its_prompt() {
    let world = world();
    let script = says(&"old ".repeat(2_000), &[("do", "a")])
        + &says(&"new ".repeat(1_000), &[("do", "b")])
        // The request, then twice the one for the summary: each time less is shown.
        + "## fails 413\n## fails 413\n## fails 413\n## expects Sum up this conversation\n## says\nIn brief: b.\n"
        + "## expects In brief: b.\n"
        + &says("Done.", &[]);
    let (mut conversation, _) = world.open(&script).await;
    let report = conversation.turn("go".into()).await;
    assert_eq!((&report.end, report.text.as_str()), (&TurnEnd::Done, "Done."), "{report:?}");
    assert_eq!((report.requests, world.ran()), (7, 2));
    let sent: Vec<u64> = world.sent_bytes();
    assert!(sent[4] < sent[3] && sent[5] < sent[4], "{sent:?}");
    // Where nothing helps the turn ends, and the session lives.
    let script = "## fails 413\n".repeat(2) + &says("Here.", &[]);
    let (mut conversation, _) = world.open(&script).await;
    let report = conversation.turn("go".into()).await;
    assert!(matches!(&report.end, TurnEnd::Failed(why) if why.contains("413")), "{report:?}");
    assert_eq!(conversation.turn("and now?".into()).await.text, "Here.");
}

#[tokio::test]
async fn requests_that_are_made_again_and_summaries_count_to_the_limits() {
    let world = world();
    let limits = TurnLimits { requests: Some(3), ..TurnLimits::default() };
    for script in
        ["## fails 529\n".repeat(7), "## fails 413\n".to_owned() + &"## fails 529\n".repeat(6)]
    {
        let script = script + &says("never", &[]);
        let setup = ConversationSetup { limits: limits.clone(), ..world.scripted(&script) };
        let (mut conversation, _) = Conversation::open(setup).await.unwrap();
        let report = conversation.turn("go".into()).await;
        let at_limit = matches!(&report.end, TurnEnd::Limit(what) if what.contains("3 requests"));
        assert!(at_limit && report.requests == 3, "{report:?}");
    }
}

#[tokio::test]
async fn exports_hold_everything_and_json_is_read_back() {
    // S1.49, S1.50, S1.51
    let world = world();
    let (_, mut conversation) =
        world.turn(&(says("I <look>.", &[("no", "`a`")]) + &says("Done.", &[]))).await;
    conversation.keep_draft("and then <this>").await.unwrap();
    assert_eq!(conversation.draft(), Some("and then <this>"));
    let (head, items) = (conversation.head(), conversation.items());
    let markdown = transcript::markdown(head, items, false);
    assert!(markdown.contains("```tool\n") && markdown.contains("```tool_result\n"), "{markdown}");
    let page = transcript::html(head, items, false);
    assert!(page.contains("default-src 'none'") && page.contains("I &lt;look&gt;."), "{page}");
    assert!(!page.contains("<look>") && !page.contains("<script") && !page.contains("<this>"));
    assert!(markdown.contains("## You, not sent"), "{markdown}");
    for item in items {
        let back = TranscriptItem::from_json(&item.json(&head.id)).unwrap();
        assert_eq!(back, TranscriptItem { blocks: None, log_at: None, ..item.clone() });
    }
}
