//! How the program ends in each situation, and what it tells people: exit codes and messages.

use super::{plain_run, same_one, transcript};
use crate::world::World;

/// Words as they are typed; `'…'` keeps blanks together.
fn words(line: &str) -> Vec<&str> {
    let quoted = line.split('\'').enumerate();
    let parts = quoted.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    parts.collect()
}

const SITUATIONS: &str = "
run read path=a.txt
run read path=not-there.txt
run read path=.env
run read pth=a.txt
run raed path=a.txt
run read '{not json'
run write path=b.txt content=hi
run bash 'command=rm -rf /'
run bash 'command=sudo ls'
run bash 'command=exit 7'
--mode auto-approve run write path=b.txt content=hi
--mode confirm-all run --park read path=a.txt
--dry-run run write path=b.txt content=other
--dry-run run read path=.env
--mode sometimes run read path=a.txt
exec -- true
exec -- 'exit 7'
exec -- 'touch new'
exec --discard -- 'touch new'
exec --apply -- 'touch new'
exec -- 'cat .env'
exec --ticket 0123456789abcdef0123456789abcdef -- true
check read path=a.txt
check read path=.env
check bash 'command=touch x'
changes
changes show 99
undo 99
undo
undo
redo
redo
resume 1
resume 99
approvals
approvals show 1
approvals no 1 'not today'
resume 1
log show 99
log verify
log verify --head 00
config check
config get mode
config get nothing
tools show nothing
output nothing
hook nobody
feed --shape nothing
nothing
policy test
policy lint
sessions show nothing
ask 'do it'
models
servers
people
allow nothing.toml
";

#[test]
fn every_situation_ends_as_it_did() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    world.write("workspace/.env", "KEY=1\n");
    let told = SITUATIONS.lines().filter(|it| !it.is_empty()).map(|line| {
        let args = words(line);
        transcript(&world, &args, &plain_run(&world, &args, ""))
    });
    let told: Vec<String> = told.collect();
    // What is wrong in the configuration stops everything.
    let broken = World::with("mode = \"often\"\n[[rules]]\ndecision = \"perhaps\"\n");
    let args = ["run", "read", "path=a.txt"];
    let last = transcript(&broken, &args, &plain_run(&broken, &args, ""));
    same_one("exits", format!("{}\n{last}", told.join("\n")));
}
