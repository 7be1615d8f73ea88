//! Every way in which a configuration names a program, in every disguise: the real git runs none of
//! them in the environment that it is given. Without that environment it does, which is checked too.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use eclusa_sandbox::{Hooks, git_environment, git_environment_of, personal_git_settings};

/// A program that a configuration names, and what makes git run it.
struct Way {
    section: &'static str,
    /// True when the section has a name of its own, which attributes or words refer to.
    named: bool,
    settings: &'static str,
    /// Of every file, with the name of the section behind it.
    attribute: &'static str,
    /// Run in the repository. `NAME` stands for the name.
    trigger: &'static str,
}

const WAYS: [Way; 15] = [
    Way {
        section: "filter",
        named: true,
        settings: "clean = EVIL",
        attribute: "filter",
        trigger: "git add -A",
    },
    Way {
        section: "filter",
        named: true,
        settings: "smudge = EVIL",
        attribute: "filter",
        trigger: "rm f; git checkout -- f",
    },
    Way {
        section: "filter",
        named: true,
        settings: "process = EVIL",
        attribute: "filter",
        trigger: "git add -A",
    },
    Way {
        section: "diff",
        named: true,
        settings: "textconv = EVIL",
        attribute: "diff",
        trigger: "git diff",
    },
    Way {
        section: "diff",
        named: true,
        settings: "command = EVIL",
        attribute: "diff",
        trigger: "git diff",
    },
    Way {
        section: "diff",
        named: false,
        settings: "external = EVIL",
        attribute: "",
        trigger: "git diff",
    },
    Way {
        section: "merge",
        named: true,
        settings: "driver = EVIL",
        attribute: "merge",
        trigger: "git stash -q; git merge -q side",
    },
    Way {
        section: "tar",
        named: true,
        settings: "command = EVIL",
        attribute: "",
        trigger: "git archive --format=NAME HEAD",
    },
    Way {
        section: "trailer",
        named: true,
        settings: "command = EVIL",
        attribute: "",
        trigger: "echo x | git interpret-trailers --trailer NAME=1",
    },
    Way {
        section: "alias",
        named: false,
        settings: "evil = !EVIL",
        attribute: "",
        trigger: "git evil",
    },
    Way {
        section: "core",
        named: false,
        settings: "fsmonitor = EVIL",
        attribute: "",
        trigger: "git status",
    },
    Way {
        section: "core",
        named: false,
        settings: "editor = EVIL",
        attribute: "",
        trigger: "git commit -a",
    },
    Way {
        section: "core",
        named: false,
        settings: "sshCommand = EVIL",
        attribute: "",
        trigger: "git ls-remote ssh://localhost/x",
    },
    Way {
        section: "credential",
        named: false,
        settings: "helper = !EVIL",
        attribute: "",
        trigger: "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill",
    },
    Way {
        section: "gpg",
        named: false,
        settings: "program = EVIL",
        attribute: "",
        trigger: "git commit -S -am x",
    },
];

/// How a configuration hides a section from a reader that is not git.
const DISGUISES: [&str; 15] = [
    "plain",
    "comment",
    "dotted",
    "escaped-include",
    "blank-include",
    "long",
    "many-includes",
    "bytes",
    "crowded",
    "escaped-name",
    "one-line",
    "line-ends",
    "mark",
    "condition",
    "capitals",
];

