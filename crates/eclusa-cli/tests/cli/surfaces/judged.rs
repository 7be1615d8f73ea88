//! Settings that decide whether a call passes: modes, counted rules, allowances, the queue, rules
//! from `always`, trust, and bounds over effects.

use super::{
    Case, Door,
    acts::{Act, Seen},
    applied,
    cell::{allow_write, one_write, two_writes},
    typed,
};
use crate::{prompt::Person, world::World};

/// A mode in which nobody is asked where no rule says so: nobody is there to be shown a plan.
const APPROVED: &str = "mode = \"auto-approve\"\n";

/// A mode for some clients or conversations, where the global one is another.
pub(crate) fn modes(door: Door) -> Option<Case> {
    let careful = |who: &str| Case {
        with: format!("[[modes]]\n{who}\nmode = \"confirm-all\"\n"),
        acts: vec![Act::Read("a.txt")],
        expected: "asked",
        ..Case::default()
    };
    let loose = |who: &str| Case {
        with: format!("[[modes]]\n{who}\nmode = \"auto-approve\"\n"),
        acts: vec![Act::Bash("touch new.txt")],
        expected: "done",
        ..Case::default()
    };
    Some(match door {
        Door::Yes | Door::Apply => return None,
        Door::Run | Door::Check => careful("conversation = \"command-line\""),
        Door::Plan => Case {
            with: format!("{APPROVED}{}", careful("conversation = \"command-line\"").with),
            without: APPROVED.to_owned(),
            acts: one_write(door),
            ..careful("")
        },
        Door::Feed | Door::Rehearsal => careful("conversation = \"feed\""),
        Door::Exec => loose("conversation = \"command-line\""),
        Door::Ticket => loose("client = \"claude-code*\""),
        Door::Hook => careful("client = \"claude-code*\""),
        Door::Acp | Door::Mcp | Door::Guard | Door::Ask | Door::Chat => careful("client = \"*\""),
        // A person has said yes to it already: that it was asked about is on record.
        Door::Undo | Door::Resume => Case {
            acts: one_write(door),
            look: Some(recorded_mode),
            expected: "done confirm-all",
            ..careful("conversation = \"command-line\"")
        },
    })
}

fn recorded_mode(world: &World, seen: &[Seen]) -> String {
    let records = world.records();
    let mode = records.iter().rev().find_map(|it| it["mode"].as_str());
    format!("{} {}", seen.first().map_or("nothing", Seen::word), mode.unwrap_or("no mode"))
}

/// A rule that is good for one call.
pub(crate) fn counted(door: Door) -> Option<Case> {
    let rule = allow_write(door);
    let case = Case {
        with: format!("{rule}times = 1\n"),
        without: rule,
        acts: two_writes(door),
        expected: "done asked",
        ..Case::default()
    };
    Some(match door {
        Door::Check => {
            Case { prepare: Some(used_once), acts: one_write(door), expected: "asked", ..case }
        }
        // Whoever types it is asked, and has said yes: what was decided is on record.
        Door::Undo => {
            let rule =
                "[[rules]]\nid = \"few\"\ndecision = \"allow\"\ntool = [\"undo\", \"redo\"]\n";
            Case {
                with: format!("{rule}times = 1\n"),
                without: rule.to_owned(),
                look: Some(recorded_decisions),
                expected: "allow ask",
                ..case
            }
        }
        Door::Resume => Case { unanswered: true, expected: "done waits", ..case },
        Door::Plan => Case {
            with: format!("{APPROVED}{}", case.with),
            without: format!("{APPROVED}{}", case.without),
            acts: one_write(door),
            look: Some(next_is),
            expected: "done asked",
            ..case
        },
        Door::Yes | Door::Apply => return None,
        _ => case,
    })
}

/// What was done, and what would be decided of the next.
fn next_is(world: &World, seen: &[Seen]) -> String {
    let args = r#"{"path": "next.txt", "content": "x\n"}"#;
    let words = ["--json", "--mode", "confirm-sensitive", "check", "write", args];
    let next = if world.eclusa(&words).json()["decision"] == "allow" { "done" } else { "asked" };
    format!("{} {next}", seen.first().map_or("nothing", Seen::word))
}

