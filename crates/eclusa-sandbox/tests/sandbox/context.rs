//! Harmless text in a hostile place: configuration, project files and variables that make a
//! command run somebody else's program. The mark that such a program leaves must not appear.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use eclusa_sandbox::{Plan, Staging, clean_environment, git_environment};
use serde_json::Value;

use crate::world::run;

/// A directory made by a case's own commands, in which the mark would appear.
struct Place {
    root: tempfile::TempDir,
    ws: PathBuf,
    cwd: PathBuf,
}

impl Place {
    fn new(setup: &[&str], ws: &str, cwd: &str) -> Place {
        // Traps name their programs where a blank in the path would end it.
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let path = root.path().to_path_buf();
        for name in [".state", ".state/upper", ".state/work", "home"] {
            std::fs::create_dir(path.join(name)).unwrap();
        }
        let place = Place { ws: path.join(ws), cwd: path.join(cwd), root };
        for line in setup {
            let output = place.plain(line, &path, &[]);
            assert!(output.status.success(), "`{line}`: {output:?}");
        }
        let _ = std::fs::remove_file(place.mark());
        place
    }

    fn mark(&self) -> PathBuf {
        self.root.path().join("MARK")
    }

    /// Runs a text without any sandbox, as whoever prepared the trap does.
    fn plain(&self, text: &str, cwd: &Path, env: &[(OsString, OsString)]) -> std::process::Output {
        let mut command = Command::new("/bin/bash");
        command.args(["-c", text]).current_dir(cwd).env_clear();
        command.env("PATH", path()).env("HOME", self.root.path().join("home"));
        command.envs(env.iter().cloned()).output().unwrap()
    }

    fn env(&self, given: &Value) -> Vec<(OsString, OsString)> {
        let tmp = self.root.path().to_str().unwrap();
        let given = given.as_object().unwrap().iter();
        given
            .map(|(name, value)| {
                (name.into(), value.as_str().unwrap().replace("{TMP}", tmp).into())
            })
            .collect()
    }

    /// The command in a sandbox. `namespaces`: the place is staged; otherwise all of it can be written, and
    /// the environment alone has to do.
    fn held(&self, text: &str, env: &[(OsString, OsString)], namespaces: bool) -> String {
        let mut plan = Plan::bash(text, &self.cwd);
        let mut given = vec![("PATH".into(), path().into())];
        given.extend_from_slice(env);
        plan.env = clean_environment(given, std::slice::from_ref(&self.ws));
        plan.env.extend(git_environment(&[self.cwd.clone(), self.ws.clone()], None));
        if namespaces {
            let [upper, work] =
                ["upper", "work"].map(|name| self.root.path().join(".state").join(name));
            plan.stage.push(Staging {
                lower: self.ws.clone(),
                covers: Vec::new(),
                upper,
                work,
                live: Vec::new(),
            });
        } else {
            plan.write.push(self.root.path().into());
        }
        run(&plan).output.text()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let text = "chmod -R u+rwX .state/work/work; chmod -R u+rwX .state";
        self.plain(text, self.root.path(), &[]);
    }
}

/// Where git, make, tar and cargo are.
fn path() -> String {
    let cargo = Path::new(env!("CARGO")).parent().unwrap();
    format!("/usr/local/bin:/usr/bin:/bin:{}", cargo.display())
}

fn has(program: &str) -> bool {
    path().split(':').any(|at| Path::new(at).join(program).exists())
}

/// Shows A5, A7.
#[test]
fn the_corpus_of_hostile_contexts_leaves_no_mark() {
    eclusa_testing::needs!(Namespaces);
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/context.jsonl");
    let corpus = std::fs::read_to_string(corpus).unwrap();
    let mut count = 0;
    for line in corpus.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap();
        let setup: Vec<&str> =
            case["setup"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let (id, command, family) = (text("id"), text("command"), text("family"));
        assert_eq!(text("must"), "no_mark", "{id}");
        let place = || Place::new(&setup, text("workspace"), text("cwd"));

        // Without a sandbox the trap works, or this test would prove nothing.
        let there = has(command.split(' ').next().unwrap()) && crate::world::is_root();
        if text("probe_unhardened") == "EXEC" && there {
            let plain = place();
            plain.plain(command, &plain.cwd, &plain.env(&case["env"]));
            assert!(plain.mark().exists(), "{id}: the trap is broken");
        }
        let namespaces: &[bool] =
            if matches!(family, "git" | "env") { &[true, false] } else { &[true] };
        for namespaces in namespaces {
            let held = place();
            let said = held.held(command, &held.env(&case["env"]), *namespaces);
            assert!(!held.mark().exists(), "{id}, namespaces: {namespaces}: {said}");
        }
        count += 1;
    }
    assert!(count >= 13, "{count}");
}

