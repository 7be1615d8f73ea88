#!/usr/bin/env python3
"""What seldom happens to a real agent: it is broken off while a command runs ahead of its question, its hook stands
still after a call, another hook puts its own command in the place of ours, and its settings are written oddly.

Started by scripts/agents in namespaces of its own, with a scripted model. Prints one line for each check, and ends
with 1 if any is wrong."""
import argparse, json, os, signal, subprocess, sys, time

import agents_login
from agents import PLAIN, RULES, SECRET, World, limit
from agents_ahead import WORDS, Session
from agents_calls import Calling, expect
from agents_day import end_all
from agents_ends import SLEEPER, link, running, words
from agents_model import Model, program
from agents_screen import Screen
from agents_table import tell

# What a person presses who wants a command to end before it is asked about.
KEYS = {"copilot": b"\x03"}
AHEAD = ("claude-code", "codex", "gemini", "copilot")


def left(work):
    """Programs of ours that still run, but for servers."""
    return [it for it in running() if os.path.basename(link(it)) == "eclusa" and "mcp" not in words(it)]


def broken_off(killed):
    """The person does not want it any more while its hook runs the command. Nothing of it may be applied or left."""
    def play(agent, options):
        session = Session(agent, options, ["nice sleep %s; touch late" % SLEEPER])
        wrong = []
        installed = session.eclusa("install", agent)
        if installed.returncode:
            wrong.append("install: " + installed.stderr)
        screen = Screen(program(options.packages, agent) + WORDS[agent], session.work, session.env)
        try:
            if not screen.until(lambda: running("sleep", SLEEPER), options.time):
                wrong.append("the command never ran")
            elif not any("hook" in words(it) for it in left(session.work)):
                wrong.append("it does not run ahead: %s" % [words(it) for it in left(session.work)])
            else:
                screen.look(1)
                began = time.monotonic()
                if killed:
                    os.killpg(screen.child.pid, signal.SIGKILL)
                else:
                    screen.press(KEYS.get(agent, b"\x1b"))
                gone = lambda: not running("sleep", SLEEPER) and not left(session.work)
                # What is not told of it runs until its time ahead of the question is up.
                until = time.monotonic() + 60
                while not gone() and time.monotonic() < until:
                    screen.look(0.2)
                session.took = time.monotonic() - began
                # Nothing begins anew.
                screen.look(3)
                if not gone():
                    wrong += ["`%s` is left" % " ".join(words(it)) for it in [*running("sleep", SLEEPER), *left(session.work)]]
                if session.text("late") is not None:
                    wrong.append("it is applied")
        finally:
            session.screen = screen.text()
            screen.close()
            end_all()
            session.server.shutdown()
        if session.eclusa("log", "verify").returncode:
            wrong.append("the log does not verify")
        if session.eclusa("approvals").stdout.strip().count("sleep"):
            wrong.append("a question is left: " + session.eclusa("approvals").stdout)
        became = "after %.0f s" % session.took if hasattr(session, "took") else ""
        return session.close(wrong), became
    return play


def after_time_is_up(agent, options):
    """Our program stands still in the hook that sees what came back, until the agent's time is up. What ran in the
    sandbox is redacted there; of the rest most agents show what there is."""
    world = World(agent, options, "cat notes.txt")
    world.write("home/.config/eclusa/eclusa.toml", RULES + PLAIN)
    world.eclusa("install", agent)
    os.rename(world.ours, world.top + "/bin/ours")
    after = "PostToolUse|AfterTool|toolResult|\"event\":\"after\""
    ours = world.top + "/bin/ours"
    world.write("bin/eclusa", "#!/bin/bash\n[ \"$1\" = hook ] || exec %s \"$@\"\nread -rd '' said\n"
                "[[ $said =~ %s ]] && exec sleep 20\nexec %s \"$@\" <<<\"$said\"\n" % (ours, after.replace('"', '\\"'), ours), 0o755)
    limit(world, 10)
    world.run()
    got = json.dumps(Model.got)
    leaks = SECRET[4:] in got
    if not leaks and "withheld" not in got and "the first line" not in got:
        world.wrong.append("the model got " + got[:400])
    if leaks != (agent in SHOWS_ALL):
        world.wrong.append("the secret %s the model: %s" % ("reaches" if leaks else "does not reach", got[:400]))
    if world.wrong:
        world.wrong.append("see " + world.top)
    return world.wrong, "the model gets it" if leaks else "withheld"


SHOWS_ALL = ("claude-code", "codex", "gemini", "copilot")