/// Somebody has made a call that the rule lets pass.
fn used_once(world: &World, _: Door, _: bool) {
    let ran = world.eclusa(&["run", "write", r#"{"path": "used.txt", "content": "x\n"}"#]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// What was decided about the undos and redos that were typed.
pub(crate) fn recorded_decisions(world: &World, _: &[Seen]) -> String {
    let records = world.records();
    let typed = records.iter().filter(|it| it["tool"] == "undo" || it["tool"] == "redo");
    let decided: Vec<&str> = typed.filter_map(|it| it["decision"].as_str()).collect();
    decided.join(" ")
}

/// Questions that were answered beforehand.
pub(crate) fn allowances(door: Door) -> Option<Case> {
    fn agreed(world: &World, door: Door, with: bool) {
        let file = world.write("allowance.toml", &allow_write(door));
        if with {
            let file = file.display().to_string();
            let ran = world.eclusa(&["allow", &file, "--times", "5", "--for", "1h"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        }
    }
    let case =
        Case { acts: one_write(door), prepare: Some(agreed), expected: "done", ..Case::default() };
    match door {
        Door::Undo | Door::Check | Door::Rehearsal | Door::Yes | Door::Apply => None,
        Door::Resume => Some(Case { unanswered: true, ..case }),
        Door::Plan => Some(Case {
            with: format!("{APPROVED}{ASKS}"),
            without: format!("{APPROVED}{ASKS}"),
            ..case
        }),
        _ => Some(case),
    }
}

/// A rule that asks, also where the mode would not.
const ASKS: &str = "[[rules]]\ndecision = \"ask\"\ntool = \"write\"\n";

/// Questions that wait where somebody answers them, while nobody is at the surface.
pub(crate) fn queue(door: Door) -> Option<Case> {
    let case = Case {
        with: "on_no_approver = \"queue\"\n".to_owned(),
        acts: one_write(door),
        // Somebody at another terminal says yes to whatever waits.
        answers: Some(("yes", "yes")),
        expected: "done",
        ..Case::default()
    };
    match door {
        Door::Undo | Door::Check | Door::Rehearsal | Door::Yes | Door::Apply => None,
        Door::Plan => Some(Case {
            with: format!("{}{APPROVED}{ASKS}", case.with),
            without: format!("{APPROVED}{ASKS}"),
            ..case
        }),
        // There is somebody at the editor; this rule wants the answer of the queue, as it is.
        Door::Acp => {
            let rule = "[[rules]]\ndecision = \"ask\"\ntool = \"write\"\nwithin = \"9m\"\n";
            let (with, without) = (rule.to_owned(), rule.to_owned());
            Some(Case { with, without, answers: Some(("yes", "no")), ..case })
        }
        // It waits in the queue already, until somebody there says yes.
        Door::Resume => Some(Case {
            with: "mode = \"confirm-all\"\n".to_owned(),
            without: "mode = \"confirm-all\"\n".to_owned(),
            acts: vec![Act::Read("a.txt")],
            prepare: Some(|world, _, with| {
                if with {
                    typed::say_yes(world, &[Act::Read("a.txt")]);
                }
            }),
            unanswered: true,
            answers: None,
            ..case
        }),
        // The model hears that it waits, and goes on; the call is made again or resumed.
        Door::Ask | Door::Chat => Some(Case { answers: None, expected: "waits", ..case }),
        _ => Some(case),
    }
}

/// Rules that a person made by answering `always`.
pub(crate) fn always(door: Door) -> Option<Case> {
    #[expect(clippy::disallowed_methods, reason = "the test takes the file away again")]
    fn answered(world: &World, door: Door, with: bool) {
        let mut person = match door {
            _ if door.runs_commands() => Person::runs(world, &["exec", "--", "touch new1.txt"]),
            _ => Person::runs(world, &["run", "write", "path=new1.txt", "content=before"]),
        };
        person.answers(if with { "a" } else { "y" });
        if with {
            person.answers("y");
        }
        let (code, seen) = person.ends();
        assert_eq!(code, 0, "{seen}");
        std::fs::remove_file(world.path("workspace/new1.txt")).unwrap();
    }
    let case = Case {
        prepare: Some(answered),
        acts: one_write(door),
        expected: "done",
        ..Case::default()
    };
    match door {
        Door::Undo | Door::Plan | Door::Yes | Door::Apply => None,
        Door::Resume => Some(Case { unanswered: true, ..case }),
        _ => Some(case),
    }
}

/// A project's file that loosens, and a person who trusts it.
pub(crate) fn trust(door: Door) -> Option<Case> {
    fn trusted(world: &World, door: Door, with: bool) {
        let loosens = match door {
            Door::Undo | Door::Plan | Door::Yes | Door::Apply => "without = [\"no\"]\n".to_owned(),
            _ => allow_write(door),
        };
        world.write("workspace/eclusa.toml", &loosens);
        if with {
            let ran = world.eclusa(&["config", "trust"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        }
    }
    let own = match door {
        Door::Undo => "[[rules]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"undo\"\n",
        Door::Plan => {
            "mode = \"auto-approve\"\n[[rules]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"write\"\n"
        }
        Door::Yes | Door::Apply => {
            "[[rules]]\nid = \"no\"\ndecision = \"deny\"\ncommand = \"touch *\"\n"
        }
        _ => "",
    };
    Some(Case {
        with: own.to_owned(),
        without: own.to_owned(),
        prepare: Some(trusted),
        acts: one_write(door),
        expected: "done",
        ..Case::default()
    })
}

/// A bound over what calls change, whatever the rules allow.
pub(crate) fn effects(door: Door) -> Option<Case> {
    let rule = allow_write(door);
    let (bound, act) = match door {
        Door::Undo | Door::Check => return None,
        _ if door.runs_commands() => ("max_files = 1", Act::Bash("touch b.txt c.txt")),
        _ => ("max_lines = 2", Act::Write("b.txt", "1\n2\n3\n4\n5\n".to_owned())),
    };
    let case = Case {
        with: format!("[effects]\n{bound}\n{rule}"),
        without: rule,
        acts: vec![act],
        expected: "denied",
        ..Case::default()
    };
    Some(match door {
        // Neither call goes beyond it, and the plan does.
        Door::Plan => Case {
            with: format!("{APPROVED}[effects]\nmax_files = 1\n"),
            without: APPROVED.to_owned(),
            acts: Vec::new(),
            look: Some(|world, _| applied::plan(world, &two_writes(Door::Plan)).word().to_owned()),
            ..case
        },
        _ => case,
    })
}
