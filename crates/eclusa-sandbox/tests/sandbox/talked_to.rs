//! Commands that are talked to while they run: pipes in and out, and an end with everything.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use eclusa_sandbox::{Ended, How, Keep, Plan, Sandbox};

use crate::world::{World, capabilities};

fn plan(text: &str) -> Plan {
    let mut plan = World::new().read_only(text);
    plan.cwd = "/".into();
    plan.limits.wall = None;
    plan.keep = Keep { head: 0, tail: 8 };
    plan
}

#[test]
fn what_is_written_is_read_and_what_is_answered_is_not_kept() {
    eclusa_testing::needs!(Namespaces);
    let plan =
        plan("while read -r line; do echo \"got $line\"; done; echo 'last words' >&2; exit 3");
    let (sandbox, pipes) = Sandbox::talk(&plan, capabilities(), |_| {}).unwrap();
    let mut input = File::from(pipes.input);
    let mut output = BufReader::new(File::from(pipes.output));
    let mut line = String::new();
    for word in ["one", "two"] {
        writeln!(input, "{word}").unwrap();
        line.clear();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, format!("got {word}\n"));
    }
    // The end of the input is the end of the conversation.
    drop(input);
    let exit = sandbox.wait().unwrap();
    assert_eq!((exit.how, exit.ended), (How::Code(3), None));
    assert_eq!(exit.output.tail(), b"t words\n");
    assert_eq!(exit.output.total(), 11);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn dropping_it_ends_what_it_started_and_closes_the_pipe() {
    eclusa_testing::needs!(Namespaces);
    let plan = plan("sleep 1000 & echo started; trap '' TERM; sleep 1000");
    let (sandbox, pipes) = Sandbox::talk(&plan, capabilities(), |_| {}).unwrap();
    let mut output = BufReader::new(File::from(pipes.output));
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let cancel = sandbox.canceller();
    cancel.cancel();
    let exit = sandbox.wait().unwrap();
    assert_eq!(exit.ended, Some(Ended::Cancelled));
    // Whoever was left would hold it open.
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
}