def other_hook(agent, options):
    """Another hook of the person puts its own command in the place of ours. Where it runs it is on record."""
    world = World(agent, options, "touch allowed")
    world.eclusa("install", agent)
    said = {"codex": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": OTHER}}},
            "gemini": {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": OTHER}}},
            "copilot": {"permissionDecision": "allow", "modifiedArgs": {"command": OTHER, "description": "a test"}}}.get(agent)
    line = "cat > /dev/null; sleep 1; echo '%s'" % json.dumps(said)
    if agent == "codex":
        entry = {"matcher": ".*", "hooks": [{"type": "command", "command": line}]}
        world.edit("home/.codex/hooks.json", lambda it: it["hooks"]["PreToolUse"].append(entry))
    elif agent == "gemini":
        entry = {"matcher": "*", "sequential": True, "hooks": [{"type": "command", "command": line, "name": "other"}]}
        world.edit("home/.gemini/settings.json", lambda it: it["hooks"]["BeforeTool"].append(entry))
    elif agent == "copilot":
        world.write("home/.copilot/hooks/other.json", json.dumps({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": line}]}}))
    else:
        world.write("home/.config/opencode/plugins/other.js", "export const Other = async () => ({ 'tool.execute.before': "
                    "async (input, output) => { output.args.command = %r } })\n" % OTHER)
    world.run()
    ran, ours = world.made("other"), world.made("allowed")
    outcomes = [it["args"].get("outcome") for it in world.records() if isinstance(it.get("args"), dict) and "outcome" in it["args"]]
    if ran and "differs" not in outcomes:
        world.wrong.append("nobody saw that another command ran: %s" % outcomes)
    if ran and ours or not Model.got:
        world.wrong.append("both ran: %s, %s; the model got %s" % (ran, ours, json.dumps(Model.got)[:300]))
    if world.wrong:
        world.wrong.append("see " + world.top)
    return world.wrong, "it runs, and is told" if ran else "ours runs" if ours else "neither runs"


def odd_settings(agent, options):
    """The files that our hooks stand in, written as people write them: where the agent reads them so, it must be held,
    and where it would not, nothing is written."""
    world = World(agent, options, "touch denied")
    name, read, unread = ODD[agent]
    for kind in unread:
        text = oddly(kind, "{}\n")
        world.write(name, text.encode())
        if world.eclusa("install", agent).returncode == 0 or open(world.top + "/" + name, "rb").read() != text.encode():
            world.wrong.append("with %s it was written into %s" % (kind, name))
        os.remove(world.top + "/" + name)
    path = world.top + "/" + name
    had = WAS[agent] if agent in WAS else open(path).read()
    text = json.dumps(json.loads(had), indent=2) + "\n"
    for kind in read:
        text = oddly(kind, text)
    world.write(name, text.encode())
    installed = world.eclusa("install", agent)
    if installed.returncode:
        world.wrong.append("install: " + installed.stderr)
    world.run()
    if world.made() or not Model.got:
        world.wrong.append("what a rule denies was run, or nobody was told: %s" % json.dumps(Model.got)[:300])
    world.eclusa("uninstall", agent)
    # opencode writes its own file anew.
    if agent != "opencode" and (not os.path.exists(path) or open(path, "rb").read() != text.encode()):
        world.wrong.append("%s is not what it was" % name)
    if world.wrong:
        world.wrong.append("see " + world.top)
    return world.wrong, "with " + ", ".join(read)


# A file, how it may be written, and how it may not.
ODD = {"claude-code": ("home/.claude/settings.json", ["CRLF", "a mark"], ["comments", "a comma"]),
       "codex": ("home/.codex/hooks.json", ["CRLF"], ["comments", "a comma", "a mark"]),
       "gemini": ("home/.gemini/settings.json", ["comments", "CRLF"], []),
       "opencode": ("home/.config/opencode/opencode.json", ["comments", "CRLF", "a mark"], []),
       "copilot": ("home/.copilot/mcp-config.json", ["comments", "CRLF", "a mark"], [])}
# What was in it.
WAS = {"claude-code": '{"permissions": {"deny": ["WebFetch"]}}', "codex": '{"hooks": {}}', "copilot": '{"mcpServers": {}}'}


def oddly(kind, text):
    return {"CRLF": lambda: text.replace("\n", "\r\n"), "a mark": lambda: "\ufeff" + text, "comments": lambda: "// mine\n" + text,
            "a comma": lambda: text.replace("{}", '{"mine": 1,}')}[kind]()


def with_login(agent, options):
    """A server that wants a login, behind ours: the model is told that it is missing, a person logs in, and it is there."""
    server = agents_login.start()
    rules = 'mode = "auto-approve"\n[servers.notes]\nurl = "http://127.0.0.1:%d/mcp"\n\n[[rules]]\ndecision = "allow"\nserver = "notes"\ntainted = true\n' % server.server_port
    logged = []

    def steps(session, it):
        # A tool of a server that nobody is logged in to has no name yet.
        call = it.of("eclusa", "call_tool", {"name": "mcp_notes_read", "arguments": {}})

        def log_in(_):
            logged.append(agents_login.log_in([session.top + "/bin/eclusa", "servers", "login", "notes"], cwd=session.work, env=session.env))
            return {"command": "true"}

        def again(_):
            time.sleep(1)
            return call[1]
        # It is looked for a login once a second.
        more = [("try %d" % number, (call[0], again)) for number in range(4)]
        return [("before", call), ("logs in", (it.of("eclusa", "bash")[0], log_in)), *more, ("after", call)]
    session = Calling(agent, options, steps, rules)
    session.run()
    server.shutdown()
    if logged != [True]:
        session.wrong.append("the login failed")
    expect(session, {"before": ("servers login notes", None), "after": ("the note behind the login", None)})
    return session.close(), ""


OTHER = "touch other"
# Should one of those stop to show it, our pages can say so.
CASES = [("time is up afterwards, and it shows", after_time_is_up, SHOWS_ALL), ("time is up afterwards", after_time_is_up, ("opencode",)),
         ("settings written oddly", odd_settings, None), ("a server with a login", with_login, None),
         ("another hook", other_hook, ("codex", "gemini", "opencode", "copilot")),
         ("Esc while it runs ahead", broken_off(False), AHEAD), ("killed while it runs ahead", broken_off(True), AHEAD)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eclusa", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--time", type=int, default=120)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", default="", help="checks whose names begin so; with commas between them")
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache"))
    parser.add_argument("agents", nargs="+")
    options = parser.parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    os.makedirs(options.scratch, exist_ok=True)
    bad = False
    for agent in options.agents:
        for name, play, whose in CASES:
            if agent in (whose or (agent,)) and name.startswith(tuple(options.only.split(","))):
                begun = time.monotonic()
                wrong, became = play(agent, options)
                bad |= bool(wrong)
                tell(agent, name, wrong, time.monotonic() - begun, became)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
