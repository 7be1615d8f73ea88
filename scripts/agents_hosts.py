#!/usr/bin/env python3
"""Real agents that are hosted by another program: an editor that speaks their own protocol, or the Agent Client
Protocol through `eclusa acp`, and our server at an address.

Started by scripts/agents in namespaces of its own, with a scripted model. A question must reach whoever hosts the
agent, a yes must count once and a no must hold, and what a rule denies must not run. Prints one line for each check,
and ends with 1 if any is wrong."""
import argparse, json, os, queue, subprocess, sys, threading, time

from agents_calls import RULES, Calling, expect
from agents_day import end_all
from agents_model import program
from agents_steps import MAIN
from agents_table import tell

ASKS = """[[rules]]
decision = "ask"
command = "touch asked"

[[rules]]
decision = "deny"
command = "touch denied"
reason = "not in this test"

[[rules]]
decision = "allow"
command = "touch allowed"
"""
TOKEN = "a-token-of-more-than-sixteen"


class Lines:
    """A program that speaks JSON, one message on each line."""

    def __init__(self, words, session):
        self.err = open(session.top + "/host.err", "w")
        self.child = subprocess.Popen(words, cwd=session.work, env=session.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.err, text=True, bufsize=1, start_new_session=True)
        self.came, self.log = queue.Queue(), open(session.top + "/host.log", "w")
        self.end, self.count = time.monotonic() + session.options.time, 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            self.log.write("< " + line)
            self.log.flush()
            try:
                self.came.put(json.loads(line))
            except ValueError:
                pass
        self.came.put(None)

    def send(self, message):
        self.log.write("> " + json.dumps(message) + "\n")
        try:
            self.child.stdin.write(json.dumps(message) + "\n")
            self.child.stdin.flush()
        except OSError:
            self.came.put(None)

    def next(self):
        """The next message; nothing where none comes any more."""
        try:
            return self.came.get(timeout=max(0.1, self.end - time.monotonic()))
        except queue.Empty:
            return None

    def ask(self, method, params, serve, version=None):
        """A request, and its answer; meanwhile what the other side asks is served."""
        self.count += 1
        named = {"jsonrpc": version} if version else {}
        self.send({**named, "id": self.count, "method": method, "params": params})
        while (message := self.next()) is not None:
            if message.get("id") == self.count and "method" not in message:
                return message.get("result", {"error": message.get("error")})
            serve(message)
        return None

    def close(self):
        try:
            self.child.stdin.close()
            self.child.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self.child.kill()


def claude_host(session, yes):
    """What the Agent SDK does. Returns what it was asked."""
    words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"]
    lines, asked = Lines(program(session.options.packages, "claude-code") + words, session), []
    lines.send({"type": "control_request", "request_id": "init", "request": {"subtype": "initialize", "hooks": None}})
    lines.send({"type": "user", "message": {"role": "user", "content": MAIN}, "session_id": "", "parent_tool_use_id": None})
    while (message := lines.next()) is not None and message.get("type") != "result":
        if message.get("type") != "control_request":
            continue
        wanted, answer = message["request"], {}
        if wanted.get("subtype") == "can_use_tool":
            asked.append(wanted)
            answer = {"behavior": "allow", "updatedInput": wanted["input"]} if yes else {"behavior": "deny", "message": "a no"}
        elif wanted.get("subtype") == "elicitation":
            asked.append(wanted)
            answer = {"action": "accept", "content": filled(wanted)} if yes else {"action": "decline"}
        lines.send({"type": "control_response", "response": {"subtype": "success", "request_id": message["request_id"], "response": answer}})
    lines.close()
    return asked


def filled(form):
    """A form with a yes in it: the first of what it offers."""
    text = json.dumps(form)
    schema = form.get("requested_schema") or form.get("requestedSchema") or form.get("schema") or {}
    content = {}
    for name, field in (schema.get("properties") or {}).items():
        choices = field.get("enum") or [it.get("const") for it in field.get("oneOf") or []]
        if choices:
            content[name] = next((it for it in choices if it in ("yes", "once", "allow")), choices[0])
        elif field.get("type") == "boolean":
            content[name] = True
    return content if text else {}


def codex_host(session, yes):
    """What its own extension of editors does. Returns what it was asked."""
    lines, asked = Lines(program(session.options.packages, "codex") + ["app-server"], session), []
    over = []

    def serve(message):
        method = message.get("method", "")
        over.append(method) if method == "turn/completed" else None
        if "id" not in message or not method:
            return
        if method == "mcpServer/elicitation/request":
            asked.append(message["params"])
            result = {"action": "accept", "content": filled(message["params"])} if yes else {"action": "decline", "content": None}
        elif method.endswith("requestApproval"):
            asked.append(message["params"])
            result = {"decision": "accept" if yes else "decline"}
        else:
            return lines.send({"id": message["id"], "error": {"code": -32601, "message": "not here"}})
        lines.send({"id": message["id"], "result": result})
    lines.ask("initialize", {"clientInfo": {"name": "editor", "title": "editor", "version": "1"}}, serve)
    lines.send({"method": "initialized"})
    began = lines.ask("thread/start", {"cwd": session.work, "approvalPolicy": "on-request", "sandbox": "danger-full-access",
                                       "config": {"bypass_hook_trust": True}}, serve) or {}
    lines.ask("turn/start", {"threadId": began.get("thread", {}).get("id"), "input": [{"type": "text", "text": MAIN}]}, serve)
    while not over and (message := lines.next()) is not None:
        serve(message)
    lines.close()
    return asked


