//! `eclusa install` over files of every kind: of a project, odd ones, links, and those that nobody can
//! write.

use std::{fs, os::unix::fs::PermissionsExt as _, thread};

use serde_json::json;

use crate::{
    agent_settings::{AGENTS, tree},
    world::{Ran, World, run},
};

/// A project's files are given back as well, and no agent may write what connects one.
#[test]
fn a_project_is_connected_once_and_no_agent_may_write_its_settings() {
    let world = World::new();
    world.write(
        "workspace/.mcp.json",
        "{\"mcpServers\": {\"time\": {\"command\": \"t\"}}} // mine\n",
    );
    let files = || tree(&world.path("workspace"));
    let before = files();
    let mut written = Vec::new();
    for agent in AGENTS {
        let ran = world.eclusa(&["install", agent, "--project"]);
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        let installed = files();
        let again = world.eclusa(&["install", agent, "--project"]);
        assert!(again.out.contains("already") && files() == installed, "{agent} {again:?}");
        let root = format!("{}/", world.path("workspace").display());
        let new = installed.iter().filter(|(path, text)| before.get(*path) != Some(*text));
        written.extend(new.map(|(path, _)| path.strip_prefix(&root).unwrap().to_owned()));
        assert_eq!(world.eclusa(&["uninstall", agent, "--project"]).code, 0);
        assert_eq!(files(), before, "{agent}");
    }
    for path in written {
        let args = json!({"path": path, "content": "{}"}).to_string();
        let checked = world.eclusa(&["--json", "check", "write", &args]).json();
        assert_eq!(checked["decision"], "deny", "{path}: {checked}");
    }
}

/// Whatever is in an agent's file, it is changed and given back byte for byte, or left alone.
#[test]
fn odd_files_are_given_back_or_left_alone() {
    let world = World::new();
    fs::create_dir(world.path("home/.claude")).unwrap();
    fs::create_dir(world.path("home/.gemini")).unwrap();
    let (file, commented) = ("home/.claude/settings.json", "home/.gemini/settings.json");
    for (agent, file, text) in [
        ("claude-code", file, ""),
        ("claude-code", file, "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}\r\n"),
        ("claude-code", file, "{\"hooks\":{\"PreToolUse\":[]},\"hooks\":{\"Stop\":[]}}"),
        ("gemini", commented, " \n// nothing yet\n"),
        ("gemini", commented, "{\"hooks\":{\"BeforeTool\":[]},\"hooks\":{\"Stop\":[]},}"),
        ("gemini", commented, "/* a */ {\"hooks\" : {\"BeforeTool\":[ /* none */ ]}} // z"),
    ] {
        world.write(file, text);
        let ran = world.eclusa(&["install", agent]);
        assert_eq!(ran.code, 0, "{text:?} {ran:?}");
        assert_eq!(world.eclusa(&["--json", "status", agent]).json()[0]["level"], "hooked");
        assert_eq!(world.eclusa(&["uninstall", agent]).code, 0, "{text:?}");
        assert_eq!(world.read(file), text, "{text:?}");
    }
    let bytes = || fs::read(world.path(file)).unwrap();
    let deep = "[".repeat(200);
    for text in [
        "[]",
        "null",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": 1}}",
        "{} x",
        "{'a': 1}",
        &deep,
    ] {
        world.write(file, text);
        let ran = world.eclusa(&["install", "claude-code"]);
        assert_eq!(ran.code, 1, "{text:?} {ran:?}");
        assert!(ran.err.contains("line 1, column"), "{text:?} {ran:?}");
        assert_eq!(bytes(), text.as_bytes(), "{text:?}");
        assert!(!world.path("home/.claude.json").exists());
    }
    let mut broken = fs::File::create(world.path(file)).unwrap();
    std::io::Write::write_all(&mut broken, b"{\"a\": \"\xff\"}").unwrap();
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 1);
    assert!(world.eclusa(&["status", "claude-code"]).out.contains("problem: "));
}

/// Links stay links, one that leads nowhere is left alone, and of two files either both are written
/// or none.
#[test]
fn links_are_kept_and_files_are_written_all_or_none() {
    let world = World::new();
    fs::create_dir(world.path("home/.claude")).unwrap();
    fs::create_dir(world.path("dotfiles")).unwrap();
    let (link, target) = (world.path("home/.claude/settings.json"), "dotfiles/claude.json");
    world.write(target, "{\"model\": \"opus\"}\n");
    std::os::unix::fs::symlink(world.path(target), &link).unwrap();
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    assert!(link.is_symlink() && world.read(target).contains("hook claude-code"));
    assert_eq!(world.eclusa(&["uninstall", "claude-code"]).code, 0);
    assert!(link.is_symlink());
    assert_eq!(world.read(target), "{\"model\": \"opus\"}\n");
    // Nobody can write the second file, root neither.
    std::os::unix::fs::symlink("/proc/self/timers", world.path("home/.claude.json")).unwrap();
    let ran = world.eclusa(&["install", "claude-code"]);
    assert!(ran.code == 1 && ran.err.contains(".claude.json"), "{ran:?}");
    assert_eq!(world.read(target), "{\"model\": \"opus\"}\n");
    assert!(world.eclusa(&["uninstall", "claude-code"]).out.contains("nothing to take out"));
    std::os::unix::fs::symlink("nowhere", world.path("home/.codex")).unwrap();
    fs::create_dir(world.path("home/.gemini")).unwrap();
    let nowhere = world.path("home/.gemini/settings.json");
    std::os::unix::fs::symlink("nowhere", &nowhere).unwrap();
    let ran = world.eclusa(&["install", "gemini"]);
    assert!(ran.code == 1 && ran.err.contains("leads nowhere"), "{ran:?}");
    assert!(nowhere.is_symlink() && !nowhere.exists());
    assert_eq!(world.eclusa(&["install", "codex"]).code, 1);
    let mut homeless = world.command(&["install", "claude-code"]);
    let output = homeless.env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOME is not set"), "{output:?}");
}