/// Makes a repository whose configuration runs `EVIL`.
fn trap(root: &Path, way: &Way, disguise: &str) -> Option<OsString> {
    let evil = root.join("evil.sh");
    std::fs::write(&evil, format!("#!/bin/sh\ntouch {}/MARK\n", root.display())).unwrap();
    let ws = root.join("ws");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    copy(template(), &ws);
    let mut name = OsString::from(if way.named { "evil" } else { "" });
    let mut before = Vec::new();
    let settings = way.settings.replace("EVIL", &format!("{}", evil.display()));
    let mut header = match way.named {
        true => format!("[{} \"evil\"]\n\t", way.section).into_bytes(),
        false => format!("[{}]\n\t", way.section).into_bytes(),
    };
    let mut included: Option<(OsString, &[u8])> = None;
    match disguise {
        "plain" => {}
        "comment" => before = b"# a comment \\\n".to_vec(),
        "dotted" if way.named => {
            name = "evil.x".into();
            header = format!("[{}.evil \"x\"]\n", way.section).into_bytes();
        }
        "escaped-include" => included = Some(("ev\til".into(), b"[include]\npath = \"ev\\til\"\n")),
        "blank-include" => included = Some(("evil ".into(), b"[include]\npath = \"evil \"\n")),
        "long" => before = [b"# ".as_slice(), &vec![b'x'; 5 << 20], b"\n"].concat(),
        "many-includes" => {
            for at in 0..120 {
                std::fs::write(ws.join(format!(".git/i{at}")), "[a]\nb = 1\n").unwrap();
                before.extend(format!("[include]\npath = i{at}\n").into_bytes());
            }
        }
        "bytes" if way.named => {
            name = OsString::from_vec(vec![b'e', 0xff, b'l']);
            header = [way.section.as_bytes(), b" \"e\xffl\"]\n"].concat();
            header.insert(0, b'[');
        }
        "crowded" if way.named => header = format!("[{}\t  \"evil\"]", way.section).into_bytes(),
        "escaped-name" if way.named => {
            header = format!("[{} \"e\\vil\"]\n", way.section).into_bytes();
        }
        "one-line" => header = header.strip_suffix(b"\n\t").unwrap().to_vec(),
        "line-ends" => {
            header = header.strip_suffix(b"\n\t").map(|it| [it, b"\r\n"].concat()).unwrap()
        }
        "mark" => {}
        "condition" => {
            included = Some(("evil".into(), b"[includeIf \"onbranch:main\"]\npath = evil\n"));
        }
        "capitals" => header = header.to_ascii_uppercase(),
        _ => return None,
    }
    if disguise == "capitals" && way.named {
        header = format!("[{} \"evil\"]\n", way.section.to_uppercase()).into_bytes();
    }
    let section = [header.as_slice(), settings.as_bytes(), b"\n"].concat();
    let config = ws.join(".git/config");
    let old = std::fs::read(&config).unwrap();
    let text = match included {
        Some((file, include)) => {
            std::fs::write(ws.join(".git").join(file), section).unwrap();
            [old.as_slice(), include].concat()
        }
        None if disguise == "mark" => [b"\xef\xbb\xbf".as_slice(), &section, &old].concat(),
        None => [old.as_slice(), &before, &section].concat(),
    };
    std::fs::write(config, text).unwrap();
    if !way.attribute.is_empty() {
        let line = [b"* ", way.attribute.as_bytes(), b"=", name.as_bytes(), b"\n"].concat();
        std::fs::write(ws.join(".git/info/attributes"), line).unwrap();
    }
    Some(name)
}

/// Copies a directory. Starting a program for it would take longer than git does.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&from, &to),
            false => std::fs::copy(&from, &to).map(drop).unwrap(),
        }
    }
}

/// A repository with a change and a branch that conflicts, made once.
fn template() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let made = tempfile::tempdir().unwrap();
        // Without what git puts into every new repository, which would be copied some hundred times.
        let setup = "git init -q --template= -b main; mkdir -p .git/info
            echo 1 > f; git add f; git commit -qm 1
            git switch -qc side; echo side > f; git commit -qam side; git switch -q main; echo main > f
            git commit -qam main; echo 2 > f";
        assert!(shell(setup, made.path(), &[]).status.success());
        made
    });
    made.path()
}

fn shell(text: &str, cwd: &Path, env: &[(OsString, OsString)]) -> std::process::Output {
    let mut command = Command::new("/bin/bash");
    command.args(["-c", text]).current_dir(cwd).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", cwd.parent().unwrap());
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "n").env(format!("GIT_{name}_EMAIL"), "n@e.org");
    }
    command.envs(env.iter().cloned()).stdin(std::process::Stdio::null()).output().unwrap()
}

fn run(way: &Way, disguise: &str, guarded: bool) -> Option<bool> {
    let root = tempfile::tempdir_in("/tmp").unwrap();
    let name = trap(root.path(), way, disguise)?;
    let ws = root.path().join("ws");
    let env = if guarded { git_environment(std::slice::from_ref(&ws), None) } else { Vec::new() };
    let quoted = name.to_str().unwrap_or("x");
    shell(&way.trigger.replace("NAME", quoted), &ws, &env);
    Some(root.path().join("MARK").exists())
}

