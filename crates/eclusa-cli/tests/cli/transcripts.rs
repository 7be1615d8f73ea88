//! The transcripts of README.md, docs/start.md and docs/approvals.md are played: each command must say what the page
//! shows. Numbers, times and digests differ from run to run.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use regex::Regex;

use crate::world::World;

/// The text of a page of the repository.
fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    fs::read_to_string(path).unwrap()
}

/// The block of a page that begins with this command.
fn block(page: &str, first: &str) -> String {
    let (_, rest) = page.split_once(&format!("\n$ {first}\n")).unwrap_or_else(|| panic!("{first}"));
    let (rest, _) = rest.split_once("\n```").unwrap();
    format!("$ {first}\n{rest}\n")
}

/// The same without what differs from run to run.
fn steady(world: &World, text: &str) -> String {
    let marks = [
        (r"<dir>/(home|workspace|config/eclusa)/", "~/"),
        (r"~/eclusa\.toml", "eclusa.toml"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "<time>"),
        (r"\b[0-9a-f]{7,8}\b", "<revision>"),
        (r"\b(call|undo|redo|apply|approval|resume|yes|no|revoke|allowance) \d+", "$1 <n>"),
    ];
    let plain = world.plain(text).replace("<time>", "2026-01-01 00:00:00Z");
    // Lines that are broken end with the space at which they are.
    let plain: String = plain.lines().map(|it| format!("{}\n", it.trim_end())).collect();
    marks.iter().fold(plain, |text, (pattern, mark)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mark).into_owned()
    })
}

/// Plays the commands of a block in the world's workspace, without a terminal.
fn plays(world: &World, block: &str) {
    #[expect(clippy::disallowed_methods, reason = "the page has a shell run its commands")]
    let shell = |line: &str| {
        let mut shell = Command::new("bash");
        let eclusa = world.command(&[]);
        let program = Path::new(eclusa.get_program()).parent().unwrap().to_owned();
        let path = std::env::join_paths(
            [program].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        shell.args(["-c", &format!("{{ {line}\n}} 2>&1")]);
        shell.current_dir(world.path("workspace")).env_clear();
        shell.envs(eclusa.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.env("PATH", path.unwrap()).stdin(Stdio::null());
        shell.output().unwrap()
    };
    let mut played = String::new();
    let mut code = 0;
    for line in block.lines().filter_map(|it| it.strip_prefix("$ ")) {
        let ran = shell(&line.replace("$?", &code.to_string()));
        code = ran.status.code().unwrap();
        played.push_str(&format!("$ {line}\n{}", String::from_utf8(ran.stdout).unwrap()));
    }
    assert_eq!(steady(world, &played), steady(world, block));
}

/// A repository with a file, as somebody has it.
fn repository() -> World {
    let world = World::new();
    world.write("workspace/README.md", "old\n");
    world.write("workspace/.gitignore", "build/\n");
    world.write(
        "home/.gitconfig",
        "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n",
    );
    let git = "git init -q && git add . && git commit -qm one";
    #[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
    let made = Command::new("sh")
        .args(["-c", git])
        .current_dir(world.path("workspace"))
        .env("HOME", world.path("home"))
        .status();
    assert!(made.unwrap().success());
    world
}

#[test]
fn thirty_seconds_go_as_the_first_page_shows_them() {
    eclusa_testing::needs!(Namespaces);
    for name in ["README.md", "docs/start.md"] {
        let world = World::new();
        world.write("workspace/a.txt", "one\n");
        let first = "eclusa exec --apply -- 'echo hi > c.txt; mkdir d; mv a.txt d/'";
        // There are no eleven calls before it.
        plays(&world, &block(&page(name), first).replace("$ eclusa undo 12", "$ eclusa undo 1"));
    }
}

#[test]
fn what_runs_unasked_is_what_the_page_shows() {
    eclusa_testing::needs!(Namespaces);
    let first =
        "eclusa run bash command='mkdir -p build && echo o > build/a.o && echo built' </dev/null";
    plays(&repository(), &block(&page("docs/start.md"), first));
}

#[test]
fn a_pending_run_is_applied_with_the_hash_that_was_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    world.write("workspace/README.md", "two\n");
    let first =
        "eclusa run --park bash command='git commit -qam two && git rev-parse --short HEAD'";
    plays(&world, &block(&page("docs/approvals.md"), first));
}

#[test]
fn a_deploy_waits_for_two_of_a_group() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(
        "[[rules]]\ndecision = \"ask\"\ntool = \"bash\"\ncommand = \"make deploy\"\n\
         of = [\"release\"]\nneed = 2\nwith = \"key\"\nreason = \"deploys need two of release\"\n",
    );
    world.write("workspace/Makefile", "deploy:\n\t@echo deployed 41 files\n");
    for name in ["ana", "bo"] {
        let key = world.path(&format!("home/{name}.key"));
        let args = ["people", "add", name, "--group", "release", "--new-key"];
        let ran = world.eclusa(&[&args[..], &[key.to_str().unwrap()]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let page = page("docs/approvals.md");
    plays(&world, &block(&page, "eclusa run --park bash command='make deploy'"));
    let allowance = block(&page, "cat deploy.toml");
    let (rule, _) = allowance.split_once("\n$ eclusa").unwrap();
    world.write("workspace/deploy.toml", &format!("{}\n", rule.split_once('\n').unwrap().1));
    plays(&world, &allowance);
}
