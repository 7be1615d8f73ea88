//! `chat` on a real terminal and in plain lines, with a scripted model.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use expectrl::{ControlCode, Expect};
use serde_json::{Value, json};

use crate::{
    prompt::Person,
    world::{World, wait_until},
};

/// A model that says this.
fn script(world: &World, text: &str) -> String {
    format!("script:{}", world.write("script.md", text).display())
}

fn call(tool: &str, args: Value) -> String {
    format!("```tool\n{}\n```\n", json!({"name": tool, "args": args}))
}

/// The chat on a terminal of usual size, without colours.
fn chat(world: &World, args: &[&str]) -> Person {
    let mut command = world.command(&[&["chat"], args].concat());
    command.env("NO_COLOR", "1");
    let mut person = Person::sized(command, 80, 24);
    person.sees("/help lists the commands");
    person
}

fn press(person: &mut Person, keys: &str) {
    person.session.send(keys).unwrap();
}

#[test]
fn a_conversation_with_a_question_on_the_screen() {
    let world = World::new();
    let text = format!(
        "## expects write it\n## says\nI write **it**.\n{}## expects \"success\":true\n## says\nWritten.\n",
        call("write", json!({"path": "a.txt", "content": "one\n"}))
    );
    let model = script(&world, &text);
    let mut person = chat(&world, &["--model", &model, "--persona", "coder"]);
    press(&mut person, "write\x1b[D\x1b[Ce it\x1b[D\x1b[D\x1b[D\x7f\x1b[F\r");
    person.sees("you › write it");
    person.sees("I write it.");
    person.answers("y");
    person.sees("✓ write");
    person.sees("Written.");
    person.sees("% of 200k");
    // A command, completed.
    press(&mut person, "/he\t");
    person.sees("› /help");
    press(&mut person, "\r");
    person.sees("leave; the session is kept");
    press(&mut person, "/quit\r");
    let (code, seen) = person.ends();
    assert_eq!((code, world.read("workspace/a.txt").as_str()), (0, "one\n"), "{seen}");
    assert!(seen.contains("resume it with `eclusa chat --resume"), "{seen}");
    assert_eq!(seen.matches('\u{7}').count(), 1, "the question rings: {seen:?}");
    // Resumed: the end of what was said is there.
    let mut person = chat(&world, &["--last", "--model", &model]);
    person.sees("Written.");
    // Esc is no Ctrl+C: after both the chat is still there.
    press(&mut person, "\x1b");
    person.sees("Esc again");
    person.session.send(ControlCode::EndOfText).unwrap();
    person.sees("Ctrl+C again leaves; the session is kept");
    person.session.send(ControlCode::EndOfTransmission).unwrap();
    assert_eq!(person.ends().0, 0);
}

/// Shows S1.43.
#[test]
fn a_no_goes_to_the_model_with_the_persons_words() {
    // S1.53, S1.55
    let world = World::with("[chat]\nbell = false\n");
    let text = format!(
        "## says\nI write it.\n{}## expects only after lunch\n## says\nThen later.\n",
        call("write", json!({"path": "a.txt", "content": "one\n"}))
    );
    let model = script(&world, &text);
    let mut person = chat(&world, &["--model", &model, "write", "it"]);
    person.answers("n");
    person.sees("Why?");
    person.types("only after lunch");
    person.sees("✗ write");
    person.sees("Then later.");
    press(&mut person, "/quit\r");
    let (code, seen) = person.ends();
    assert_eq!((code, seen.contains('\u{7}')), (0, false), "{seen:?}");
    assert!(!world.path("workspace/a.txt").exists());
}