#[test]
fn no_program_that_a_configuration_names_is_run_in_any_disguise() {
    if !Path::new("/usr/bin/git").exists() {
        return;
    }
    let mut ran = Vec::new();
    for way in &WAYS {
        for disguise in DISGUISES {
            if run(way, disguise, true) == Some(true) {
                ran.push(format!("{} {} as {disguise}", way.section, way.settings));
            }
        }
    }
    assert!(ran.is_empty(), "{ran:#?}");
}

/// What the test above shows is worth something only if git falls into the trap without help.
#[test]
fn without_the_environment_git_runs_what_a_configuration_names() {
    if !Path::new("/usr/bin/git").exists() {
        return;
    }
    let idle: Vec<String> = WAYS
        .iter()
        .filter(|way| run(way, "plain", false) != Some(true))
        .map(|way| format!("{} {}", way.section, way.settings))
        .collect();
    assert!(idle.is_empty(), "{idle:#?}");
    let text_converter = WAYS.iter().find(|it| it.settings.starts_with("textconv")).unwrap();
    let idle: Vec<&str> =
        DISGUISES.into_iter().filter(|it| run(text_converter, it, false) != Some(true)).collect();
    assert!(idle.is_empty(), "{idle:#?}");
}

/// Hole 6 must not be closed by closing git: what git itself writes is read.
#[test]
fn an_ordinary_repository_works() {
    if !Path::new("/usr/bin/git").exists() {
        return;
    }
    let root = tempfile::tempdir_in("/tmp").unwrap();
    let ws = root.path().join("ws");
    std::fs::create_dir(&ws).unwrap();
    let setup = "git init -q -b main; git config user.name 'A \"B\" C'; git config remote.origin.url git@h:x/y.git
        git config branch.main.remote origin; git config --add remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
        echo 1 > f; git add f; git commit -qm 1";
    assert!(shell(setup, &ws, &[]).status.success());
    let env = git_environment(std::slice::from_ref(&ws), None);
    let output =
        shell("git status --porcelain && git log --format=%s && git config user.name", &ws, &env);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\nA \"B\" C\n");
}

/// The person's own settings reach git, those that name programs do not, and a repository's stand
/// above them.
#[test]
fn a_persons_harmless_settings_are_handed_on() {
    if !Path::new("/usr/bin/git").exists() {
        return;
    }
    let root = tempfile::tempdir_in("/tmp").unwrap();
    let (home, ws) = (root.path().join("home"), root.path().join("ws"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir(&ws).unwrap();
    let text = "[user]\nname = Ada\nemail = ada@example.org\n[alias]\nst = status -sb\nbad = !touch x\n[core]\npager = ./evil
sshCommand = ./evil\nexcludesFile = ~/ignored\n[init]\ndefaultBranch = trunk\n[pull]\nrebase = true\n[include]\npath = more\n";
    std::fs::write(home.join(".gitconfig"), text).unwrap();
    std::fs::write(home.join("more"), "[filter \"x\"]\nclean = evil\n[core]\nautocrlf = input\n")
        .unwrap();
    let person = personal_git_settings(&home, &ws);
    let names: Vec<&str> = person.iter().map(|it| it.0.as_str()).collect();
    let expected = [
        "user.name",
        "user.email",
        "alias.st",
        "core.excludesfile",
        "init.defaultbranch",
        "pull.rebase",
        "core.autocrlf",
    ];
    assert_eq!(names, expected);
    let environment =
        || git_environment_of(std::slice::from_ref(&ws), &[], None, &person, Hooks::Skip);
    let output = shell(
        "git init -q . && git symbolic-ref --short HEAD && git config user.name",
        &ws,
        &environment(),
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "trunk\nAda\n");
    assert!(shell("git config user.name Own", &ws, &[]).status.success());
    let output = shell("git config user.name; git config user.email; git st", &ws, &environment());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("Own\nada@example.org\n## "), "{said}");
}