def question(form, yes):
    """Something that a rule asks about, of our own tool (by a form) or of the agent's."""
    def play(agent, options):
        def steps(_, it):
            call = it.of("eclusa", "bash", {"command": "touch asked"}) if form else it.shell("touch asked")
            return [("asked", call)]
        session = Calling(agent, options, steps, ASKS)
        if agent == "codex":
            path = session.home + "/.codex/config.toml"
            text = open(path).read().replace('"never"', '"on-request"')
            open(path, "w").write(text)
        asked = {"claude-code": claude_host, "codex": codex_host}[agent](session, yes)
        if len(asked) != 1:
            session.wrong.append("asked %d times: %s" % (len(asked), json.dumps(asked)[:600]))
        if session.has("asked") != yes:
            session.wrong.append("it ran" if not yes else "the yes counted for nothing: " + session.told("asked")[:400])
        return session.close()
    return play


def in_an_editor(agent, options):
    """Between an editor and the agent, which are both of the Agent Client Protocol."""
    steps = lambda _, it: [("allowed", it.shell("touch allowed")), ("denied", it.shell("touch denied"))]
    session = Calling(agent, options, steps, ASKS)
    session.eclusa("uninstall", agent)
    words = {"gemini": ["--acp", "-m", "gemini-2.5-flash"], "opencode": ["acp"], "copilot": ["--acp"]}[agent]
    if agent == "opencode":
        # It asks its editor only where its own settings say so.
        config = json.load(open(session.home + "/.config/opencode/opencode.json"))
        config["permission"] = {"*": "ask"}
        session.write("home/.config/opencode/opencode.json", json.dumps(config))
    lines, asked = Lines([session.top + "/bin/eclusa", "acp", "--", *program(options.packages, agent), *words], session), []

    def serve(message):
        method = message.get("method", "")
        if "id" not in message or not method:
            return
        if method == "session/request_permission":
            asked.append(message["params"])
            yes = [it["optionId"] for it in message["params"]["options"] if it["kind"] == "allow_once"]
            outcome = {"outcome": "selected", "optionId": yes[0]} if yes else {"outcome": "cancelled"}
            lines.send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})
        else:
            lines.send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "not here"}})
    ask = lambda method, params: lines.ask(method, params, serve, "2.0") or {}
    ask("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}})
    began = ask("session/new", {"cwd": session.work, "mcpServers": []})
    if "sessionId" not in began:
        session.wrong.append("no session: %s" % json.dumps(began)[:400])
    else:
        ask("session/prompt", {"sessionId": began["sessionId"], "prompt": [{"type": "text", "text": MAIN}]})
    lines.close()
    if session.talk.waiting and session.talk.steps[session.talk.at][0] == "denied":
        # After a no this turn is over for some, and the model is not told before the next.
        session.talk.told["denied"] = "a no"
    if session.has("denied"):
        session.wrong.append("what a rule denies was run")
    if any("touch denied" in json.dumps(it) for it in asked):
        session.wrong.append("the editor was asked about what a rule denies")
    if not session.has("allowed"):
        session.wrong.append("what is allowed was not run: " + session.told("allowed")[:400])
    return session.close()


def at_an_address(agent, options):
    """Our server at an address of the loopback, with a token."""
    steps = lambda _, it: [("make", it.of("eclusa", "bash", {"command": "touch made; echo made"})), ("denied", it.of("eclusa", "bash", {"command": "touch denied"}))]
    session = Calling(agent, options, steps, RULES)
    session.eclusa("uninstall", agent)
    env = {**session.env, "ECLUSA_TOKEN": TOKEN}
    at = "127.0.0.1:%d" % (session.port + 1)
    served = subprocess.Popen([session.top + "/bin/eclusa", "up", "--listen", at], cwd=session.work, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    served.stdout.readline()
    url, head = "http://%s/mcp" % at, {"Authorization": "Bearer " + TOKEN}

    def add(name, key, value):
        path = session.home + "/" + name
        config = json.load(open(path)) if os.path.exists(path) else {}
        config[key] = value
        session.write("home/" + name, json.dumps(config))
    if agent == "claude-code":
        session.env["ENABLE_TOOL_SEARCH"] = "false"
        add(".claude.json", "mcpServers", {"eclusa": {"type": "http", "url": url, "headers": head}})
    elif agent == "codex":
        session.env["ECLUSA_TOKEN"] = TOKEN
        with open(session.home + "/.codex/config.toml", "a") as file:
            file.write('\n[mcp_servers.eclusa]\nurl = "%s"\nbearer_token_env_var = "ECLUSA_TOKEN"\nrequired = true\n'
                       'default_tools_approval_mode = "approve"\n' % url)
    elif agent == "gemini":
        add(".gemini/settings.json", "mcpServers", {"eclusa": {"httpUrl": url, "headers": head, "trust": True}})
    elif agent == "opencode":
        add(".config/opencode/opencode.json", "mcp", {"eclusa": {"type": "remote", "url": url, "headers": head, "enabled": True}})
    else:
        add(".copilot/mcp-config.json", "mcpServers", {"eclusa": {"type": "http", "url": url, "headers": head, "tools": ["*"]}})
    session.run()
    served.kill()
    expect(session, {"make": ("made", None), "denied": ("not in this test", None)})
    if session.has("denied") or not session.has("made"):
        session.wrong.append("made: %s, denied: %s" % (session.has("made"), session.has("denied")))
    return session.close()


HOSTS, EDITED = ("claude-code", "codex"), ("gemini", "opencode", "copilot")
CASES = [("a form, yes", question(True, True), HOSTS), ("a form, no", question(True, False), HOSTS),
         ("hosted, yes", question(False, True), ("claude-code",)), ("hosted, no", question(False, False), ("claude-code",)),
         ("acp", in_an_editor, EDITED), ("at an address", at_an_address, None)]


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
                wrong = play(agent, options)
                end_all()
                bad |= bool(wrong)
                tell(agent, name, wrong, time.monotonic() - begun)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
