//! The prompt on a real terminal: what a person sees, types and gets.

use std::{process::Command, time::Duration};

use expectrl::{
    ControlCode, Eof, Expect,
    process::unix::WaitStatus,
    session::{OsSession, Session},
};
use serde_json::json;

use crate::world::{World, wait_until};

/// Of both questions: `Run it? [` and `Apply these changes? [`.
const PROMPT: &str = "? [";
const NOTE: [&str; 3] = ["run", "note", r#"{"text": "hello"}"#];

/// A person at a terminal.
pub(crate) struct Person {
    pub(crate) session: OsSession,
    pub(crate) seen: String,
}

impl Person {
    pub(crate) fn runs(world: &World, args: &[&str]) -> Person {
        Person::starts(world.command(args))
    }

    pub(crate) fn starts(mut command: Command) -> Person {
        command.env("NO_COLOR", "1");
        Person::in_colours(command)
    }

    fn in_colours(command: Command) -> Person {
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(60)));
        Person { session, seen: String::new() }
    }

    /// At a terminal of this size, which it has before the program starts.
    #[expect(clippy::disallowed_methods, reason = "the terminal is set up by a shell")]
    pub(crate) fn sized(command: Command, columns: u16, rows: u16) -> Person {
        let mut sized = Command::new("sh");
        // Whoever makes a terminal gives it a size of their own, after the program has begun.
        let wait =
            format!("until [ \"$(stty size)\" = \"{rows} {columns}\" ]; do sleep 0.01; done");
        let script = format!("umask 022; {wait}; exec \"$0\" \"$@\"");
        sized.arg("-c").arg(script).arg(command.get_program()).args(command.get_args());
        sized.current_dir(command.get_current_dir().unwrap());
        sized.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut person = Person::in_colours(sized);
        person.session.get_process_mut().set_window_size(columns, rows).unwrap();
        person
    }

    /// Waits until this is on the screen.
    pub(crate) fn sees(&mut self, text: &str) {
        match self.session.expect(text) {
            Ok(found) => self.seen.push_str(&String::from_utf8_lossy(found.as_bytes())),
            Err(err) => panic!("`{text}` never came: {err}; seen so far: {}", self.seen),
        }
    }

    pub(crate) fn types(&mut self, line: &str) {
        self.session.send_line(line).unwrap();
    }

    /// Waits for the prompt, and answers.
    pub(crate) fn answers(&mut self, line: &str) {
        self.sees(PROMPT);
        self.types(line);
    }

    /// Everything that was on the screen, and the exit code.
    pub(crate) fn ends(mut self) -> (i32, String) {
        let rest = self.session.expect(Eof).unwrap();
        self.seen.push_str(&String::from_utf8_lossy(rest.as_bytes()));
        match self.session.get_process().wait().unwrap() {
            WaitStatus::Exited(_, code) => (code, self.seen),
            other => panic!("{other:?}: {}", self.seen),
        }
    }
}