#[test]
fn words_are_queued_taken_back_and_sent_after_an_interruption() {
    let world = World::new();
    // Nobody waits for the end of it.
    let long = "a word and another one\n".repeat(2_000);
    let model = script(&world, &format!("rate: 40\n## says\n{long}\n"));
    let mut person = chat(&world, &["--model", &model]);
    press(&mut person, "go\r");
    person.sees("a word and another one");
    press(&mut person, "second thought\r");
    person.sees("then: second thought");
    press(&mut person, "\x1b[A");
    person.sees("› second thought");
    press(&mut person, "!\r");
    person.sees("then: second thought!");
    press(&mut person, "\x1b");
    person.sees("ended: interrupted");
    person.sees("you › second thought!");
    // Ctrl+C interrupts, and leaves when it is pressed again.
    person.session.send(ControlCode::EndOfText).unwrap();
    person.sees("Ctrl+C again leaves");
    person.session.send(ControlCode::EndOfText).unwrap();
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    let shown = world.eclusa(&["sessions", "show"]).out;
    assert!(shown.contains("second thought!"), "{shown}");
}

#[test]
fn words_that_were_not_sent_when_the_person_left_are_in_the_input_again() {
    let world = World::new();
    let long = "a word and another one\n".repeat(2_000);
    let model = script(&world, &format!("rate: 40\n## says\n{long}\n## says\nHeard.\n"));
    let mut person = chat(&world, &["--model", &model]);
    press(&mut person, "go\r");
    person.sees("a word and another one");
    press(&mut person, "second thought\r");
    person.sees("then: second thought");
    person.session.send(ControlCode::EndOfTransmission).unwrap();
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    // Nobody was there any more: the model was not asked again.
    let sent = |world: &World| world.records().iter().filter(|it| it["event"] == "sent").count();
    assert_eq!(sent(&world), 1);
    let shown = world.eclusa(&["sessions", "show"]).out;
    assert!(shown.contains("You, not sent") && shown.contains("second thought"), "{shown}");
    let go_on = ["sessions", "resume", "--plain", "--model", &model];
    let plain = world.piped(&go_on, "/quit\n").out;
    assert!(plain.contains("note: not sent last time: second thought"), "{plain}");
    let mut person = chat(&world, &["--last", "--model", &model]);
    person.sees("› second thought");
    press(&mut person, "!\r");
    person.sees("you › second thought!");
    person.sees("Heard.");
    press(&mut person, "/quit\r");
    assert_eq!((person.ends().0, sent(&world)), (0, 2));
}

/// A shell that starts the chat, and says how the terminal is before and after.
#[expect(clippy::disallowed_methods, reason = "a shell looks at the terminal")]
fn watched(world: &World, args: &[&str]) -> Person {
    let command = world.command(args);
    let mut shell = Command::new("sh");
    let looks = "stty -g > ../before; sh -c 'echo $$ > ../pid; exec \"$0\" \"$@\"' \"$0\" \"$@\"; \
                 echo \"left with $?\"; stty -g > ../after; echo over";
    shell.arg("-c").arg(looks).arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("NO_COLOR", "1");
    Person::sized(shell, 80, 24)
}

#[test]
fn the_terminal_is_as_it_was_whatever_way_the_chat_ends() {
    let world = World::new();
    let model = script(&world, "## says\nHello.\n");
    for signal in [None, Some("TERM"), Some("HUP")] {
        let mut person = watched(&world, &["chat", "--model", &model]);
        person.sees("/help lists the commands");
        match signal {
            None => press(&mut person, "/quit\r"),
            Some(signal) => {
                let pid = world.read("pid");
                #[expect(clippy::disallowed_methods, reason = "the test ends the chat")]
                let sent = Command::new("kill").args(["-s", signal, pid.trim()]).status().unwrap();
                assert!(sent.success());
            }
        }
        person.sees("left with 0");
        person.sees("over");
        wait_until("the terminal was looked at", || !world.read("after").is_empty());
        assert_eq!(world.read("before"), world.read("after"), "{signal:?}");
        let (_, seen) = person.ends();
        assert!(seen.contains("\u{1b}[?2004l"), "{seen:?}");
    }
}

