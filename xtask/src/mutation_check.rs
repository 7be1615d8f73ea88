//! The mutation check: makes each mistake in a copy of the workspace and sees that it is noticed.
//!
//! A mistake of order must be refused by the compiler, with the error that was expected and no
//! other. A mistake inside a gate must compile, and a test must fail. A mutant that survives, or
//! an edit that no longer fits the code, fails the check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use xtask::{
    mutants::{Mutant, home_of},
    source::root,
};

use crate::{
    copies::{mirror, packages_of_others, rename, write},
    program::program,
};

/// A test binary that takes longer than this hangs, which is not passing.
const PATIENCE: Duration = Duration::from_secs(120);

/// Without a mistake nothing hangs: what takes longer is a slow machine.
const WITHOUT_A_MISTAKE: Duration = Duration::from_secs(1200);

/// Whether the library compiles: built as the tests are, which others have compiled the most of.
const CHECK: [&str; 5] = ["test", "--no-run", "--workspace", "--test", "gate"];

/// Makes these mistakes and says how many were not noticed.
pub(crate) fn check(mutants: &[Mutant]) -> Result<usize, String> {
    let began = Instant::now();
    let scratch = Scratch::new().map_err(|err| err.to_string())?;
    for mutant in mutants {
        scratch.mistaken(mutant)?;
    }

    println!("the library as it is: it must compile, and its tests must pass");
    let built = scratch.cargo(&CHECK, Packages::Shared)?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    let binaries = scratch.binaries(mutants)?;
    let needed: BTreeSet<(String, &str, &str)> = mutants
        .iter()
        .filter_map(|it| Some((it.binary()?, it.only.as_str(), it.package.as_str())))
        .collect();
    for (test, only, package) in needed {
        let binary = binaries.get(&test).ok_or(format!("there is no test binary `{test}`"))?;
        if let Noticed::By(failed) = scratch.run(binary, only, package, WITHOUT_A_MISTAKE)? {
            return Err(format!("without any mistake, {test} fails: {failed}"));
        }
    }

    let survivors = scratch.notice_all(mutants, began)?;
    println!("{} mistakes made in {} s", mutants.len(), began.elapsed().as_secs());
    Ok(survivors)
}

/// Whether a mistake was noticed, and how.
enum Noticed {
    By(String),
    Not(String),
}

/// What came of building a mutant.
enum Built {
    /// The compiler has decided.
    Decided(Noticed),
    /// This test binary decides.
    Tests(PathBuf),
}

/// Where a mutant is built.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Packages {
    /// Where the tests were built: what they were built with need not be built again.
    Shared,
    /// Apart: a mutant of the program would take the place of the program that other tests start.
    Apart,
}

impl Packages {
    fn of(mutant: &Mutant) -> Packages {
        match mutant.builds_program() {
            true => Packages::Apart,
            false => Packages::Shared,
        }
    }
}

/// A copy of the workspace.
struct Scratch {
    house: PathBuf,
    target: PathBuf,
    crates: Vec<String>,
}

