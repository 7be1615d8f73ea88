//! Records as machines write them: a start and an end of a call, about 640 bytes each, of words that people use.

use eclusa::{Record, audit::Head};

const TOOLS: [&str; 7] = ["bash", "read", "write", "edit", "grep", "fetch", "mcp__jira__search"];
const WORDS: [&str; 16] = [
    "cargo",
    "test",
    "--all",
    "src/main.rs",
    "git",
    "status",
    "npm",
    "run",
    "build",
    "grep",
    "-rn",
    "TODO",
    "docs",
    "make",
    "kubectl",
    "pods",
];

/// Numbers that look random and are the same in every run.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }

    fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            text += &format!("{:016x}", self.roll());
        }
        text.truncate(digits);
        text
    }

    fn of(&mut self, words: &[&'static str]) -> &'static str {
        let at = usize::try_from(self.below(words.len() as u64)).unwrap_or(0);
        words.get(at).copied().unwrap_or("make")
    }
}

/// A chain that grows.
#[derive(Debug, Clone)]
pub(super) struct GrowingChain {
    pub(super) head: Head,
    dice: Dice,
    number: u64,
}

impl GrowingChain {
    pub(super) fn new(seed: u64) -> GrowingChain {
        GrowingChain { head: Head::default(), dice: Dice::new(seed), number: 0 }
    }

    /// The next records, two for each call.
    pub(super) fn grow(&mut self, count: usize) -> Vec<Record> {
        let mut records = Vec::new();
        while records.len() < count {
            let start = self.head.seq + 1;
            let (begun, ended) = self.call(start);
            records.push(Record::chain(begun, &mut self.head));
            if records.len() < count {
                records.push(Record::chain(ended, &mut self.head));
            }
        }
        records
    }

    fn call(&mut self, start: u64) -> (String, String) {
        self.number += 1;
        let (number, at, dice) = (self.number, 1_794_940_000_000 + start * 700, &mut self.dice);
        let words: Vec<&str> = (0..3 + dice.below(10)).map(|_| dice.of(&WORDS)).collect();
        let (command, first) = (words.join(" "), words.first().copied().unwrap_or_default());
        let (tool, id, session, args) = (dice.of(&TOOLS), dice.hex(24), dice.hex(8), dice.hex(64));
        let begun = format!(
            r#"{{"args":{{"command":"{command}"}},"args_sha256":"{args}","at":{at},"because":[{{"decision":"allow","origin":"defaults.toml:212","text":"`{first}` only looks (commands)"}},{{"decision":"stage","origin":"eclusa.toml:31","text":"what is run in this workspace is staged, and its changes are reviewed"}}],"call":"toolu_{id}","class":"shell","client":"claude-code 2.1.34","conversation":"{session}-71c2-4d11-9a30-55b0c1e2","decision":"stage","event":"started","mode":"confirm-sensitive","number":{number},"operation":"execute","origin":"mcp","principal":"ana@build-17","reason":"run the tests of the module that was changed","tool":"{tool}","tool_revision":"1d6b71b18c4e2a78","v":1}}"#
        );
        let (file, digest, output) = (dice.hex(6), dice.hex(64), dice.hex(64));
        let (ms, bytes) = (dice.below(4_000), dice.below(90_000));
        let ended = format!(
            r#"{{"at":{},"call":"toolu_{id}","changes":{{"count":4,"decision":"allow","kinds":{{"edit":1,"ephemeral":3}},"outcome":"committed","paths":["src/{file}.rs"],"sha256":"{digest}"}},"code":"ok","conversation":"{session}-71c2-4d11-9a30-55b0c1e2","event":"ended","ms":{ms},"output":{{"bytes":{bytes},"sha256":"{output}"}},"sandbox":"full","stage":"released","start":{start},"tool":"{tool}","v":1}}"#,
            at + ms
        );
        (begun, ended)
    }
}
