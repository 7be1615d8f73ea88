//! Commits of people who sign: with a real OpenPGP key, a real ssh key and a real agent, each asked about by the name
//! of the key; only what was shown is signed, and what is not signed is told.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::{
    prompt::Person,
    world::{World, flowing, until},
};

const USER: &str = "[user]\n\tname = Ana\n\temail = ana@example.org\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n";
const COMMIT: &str = "echo two >> a.txt && git commit -qam 'second thoughts'";

/// A person's own shell.
fn plainly(world: &World, script: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell do what a person would")]
    let mut shell = Command::new("bash");
    shell.args(["-ec", script]).current_dir(world.path("workspace"));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = shell.output().unwrap();
    let text = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
    assert!(ran.status.success(), "{script}: {text}");
    text.trim().to_owned()
}

fn repository() -> World {
    let world = World::new();
    world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
    plainly(
        &world,
        "git init -q -b main . && echo one > a.txt && git add -A && git commit -qm first",
    );
    world
}

/// A key of ssh, which signs and whose signatures count.
fn with_ssh_key(world: &World) {
    plainly(
        world,
        "mkdir -m 700 ~/.ssh && ssh-keygen -q -t ed25519 -N '' -C ana -f ~/.ssh/id
         echo \"ana@example.org $(cat ~/.ssh/id.pub)\" > ~/allowed",
    );
    let home = world.path("home");
    let home = home.display();
    let text = format!(
        "{USER}[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tallowedSignersFile = {home}/allowed\n"
    );
    let text = text.replacen(
        "email = ana@example.org\n",
        "email = ana@example.org\n\tsigningKey = ~/.ssh/id.pub\n",
        1,
    );
    world.write("home/.gitconfig", &text);
}

fn has(program: &str) -> bool {
    Path::new("/usr/bin").join(program).exists()
}

fn bash(command: &str) -> String {
    json!({"command": command}).to_string()
}

/// Says yes to a signature, and to the changes.
fn signs(world: &World, command: &str, key: &str) -> String {
    let mut program = world.command(&["run", "bash", &bash(command)]);
    program.env("SSH_AUTH_SOCK", world.path("home/agent"));
    let mut person = Person::starts(program);
    person.answers("y");
    person.answers("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    let said = flowing(&seen.replace('┊', ""));
    assert!(said.contains("signs exactly that with your key") && said.contains(key), "{seen}");
    seen
}

#[test]
fn a_commit_is_signed_with_the_ssh_key_of_its_owner() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    let seen = signs(&world, COMMIT, "id.pub");
    assert!(seen.contains("second thoughts") && seen.contains("1 signature was made"), "{seen}");
    assert!(!seen.contains("not signed"), "{seen}");
    let verified = plainly(&world, "git verify-commit HEAD; git log -1 --format=%G?:%s");
    assert!(
        verified.contains("Good \"git\" signature") && verified.contains("G:second thoughts"),
        "{verified}"
    );
    // Nothing of it stays behind.
    assert_eq!(
        std::fs::read_dir(world.path("state/eclusa"))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|it| it.file_name() == "sign")
            .flat_map(|it| std::fs::read_dir(it.path()).unwrap())
            .count(),
        0
    );
    // A tag, and three commits of a rebase that follow each other.
    signs(&world, "git tag -a -m 'the first' v1", "id.pub");
    assert!(plainly(&world, "git verify-tag v1").contains("Good"));
    plainly(&world, "git -c commit.gpgSign=false switch -qc side HEAD~1
        for i in 1 2 3; do echo $i > f$i; git add -A; git -c commit.gpgSign=false commit -qm \"side $i\"; done");
    signs(&world, "git rebase -q main", "id.pub");
    assert_eq!(plainly(&world, "git log --format=%G? main..side").replace('\n', ""), "GGG");
}

#[test]
fn a_commit_is_signed_with_an_openpgp_key_by_its_agent() {
    eclusa_testing::needs!(Namespaces);
    if !has("gpg") {
        return;
    }
    let world = repository();
    plainly(
        &world,
        "mkdir -m 700 ~/.gnupg; gpg --batch --quiet --passphrase '' --quick-generate-key ana@example.org default default never",
    );
    world.write("home/.gitconfig", USER);
    signs(&world, COMMIT, "ana@example.org");
    let verified = plainly(
        &world,
        "git verify-commit HEAD; git log -1 --format=%G?; gpgconf --kill gpg-agent",
    );
    assert!(
        verified.contains("Good signature") && verified.contains('U') | verified.contains('G'),
        "{verified}"
    );
}

struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The private key lies with the agent alone.
#[test]
fn a_commit_is_signed_by_an_agent_of_ssh() {
    eclusa_testing::needs!(Namespaces);
    if !has("ssh-agent") {
        return;
    }
    let world = repository();
    let socket = world.path("home/agent");
    with_ssh_key(&world);
    #[expect(clippy::disallowed_methods, reason = "the test starts what a person's session has")]
    let agent =
        Command::new("ssh-agent").args(["-D", "-a"]).arg(&socket).stdout(Stdio::null()).spawn();
    let _agent = Agent(agent.unwrap());
    until("the agent listens", || socket.exists().then_some(()));
    plainly(&world, "SSH_AUTH_SOCK=~/agent ssh-add -q ~/.ssh/id && rm ~/.ssh/id");
    signs(&world, COMMIT, "id.pub");
    assert_eq!(plainly(&world, "git log -1 --format=%G?"), "G");
}

#[test]
fn without_a_yes_a_commit_is_told_as_unsigned() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    let mut person = Person::runs(&world, &["run", "bash", &bash(COMMIT)]);
    person.answers("n");
    person.sees("Why?");
    person.types("");
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(
        flowing(&seen)
            .contains("1 commit is not signed, although `commit.gpgSign` is set: nobody said yes"),
        "{seen}"
    );
    assert_eq!(plainly(&world, "git log -1 --format=%G?"), "N");
    // Nobody there, and a mode that does not ask while a command runs.
    let ran = world.eclusa(&[
        "--mode",
        "auto-approve",
        "run",
        "bash",
        &bash("git commit -q --allow-empty -m third"),
    ]);
    assert!(ran.code == 0 && flowing(&ran.out).contains("1 commit is not signed"), "{ran:?}");
    // A key that does not work: made without, and told why.
    plainly(&world, "rm ~/.ssh/id");
    let mut person =
        Person::runs(&world, &["run", "bash", &bash("git commit -q --allow-empty -m fourth")]);
    person.answers("y");
    person.answers("y");
    let (code, seen) = person.ends();
    assert!(code == 0 && flowing(&seen).contains("no signature was made"), "{seen}");
}

