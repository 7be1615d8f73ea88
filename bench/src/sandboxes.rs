//! What a sandbox costs: `true` and `bash -c true` plainly, in a full sandbox, in a full sandbox with an
//! overlay and in bubblewrap with an equal profile, interleaved; scan and commit of what a command
//! changed; and the same in a large parent.
//!
//! What is timed is what a caller waits for. A layer is taken from a pool and given back, as `bash`
//! does it; the pool clears it beside the caller. Here that is waited for between two runs, so that
//! no other is disturbed, and told once more with the clearing counted in.
//!
//! `ECLUSA_BENCH_ROUNDS` is how often each is run (default 200).

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use eclusa::{Durability, Workspace};
use eclusa_sandbox::{Enforcement, HostCapabilities, LayerPool, Plan, Sandbox, probe};
use eclusa_tools::{CommandOrder, SandboxSettings, Sandboxes, Writes};

use crate::measure::{Told, line, middle, tell};

mod inside;
mod output;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The programs that are run, and what they are called.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("true", &["/bin/true"]),
    ("bash -c true", &["/bin/bash", "--norc", "--noprofile", "-p", "-c", "true"]),
];

pub(crate) fn run() -> Told {
    let rounds = std::env::var("ECLUSA_BENCH_ROUNDS").ok().and_then(|it| it.parse().ok());
    let rounds: usize = rounds.unwrap_or(200);
    let place = tempfile::tempdir_in(".")?;
    let state = place.path().canonicalize()?;
    let capabilities = probe(&state);
    tell(format_args!("  {}: {}", capabilities.staging_method(), capabilities.enforcement()));
    if capabilities.enforcement() != Enforcement::Full {
        tell(format_args!(
            "  what is missing makes it faster: these are not the numbers of a full sandbox"
        ));
    }
    starts(rounds, &capabilities, &state, "")?;
    // Touched, so that it is there: a copying start would have to copy its tables.
    let ballast = vec![1u8; 1 << 30];
    starts(rounds / 4 + 1, &capabilities, &state, ", parent of 1 GiB")?;
    drop(std::hint::black_box(ballast));
    output::run((rounds / 20).clamp(2, 5), &capabilities)?;
    commits((rounds / 20).clamp(3, 9), &state)?;
    inside::run((rounds / 10).clamp(3, 15), &state.join("workspace"), &state.join("inside"))
}

/// Starting and ending a program, each way in turn.
fn starts(rounds: usize, capabilities: &HostCapabilities, state: &Path, label: &str) -> Told {
    let bubblewrap = ["/usr/bin/bwrap", "/bin/bwrap"].into_iter().find(|it| Path::new(it).exists());
    let pool = LayerPool::new(state.join("stages"), |path, err| {
        tell(format_args!("  {} is still there: {err}", path.display()));
    });
    let staged = Staged { pool, lower: state.join("lower") };
    fs::create_dir_all(&staged.lower)?;
    for (name, argv) in PROGRAMS {
        let [mut plain, mut sandbox, mut overlay, mut cleared, mut wrapped] =
            [const { Vec::new() }; 5];
        for _ in 0..rounds {
            plain.push(timed(|| started(argv))?);
            sandbox.push(timed(|| sandboxed(argv, capabilities, None))?);
            let began = Instant::now();
            sandboxed(argv, capabilities, Some(&staged))?;
            overlay.push(began.elapsed());
            staged.pool.settle();
            cleared.push(began.elapsed());
            if let Some(program) = bubblewrap {
                let argv: Vec<&str> =
                    [program].iter().chain(&PROFILE).chain(argv).copied().collect();
                wrapped.push(timed(|| started(&argv))?);
            }
        }
        let best = |times: &[Duration]| times.iter().min().copied().unwrap_or_default();
        let shortest = [&plain, &sandbox, &overlay, &cleared, &wrapped].map(|it| best(it));
        let baseline = middle(plain);
        line(&format!("baseline: {name}, plainly{label}"), baseline, baseline);
        let (sandbox, overlay, cleared) = (middle(sandbox), middle(overlay), middle(cleared));
        line(&format!("{name}, full sandbox{label}"), sandbox, baseline);
        let goal = if name == "true" { " (goal: 1.7 ms)" } else { "" };
        line(&format!("{name}, full sandbox with overlay{label}{goal}"), overlay, baseline);
        line(&format!("{name}, until its layer is cleared{label}"), cleared, baseline);
        match wrapped.is_empty() {
            true => {
                tell(format_args!("  bubblewrap is not installed: `scripts/bench-tools` does it"))
            }
            false => {
                let wrapped = middle(wrapped);
                line(&format!("{name}, bubblewrap, no overlay{label}"), wrapped, baseline);
                let ratio = |it: Duration| it.as_secs_f64() / wrapped.as_secs_f64();
                tell(format_args!(
                    "    full sandbox with overlay: {:.2} x bubblewrap (goal: 0.42); until its layer is \
                     cleared: {:.2} x",
                    ratio(overlay),
                    ratio(cleared)
                ));
            }
        }
        let [plain, sandbox, overlay, cleared, wrapped] = shortest.map(|it| it.as_secs_f64() * 1e3);
        tell(format_args!(
            "    the shortest, in ms: plainly {plain:.2}, sandbox {sandbox:.2}, with overlay {overlay:.2} \
             (cleared {cleared:.2}), bubblewrap {wrapped:.2}: {:.2} x",
            overlay / wrapped
        ));
    }
    Ok(())
}