/// A repository with files of several kinds, in which `more` sets the trap. `$M` leaves the mark.
fn trap(more: &str, command: &str) -> (String, bool) {
    let repository = "mkdir ws && cd ws && git init -q -b main && git config user.email a@b
        git config user.name n && echo a > f && echo a > x.t && echo a > x.q && git add . && git commit -qm x";
    let more = format!("export M=\"touch $PWD/MARK\"; cd ws; {more}");
    let setup = [repository, more.as_str()];
    let plain = Place::new(&setup, "ws", "ws");
    plain.plain(command, &plain.cwd, &[]);
    assert!(plain.mark().exists(), "the trap is broken: {more}; {command}");
    let held = Place::new(&setup, "ws", "ws");
    let said = held.held(command, &[], false);
    (said, held.mark().exists())
}

/// Shows A5.
#[test]
fn no_helper_of_a_repository_runs_and_git_still_works() {
    eclusa_testing::needs!(Namespaces);
    let attributes = "printf '*.t diff=z\\n*.q filter=z\\n*.t merge=z\\n' > .gitattributes; git add .; git commit -qm a;";
    let hook = |name: &str| {
        format!(
            "printf '#!/bin/sh\\n%s\\n' \"$M\" > .git/hooks/{name}; chmod +x .git/hooks/{name}; touch -d '1 hour ago' f"
        )
    };
    let cases: Vec<(String, &str, &str)> = vec![
        ("git config core.fsmonitor \"$M; false\"; echo b > f".into(), "git status --short", " M f"),
        ("git config diff.external \"$M;\"; echo b > f".into(), "git diff", "+b"),
        (format!("{attributes} git config diff.z.command \"$M;\"; echo b > x.t"), "git diff", "+b"),
        (format!("{attributes} git config diff.z.textconv \"sh -c '$M; cat \\$0'\"; echo b > x.t"), "git log -p; git diff", "+b"),
        (format!("{attributes} git config filter.z.clean \"$M; cat\"; echo b > x.q"), "git add x.q; git diff --cached", "+b"),
        (format!("{attributes} git config filter.z.process \"$M\"; echo b > x.q"), "git add x.q; git diff --cached", "+b"),
        (format!("{attributes} git config filter.z.smudge \"$M; cat\"; rm x.q"), "git checkout x.q; cat x.q", "a"),
        (format!("{attributes} git config filter.z.clean \"$M; cat\"; git config filter.z.required true; echo b > x.q"), "git commit -qam b; git log -1 --format=%s", "b"),
        (format!("{attributes} git config merge.z.driver \"$M; false\"; git checkout -qb o; echo b >> x.t; git commit -qam b; git checkout -q main; sed -i 1ic x.t; echo d > f; git commit -qam d"), "git merge o 2>&1; git log -1 --format=%s", "Merge branch 'o'"),
        (hook("post-index-change"), "git status --short", ""),
        (hook("pre-commit"), "git commit --allow-empty -m hooked", "hooked"),
        (hook("post-checkout"), "git checkout -b new 2>&1", "Switched"),
        (hook("reference-transaction"), "git branch other; git branch", "other"),
        ("git config alias.st \"!$M\"".into(), "git st 2>&1", "alias"),
        ("git config core.hooksPath hooks; mkdir hooks; printf '#!/bin/sh\\n%s\\n' \"$M\" > hooks/pre-commit; chmod +x hooks/*".into(), "git commit --allow-empty -m x", "x"),
        ("git clone -q . ../up; git remote add o ../up; git config remote.o.uploadpack \"$M; git-upload-pack\"".into(), "git fetch o 2>&1", "transport 'file' not allowed"),
        ("git clone -q --bare . ../up; git remote add o ../up; git config remote.o.receivepack \"$M; git-receive-pack\"".into(), "git push o main:b 2>&1", "transport 'file' not allowed"),
        ("git config remote.x.url \"ext::$M\"; git config protocol.ext.allow always".into(), "git fetch x 2>&1", "not allowed"),
        ("git config tar.z.command \"$M; cat\"".into(), "git archive --format=z HEAD | tar tf -", "f"),
        ("git config core.editor \"$M;\"".into(), "git commit --allow-empty --amend 2>&1; git log -1 --format=%s", "x"),
        ("git config sequence.editor \"$M;\"; git commit --allow-empty -qm y".into(), "git rebase -i HEAD~1 2>&1; git log -1 --format=%s", "y"),
        ("git config gpg.program ./g; printf '#!/bin/sh\\n%s\\n' \"$M\" > g; chmod +x g; git config commit.gpgSign true".into(), "git commit --allow-empty -qm s; git log -1 --format=%s", "s"),
        ("git config trailer.k.command \"$M\"".into(), "git commit --allow-empty -qm t --trailer k=v; git log -1 --format=%s", "t"),
        // The same by way of other files.
        ("git config extensions.worktreeConfig true; git config --worktree core.fsmonitor \"$M; false\"".into(), "git status --short", ""),
        (format!("{attributes} git config include.path ../inc; printf '[filter \"z\"]\\n\\tclean = \"%s; cat\"\\n' \"$M\" > inc; echo b > x.q"), "git add x.q; git diff --cached", "+b"),
        (format!("{attributes} git config includeIf.onbranch:main.path ../inc; printf '[FILTER \"z\"] CLEAN = \\\\\\n \"%s; cat\"\\n' \"$M\" > inc; echo b > x.q"), "git add x.q; git diff --cached", "+b"),
        (format!("{attributes} git config filter.z.clean \"$M; cat\"; git worktree add -q wt; echo b > wt/x.q"), "cd wt; git add x.q; git diff --cached", "+b"),
        (format!("{attributes} git config filter.z.clean \"$M; cat\"; mv .git ../real; echo 'gitdir: ../real' > .git; echo b > x.q"), "git add x.q; git diff --cached", "+b"),
        ("mkdir n; cd n; git init -q; echo '* filter=y' > .gitattributes; git config filter.y.clean \"$M; cat\"; echo b > f".into(), "cd n; git add f; git status --short", "A  f"),
    ];
    for (more, command, expected) in &cases {
        let (said, marked) = trap(more, command);
        assert!(!marked, "{more}; {command}: {said}");
        assert!(said.contains(expected), "{more}; {command}: {said}");
    }
}

