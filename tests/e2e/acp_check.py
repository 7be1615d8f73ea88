#!/usr/bin/env python3
"""`eclusa acp` with the official SDK of the protocol at both ends: an editor that does what it is
asked, and an agent that asks for files, a command and a permission. Prints one line for each check,
and ends with 1 if any is wrong. `--time` measures how long a message takes to pass, with two plain
programs."""
import argparse, asyncio, json, os, shutil, subprocess, sys, tempfile, time

CONFIG = """[[rules]]
decision = "allow"
tool = ["write", "undo"]
path = "**"

[[rules]]
decision = "allow"
command = "echo"
"""

ECHO = r"""
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


def agent_program():
    """The agent: what each request of it came to is told in the answer to the prompt."""
    import acp
    from acp import schema

    class Agent(acp.Agent):
        def on_connect(self, conn):
            self.conn = conn

        async def initialize(self, protocol_version, **_):
            return acp.InitializeResponse(protocol_version=1, agent_info=schema.Implementation(name="sdk-agent", version="1"))

        async def new_session(self, cwd, **_):
            self.cwd = cwd
            return acp.NewSessionResponse(session_id="s")

        async def tried(self, what):
            try:
                return str(await what)
            except Exception as err:
                return "error: %s" % err

        async def prompt(self, prompt, session_id, **_):
            at, told = lambda name: os.path.join(self.cwd, name), {}
            told["read"] = await self.tried(self.conn.read_text_file(session_id=session_id, path=at("a.txt")))
            told["secret"] = await self.tried(self.conn.read_text_file(session_id=session_id, path=at(".env")))
            told["write"] = await self.tried(self.conn.write_text_file(session_id=session_id, path=at("a.txt"), content="two\n"))
            made = await self.conn.create_terminal(session_id=session_id, command="echo", args=["hello"])
            await self.conn.wait_for_terminal_exit(session_id=session_id, terminal_id=made.terminal_id)
            told["terminal"] = (await self.conn.terminal_output(session_id=session_id, terminal_id=made.terminal_id)).output
            told["catastrophe"] = await self.tried(self.conn.create_terminal(session_id=session_id, command="rm", args=["-rf", "/"]))
            options = [schema.PermissionOption(option_id=it, name=it, kind=it) for it in ("allow_always", "allow_once", "reject_once")]
            for name, command in (("denied", "rm -rf /"), ("asked", "npm publish"), ("free", "echo hi")):
                call = schema.ToolCallUpdate(tool_call_id=name, title="harmless", kind="execute", raw_input={"command": command})
                told[name] = await self.tried(self.conn.request_permission(session_id=session_id, tool_call=call, options=options))
            await self.conn.session_update(session_id=session_id, update=acp.update_agent_message_text(json.dumps(told)))
            return acp.PromptResponse(stop_reason="end_turn")

    asyncio.run(acp.run_agent(Agent()))


async def session(command, work, env, uid):
    """One session of an editor. Returns what the agent was told and what the person was asked."""
    import acp
    from acp import schema

    class Editor(acp.Client):
        def __init__(self):
            self.told, self.asked, self.terminals = {}, [], {}

        async def request_permission(self, session_id, tool_call, options, **_):
            self.asked.append(tool_call.title)
            yes = next(it for it in options if it.kind == "allow_once")
            return acp.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=yes.option_id))

        async def session_update(self, session_id, update, **_):
            if getattr(update, "session_update", "") == "agent_message_chunk":
                self.told = json.loads(update.content.text)

        async def read_text_file(self, session_id, path, **_):
            return acp.ReadTextFileResponse(content=open(path).read())

        async def write_text_file(self, session_id, path, content, **_):
            open(path, "w").write(content)

        async def create_terminal(self, session_id, command, args=None, env=None, cwd=None, **_):
            child = await asyncio.create_subprocess_exec(
                command, *(args or []), cwd=cwd or work, env=environment, user=uid, group=uid,
                extra_groups=None if uid is None else [], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.terminals["t"] = child, await child.stdout.read()
            return acp.CreateTerminalResponse(terminal_id="t")

        async def wait_for_terminal_exit(self, session_id, terminal_id, **_):
            return acp.WaitForTerminalExitResponse(exit_code=await self.terminals[terminal_id][0].wait())

        async def terminal_output(self, session_id, terminal_id, **_):
            return acp.TerminalOutputResponse(output=self.terminals[terminal_id][1].decode(), truncated=False)

        async def release_terminal(self, session_id, terminal_id, **_):
            return None

        async def kill_terminal(self, session_id, terminal_id, **_):
            return None

    environment = env
    editor = Editor()
    child = await asyncio.create_subprocess_exec(
        *command, cwd=work, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        user=uid, group=uid, extra_groups=None if uid is None else [])
    conn = acp.connect_to_agent(editor, child.stdin, child.stdout)
    capabilities = schema.ClientCapabilities(fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True)
    about = await conn.initialize(protocol_version=1, client_capabilities=capabilities)
    made = await conn.new_session(cwd=work, mcp_servers=[])
    await conn.prompt(session_id=made.session_id, prompt=[acp.text_block("go")])
    await conn.close()
    child.stdin.close()
    await child.wait()
    return about, editor


def check(eclusa, uid):
    top = tempfile.mkdtemp(prefix="eclusa-acp-")
    home, work = top + "/home", top + "/work"
    os.makedirs(home + "/.config/eclusa")
    os.makedirs(work)
    open(home + "/.config/eclusa/eclusa.toml", "w").write(CONFIG)
    open(work + "/a.txt", "w").write("one\n")
    open(work + "/.env", "w").write("KEY=1\n")
    ours = shutil.copy(eclusa, top + "/eclusa")
    script = shutil.copy(os.path.abspath(__file__), top + "/agent.py")
    packages = [it for it in sys.path if it.endswith("site-packages")]
    os.chmod(top, 0o755)
    if uid is not None:
        # The person's own are not for others to read.
        packages = [shutil.copytree(it, "%s/packages%d" % (top, at)) for at, it in enumerate(packages)]
    if uid is not None:
        for directory, _, names in os.walk(top):
            for name in [directory] + [os.path.join(directory, it) for it in names]:
                os.chown(name, uid, uid)
    env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "USER": "editor",
           "PYTHONPATH": os.pathsep.join(packages)}
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    command = [ours, "acp", "--", python, script, "--as-agent"]
    about, editor = asyncio.run(asyncio.wait_for(session(command, work, env, uid), 120))
    log = subprocess.run([ours, "log", "export"], cwd=work, env=env, user=uid, group=uid, capture_output=True, text=True)
    records = [json.loads(it)["body"] for it in log.stdout.splitlines()]
    told = editor.told
    wanted = [
        ("the agent's name comes through", about.agent_info.name == "sdk-agent"),
        ("a file is read by the editor", "one" in told.get("read", "")),
        ("a secret is not", told.get("secret", "").startswith("error") and "KEY" not in told["secret"]),
        ("a file is written by the editor", open(work + "/a.txt").read() == "two\n"),
        ("a command runs in the sandbox", "hello" in told.get("terminal", "") and any(it.get("sandbox") for it in records)),
        ("a catastrophe does not", told.get("catastrophe", "").startswith("error")),
        ("a denied permission is rejected", "reject_once" in told.get("denied", "")),
        ("a question is put to the person", len(editor.asked) == 1 and "npm publish" in editor.asked[0]),
        ("their yes is a yes, once", "allow_once" in told.get("asked", "")),
        ("what rules allow is not asked about", "allow_once" in told.get("free", "")),
        ("records name the agent", any(it.get("client") == "sdk-agent 1" for it in records)),
    ]
    who = "root" if os.getuid() == 0 and uid is None else "an ordinary user"
    for name, ok in wanted:
        print("%-4s %-17s %s" % ("ok" if ok else "BAD", who, name), flush=True)
    bad = [name for name, ok in wanted if not ok]
    if bad:
        print(json.dumps(told, indent=1), editor.asked, log.stderr, file=sys.stderr)
    shutil.rmtree(top, ignore_errors=True)
    return len(bad)


def passing(command, rounds):
    """Medians of the time that a message takes to come back, in microseconds."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    text = "x" * 200
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}}).encode() + b"\n"
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        child.stdin.write(line)
        child.stdin.flush()
        if child.stdout.readline() != line:
            sys.exit("the message came back changed")
        took.append(time.perf_counter() - began)
    child.stdin.close()
    child.wait()
    took = sorted(took[rounds // 10:])
    return [took[int(len(took) * it)] * 1e6 for it in (0.5, 0.99)]


def timed(eclusa):
    echo = [sys.executable, "-c", ECHO]
    plain, through = passing(echo, 5000), passing([eclusa, "acp", "--", *echo], 5000)
    # A message goes through the proxy twice on its way there and back.
    print("echo alone           p50 %6.0f us  p99 %6.0f us" % tuple(plain))
    print("through eclusa acp   p50 %6.0f us  p99 %6.0f us" % tuple(through))
    print("one pass             p50 %6.0f us" % ((through[0] - plain[0]) / 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eclusa")
    parser.add_argument("--as-agent", action="store_true")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.as_agent:
        return agent_program()
    if options.time:
        return timed(options.eclusa)
    bad = check(options.eclusa, None)
    if os.getuid() == 0:
        bad += check(options.eclusa, 65534)
    timed(options.eclusa)
    sys.exit(1 if bad else 0)


main()
