//! Files with the names of secrets that a repository tracks: git works as without the gate, and nothing that git does
//! not have is shown.

use std::process::Command;

use serde_json::json;

use crate::world::{Ran, World};

const DATES: &str = "export GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000";
/// Looks like a token, and is none.
const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

fn plainly(world: &World, script: &str) -> (i32, String) {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell do what a person would")]
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{DATES}; {script}")]).current_dir(world.path("workspace"));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = shell.output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(text).unwrap().trim().to_owned())
}

/// A repository that tracks such files, one of them with a token, and has two that it ignores.
fn repository() -> World {
    let world = World::new();
    world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
    let make = format!(
        "git init -q -b main . && echo save-exact=true > .npmrc && echo MODE=test > .env.test
         echo TOKEN={TOKEN} > .env.development && mkdir certs src && echo made-for-tests > certs/server.key
         echo '.env\n.env.local' > .gitignore && echo one > src/b && git add -A && git commit -qm first
         git switch -qc feat && echo save-exact=false > .npmrc && echo MODE=feat > .env.test && git commit -qam feat
         git switch -q main && echo PASSWORD=hunter2 > .env && echo PASSWORD=hunter2 > .env.local"
    );
    let (code, text) = plainly(&world, &make);
    assert_eq!(code, 0, "{text}");
    world
}

fn bash(world: &World, mode: &str, command: &str) -> Ran {
    let args = json!({"command": format!("{DATES}; {command}")}).to_string();
    world.eclusa(&["--mode", mode, "run", "bash", &args])
}

#[test]
fn git_works_as_without_the_gate() {
    eclusa_testing::needs!(Namespaces);
    let (gated, plain) = (repository(), repository());
    let day = [
        "git status --short",
        "cat .npmrc .env.test certs/server.key",
        "echo two >> src/b && git add -A && git commit -qm second && git log --format=%s",
        "echo three >> src/b && git stash -q && git stash pop -q && git status -s",
        "git commit -qam third && git merge -q --no-edit feat && cat .npmrc && git log --format=%s",
        "git switch -qc other HEAD~1 && git rebase -q feat && git log --format=%s",
        "git switch -q main && git reset -q --hard HEAD~1 && git status -s && cat .env.test",
        "git checkout -q feat -- .npmrc && git commit -qm npmrc && git show --stat --format=%s",
    ];
    for command in day {
        let ran = bash(&gated, "yolo", command);
        let (code, expected) = plainly(&plain, command);
        assert_eq!((ran.code, ran.out.trim()), (code, expected.as_str()), "{command}: {ran:?}");
        let look = "git rev-parse HEAD && git status -s && git stash list && cat .npmrc .env.test .env.local src/b";
        assert_eq!(plainly(&gated, look), plainly(&plain, look), "{command}");
    }
}

#[test]
fn what_git_does_not_have_is_not_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let hidden = |command: &str| {
        let ran = bash(&world, "yolo", command);
        assert!(!ran.out.contains("hunter2"), "{command}: {ran:?}");
    };
    let looks = [
        "cat .e*",
        "grep -r hunter .",
        "python3 -c 'print(open(\".env.local\").read())'",
        "cat .env",
    ];
    looks.into_iter().for_each(hidden);
    // Whoever cannot read it cannot make git have it.
    for forged in [
        "git add -f .env.local",
        "git update-index --add --cacheinfo 100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.env.local",
        "git add -N -f .env.local",
    ] {
        bash(&world, "yolo", forged);
        looks.into_iter().for_each(hidden);
        for name in [".env.local", ".env"] {
            let read = world.eclusa(&[
                "--mode",
                "yolo",
                "run",
                "read",
                &json!({"path": name}).to_string(),
            ]);
            assert!(read.code != 0 && !read.out.contains("hunter2"), "{name}: {read:?}");
        }
    }
    // A person has edited a tracked one: only what was committed is anybody's.
    let world = repository();
    world.write("workspace/.env.test", "PASSWORD=hunter2\n");
    for command in ["cat .env.t*", "python3 -c 'print(open(\".env.test\").read())'", "git diff"] {
        let ran = bash(&world, "yolo", command);
        assert!(!ran.out.contains("hunter2"), "{command}: {ran:?}");
    }
    let read = world.eclusa(&["run", "read", r#"{"path": ".env.test"}"#]);
    assert!(read.code != 0 && !read.out.contains("hunter2"), "{read:?}");
    // What holds a token is seen by git and not read by its name.
    let read = world.eclusa(&["run", "read", r#"{"path": ".env.development"}"#]);
    assert!(read.code != 0 && !read.out.contains(TOKEN), "{read:?}");
    let shown = bash(&world, "yolo", "cat .env.d*; git show HEAD:.env.development");
    assert!(!shown.out.contains(TOKEN), "{shown:?}");
}
