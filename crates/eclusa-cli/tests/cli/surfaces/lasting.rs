//! Settings over what lasts from one call to the next: taint, budgets, and what is kept for undo.

use super::{
    Case, Door,
    acts::{Act, Seen},
    cell::{allow_write, two_writes},
};
use crate::world::World;

/// Text from outside: what could carry data out is asked about from then on.
pub(crate) fn taint(door: Door) -> Option<Case> {
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
    match door {
        Door::Run | Door::Exec | Door::Undo | Door::Resume | Door::Check => None,
        Door::Rehearsal | Door::Plan | Door::Yes | Door::Apply => None,
        Door::Hook | Door::Acp => Some(Case { expected: "done asked", ..case }),
        Door::Ticket => Some(Case {
            with: rule("") + &curl(""),
            without: rule("tainted = true\n") + &curl("tainted = true\n"),
            acts: vec![fetch(), Act::Bash("curl -sS http://192.0.2.8/")],
            expected: "done asked",
            ..case
        }),
        _ => Some(case),
    }
}

/// How much may change before a person is asked again.
pub(crate) fn budget(door: Door) -> Option<Case> {
    let rule = allow_write(door);
    let case = Case {
        with: format!("[effects.budget]\nfiles = 1\n{rule}"),
        without: rule,
        acts: two_writes(door),
        expected: "done asked",
        ..Case::default()
    };
    match door {
        Door::Run | Door::Exec | Door::Undo | Door::Resume | Door::Check => None,
        Door::Plan | Door::Yes | Door::Apply => None,
        _ => Some(case),
    }
}

/// What is kept of six changes of this size is more than the bound.
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
pub(crate) fn undo_keep(door: Door) -> Option<Case> {
    fn sources(world: &World) {
        world.write("workspace/b.txt", &noise(100));
        for at in 0..6 {
            world.write(&format!("workspace/source{at}"), &noise(at));
            world.write(&format!("workspace/other{at}"), &noise(at + 10));
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
    // What ran before is applied to what was there when it ran.
    let others = [
        "cp source0 other0",
        "cp source1 other1",
        "cp source2 other2",
        "cp source3 other3",
        "cp source4 other4",
        "cp source5 other5",
    ];
    let (rules, acts) = match door {
        _ if door.is_taken() => (String::new(), others.map(Act::Bash).into()),
        _ if door.runs_commands() => (
            "[[rules]]\ndecision = \"allow\"\ncommand = \"cp *\"\n".to_owned(),
            copies.map(Act::Bash).into(),
        ),
        _ => {
            let write = |at: usize| Act::Write("b.txt", noise(at));
            let mode = if door == Door::Plan { "mode = \"auto-approve\"\n" } else { "" };
            (format!("{mode}{}", allow_write(door)), (0..copies.len()).map(write).collect())
        }
    };
    let case = Case {
        with: format!("{rules}[undo]\nkeep = \"100KB\"\nrecent = 1\n"),
        without: rules,
        files: Some(sources),
        acts,
        // What was dropped can no longer be undone; the first could.
        look: Some(|world, seen| match seen {
            [Seen::Done(_), ..] if kept(world) <= BOUND => "little".to_owned(),
            [Seen::Done(_), ..] => "much".to_owned(),
            _ => format!("not done: {seen:?}"),
        }),
        expected: "little",
        ..Case::default()
    };
    (!matches!(door, Door::Check | Door::Rehearsal)).then_some(case)
}