/// `--managed` writes below `/etc`, so the binary is started where another one is mounted.
pub(crate) fn on_machine(world: &World, args: &[&str]) -> Ran {
    on_machine_with(world, args, "")
}

/// The same, with this on stdin.
pub(crate) fn on_machine_with(world: &World, args: &[&str], input: &str) -> Ran {
    let eclusa = world.command(args);
    #[expect(clippy::disallowed_methods, reason = "the test starts the binary elsewhere")]
    let mut command = std::process::Command::new("unshare");
    command.args(["-rm", "sh", "-c", "mount --bind \"$0\" /etc && exec \"$@\""]);
    command.arg(world.path("etc")).arg(eclusa.get_program()).args(eclusa.get_args());
    command.current_dir(world.path("workspace")).env_clear();
    command.envs(eclusa.get_envs().filter_map(|(name, value)| Some((name, value?))));
    run(command, input)
}

/// A machine's files are given back as well; what a project switches off stays on.
#[test]
fn a_machine_is_connected_once_and_given_back_byte_for_byte() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for directory in ["etc/codex", "etc/gemini-cli", "etc/windsurf", "workspace/.claude"] {
        fs::create_dir_all(world.path(directory)).unwrap();
    }
    world.write("etc/codex/requirements.toml", "# ours\nallowed_sandbox_modes = ['read-only']\n");
    let settings = "{\n  // ours\n  \"telemetry\": {\"enabled\": false},\n}\n";
    world.write("etc/gemini-cli/settings.json", settings);
    world.write("etc/windsurf/hooks.json", "{\"hooks\": {\"pre_run_command\": []}}");
    world.write("workspace/.claude/settings.json", "{\"disableAllHooks\": true}");
    let files = || tree(&world.path("etc"));
    let before = files();
    for agent in ["claude-code", "codex", "gemini", "windsurf", "copilot"] {
        let shown = on_machine(&world, &["--dry-run", "install", agent, "--managed"]);
        assert!(shown.code == 0 && shown.out.contains("+++ /etc/"), "{agent} {shown:?}");
        assert_eq!(files(), before, "{agent}");
        let ran = on_machine(&world, &["install", agent, "--managed"]);
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        let installed = files();
        assert_ne!(installed, before, "{agent}");
        let again = on_machine(&world, &["install", agent, "--managed"]);
        assert!(again.out.contains("already"), "{agent} {again:?}");
        assert_eq!(files(), installed, "{agent}");
        let status = on_machine(&world, &["--json", "status", agent]);
        assert_eq!(status.json()[0]["level"], "managed", "{status:?}");
        // Nothing of it is the person's or the project's.
        assert!(tree(&world.path("home")).is_empty(), "{agent}");
        let ran = on_machine(&world, &["uninstall", agent, "--managed"]);
        assert_eq!(ran.code, 0, "{agent} {ran:?}");
        assert_eq!(files(), before, "{agent}");
        let again = on_machine(&world, &["uninstall", agent, "--managed"]);
        assert!(again.out.contains("nothing to take out"), "{agent} {again:?}");
    }
    for agent in ["opencode", "cursor", "vscode", "zed"] {
        let ran = on_machine(&world, &["install", agent, "--managed"]);
        assert!(ran.code == 2 && ran.err.contains("no settings for a whole machine"), "{ran:?}");
        assert_eq!(files(), before, "{agent}");
    }
}