#[test]
fn plain_lines_where_there_is_no_screen() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = format!(
        "## says\nI look.\n{}## says\nNothing there.\n## expects /usr/bin/ls is a file\n\
         ## says\nA file.\n## says\nA summary.\n",
        call("bash", json!({"command": "ls"}))
    );
    let model = script(&world, &text);
    let input =
        "look\n/tools\n/usr/bin/ls is a file\n/compact\n/nothing\n/resume no\n/quit\nnever\n";
    let ran = world.piped(&["chat", "--model", &model], input);
    assert_eq!(ran.code, 0, "{ran:?}");
    for text in ["model: I look.", "tool: bash ls", "answer: ok bash", "model: Nothing there."] {
        assert!(ran.out.contains(text), "`{text}` is not in {ran:?}");
    }
    assert!(ran.out.contains("model: A file.") && ran.err.contains("no session `no`"), "{ran:?}");
    assert!(ran.out.contains("grep") && ran.out.contains("context compacted"), "{ran:?}");
    assert!(ran.out.contains("`/nothing` is not a command"), "{ran:?}");
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
    // The same on a terminal that wants it.
    let command = world.command(&["chat", "--plain", "--model", &model]);
    let mut person = Person::sized(command, 80, 24);
    person.sees("you: ");
    person.types("look");
    person.sees("model: ");
    person.sees("Nothing there.");
    person.sees("you: ");
    person.types("/quit");
    let (code, seen) = person.ends();
    assert!(code == 0 && !seen.contains("\u{1b}[?2004h"), "{seen:?}");
}

#[test]
fn a_plain_chat_leaves_when_it_is_told_to_while_the_model_speaks() {
    let world = World::new();
    let model = script(&world, &format!("rate: 40\n## says\n{}\n", "a word\n".repeat(10_000)));
    let mut command = world.command(&["chat", "--plain", "--model", &model, "go"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|it| it.unwrap().contains("a word")));
    #[expect(clippy::disallowed_methods, reason = "the test ends the chat")]
    let sent = Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    // Its input is still open.
    let mut code = None;
    wait_until("the chat has left", || {
        code = child.try_wait().unwrap();
        code.is_some()
    });
    assert_eq!(code.unwrap().code(), Some(0));
    assert!(world.eclusa(&["sessions", "show"]).out.contains("a word"));
}

#[test]
fn files_and_commands_of_the_person_pass_the_gate_and_the_model_is_told() {
    let world = World::new();
    world.write("workspace/notes.md", "remember the milk\n");
    world.write("workspace/.env", "KEY=hidden-value\n");
    let model = script(
        &world,
        "## expects remember the milk\n## says\nMilk.\n## expects I ran `echo tea`\n\
         ## expects tea\n## says\nTea.\n## says\nNothing.\n",
    );
    let other = world.write("other.md", "## says\n1\n## says\n2\n## says\n3\n## says\nOther.\n");
    let input = format!(
        "see @notes.md, please\n!echo tea\nand now?\n@.env\n/mode\n/mode nothing\n/model nobody\n\
         /model script:{}\nwho are you?\n/persona\n/sessions\n/export talk.html\n/rewind\n/fork\n/clear\n",
        other.display()
    );
    let ran = world.piped(&["--mode", "auto-approve", "chat", "--model", &model], &input);
    assert_eq!(ran.code, 0, "{ran:?}");
    for text in ["Milk.", "Tea.", "Nothing.", "auto-approve (now)", "Other.", "persona coder"] {
        assert!(ran.out.contains(text), "`{text}` is not in {ran:?}");
    }
    assert!(ran.err.contains(".env was not attached"), "{ran:?}");
    assert!(ran.err.contains("no model is called `nobody`"), "{ran:?}");
    assert!(!ran.out.contains("hidden-value") && !ran.err.contains("hidden-value"), "{ran:?}");
    assert!(world.read("workspace/talk.html").contains("remember the milk"), "{ran:?}");
    // The session, its copy, and the new one.
    assert_eq!(world.eclusa(&["--json", "sessions"]).out.lines().count(), 3);
    let records = world.records();
    for tool in ["read", "bash", "write"] {
        assert!(records.iter().any(|it| it["tool"] == tool), "`{tool}` is not in {records:?}");
    }
}

