//! The hunt: makes commands from the table of programs and from bash's grammar, has the program judge
//! them, and runs what is allowed in a throw-away room without our sandbox. A write, a use of the
//! network or the start of a program that the analysis did not announce is a finding.
//!
//! `scripts/hunt --help` says how it is run. In the room `hunt-shim` stands in the place of every
//! program.

mod bytes;
mod checkouts;
mod entry_points;
mod git;
mod grammar;
mod ground;
mod inside;
mod judge;
mod lines;
mod random;
mod room;
mod shim;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Effort;
use room::{Order, Outcome};

const HELP: &str = "\
Looks for commands that are allowed and do more than read, by running them in a throw-away room.

Usage: scripts/hunt [--seed N] [--count N] [--git N] [--bytes N] [--checkouts N] [--workers N] [--minutes N]
       scripts/fuzz [--seed N] [--seconds N]

  --seed N     where the generator begins (default 1): the same seed makes the same commands
  --count N    how many commands are made (default 4000)
  --git N      how many of git's settings are tried with a program in them (default 60)
  --bytes N    how many mutated texts each reader of hostile bytes gets (default 300)
  --checkouts N  how many checkouts full of hostile settings a hook and its tickets get (default 12)
  --workers N  how many rooms at once (default: two per processor, since commands also wait)
  --minutes N  go on with further seeds for so long
  --seconds N  no commands: every reader of hostile bytes and every front door gets mutated texts
               for so long each
  --list       print the allowed commands instead of running them

Exit codes: 0 nothing found, 1 something found, 3 this machine cannot make the room.
";

/// What the command line says.
struct Hunt {
    seed: u64,
    count: usize,
    git: usize,
    bytes: usize,
    checkouts: usize,
    workers: usize,
    minutes: u64,
    seconds: u64,
    list: bool,
    program: PathBuf,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|it| it == "inside") {
        return match inside::run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(err) => failed(&err.to_string()),
        };
    }
    if args.iter().any(|it| it == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match Hunt::read(&args).and_then(|it| it.run()) {
        Ok(code) => code,
        Err(err) => failed(&err),
    }
}

fn failed(why: &str) -> ExitCode {
    eprintln!("hunt: {why}");
    ExitCode::from(2)
}

impl Hunt {
    fn read(args: &[String]) -> Result<Hunt, String> {
        let workers = std::thread::available_parallelism().map_or(2, |it| it.get()) * 2;
        let program =
            std::env::current_exe().map_err(|err| err.to_string())?.with_file_name("eclusa");
        let mut hunt = Hunt {
            seed: 1,
            count: 4000,
            git: 60,
            bytes: 300,
            checkouts: 12,
            workers,
            minutes: 0,
            seconds: 0,
            list: false,
            program,
        };
        let mut rest = args.iter();
        while let Some(flag) = rest.next() {
            if flag == "--list" {
                hunt.list = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
            let number =
                || value.parse::<usize>().map_err(|_| format!("`{value}` is not a number"));
            match flag.as_str() {
                "--seed" => hunt.seed = u64::try_from(number()?).unwrap_or_default(),
                "--count" => hunt.count = number()?,
                "--git" => hunt.git = number()?,
                "--bytes" => hunt.bytes = number()?,
                "--checkouts" => hunt.checkouts = number()?,
                "--workers" => hunt.workers = number()?.max(1),
                "--minutes" => hunt.minutes = u64::try_from(number()?).unwrap_or_default(),
                "--seconds" => hunt.seconds = u64::try_from(number()?).unwrap_or_default(),
                "--program" => hunt.program = value.into(),
                _ => return Err(format!("unknown option `{flag}`; see --help")),
            }
        }
        Ok(hunt)
    }

    fn run(mut self) -> Result<ExitCode, String> {
        if self.seconds > 0 {
            let time = Duration::from_secs(self.seconds);
            let found = bytes::run(Effort::Time(time), self.seed)
                + entry_points::run(&self.program, time, self.seed)?;
            println!("fuzz: {found} findings");
            return Ok(if found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        let unread = bytes::run(Effort::Texts(self.bytes), self.seed);
        if let Err(why) = room::probe() {
            eprintln!("hunt: NOT RUN: this machine cannot make the room: {why}");
            return Ok(if unread == 0 { ExitCode::from(3) } else { ExitCode::FAILURE });
        }
        let began = Instant::now();
        let mut found = unread + checkouts::run(&self.program, self.checkouts, self.seed)?;
        loop {
            found += self.one_round()?;
            if began.elapsed() >= Duration::from_secs(60 * self.minutes) {
                break;
            }
            self.seed += 1;
        }
        println!("hunt: {found} findings in {} s", began.elapsed().as_secs());
        Ok(if found == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn one_round(&self) -> Result<usize, String> {
        let mut random = random::Random::new(self.seed);
        let lines = lines::Lines::new(|name| shim::real(name).is_some());
        let mut texts = BTreeSet::new();
        for _ in 0..self.count {
            texts.insert(grammar::text(&lines, &mut random));
        }
        let allowed = judge::allowed(&self.program, texts.iter())?;
        if self.list {
            allowed.iter().for_each(|it| println!("{it}"));
            return Ok(0);
        }
        let mut orders: Vec<Order> = allowed.iter().map(|it| Order::of_command(it)).collect();
        let commands = orders.len();
        let keys = git::keys()?;
        orders.extend(git::sample(&keys, self.git, &mut random).into_iter().map(Order::of_setting));
        println!(
            "hunt: seed {}: {} programs and subcommands, {} commands made, {commands} allowed; {} of git's {} settings",
            self.seed,
            lines.programs(),
            texts.len(),
            orders.len() - commands,
            keys.len(),
        );
        let outcome = room::run(&orders, self.workers)?;
        let again: Vec<Order> = outcome.findings.iter().map(|it| it.order.clone()).collect();
        // What another command left running may have been taken for its own.
        let confirmed = if again.is_empty() { Outcome::default() } else { room::run(&again, 1)? };
        println!(
            "hunt: executed {}, of which {} did not end in time and {} wrote git's index anew as it was, or a temporary file; git settings that run a program: {} without our environment, {} with it",
            outcome.executed, outcome.late, outcome.passing, outcome.unguarded, outcome.guarded,
        );
        for finding in &confirmed.findings {
            println!("FOUND {}\n      {}", finding.order.display(), finding.what.join("; "));
        }
        for finding in &outcome.findings {
            if !confirmed.findings.iter().any(|it| it.order == finding.order) {
                println!(
                    "seen once, not again: {} ({})",
                    finding.order.display(),
                    finding.what.join("; ")
                );
            }
        }
        Ok(confirmed.findings.len())
    }
}
