//! The plugin that `eclusa install opencode` writes, run by node as opencode runs it: whatever is no
//! clear yes stops the call, and hides an output.

use std::path::Path;

use crate::world::World;

/// Plays opencode: one call before it runs, and one output after it ran.
const OPENCODE: &str = r#"
const { Eclusa } = await import("./eclusa.mjs")
const at = process.cwd() + "/workspace"
const hooks = await Eclusa({ directory: at, worktree: at })
const call = { tool: "read", sessionID: "s", callID: "c" }
const args = { filePath: at + "/a.txt" }
try {
  await hooks["tool.execute.before"](call, { args })
  console.log("runs")
} catch (err) {
  console.log("refused: " + err.message)
}
const output = { output: "what was read" }
await hooks["tool.execute.after"]({ ...call, args }, output)
console.log(output.output)
"#;

/// Plays opencode 2, which loads the default export alone.
const SECOND: &str = r#"
const { default: plugin } = await import("./eclusa.mjs")
if (plugin.id !== "eclusa") throw new Error("no id")
const hooks = {}
const directory = process.cwd() + "/workspace"
await plugin.setup({ location: { directory }, tool: { hook: async (name, hook) => (hooks[name] = hook) } })
const call = { tool: "read", sessionID: "s", id: "c", input: { filePath: directory + "/a.txt" } }
try {
  await hooks["execute.before"](call)
  console.log("runs")
} catch (err) {
  console.log("refused: " + err.message)
}
const after = { ...call, status: "completed", result: { content: "what was read" } }
await hooks["execute.after"](after)
console.log(after.result.content)
const text = { type: "text", text: "ghp_0123456789abcdefghijABCDEFGHIJ012345" }
const more = { ...call, id: "d", result: { content: [text, { type: "file", data: "pixels" }] } }
await hooks["execute.after"](more)
console.log(more.result.content[0].text.split("\n")[0])
console.log(more.result.content[1].data)
"#;

/// A disk without room, where the state is kept.
const FULL: &str =
    "mount -t tmpfs -o size=256k none state && cat /dev/zero > state/full 2>/dev/null;";

/// What a call, its output, a secret and a picture come to in opencode 2, with this program in the
/// place of ours.
fn play_second(world: &World, program: &Path) -> [String; 4] {
    let plugin = world.read("config/opencode/plugins/eclusa.js");
    let ours = env!("CARGO_BIN_EXE_eclusa");
    world.write("eclusa.mjs", &plugin.replace(ours, program.to_str().unwrap()));
    world.write("opencode.mjs", SECOND);
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut command = std::process::Command::new("node");
    let eclusa = world.command(&[]);
    command.arg("opencode.mjs").current_dir(world.path(".")).env_clear();
    command.envs(eclusa.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    lines.try_into().unwrap_or_else(|_| panic!("{output:?}"))
}

/// What the call and the output come to, with this program in the place of ours, after `prepare`.
fn play(world: &World, program: &Path, prepare: &str) -> [String; 2] {
    let plugin = world.read("config/opencode/plugins/eclusa.js");
    let ours = env!("CARGO_BIN_EXE_eclusa");
    assert!(plugin.contains(ours), "{plugin}");
    world.write("eclusa.mjs", &plugin.replace(ours, program.to_str().unwrap()));
    world.write("opencode.mjs", OPENCODE);
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent")]
    let mut command = std::process::Command::new("unshare");
    command.args(["-rm", "sh", "-c", &format!("{prepare} exec node opencode.mjs")]);
    let eclusa = world.command(&[]);
    command.current_dir(world.path(".")).env_clear();
    command.envs(eclusa.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (call, seen) = said.trim_end().split_once('\n').unwrap_or_else(|| panic!("{output:?}"));
    [call.to_owned(), seen.to_owned()]
}

#[test]
fn whatever_becomes_of_the_program_or_the_disk_a_call_is_refused_and_an_output_withheld() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    assert_eq!(world.eclusa(&["install", "opencode"]).code, 0);
    let ours = Path::new(env!("CARGO_BIN_EXE_eclusa"));
    assert_eq!(play(&world, ours, ""), ["runs", "what was read"]);
    let script = |name: &str, text: &str| world.program(name, &format!("#!/bin/sh\n{text}\n"));
    let unheard = format!("exec '{}' \"$@\" > /dev/full", ours.display());
    for (program, prepare) in [
        (ours.to_owned(), FULL),
        (ours.to_owned(), "ulimit -f 0;"),
        (script("killed", "kill -9 $$"), ""),
        (script("fails", "cat > /dev/null; echo '{\"decision\":\"allow\"}'; exit 1"), ""),
        (script("garbled", "cat > /dev/null; echo '{\"decision\":'"), ""),
        ("/nowhere/eclusa".into(), ""),
    ] {
        let [call, seen] = play(&world, &program, prepare);
        let what = format!("{} {prepare}", program.display());
        assert!(call.starts_with("refused: eclusa: "), "{what}: {call}");
        assert!(seen.starts_with("output withheld: "), "{what}: {seen}");
    }
    // The same file in the form of opencode 2.
    assert_eq!(
        play_second(&world, ours),
        ["runs", "what was read", "[redacted:github-token]", "pixels"]
    );
    for program in [script("killed", "kill -9 $$"), "/nowhere/eclusa".into()] {
        let [call, seen, ..] = play_second(&world, &program);
        assert!(call.starts_with("refused: eclusa: "), "{call}");
        assert!(seen.starts_with("output withheld: "), "{seen}");
    }
    // After a call there is mostly nothing to say; before one that is no yes.
    for program in [script("unheard", &unheard), script("silent", "cat > /dev/null")] {
        let [call, _] = play(&world, &program, "");
        assert!(call.starts_with("refused: eclusa: "), "{}: {call}", program.display());
    }
}