/// Shows S0.2, S0.23, S1.42.
#[test]
fn the_question_shows_everything_and_y_runs_it() {
    let world = World::new();
    let mut person = Person::runs(
        &world,
        &["run", "note", r#"{"text": "hello"}"#, "--reason", "so that nobody forgets"],
    );
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    for text in
        ["tool: note", "class: file", "hello", "changes are reviewed", "so that nobody forgets"]
    {
        assert!(seen.contains(text), "`{text}` is not in {seen}");
    }
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let approval = &world.records()[1]["changes"]["approval"];
    assert_eq!((&approval["answer"], &approval["by"]), (&"once".into(), &"terminal".into()));
}

/// Shows E6, S1.43, S1.44.
#[test]
fn n_asks_for_a_reason_and_the_model_is_told() {
    let world = World::new();
    let mut person = Person::runs(&world, &NOTE);
    person.answers("n");
    person.sees("Why?");
    person.types("not today");
    let (code, seen) = person.ends();
    assert_eq!(code, 3);
    assert!(seen.contains("denied by a person: not today"), "{seen}");
    assert_eq!(world.read("workspace/notes.txt"), "");
    // The reason may be empty.
    let mut person = Person::runs(&world, &NOTE);
    person.answers("N");
    person.sees("Why?");
    person.types("");
    assert_eq!(person.ends().0, 3);
}

/// Shows S2.15.
#[test]
fn only_y_and_yes_are_yes_and_enter_never_is() {
    let world = World::new();
    let mut person = Person::runs(&world, &NOTE);
    person.answers("");
    person.sees("Please type y or n");
    for almost in ["yep", "1", "ok", "true", "y y"] {
        person.answers(almost);
        person.sees("is not an answer");
    }
    person.answers("YES");
    assert_eq!(person.ends().0, 0);
}

#[test]
fn the_end_of_the_input_is_a_no() {
    let world = World::new();
    let mut person = Person::runs(&world, &NOTE);
    person.sees(PROMPT);
    person.session.send(ControlCode::EndOfTransmission).unwrap();
    let (code, seen) = person.ends();
    assert_eq!(code, 3, "{seen}");
    assert!(seen.contains("denied by a person: the input ended without an answer"), "{seen}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

/// Shows S4.43, C24.
#[test]
fn q_aborts_with_130() {
    let world = World::new();
    let mut person = Person::runs(&world, &NOTE);
    person.answers("q");
    assert_eq!(person.ends().0, 130);
    assert_eq!(world.records()[1]["code"], "aborted");
}

#[test]
fn ctrl_c_at_the_prompt_takes_the_call_back() {
    let world = World::new();
    let mut person = Person::runs(&world, &NOTE);
    person.sees(PROMPT);
    person.session.send(ControlCode::EndOfText).unwrap();
    assert_eq!(person.ends().0, 130);
    assert_eq!(world.records()[1]["code"], "changes_discarded");
}

#[test]
fn a_shows_the_rule_writes_it_and_nobody_is_asked_again() {
    let world = World::with("# my rules\nmode = \"confirm-sensitive\" # careful\n");
    let mut person = Person::runs(&world, &NOTE);
    person.answers("a");
    person.sees("decision = \"allow\"");
    person.sees("Add the rule and run the call?");
    person.types("n");
    // Nothing is written without a yes, and the question is still there.
    person.answers("a");
    person.sees("Add the rule and run the call?");
    let rules = world.store().with_file_name("rules.toml");
    assert!(!rules.exists());
    person.types("y");
    assert_eq!(person.ends().0, 0);
    let written = std::fs::read_to_string(&rules).unwrap();
    assert!(written.contains("tool = \"note\""), "{written}");
    // The person's own file is for every workspace, and was not touched.
    let mine = "# my rules\nmode = \"confirm-sensitive\" # careful\n";
    assert_eq!(world.read("config/eclusa/eclusa.toml"), mine);
    // Now it runs without a terminal, here and nowhere else.
    assert_eq!(world.eclusa(&NOTE).code, 0);
    std::fs::create_dir(world.path("other")).unwrap();
    let other = world.path("other").display().to_string();
    assert_eq!(world.eclusa(&[&["--workspace", &other], &NOTE[..]].concat()).code, 3);
    // Everywhere is a separate answer.
    rustix::fs::rename(&rules, world.path("rules.old")).unwrap();
    let mut person = Person::runs(&world, &NOTE);
    person.answers("a");
    person.sees("[y/n/everywhere]");
    person.types("everywhere");
    assert_eq!(person.ends().0, 0);
    let config = world.read("config/eclusa/eclusa.toml");
    assert!(config.starts_with(mine) && config.contains("tool = \"note\""), "{config}");
    assert_eq!(world.eclusa(&[&["--workspace", &other], &NOTE[..]].concat()).code, 0);
}

#[test]
fn always_is_not_offered_for_shell_text() {
    let world = World::with(
        "[tools.sh]\ndescription = \"Runs shell text.\"\ncommand = [\"sh\", \"-c\", \"{command}\"]\n\
         args = { command = { type = \"string\" } }\nrequired = [\"command\"]\nclass = \"shell\"\nshell = \"/command\"\nsandbox = false\n",
    );
    let mut person = Person::runs(&world, &["run", "sh", r#"{"command": "echo done"}"#]);
    person.answers("a");
    person.sees("is not an answer");
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("done"), "{seen}");
}

#[test]
fn e_opens_the_editor_and_what_was_written_is_judged_again() {
    let world = World::with(
        "[[rules]]\ndecision = \"deny\"\ntool = \"note\"\narg.\"/text\" = { contains = \"password\" }\n",
    );
    let mode = world.script("mode", "stat -c %a \"$1\" > mode; sed -i s/hello/edited/ \"$1\"");
    let edit = |script: &str| {
        // What is asked about before it runs can be edited.
        let mut command = world.command(&[&["--mode", "confirm-all"], &NOTE[..]].concat());
        command.env("EDITOR", script.trim_matches('"'));
        Person::starts(command)
    };
    let mut person = edit(&mode);
    // An edit is an answer: nobody is asked about what they wrote themselves.
    person.answers("e");
    person.sees("a person changed the arguments");
    assert_eq!(person.ends().0, 0);
    assert_eq!(world.read("workspace/notes.txt"), "edited\n");
    assert_eq!(world.read("workspace/mode"), "600\n");
    // What policy denies stays denied, whoever wrote it.
    let mut person = edit(&world.script("denied", "sed -i s/hello/password/ \"$1\""));
    person.answers("e");
    let (code, seen) = person.ends();
    assert_eq!(code, 3, "{seen}");
    // Neither a broken text nor an editor that fails is an answer.
    let mut person = edit(&world.script("broken", "echo nonsense > \"$1\""));
    person.answers("e");
    person.sees("this is not JSON");
    person.answers("q");
    assert_eq!(person.ends().0, 130);
    let mut person = edit("false");
    person.answers("e");
    person.sees("the editor `false` ended with");
    person.answers("q");
    assert_eq!(person.ends().0, 130);
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let world = World::new();
    let slow =
        world.script("slow", "touch reviewing; while [ ! -e go ]; do sleep 0.02; done; echo true");
    world.write(
        "config/eclusa/eclusa.toml",
        &format!("[[reviewers]]\nname = \"slow\"\non = \"input\"\ncommand = [{slow}]\n"),
    );
    let mut person = Person::runs(&world, &NOTE);
    wait_until("the review began", || world.path("workspace/reviewing").exists());
    person.types("y");
    person.types("y");
    world.write("workspace/go", "");
    person.answers("n");
    person.sees("Why?");
    person.types("it was asked after I typed");
    let (code, seen) = person.ends();
    assert_eq!(code, 3, "{seen}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn nothing_in_the_arguments_reaches_the_terminal_raw() {
    let world = World::new();
    let args = json!({"text": "\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}evil\r\u{9b}31m"}).to_string();
    let mut person = Person::runs(&world, &["run", "note", &args, "--reason", "\u{1b}[8mhidden"]);
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("\\u{1B}"), "{seen}");
    for raw in ['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}'] {
        assert!(!seen.contains(raw), "{raw:?} is in {seen:?}");
    }
}

#[test]
fn what_a_tool_says_reaches_a_terminal_harmless_and_a_pipe_as_it_is() {
    let world = World::new();
    let args = json!({"text": "\u{1b}[2Jgone"}).to_string();
    let (code, seen) = Person::runs(&world, &["run", "echo", &args]).ends();
    assert!(code == 0 && seen.contains("\\u{1B}[2Jgone") && !seen.contains('\u{1b}'), "{seen:?}");
    assert_eq!(world.eclusa(&["run", "echo", &args]).out, "\u{1b}[2Jgone\n");
}

/// Shows C9.
#[test]
fn a_dry_run_asks_nobody_even_on_a_terminal() {
    let (code, seen) = Person::runs(&World::new(), &[&["--dry-run"][..], &NOTE].concat()).ends();
    assert!(code == 0 && !seen.contains(PROMPT), "{seen}");
}

/// Shows C10.
#[test]
fn nobody_is_asked_about_what_policy_denies() {
    let world = World::with("[[rules]]\ndecision = \"deny\"\ntool = \"note\"\n");
    let (code, seen) = Person::runs(&world, &NOTE).ends();
    assert!(code == 3 && !seen.contains(PROMPT), "{seen}");
}

#[test]
fn arguments_from_a_pipe_leave_the_terminal_for_the_answer() {
    let world = World::new();
    let mut command = world.command(&[]);
    let binary = command.get_program().to_owned();
    #[expect(clippy::disallowed_methods, reason = "the test starts the binary in a pipe")]
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"echo '{"text": "piped"}' | "$0" run note -"#]).arg(binary);
    shell.current_dir(world.path("workspace")).env_clear();
    for (name, value) in command.env("SHLVL", "1").get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let mut person = Person::starts(shell);
    person.answers("y");
    assert_eq!(person.ends().0, 0);
    assert_eq!(world.read("workspace/notes.txt"), "piped\n");
}

/// Shows C23, S3.28.
#[test]
fn a_checkpoint_is_opened_by_the_tools_name_and_by_nothing_else() {
    let world = World::with(
        "[tools.deploy]\ndescription = \"Deploys.\"\ncommand = [\"touch\", \"deployed\"]\n\
         writes = [\"deployed\"]\ncheckpoint = true\n",
    );
    // No mode opens it, and nobody there keeps it closed (S3.29).
    let ran = world.eclusa(&["--mode", "yolo", "--json", "run", "deploy"]);
    assert_eq!((ran.code, ran.json()["code"].clone()), (3, "denied_by_checkpoint".into()));
    let mut person = Person::runs(&world, &["run", "deploy"]);
    person.answers("y");
    person.sees("to confirm");
    person.types("y");
    let (code, seen) = person.ends();
    assert!(code == 3 && seen.contains("a person did not confirm it"), "{seen}");
    assert!(!world.path("workspace/deployed").exists());
    let mut person = Person::runs(&world, &["--mode", "yolo", "run", "deploy"]);
    person.sees("to confirm");
    person.types("deploy");
    assert_eq!(person.ends().0, 0);
    assert!(world.path("workspace/deployed").exists());
    let opened = world.records().into_iter().any(|it| it["checkpoint"] == "open");
    assert!(opened);
}

#[test]
fn a_change_is_shown_in_colours_before_it_is_real() {
    let world = World::new();
    world.write("workspace/notes.txt", "before\n");
    let mut person = Person::in_colours(world.command(&NOTE));
    person.sees("\u{1b}[32m+ hello\u{1b}[0m");
    assert_eq!(world.read("workspace/notes.txt"), "before\n");
    person.sees("Apply these changes? [y/n/s/A/a/q/?]");
    person.types("y");
    assert_eq!(person.ends().0, 0);
    assert_eq!(world.read("workspace/notes.txt"), "before\nhello\n");
    let mut person = Person::in_colours(world.command(&["changes", "diff"]));
    person.sees("\u{1b}[32m+hello\u{1b}[0m");
    assert_eq!(person.ends().0, 0);
    // Another no: nothing is written, and the reason goes to the model.
    let mut person = Person::runs(&world, &NOTE);
    person.answers("n");
    person.sees("Why?");
    person.types("once is enough");
    let (code, seen) = person.ends();
    assert!(code == 3 && seen.contains("changes discarded"), "{seen}");
    assert_eq!(world.read("workspace/notes.txt"), "before\nhello\n");
}