/// A command that gets hold of the door has nothing signed but what a person saw.
#[test]
fn nothing_is_signed_but_what_was_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    let forged = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\\nauthor Ana <ana@example.org> 1 +0000\\ncommitter Ana <ana@example.org> 1 +0000\\n\\nforged\\n";
    let script = format!(
        "git commit -q --allow-empty -m honest; d=/run/eclusa-sign; test -d $d || exit 0
         printf '{forged}' > $d/1.ask; printf 'any text' > $d/2.ask
         for i in 1 2; do until [ -e $d/$i.no ] || [ -e $d/$i.yes ]; do sleep 0.05; done; done
         ls $d | grep -c '[12].yes'; cat $d/*.no\n"
    );
    world.write("workspace/forge.sh", &script);
    let mut person = Person::runs(&world, &["run", "bash", &bash("bash forge.sh")]);
    person.answers("y");
    person.answers("y");
    // The honest one is refused with the rest: it is made without a signature, and told.
    let (_, seen) = person.ends();
    let said = flowing(&seen);
    assert!(
        said.contains("1 commit is not signed") && said.contains("no signature was made"),
        "{seen}"
    );
    assert!(!seen.contains("BEGIN SSH SIGNATURE"), "{seen}");
}

/// A repository names no program and no key of a person.
#[test]
fn a_repository_names_neither_program_nor_key() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    plainly(
        &world,
        "git config gpg.ssh.program ./evil; git config gpg.format openpgp; git config user.signingKey ~/.ssh/id",
    );
    let mut person = Person::runs(&world, &["run", "bash", &bash(COMMIT)]);
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(
        flowing(&seen).contains(
            "not signed, although `commit.gpgSign` is set: the repository sets `gpg.format`"
        ),
        "{seen}"
    );
}

/// The calls of one conversation in one process, with somebody at the terminal.
fn conversation(world: &World, commands: &[&str]) -> Person {
    let calls = commands.iter().map(|it| {
        let call = json!({"name": "bash", "args": {"command": it}});
        format!("```tool\n{call}\n```\n")
    });
    world.write("calls", &calls.collect::<String>());
    let program = world.command(&["feed"]);
    #[expect(clippy::disallowed_methods, reason = "a shell gives the program the calls to read")]
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" feed < \"$1\""]).arg(program.get_program());
    shell.arg(world.path("calls")).current_dir(world.path("workspace"));
    shell.env_clear().envs(program.get_envs().filter_map(|(name, it)| Some((name, it?))));
    Person::starts(shell)
}

/// Shows what is signed: what it is, in whose name, in which repository, and what the command has changed.
#[test]
fn the_question_shows_what_is_signed_before_it_is() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    plainly(
        &world,
        "git init -q -b main lib && cd lib && git -c commit.gpgSign=false commit -q --allow-empty -m lib",
    );
    let asked = |command: &str| {
        let mut person = Person::runs(&world, &["run", "bash", &bash(command)]);
        person.answers("n");
        person.sees("Why?");
        let seen = flowing(&person.seen.replace(['┊', '│'], ""));
        person.types("");
        person.answers("n");
        person.sees("Why?");
        person.types("");
        person.ends();
        seen
    };
    let seen =
        asked("echo hostile > b.txt; git add -A; git commit -qm '\n\nfix' --cleanup=verbatim");
    assert!(seen.contains("`commit of Ana <ana@example.org>: fix`"), "{seen}");
    assert!(seen.contains("made b.txt"), "{seen}");
    let seen = asked("git tag -a -m 'a` typo' v9");
    assert!(seen.contains("`tag v9 for a commit, of Ana <ana@example.org>: a' typo`"), "{seen}");
    let seen = asked("git -C lib commit -q --allow-empty -m inside");
    assert!(flowing(&seen).contains("workspace/lib`"), "{seen}");
    // Two repositories are no one question.
    let mut person = Person::runs(
        &world,
        &[
            "run",
            "bash",
            &bash("git commit -q --allow-empty -m a; git -C lib commit -q --allow-empty -m b"),
        ],
    );
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(flowing(&seen).contains("they are in several repositories"), "{seen}");
}

/// An answer for the session is for what was asked about: not for tags, other repositories, and texts that no git made.
#[test]
fn a_yes_for_the_session_signs_commits_of_this_repository_and_nothing_else() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    let forged = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\\nauthor Ana <ana@example.org> 1 +0000\\ncommitter Ana <ana@example.org> 1 +0000\\n\\nforged\\n";
    let script = format!(
        "git commit -q --allow-empty -m four; d=/run/eclusa-sign; test -d $d || exit 0
         printf '{forged}' > $d/1.ask; until [ -e $d/1.no ] || [ -e $d/1.yes ]; do sleep 0.05; done; cat $d/1.*\n"
    );
    world.write("workspace/forge.sh", &script);
    let commit = |name: &str| format!("git commit -q --allow-empty -m {name}");
    let mut person = conversation(
        &world,
        &[&commit("one"), &commit("two"), "git tag -a -m three v3", "bash forge.sh"],
    );
    person.answers("s");
    // The commits, then a question of its own for the tag.
    person.answers("y");
    person.answers("y");
    person.sees("tag v3 for a commit");
    person.answers("n");
    person.sees("Why?");
    person.types("");
    person.answers("y");
    person.answers("y");
    let (_, seen) = person.ends();
    assert!(!seen.contains("BEGIN SSH SIGNATURE"), "{seen}");
    assert!(flowing(&seen).contains("no signature was made"), "{seen}");
    assert_eq!(plainly(&world, "git log -3 --format=%G?%s"), "Nfour\nGtwo\nGone");
    assert!(!plainly(&world, "git cat-file -p v3").contains("BEGIN SSH"));
}

/// What the environment says counts where it does not lead into the project.
#[test]
fn no_program_of_the_project_asks_for_the_words_of_a_key() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    with_ssh_key(&world);
    plainly(&world, "ssh-keygen -q -p -P '' -N secret-words -f ~/.ssh/id");
    let ran = world.path("ran");
    let script = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    world.write("workspace/ask", &script);
    plainly(&world, "chmod +x ask");
    let mut program = world.command(&["run", "bash", &bash("git commit -q --allow-empty -m one")]);
    program.env("SSH_ASKPASS", world.path("workspace/ask")).env("SSH_ASKPASS_REQUIRE", "force");
    let mut person = Person::starts(program);
    person.answers("y");
    // Who opens the key is asked at the terminal.
    person.sees("passphrase");
    person.types("");
    person.answers("n");
    person.sees("Why?");
    person.types("");
    person.ends();
    assert!(!ran.exists());
}
