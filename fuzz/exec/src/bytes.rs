//! Hostile bytes: every reader of text that somebody else wrote gets mutated texts of its kind, and
//! must come to an end without a panic. The stable sister of `fuzz/`, which needs a nightly compiler;
//! `scripts/fuzz` gives each reader its time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::random::Random;

mod agents;
mod models;
mod texts;

/// No text of a few kilobytes may take longer, even in a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(20);

/// A reader, and texts of the kind that it reads.
struct Target {
    name: &'static str,
    read: fn(&[u8]),
    seeds: &'static [&'static str],
    /// Further ones: lines of JSON with a `command` in each.
    corpus: &'static str,
}

impl Target {
    fn seeds(&self) -> Vec<String> {
        let mut seeds: Vec<String> = self.seeds.iter().map(|it| (*it).to_owned()).collect();
        for line in self.corpus.lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            seeds.extend(case.get("command").and_then(|it| it.as_str()).map(str::to_owned));
        }
        seeds
    }
}

/// How much each reader is given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effort {
    /// So many texts.
    Texts(usize),
    /// Texts for so long.
    Time(Duration),
}

impl Effort {
    fn is_spent(self, texts: usize, began: Instant) -> bool {
        match self {
            Effort::Texts(most) => texts >= most,
            Effort::Time(time) => began.elapsed() >= time,
        }
    }
}

fn lossy<T>(bytes: &[u8], read: impl FnOnce(&str) -> T) -> T {
    read(&String::from_utf8_lossy(bytes))
}

/// Bytes that are put in, besides those of other seeds.
const SPICE: [&str; 24] = [
    "\0",
    "\n",
    "\r\n",
    "\u{1b}",
    "\u{202e}",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "&",
    "%",
    "=",
    ":",
    "@",
    "-1",
    "99999999999999999999",
    "é",
    "\u{feff}",
    "\u{0}\u{0}",
];

/// Gives mutated texts to each reader. Says what was found.
pub(crate) fn run(effort: Effort, seed: u64) -> usize {
    let targets = texts::TARGETS.iter().chain(&models::TARGETS).chain(&agents::TARGETS);
    targets.map(|it| try_target(it, effort, seed)).sum()
}

fn try_target(target: &Target, effort: Effort, seed: u64) -> usize {
    let mut random = Random::new(seed ^ 0x6279_7465);
    let seeds = target.seeds();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let (began, mut slowest) = (Instant::now(), Duration::ZERO);
    let (mut texts, mut found) = (0, 0);
    while !effort.is_spent(texts, began) {
        let input = mutated(&seeds, &mut random);
        let start = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| (target.read)(&input)));
        let time = start.elapsed();
        slowest = slowest.max(time);
        texts += 1;
        if read.is_err() || time > MAX_TIME {
            found += 1;
            let what = if read.is_err() { "panicked" } else { "took too long" };
            println!("FOUND {} {what}: {:?}", target.name, String::from_utf8_lossy(&input));
        }
    }
    report(target.name, texts, began.elapsed(), slowest);
    found
}

/// What was done, for one target.
pub(crate) fn report(name: &str, texts: usize, time: Duration, slowest: Duration) {
    let rate = texts as f64 / time.as_secs_f64().max(0.001);
    println!(
        "hunt: bytes: {name}: {texts} texts in {} ms, {rate:.0} a second, the slowest in {} ms",
        time.as_millis(),
        slowest.as_millis()
    );
}

/// One of these texts, with something in it altered, cut, repeated or put in.
pub(crate) fn mutated(seeds: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.word(seeds).into_bytes();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 if at < bytes.len() => {
                let value = u8::try_from(random.below(256)).unwrap_or_default();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            1 => bytes.truncate(at.max(1)),
            2 => {
                let more = random.word(seeds).into_bytes();
                bytes.splice(at..at, more);
            }
            3 => {
                // The same again, many times: what is deep or long.
                let part = bytes.get(at..).unwrap_or_default().to_vec();
                let times = random.below(40);
                let more = part.repeat(times);
                if bytes.len() + more.len() < 8192 {
                    bytes.splice(at..at, more);
                }
            }
            _ => {
                let more = random.word(&SPICE).into_bytes();
                bytes.splice(at..at, more);
            }
        }
    }
    bytes
}
