//! Settings over what lasts from one call to the next: taint, budgets, and what is kept for undo.

use super::{
    Case, Cell, Surface,
    acts::Act,
    cell::{allow_write, two_writes},
};
use crate::world::World;

const EACH_ALONE: &str = "each call is a process and a conversation of its own";

/// Text from outside: what could carry data out is asked about from then on.
pub(crate) fn taint(surface: Surface) -> Cell {
    let rule = |more: &str| {
        format!(
            "[[rules]]\ndecision = \"allow\"\ntool = \"web_fetch\"\ndomain = \"192.0.2.8\"\n{more}"
        )
    };
    let curl = |more: &str| {
        format!(
            "[[rules]]\ndecision = \"allow\"\ncommand = \"curl\"\ndomain = \"192.0.2.8\"\n{more}"
        )
    };
    // Nothing is there, and nobody is asked for it: it is no public address.
    let fetch = || Act::Fetch("http://192.0.2.8/");
    let case = Case {
        with: rule(""),
        without: rule("tainted = true\n"),
        acts: vec![fetch(), fetch()],
        expected: "failed asked",
        ..Case::default()
    };
    match surface {
        Surface::Run | Surface::Exec => Cell::Lacks(EACH_ALONE),
        Surface::Hook | Surface::Acp => Case { expected: "done asked", ..case }.into(),
        Surface::Ticket => Case {
            with: rule("") + &curl(""),
            without: rule("tainted = true\n") + &curl("tainted = true\n"),
            acts: vec![fetch(), Act::Bash("curl -sS http://192.0.2.8/")],
            expected: "done asked",
            ..case
        }
        .into(),
        Surface::Undo => Cell::Lacks("an undo carries nothing out"),
        Surface::Resume => Cell::Lacks("a person has said yes to this very call"),
        Surface::Feed | Surface::Mcp | Surface::Guard | Surface::Ask | Surface::Chat => case.into(),
    }
}

/// How much may change before a person is asked again.
pub(crate) fn budget(surface: Surface) -> Cell {
    let rule = allow_write(surface);
    let case = Case {
        with: format!("[effects.budget]\nfiles = 1\n{rule}"),
        without: rule,
        acts: two_writes(surface),
        expected: "done asked",
        ..Case::default()
    };
    match surface {
        Surface::Run | Surface::Exec => Cell::Lacks(EACH_ALONE),
        Surface::Undo => Cell::Lacks("an undo restores what was there before"),
        Surface::Resume => Cell::Lacks("a person has said yes to this very call"),
        Surface::Feed
        | Surface::Ticket
        | Surface::Hook
        | Surface::Acp
        | Surface::Mcp
        | Surface::Guard
        | Surface::Ask
        | Surface::Chat => case.into(),
    }
}

/// What is kept of this many changes of this size is more than the bound.
const CHANGES: usize = 6;
const SIZE: usize = 60_000;
const BOUND: u64 = 150_000;

/// Text that hardly gets smaller.
fn noise(seed: usize) -> String {
    let mut state = 88_172_645_463_325_252_u64.wrapping_add(seed as u64 * 7_919);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + u8::try_from(state % 90).unwrap_or_default())
    };
    (0..SIZE).map(|_| next()).collect()
}

/// How much is kept for undo.
fn kept(world: &World) -> u64 {
    fn size(directory: &std::path::Path) -> u64 {
        let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
        let one = |it: std::fs::DirEntry| match it.metadata() {
            Ok(it_is) if it_is.is_dir() => size(&it.path()),
            Ok(it_is) => it_is.len(),
            Err(_) => 0,
        };
        entries.flatten().map(one).sum()
    }
    size(&world.store_of_workspace().with_file_name("undo"))
}

/// What is kept of what changes replaced.
pub(crate) fn undo_keep(surface: Surface) -> Cell {
    fn sources(world: &World) {
        world.write("workspace/b.txt", &noise(100));
        for at in 0..CHANGES {
            world.write(&format!("workspace/source{at}"), &noise(at));
        }
    }
    let copies = [
        "cp source0 b.txt",
        "cp source1 b.txt",
        "cp source2 b.txt",
        "cp source3 b.txt",
        "cp source4 b.txt",
        "cp source5 b.txt",
    ];
    let acts = match surface {
        Surface::Exec | Surface::Ticket => copies.map(Act::Bash).into(),
        _ => (0..CHANGES).map(|at| Act::Write("b.txt", noise(at))).collect(),
    };
    let rules = match surface {
        Surface::Exec | Surface::Ticket => {
            "[[rules]]\ndecision = \"allow\"\ncommand = \"cp *\"\n".to_owned()
        }
        _ => allow_write(surface),
    };
    Case {
        with: format!("[undo]\nkeep = \"100KB\"\nrecent = 1\n{rules}"),
        without: rules,
        files: Some(sources),
        acts,
        look: Some(|world, seen| {
            let done = seen.iter().all(|it| it.word() == "done");
            let kept = if kept(world) <= BOUND { "little" } else { "much" };
            if done { kept.to_owned() } else { format!("not done: {seen:?}") }
        }),
        expected: "little",
        ..Case::default()
    }
    .into()
}