/// A directory to stage, and where its layers come from.
struct Staged {
    pool: LayerPool,
    lower: PathBuf,
}

/// A profile that is as strict as bubblewrap can be without a filter of ours.
const PROFILE: [&str; 22] = [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/run",
    "--cap-drop",
    "ALL",
    "--hostname",
    "sandbox",
    "--chdir",
    "/",
    "--",
];

fn timed(run: impl FnOnce() -> Outcome<()>) -> Outcome<Duration> {
    let began = Instant::now();
    run()?;
    Ok(began.elapsed())
}

fn started(argv: &[&str]) -> Outcome<()> {
    let (program, arguments) = argv.split_first().ok_or("no program")?;
    #[expect(clippy::disallowed_methods, reason = "it is what a sandbox is compared with")]
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output()?;
    if output.status.success() { Ok(()) } else { Err(format!("{program} failed").into()) }
}

/// One sandbox. Taking a layer and giving it back is part of it, because every caller has to.
fn sandboxed(
    argv: &[&str],
    capabilities: &HostCapabilities,
    staged: Option<&Staged>,
) -> Outcome<()> {
    let mut plan = Plan::new(argv.iter().map(Into::into).collect(), "/");
    plan.may_lack = capabilities.missing();
    plan.limits.disk = None;
    let layer = staged.map(|it| it.pool.take()).transpose()?;
    if let (Some(layer), Some(Staged { pool, lower })) = (&layer, staged) {
        plan.cwd.clone_from(lower);
        plan.stage.push(layer.over(lower, &[]));
        plan.hide.push(pool.place().to_owned());
    }
    let exit = Sandbox::spawn(&plan, capabilities, |_| {})?.wait()?;
    if exit.success() { Ok(()) } else { Err(format!("{:?}", exit.how).into()) }
}

/// A command that changes 1,000 of 20,000 files: what it costs to read that back, and to make it
/// real.
fn commits(rounds: usize, state: &Path) -> Told {
    let root = state.join("workspace");
    populate(&root)?;
    let (workspace, _) = Workspace::open(&root, state.join("state"))?;
    let sandboxes = Sandboxes::new(SandboxSettings::new(workspace.root(), workspace.state()))?;
    let order = |command: &str, writes| CommandOrder {
        command: command.to_owned(),
        cwd: workspace.root().to_owned(),
        writes,
        time: Duration::from_secs(120),
        session: None,
        background: false,
        bound: Vec::new(),
        hidden: eclusa::policy::HiddenPaths::nothing(),
        hosts: Default::default(),
        program: None,
        signing: None,
    };
    let script = "cd d7; for f in f*; do echo more >> $f; done";
    let (mut plain, mut scans, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        plain.push(timed(|| rewritten(&root.join("d7")))?);
        let running = sandboxes.start(&order(script, Writes::Staged), |_| {})?;
        let began = Instant::now();
        let ran = running.wait()?;
        // The wait is the command and then the scan; the command says itself how long it took.
        scans.push(began.elapsed().saturating_sub(ran.exit.wall));
        if ran.changes.len() != 1000 {
            return Err(format!("{} files changed", ran.changes.len()).into());
        }
        let number = u64::try_from(round)? + 1;
        commits.push(timed(|| {
            workspace.commit(number, &ran.changes, Durability::Crash)?;
            Ok(())
        })?);
    }
    let baseline = middle(plain);
    line("baseline: read, write and rename 1,000 files", baseline, baseline);
    let best = scans.iter().zip(&commits).map(|(scan, commit)| *scan + *commit).min();
    let best = best.unwrap_or_default();
    let (scan, commit) = (middle(scans), middle(commits));
    line("scan of 1,000 changed files among 20,000", scan, baseline);
    line("commit of these", commit, baseline);
    line("scan and commit (goal: 50 ms)", scan + commit, baseline);
    tell(format_args!("    the shortest of both together: {:.0} ms", best.as_secs_f64() * 1e3));
    Ok(())
}

fn populate(root: &Path) -> std::io::Result<()> {
    for n in 0..20_000 {
        let dir: PathBuf = root.join(format!("d{}", n / 1000));
        fs::create_dir_all(&dir)?;
        let content = format!("line\n{n}\n").repeat(50);
        fs::File::create(dir.join(format!("f{n}")))?.write_all(content.as_bytes())?;
    }
    Ok(())
}

/// Every file read, written beside and renamed over itself.
fn rewritten(dir: &Path) -> Outcome<()> {
    let files: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|it| it.map(|it| it.path())).collect::<Result<_, _>>()?;
    for file in files {
        let content = fs::read(&file)?;
        let beside = dir.join("beside");
        fs::File::create(&beside)?.write_all(&content)?;
        #[expect(clippy::disallowed_methods, reason = "it is what a commit is compared with")]
        fs::rename(&beside, &file)?;
    }
    Ok(())
}