#[test]
fn a_mode_that_was_chosen_for_a_session_is_kept_with_it() {
    let world = World::new();
    let model = script(&world, "## says\nHello.\n");
    let first = world.piped(&["chat", "--model", &model], "hello\n/mode confirm-all\n");
    assert_eq!(first.code, 0, "{first:?}");
    let last = ["chat", "--model", &model, "--last"];
    let again = world.piped(&last, "/mode\n");
    assert!(again.out.contains("confirm-all (now)"), "{again:?}");
    // One that was chosen for a run is not.
    let once = world.piped(&[&["--mode", "auto-approve"], &last[..]].concat(), "/mode\n");
    assert!(once.out.contains("auto-approve (now)"), "{once:?}");
    let again = world.piped(&last, "/mode\n");
    assert!(again.out.contains("confirm-all (now)"), "{again:?}");
    let other = world.piped(&["chat", "--model", &model], "/mode\n");
    assert!(!other.out.contains("confirm-all (now)"), "{other:?}");
}

#[test]
fn rewind_takes_back_words_and_what_shell_commands_did() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = format!(
        "## says\nI begin.\n{}## says\nBegun.\n## says\nI go on.\n{}## says\nGone on.\n",
        call("bash", json!({"command": "echo one > a.txt"})),
        call("bash", json!({"command": "echo two > a.txt; echo more > b.txt"}))
    );
    let model = script(&world, &text);
    let mut command =
        world.command(&["--mode", "auto-approve", "chat", "--model", &model, "first", "words"]);
    command.env("NO_COLOR", "1");
    let mut person = Person::sized(command, 80, 24);
    person.sees("Begun.");
    person.sees("% of 200k");
    press(&mut person, "second words\r");
    person.sees("Gone on.");
    person.sees("% of 200k");
    assert_eq!(world.read("workspace/a.txt"), "two\n");
    press(&mut person, "/rewind 2\r");
    person.sees("a.txt");
    person.sees("Go back? [y/n]");
    person.types("y");
    person.sees("rewound to before turn 2");
    person.sees("› second words");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    assert!(!world.path("workspace/b.txt").exists());
    // The words are in the input again: what they did can be done once more.
    press(&mut person, "\r");
    person.sees("Gone on.");
    person.sees("% of 200k");
    press(&mut person, "/quit\r");
    assert_eq!(person.ends().0, 0);
    assert_eq!(world.read("workspace/a.txt"), "two\n");
}

#[test]
fn a_terminal_of_five_short_rows_is_enough() {
    let world = World::new();
    let model = script(&world, "## says\nHello.\n");
    let mut command = world.command(&["chat", "--model", &model]);
    command.env("NO_COLOR", "1");
    let mut person = Person::sized(command, 20, 5);
    person.sees("session ");
    press(&mut person, "a longer text than the terminal is wide\r");
    person.sees("  Hello.");
    press(&mut person, "/quit\r");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen:?}");
}

#[test]
fn changes_that_nobody_is_asked_about_are_shown_and_those_of_a_question_are_not_shown_twice() {
    let world = World::new();
    let text = format!(
        "## expects write it\n## says\nI write.\n{}## expects \"success\":true\n## says\nWritten.\n",
        call("write", json!({"path": "a.txt", "content": "fresh line\n"}))
    );
    let model = script(&world, &text);
    let mut person =
        chat(&world, &["--mode", "auto-approve", "--model", &model, "--persona", "coder"]);
    press(&mut person, "write it\r");
    person.sees("✓ write");
    person.sees("made a.txt");
    person.sees("+ fresh line");
    person.sees("Written.");
    person.sees("1 call changed the workspace; /undo undoes it");
    press(&mut person, "/quit\r");
    assert_eq!(person.ends().0, 0);
    world.remove("workspace/a.txt");
    let mut person = chat(&world, &["--model", &model, "--persona", "coder"]);
    press(&mut person, "write it\r");
    person.answers("y");
    person.sees("✓ write");
    person.sees("Written.");
    press(&mut person, "/quit\r");
    let (_, seen) = person.ends();
    assert_eq!(seen.matches("made a.txt").count(), 1, "{seen}");
}