impl Scratch {
    /// Copies what differs, so that what was built before need not be built again.
    fn new() -> io::Result<Scratch> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
        // The dependencies that were built for the tests serve the mutants too.
        let crates = fs::read_dir(root().join("crates"))?
            .map(|it| it.map(|it| it.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        let scratch = Scratch { house: target.join("mutants/house"), target, crates };
        for entry in fs::read_dir(root())? {
            let name = entry?.file_name();
            if name != "target" && name != ".git" {
                mirror(&root().join(&name), &scratch.house.join(&name))?;
            }
        }
        Ok(scratch)
    }

    /// The files that the mistake changes, as they are and with the mistake in them.
    fn mistaken(&self, mutant: &Mutant) -> Result<[BTreeMap<PathBuf, String>; 2], String> {
        let mut before: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut now: BTreeMap<PathBuf, String> = BTreeMap::new();
        for edit in &mutant.edit {
            let path = self.house.join(edit.path());
            let text = match now.get(&path) {
                Some(text) => text.clone(),
                None => fs::read_to_string(&path).map_err(|err| format!("{}: {err}", edit.file))?,
            };
            let mutated = edit.apply(&text).map_err(|err| format!("`{}`: {err}", mutant.name))?;
            before.entry(path.clone()).or_insert(text);
            now.insert(path, mutated);
        }
        Ok([before, now])
    }

    /// Makes the mistake, looks, and takes it back.
    fn with<T>(
        &self,
        mutant: &Mutant,
        look: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let [before, now] = self.mistaken(mutant)?;
        let put = |files: &BTreeMap<PathBuf, String>| {
            files.iter().try_for_each(|(path, text)| write(path, text.as_bytes()))
        };
        put(&now).map_err(|err| err.to_string())?;
        let seen = look();
        put(&before).map_err(|err| err.to_string())?;
        seen
    }

    /// Makes one mistake after the other and says how many were not noticed. While the tests of
    /// one run, the next is built.
    fn notice_all(&self, mutants: &[Mutant], began: Instant) -> Result<usize, String> {
        thread::scope(|scope| {
            let mut survivors = 0;
            let mut tell = |mutant: &Mutant, noticed: Noticed| match noticed {
                Noticed::By(what) => {
                    let at = began.elapsed().as_secs();
                    println!("noticed   {} ({what}; at {at} s)", mutant.name);
                }
                Noticed::Not(what) => {
                    survivors += 1;
                    println!("SURVIVED  {} ({what})", mutant.name);
                }
            };
            let mut running: Option<(&Mutant, thread::ScopedJoinHandle<'_, _>)> = None;
            for mutant in mutants {
                let built = self.with(mutant, || self.build_or_run(mutant))?;
                if let Some((before, tests)) = running.take() {
                    tell(before, tests.join().map_err(|_| "the check itself panicked")??);
                }
                match built {
                    Built::Decided(noticed) => tell(mutant, noticed),
                    Built::Tests(binary) => {
                        let tests =
                            move || self.run(&binary, &mutant.only, &mutant.package, PATIENCE);
                        // The next build would replace the program that these tests start.
                        match Packages::of(mutant) {
                            Packages::Shared => running = Some((mutant, scope.spawn(tests))),
                            Packages::Apart => tell(mutant, tests()?),
                        }
                    }
                }
            }
            if let Some((last, tests)) = running.take() {
                tell(last, tests.join().map_err(|_| "the check itself panicked")??);
            }
            Ok(survivors)
        })
    }

    /// Builds a mutant. Tests that read the sources run while the mistake is in them.
    fn build_or_run(&self, mutant: &Mutant) -> Result<Built, String> {
        match self.build(mutant)? {
            Built::Tests(binary) if mutant.is_for_house_rules() => {
                self.run(&binary, &mutant.only, &mutant.package, PATIENCE).map(Built::Decided)
            }
            built => Ok(built),
        }
    }

    /// Builds a mutant. Its test binary gets a name of its own: the next build replaces it.
    fn build(&self, mutant: &Mutant) -> Result<Built, String> {
        let Some(test) = mutant.binary() else {
            let expected = mutant.error.clone().unwrap_or_default();
            return Ok(Built::Decided(refused(&self.cargo(&CHECK, Packages::Shared)?, &expected)));
        };
        let binaries = match self.binaries(std::slice::from_ref(mutant)) {
            Ok(binaries) => binaries,
            Err(problem) => {
                let problem = format!("it does not compile: {problem}");
                return Ok(Built::Decided(Noticed::Not(problem)));
            }
        };
        let binary = binaries.get(&test).ok_or(format!("there is no test binary `{test}`"))?;
        let mut name = binary.clone().into_os_string();
        name.push(".mutant");
        let kept = PathBuf::from(name);
        rename(binary, &kept).map_err(|err| err.to_string())?;
        Ok(Built::Tests(kept))
    }

    /// Builds the test binaries that these mutants need, by their names.
    fn binaries(&self, mutants: &[Mutant]) -> Result<BTreeMap<String, PathBuf>, String> {
        let mut needed: BTreeMap<Packages, BTreeSet<Vec<&str>>> = BTreeMap::new();
        for mutant in mutants {
            let chosen = mutant.test.as_deref().map(|test| match mutant.is_for_unit_tests() {
                true => vec!["--lib"],
                false => vec!["--test", test],
            });
            needed.entry(Packages::of(mutant)).or_default().extend(chosen);
        }
        let mut found = BTreeMap::new();
        for (packages, names) in needed.into_iter().filter(|(_, names)| !names.is_empty()) {
            // All packages are chosen, so that dependencies have the features that they have everywhere.
            let mut arguments = vec!["test", "--no-run", "--message-format=json", "--workspace"];
            arguments.extend(names.into_iter().flatten());
            let built = self.cargo(&arguments, packages)?;
            if !built.status.success() {
                return Err(rendered(&built));
            }
            let lines = String::from_utf8_lossy(&built.stdout).into_owned();
            let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            found.extend(lines.filter_map(|line| binary(&line)));
        }
        Ok(found)
    }

    fn cargo(&self, arguments: &[&str], packages: Packages) -> Result<Output, String> {
        let mut cargo = program("cargo", &self.house);
        let target = match packages {
            Packages::Shared => self.target.clone(),
            Packages::Apart => self.target.join("mutants/target"),
        };
        if packages == Packages::Apart {
            let (from, to) = (self.target.join("debug"), target.join("debug"));
            packages_of_others(&from, &to, &self.crates).map_err(|err| err.to_string())?;
        }
        cargo.args(arguments).env("CARGO_TARGET_DIR", target);
        // Each mistake changes little of a crate: what is the same is not compiled again, and what
        // is compiled for it once need not be quick.
        cargo.env("CARGO_INCREMENTAL", "1");
        cargo.args(["--config", "profile.dev.package.eclusa-shell.opt-level=0"]);
        // Cargo takes crates of the copy for those of the workspace, which has the same paths in it: a setting that
        // no other build has keeps them apart, and packages of others are still built once.
        for name in self.crates.iter().map(String::as_str).chain(["xtask"]) {
            cargo.args(["--config", &format!("profile.dev.package.{name}.codegen-units=255")]);
        }
        cargo.output().map_err(|err| format!("cargo cannot be started: {err}"))
    }

    /// Runs the tests of a binary whose names have this part.
    fn run(
        &self,
        binary: &Path,
        only: &str,
        package: &str,
        patience: Duration,
    ) -> Result<Noticed, String> {
        let home = self.house.join(home_of(package));
        // Of each binary its own: tests of one mistake run while the next is looked at.
        let mut log = binary.as_os_str().to_owned();
        log.push(".log");
        let file = fs::File::create(&log).map_err(|err| err.to_string())?;
        let mut tests = program(binary, &home);
        tests.arg(only).stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
        tests.env("CARGO_MANIFEST_DIR", home);
        tests.env("INSTA_UPDATE", "no").env("PROPTEST_CASES", "32");
        let mut tests = tests.spawn().map_err(|err| err.to_string())?;
        let Some(status) = end(&mut tests, patience).map_err(|err| err.to_string())? else {
            return Ok(Noticed::By("the tests hang".to_owned()));
        };
        let said = fs::read_to_string(&log).map_err(|err| err.to_string())?;
        let failed: Vec<&str> = said
            .lines()
            .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
            .collect();
        let ran = said.lines().filter(|it| it.starts_with("test ") && it.ends_with(" ... ok"));
        match (failed.split_first(), ran.count()) {
            (Some((first, [])), _) => Ok(Noticed::By((*first).to_owned())),
            (Some((first, more)), _) => Ok(Noticed::By(format!("{first} and {} more", more.len()))),
            (None, _) if !status.success() => Ok(Noticed::By(format!("the tests crash, {status}"))),
            (None, 0) => Err(format!("no test of {} has `{only}` in its name", binary.display())),
            (None, n) => Ok(Noticed::Not(format!("{n} tests pass"))),
        }
    }
}

/// Waits for a program to end. One that takes too long is ended, and there is no status.
fn end(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The compiler must refuse, with this error and no other.
fn refused(built: &Output, expected: &str) -> Noticed {
    if built.status.success() {
        return Noticed::Not("it compiles".to_owned());
    }
    let said = String::from_utf8_lossy(&built.stderr);
    let errors: BTreeSet<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("error"))
        .filter(|rest| !rest.starts_with(": could not compile"))
        .map(|rest| {
            rest.strip_prefix('[').and_then(|it| it.split_once(']')).map_or(rest, |it| it.0)
        })
        .collect();
    match errors.iter().eq([&expected]) {
        true => Noticed::By(expected.to_owned()),
        false => Noticed::Not(format!("expected {expected}, the compiler says {errors:?}")),
    }
}

/// The first lines of what the compiler complains about.
fn rendered(built: &Output) -> String {
    let said = String::from_utf8_lossy(&built.stdout);
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors = messages.filter(|it| it.pointer("/message/level").is_some_and(|it| it == "error"));
    let texts = errors.filter_map(|it| Some(it.pointer("/message/rendered")?.as_str()?.to_owned()));
    let texts: Vec<String> = texts.take(3).collect();
    match texts.is_empty() {
        true => String::from_utf8_lossy(&built.stderr).into_owned(),
        false => texts.join("\n"),
    }
}

/// Name and path of a test binary that cargo says it has built.
fn binary(message: &Value) -> Option<(String, PathBuf)> {
    let executable = message.get("executable")?.as_str()?;
    let name = message.pointer("/target/name")?.as_str()?;
    Some((name.to_owned(), executable.into()))
}
