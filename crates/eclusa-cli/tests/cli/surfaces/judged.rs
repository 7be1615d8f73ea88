//! Settings that decide whether a call passes: modes, counted rules, allowances, the queue, rules
//! from `always`, trust, and bounds over effects.

use super::{
    Case, Cell, Surface,
    acts::Act,
    cell::{allow_write, one_write, two_writes},
};
use crate::{prompt::Person, world::World};

const TYPED: &str = "whoever types the command has said yes to it";
const ANSWERED: &str = "a person has said yes to this very call";

/// A mode for some clients or conversations, where the global one is another.
pub(crate) fn modes(surface: Surface) -> Cell {
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
    match surface {
        Surface::Run | Surface::Feed => {
            careful("conversation = [\"command-line\", \"feed\"]").into()
        }
        Surface::Exec => loose("conversation = \"command-line\"").into(),
        Surface::Ticket => loose("client = \"claude-code*\"").into(),
        Surface::Hook => careful("client = \"claude-code*\"").into(),
        Surface::Acp | Surface::Mcp | Surface::Guard | Surface::Ask | Surface::Chat => {
            careful("client = \"*\"").into()
        }
        Surface::Undo => Cell::Lacks(TYPED),
        Surface::Resume => Cell::Lacks(ANSWERED),
    }
}

/// A rule that is good for one call.
pub(crate) fn counted(surface: Surface) -> Cell {
    let rule = allow_write(surface);
    let case = Case {
        with: format!("{rule}times = 1\n"),
        without: rule,
        acts: two_writes(surface),
        expected: "done asked",
        ..Case::default()
    };
    match surface {
        Surface::Undo => Cell::Lacks(TYPED),
        Surface::Resume => Cell::Lacks(ANSWERED),
        Surface::Run
        | Surface::Feed
        | Surface::Exec
        | Surface::Ticket
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat => case.into(),
    }
}

/// Questions that were answered beforehand.
pub(crate) fn allowances(surface: Surface) -> Cell {
    fn agreed(world: &World, surface: Surface, with: bool) {
        let file = world.write("allowance.toml", &allow_write(surface));
        if with {
            let file = file.display().to_string();
            let ran = world.eclusa(&["allow", &file, "--times", "5", "--for", "1h"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        }
    }
    let case = Case {
        acts: one_write(surface),
        prepare: Some(agreed),
        expected: "done",
        ..Case::default()
    };
    match surface {
        Surface::Undo => Cell::Lacks(TYPED),
        Surface::Resume => Case { unanswered: true, ..case }.into(),
        Surface::Run
        | Surface::Feed
        | Surface::Exec
        | Surface::Ticket
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat => case.into(),
    }
}

/// Questions that wait where somebody answers them, while nobody is at the surface.
pub(crate) fn queue(surface: Surface) -> Cell {
    let case = Case {
        with: "on_no_approver = \"queue\"\n".to_owned(),
        acts: one_write(surface),
        // Somebody at another terminal says yes to whatever waits.
        answering: true,
        expected: "done",
        ..Case::default()
    };
    match surface {
        Surface::Undo => Cell::Lacks(TYPED),
        Surface::Resume => Cell::Lacks("its question waits in the queue already"),
        Surface::Acp => Cell::Lacks("there is somebody to ask: the person at the editor"),
        // The model hears that it waits, and goes on; the call is made again or resumed.
        Surface::Ask | Surface::Chat => Case { answering: false, expected: "waits", ..case }.into(),
        Surface::Run
        | Surface::Feed
        | Surface::Exec
        | Surface::Ticket
        | Surface::Hook
        | Surface::Mcp
        | Surface::Guard => case.into(),
    }
}

/// Rules that a person made by answering `always`.
pub(crate) fn always(surface: Surface) -> Cell {
    fn answered(world: &World, _: Surface, with: bool) {
        let before = r#"{"path": "new1.txt", "content": "before\n"}"#;
        let mut person = Person::runs(world, &["run", "write", before]);
        person.answers(if with { "a" } else { "y" });
        if with {
            person.answers("y");
        }
        let (code, seen) = person.ends();
        assert_eq!(code, 0, "{seen}");
    }
    let case = Case {
        prepare: Some(answered),
        acts: one_write(surface),
        expected: "done",
        ..Case::default()
    };
    match surface {
        Surface::Undo => Cell::Lacks(TYPED),
        Surface::Exec | Surface::Ticket => Cell::Lacks("`always` is not offered for shell text"),
        Surface::Resume => Case { unanswered: true, ..case }.into(),
        Surface::Run
        | Surface::Feed
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat => case.into(),
    }
}

/// A project's file that loosens, and a person who trusts it.
pub(crate) fn trust(surface: Surface) -> Cell {
    fn trusted(world: &World, surface: Surface, with: bool) {
        let deny = "[[rules]]\ndecision = \"deny\"\ntool = \"undo\"\n";
        let file = world.write("workspace/eclusa.toml", &(allow_write(surface) + deny));
        if with {
            let ran = world.eclusa(&["config", "trust"]);
            assert_eq!(ran.code, 0, "{}: {ran:?}", file.display());
        }
    }
    let case = Case {
        prepare: Some(trusted),
        acts: one_write(surface),
        expected: "done",
        ..Case::default()
    };
    match surface {
        // With a file that nobody trusts an undo passes by the rules that are shipped.
        Surface::Undo => Case { expected: "denied", ..case }.into(),
        Surface::Run
        | Surface::Feed
        | Surface::Exec
        | Surface::Ticket
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat
        | Surface::Resume => case.into(),
    }
}

/// A bound over what calls change, whatever the rules allow.
pub(crate) fn effects(surface: Surface) -> Cell {
    let rule = allow_write(surface);
    let lines = Case {
        with: format!("[effects]\nmax_lines = 2\n{rule}"),
        without: rule.clone(),
        acts: vec![Act::Write("b.txt", "1\n2\n3\n4\n5\n".to_owned())],
        expected: "denied",
        ..Case::default()
    };
    match surface {
        Surface::Exec | Surface::Ticket => Case {
            with: format!("[effects]\nmax_files = 1\n{rule}"),
            acts: vec![Act::Bash("touch b.txt c.txt")],
            ..lines
        }
        .into(),
        Surface::Undo => Cell::Lacks("an undo restores what was there before"),
        Surface::Run
        | Surface::Feed
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat
        | Surface::Resume => lines.into(),
    }
}