/// Before the program is removed one command takes everything back, so that no agent is left with a hook that is gone.
#[test]
fn one_command_takes_every_agent_back() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    fs::create_dir_all(world.path("etc")).unwrap();
    let files =
        || (tree(&world.path("etc")), tree(&world.path("home")), tree(&world.path("workspace")));
    let before = files();
    for args in [
        &["install", "claude-code"][..],
        &["install", "codex"],
        &["install", "gemini", "--project"],
        &["install", "claude-code", "--managed"],
    ] {
        let ran = on_machine(&world, args);
        assert_eq!(ran.code, 0, "{args:?} {ran:?}");
    }
    let ran = on_machine(&world, &["--dry-run", "uninstall", "--all"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(files(), before, "it was only shown");
    let ran = on_machine(&world, &["uninstall", "--all", "--managed"]);
    assert!(ran.code == 0 && ran.out.contains("no longer connected (managed)"), "{ran:?}");
    assert!(!ran.out.contains("(user)"), "{ran:?}");
    let ran = on_machine(&world, &["uninstall", "--all"]);
    assert_eq!(ran.out.matches("no longer connected").count(), 3, "{ran:?}");
    assert_eq!(files(), before);
    let again = on_machine(&world, &["uninstall", "--all"]);
    assert!(again.code == 0 && again.out.contains("no agent is connected"), "{again:?}");
    let both = world.eclusa(&["uninstall", "claude-code", "--all"]);
    assert_eq!(both.code, 2, "{both:?}");
}

/// A file that cannot be read keeps nobody else's from being given back, and is told.
#[test]
fn what_cannot_be_taken_back_is_told_and_the_rest_is() {
    let world = World::new();
    for agent in ["claude-code", "gemini"] {
        assert_eq!(world.eclusa(&["install", agent]).code, 0);
    }
    world.write("home/.gemini/settings.json", "{ no JSON");
    let ran = world.eclusa(&["uninstall", "--all", "--user"]);
    assert!(ran.code == 1 && ran.out.contains("Gemini CLI (user): "), "{ran:?}");
    assert!(ran.out.contains("Claude Code is no longer connected (user)"), "{ran:?}");
    assert_eq!(fs::read_to_string(world.path("home/.gemini/settings.json")).unwrap(), "{ no JSON");
}

/// Where AppArmor restricts user namespaces, a profile is for this program alone.
#[test]
fn a_profile_of_apparmor_is_written_for_this_program_and_taken_away() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    fs::create_dir_all(world.path("etc")).unwrap();
    let ran = on_machine(&world, &["install", "--apparmor"]);
    assert!(ran.code == 0 && ran.out.contains("no AppArmor"), "{ran:?}");
    fs::create_dir(world.path("etc/apparmor.d")).unwrap();
    let shown = on_machine(&world, &["--dry-run", "install", "--apparmor"]);
    assert!(shown.code == 0 && shown.out.contains("userns,"), "{shown:?}");
    let place = world.path("etc/apparmor.d/eclusa");
    assert!(!place.exists(), "it was only shown");
    let ran = on_machine(&world, &["install", "--apparmor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = fs::read_to_string(&place).unwrap();
    let program = env!("CARGO_BIN_EXE_eclusa");
    assert!(text.contains(&format!("profile eclusa \"{program}\" flags=(unconfined)")), "{text}");
    assert!(on_machine(&world, &["install", "--apparmor"]).out.contains("as it should be"));
    let ran = on_machine(&world, &["uninstall", "--apparmor"]);
    assert!(ran.code == 0 && !place.exists(), "{ran:?}");
}

/// A file that its person has made read-only is left alone, and with it the others.
#[test]
fn a_read_only_file_is_left_alone() {
    let world = World::new();
    fs::create_dir(world.path("home/.claude")).unwrap();
    let file = "home/.claude/settings.json";
    world.write(file, "{\"model\": \"opus\"}\n");
    let mode = |mode: u32| {
        fs::set_permissions(world.path(file), fs::Permissions::from_mode(mode)).unwrap();
    };
    let is_refused = |command: &str| {
        mode(0o444);
        let before = tree(&world.path("home"));
        let ran = world.eclusa(&[command, "claude-code"]);
        assert!(ran.code == 1 && ran.err.contains("it is read-only"), "{command} {ran:?}");
        assert_eq!(tree(&world.path("home")), before, "{command}");
        mode(0o600);
    };
    is_refused("install");
    assert_eq!(world.eclusa(&["install", "claude-code"]).code, 0);
    is_refused("uninstall");
    assert_eq!(world.eclusa(&["uninstall", "claude-code"]).code, 0);
    assert_eq!(world.read(file), "{\"model\": \"opus\"}\n");
}

/// Several at the same moment are one, and what was there before is given back.
#[test]
fn installations_at_the_same_moment_are_one() {
    let world = World::new();
    fs::create_dir(world.path("home/.claude")).unwrap();
    let (file, text) =
        ("home/.claude/settings.json", "{\n  \"mine\": 1,\n  \"model\": \"opus\"\n}\n");
    world.write(file, text);
    thread::scope(|scope| {
        let all: Vec<_> =
            (0..6).map(|_| scope.spawn(|| world.eclusa(&["install", "claude-code"]))).collect();
        for ran in all.into_iter().map(|it| it.join().unwrap()) {
            assert_eq!(ran.code, 0, "{ran:?}");
        }
    });
    let installed = world.read(file);
    assert_eq!(installed.matches("PreToolUse").count(), 1, "{installed}");
    assert_eq!(world.eclusa(&["uninstall", "claude-code"]).code, 0);
    assert_eq!(world.read(file), text);
    assert!(!world.path("home/.claude.json").exists());
}