/// Shows A7.
#[test]
fn variables_that_start_programs_do_not_get_in() {
    eclusa_testing::needs!(Namespaces);
    let setup = [
        "mkdir -p ws/bin",
        "printf '#!/bin/sh\\ntouch %s/MARK\\n' \"$PWD\" > ws/evil; chmod +x ws/evil; cp ws/evil ws/bin/ls; ln -s ws/bin link",
    ];
    let place = Place::new(&setup, "ws", "ws");
    let (ws, root) = (place.ws.display(), place.root.path().display());
    let names = [
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "PS4",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "GIT_SSH",
        "GIT_EXTERNAL_DIFF",
        "GIT_EXEC_PATH",
        "GIT_DIR",
        "GIT_PROXY_COMMAND",
        "EDITOR",
        "VISUAL",
        "LESSOPEN",
        "MANPAGER",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "MAKEFLAGS",
        "RUSTC",
        "RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC",
        "CC",
        "JAVA_TOOL_OPTIONS",
        "TAR_OPTIONS",
        "RIPGREP_CONFIG_PATH",
        "GREP_OPTIONS",
        "npm_config_script_shell",
        "IFS",
        "CDPATH",
        "GLOBIGNORE",
        "SHELLOPTS",
        "BASHOPTS",
    ];
    let mut given: Vec<(OsString, OsString)> =
        names.iter().map(|name| (name.into(), format!("{ws}/evil").into())).collect();
    given.push((
        "PATH".into(),
        format!("{ws}/bin:.::bin:{root}/link:{ws}/../ws/bin:/usr/bin:/bin").into(),
    ));
    given.push(("HOME".into(), format!("{ws}").into()));
    given.push(("CARGO_HOME".into(), format!("{root}/link").into()));
    given.push(("LANG".into(), "C.UTF-8".into()));
    given.push(("LC_ALL".into(), "() { :; }; touch MARK".into()));
    let env = clean_environment(given.clone(), std::slice::from_ref(&place.ws));
    for (name, value) in &env {
        let name = name.to_str().unwrap();
        assert!(!names.contains(&name), "{name} got in");
        assert!(!value.to_str().unwrap().contains(&format!("{root}")), "{name} points inside");
    }
    let value =
        |name: &str| env.iter().find(|(had, _)| had == name).and_then(|(_, value)| value.to_str());
    assert_eq!(value("PATH"), Some("/usr/bin:/bin"));
    assert_eq!((value("LANG"), value("LC_ALL"), value("HOME")), (Some("C.UTF-8"), None, None));
    let said = place.held("ls; git --version; perl -e 1; tar --version >/dev/null", &given, false);
    assert!(!place.mark().exists(), "{said}");
}
