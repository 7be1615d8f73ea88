//! Settings over what is there beside a call: who looks on, programs of the person, what commands leave running, what
//! runs before its question, and a fleet.

use super::{
    Case, Door,
    acts::{Act, Seen},
    cell::{allow_write, one_write},
    judged::recorded_decisions,
    shown::read,
};
use crate::{
    ahead::Agent,
    hook::decision,
    world::{World, wait_until},
};

/// Somebody who is told of calls, and has no say.
pub(crate) fn observers(door: Door) -> Option<Case> {
    let on = if door.is_taken() { "output" } else { "input" };
    let looks_on = format!(
        "[[reviewers]]\nname = \"desk\"\nasync = true\non = \"{on}\"\n\
         command = [\"sh\", \"-c\", \"cat > ../part; mv ../part ../observed; exit 2\"]\n"
    );
    let mode = if door == Door::Plan { "mode = \"auto-approve\"\n" } else { "" };
    let case = Case {
        with: format!("{mode}{looks_on}"),
        without: mode.to_owned(),
        acts: read(door, "a.txt", "cat a.txt"),
        look: Some(|world, seen| {
            let observes = world.read("config/eclusa/eclusa.toml").contains("async");
            if observes {
                wait_until("it was told", || world.path("observed").exists());
            }
            let told = if world.path("observed").exists() { "observed" } else { "alone" };
            format!("{} {told}", seen.first().map_or("nothing", Seen::word))
        }),
        expected: "done observed",
        ..Case::default()
    };
    (door != Door::Check).then_some(case)
}

/// A tool that a person has written.
pub(crate) fn own_tools(door: Door) -> Option<Case> {
    const READS: &str = "[tools.own]\ndescription = \"A tool of my own.\"\nclass = \"read-only\"\n\
                         command = [\"cat\", \"a.txt\"]\nreads = [\"a.txt\"]\n";
    const WRITES: &str = "[tools.own]\ndescription = \"A tool of my own.\"\nclass = \"file\"\n\
                          command = [\"touch\", \"new1.txt\"]\nwrites = [\"new1.txt\"]\n";
    let case = Case {
        with: READS.to_owned(),
        // What is resumed was parked when the tool was there.
        files: Some(|world| {
            world.write("config/eclusa/eclusa.toml", READS);
        }),
        acts: vec![Act::Own],
        expected: "done",
        ..Case::default()
    };
    match door {
        Door::Exec | Door::Ticket | Door::Hook | Door::Acp | Door::Undo => None,
        Door::Yes | Door::Apply => None,
        Door::Plan => Some(Case {
            with: format!("mode = \"auto-approve\"\n{WRITES}"),
            without: "mode = \"auto-approve\"\n".to_owned(),
            ..case
        }),
        _ => Some(case),
    }
}

/// How many processes go on after a call.
pub(crate) fn job_processes(door: Door) -> Option<Case> {
    const MANY: &str = "for i in 1 2 3 4; do sleep 1000 & done; echo started";
    fn told(world: &World, seen: &[Seen]) -> String {
        assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
        match seen {
            [Seen::Done(text)] if text.contains("at most 2 go on") => "bounded".to_owned(),
            [Seen::Done(text)] if text.contains("started") => "more".to_owned(),
            _ => format!("not done: {seen:?}"),
        }
    }
    let case = Case {
        with: "mode = \"auto-approve\"\n[commands]\njob_processes = 2\n".to_owned(),
        without: "mode = \"auto-approve\"\n".to_owned(),
        acts: vec![Act::Bash(MANY)],
        look: Some(told),
        expected: "bounded",
        ..Case::default()
    };
    match door {
        // Whoever types a command says that it goes on.
        Door::Exec => Some(Case {
            acts: Vec::new(),
            look: Some(|world, _| {
                let ran = world.eclusa(&["exec", "--keep", "--", MANY]);
                told(world, &[Seen::Done(ran.out + &ran.err)])
            }),
            ..case
        }),
        Door::Ticket | Door::Mcp | Door::Guard | Door::Ask | Door::Chat => Some(case),
        _ => None,
    }
}

/// A command that runs before the question of another agent, which shows what it changes.
pub(crate) fn ahead(door: Door) -> Option<Case> {
    let case = Case {
        with: "[agents]\nahead = \"none\"\n".to_owned(),
        look: Some(|world, _| {
            let ran = Agent::of_version(world, "2.1.325").runs(world, "touch new1.txt");
            let (verdict, why) = decision(&ran);
            // With a ticket it is asked about when it has run.
            let when = if why.contains("ran in the sandbox") { "after it ran" } else { "before" };
            format!("{verdict} {when}")
        }),
        expected: "allow before",
        ..Case::default()
    };
    (door == Door::Hook).then_some(case)
}

/// A machine that has heard nothing of its fleet.
pub(crate) fn fleet(door: Door) -> Option<Case> {
    let stale = format!(
        "[fleet]\nname = \"acme\"\nroot = \"sha256:{}\"\nfrom = \"/nowhere/documents.json\"\n",
        "0".repeat(64)
    );
    let rule = match door {
        Door::Undo => "[[rules]]\ndecision = \"allow\"\ntool = \"undo\"\n".to_owned(),
        Door::Plan => format!("mode = \"auto-approve\"\n{}", allow_write(door)),
        _ => allow_write(door),
    };
    let case = Case {
        with: format!("{rule}{stale}"),
        without: rule,
        acts: one_write(door),
        expected: "asked",
        ..Case::default()
    };
    match door {
        Door::Yes | Door::Apply => None,
        // Whoever types it is asked, and has said yes: what was decided is on record.
        Door::Undo => Some(Case { look: Some(recorded_decisions), expected: "ask", ..case }),
        Door::Resume => Some(Case { unanswered: true, expected: "waits", ..case }),
        _ => Some(case),
    }
}
