#!/usr/bin/env python3
"""Real agents with the hooks that `eclusa install` writes, and a scripted model on loopback.

Started by scripts/agents in a network namespace of its own. For each agent: a command that a rule
denies must not run; with our program gone nothing may run; a command that a rule allows must run, in
our sandbox, and be on record under the agent's name; uninstalling must leave the settings as they
were. Under `eclusa guard` a command must run on a layer that is applied at the end, the model must
get the key, and the agent must not have it; live, our tools must do it, and what the agent does itself
must not. Prints one line for each, and ends with 1 if any is wrong."""
import argparse, json, os, re, shutil, signal, subprocess, sys, tempfile, threading, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL = {"claude-code": ("Bash", "command"), "codex": ("exec_command", "cmd"),
        "gemini": ("run_shell_command", "command"), "opencode": ("bash", "command")}
RULES = """[[rules]]
decision = "deny"
command = "touch denied"
reason = "not in this test"

[[rules]]
decision = "allow"
command = "touch allowed"
"""


def an_id(prefix):
    return prefix + uuid.uuid4().hex[:16]


class Model(BaseHTTPRequestHandler):
    """Answers the first request that offers the tool (a pattern) with one call, everything else with text."""
    protocol_version = "HTTP/1.1"
    pattern, tool, args, got, keys, offered = "", "", {}, [], [], []

    def log_message(self, *_):
        pass

    def read(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")

    def send(self, value, kind="application/json"):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        lines = []
        for name, value in events:
            text = value if isinstance(value, str) else json.dumps(value)
            lines.append(("event: %s\n" % name if name else "") + "data: %s\n\n" % text)
        self.send("".join(lines).encode(), "text/event-stream")

    def do_HEAD(self):
        self.send(b"")

    def do_GET(self):
        self.send({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})

    def do_POST(self):
        names = ("x-api-key", "authorization", "x-goog-api-key")
        Model.keys += [self.headers[it].removeprefix("Bearer ") for it in names if self.headers[it]]
        wanted, path = self.read(), self.path.split("?")[0]
        if path.endswith("count_tokens"):
            self.send({"input_tokens": 1})
        elif path.endswith(":countTokens"):
            self.send({"totalTokens": 1})
        elif path.endswith("/messages"):
            self.messages(wanted)
        elif path.endswith("/responses"):
            self.openai(wanted)
        elif path.endswith("/chat/completions"):
            self.chat(wanted)
        else:
            self.gemini(wanted, "stream" in path)

    def calls(self, offered, results):
        """Whether to call the tool now."""
        if results:
            Model.got += results
        Model.offered = offered or Model.offered
        fitting = [it for it in offered if re.fullmatch(Model.pattern, it)]
        Model.tool = fitting[0] if fitting else ""
        return bool(fitting) and not results

    def messages(self, wanted):
        offered = [it.get("name") for it in wanted.get("tools") or []]
        blocks = [b for m in wanted.get("messages", []) if isinstance(m["content"], list) for b in m["content"]]
        call = self.calls(offered, [b.get("content") for b in blocks if b.get("type") == "tool_result"])
        block = {"type": "tool_use", "id": an_id("toolu_"), "name": self.tool, "input": {}} if call \
            else {"type": "text", "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(self.args)} if call \
            else {"type": "text_delta", "text": "done"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": an_id("msg_"), "type": "message", "role": "assistant", "model": wanted.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        stop = "tool_use" if call else "end_turn"
        if not wanted.get("stream"):
            return self.send(dict(message, content=[{"type": "text", "text": "done"}], stop_reason="end_turn"))
        self.stream([(it["type"], it) for it in (
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"})])

    def openai(self, wanted):
        offered, spaces = [], {}
        for tool in wanted.get("tools") or []:
            for inner in tool.get("tools") or [tool]:
                name = inner.get("name") or inner.get("type")
                if inner is not tool:
                    spaces[tool["name"] + "__" + name] = tool["name"], name
                    name = tool["name"] + "__" + name
                offered.append(name)
        items = wanted.get("input") if isinstance(wanted.get("input"), list) else []
        results = [it.get("output") for it in items if it.get("type") == "function_call_output"]
        if self.calls(offered, results):
            item = {"type": "function_call", "id": an_id("fc_"), "call_id": an_id("call_"), "name": self.tool,
                    "arguments": json.dumps(self.args), "status": "completed"}
            if self.tool in spaces:
                item["namespace"], item["name"] = spaces[self.tool]
        else:
            text = {"type": "output_text", "text": "done", "annotations": []}
            item = {"type": "message", "role": "assistant", "id": an_id("msg_"), "status": "completed",
                    "content": [text]}
        whole = {"id": an_id("resp_"), "object": "response", "status": "completed", "output": [item],
                 "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
        self.stream([(it["type"], it) for it in (
            {"type": "response.created", "response": dict(whole, output=[], status="in_progress")},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole})])

    def chat(self, wanted):
        offered = [it["function"]["name"] for it in wanted.get("tools") or []]
        results = [m.get("content") for m in wanted.get("messages", []) if m.get("role") == "tool"]
        call = self.calls(offered, results)
        function = {"name": self.tool, "arguments": json.dumps(self.args)}
        calls = [{"index": 0, "id": an_id("call_"), "type": "function", "function": function}]
        delta = {"role": "assistant", "tool_calls": calls} if call else {"role": "assistant", "content": "done"}
        base = {"id": an_id("chat-"), "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        end = "tool_calls" if call else "stop"
        chunk = lambda delta, end: dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": end}])
        self.stream([("", chunk(delta, None)), ("", chunk({}, end)), ("", "[DONE]")])

    def gemini(self, wanted, streamed):
        offered = [f["name"] for t in wanted.get("tools") or [] for f in t.get("functionDeclarations") or []]
        parts = [p for c in wanted.get("contents", []) for p in c.get("parts", [])]
        results = [p["functionResponse"] for p in parts if "functionResponse" in p]
        part = {"functionCall": {"name": self.tool, "args": self.args}} if self.calls(offered, results) \
            else {"text": "done"}
        answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
                  "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        self.stream([("", answer)]) if streamed else self.send(answer)


def settings(agent, home, port):
    """What the agent needs to talk to the scripted model, and how it is started."""
    at = "http://127.0.0.1:%d" % port
    env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
           "TMPDIR": os.path.dirname(home) + "/tmp"}
    if agent == "claude-code":
        env.update(ANTHROPIC_BASE_URL=at, ANTHROPIC_API_KEY="scripted", IS_SANDBOX="1",
                   CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1")
        return env, ["-p", "go", "--permission-mode", "bypassPermissions"], {}
    if agent == "codex":
        env.update(SCRIPTED_KEY="x", CODEX_HOME=home + "/.codex")
        config = """model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
supports_websockets = false
""" % at
        # Only its person may trust hooks; this is a test.
        return env, ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"], {".codex/config.toml": config}
    if agent == "gemini":
        env.update(GEMINI_API_KEY="x", GOOGLE_GEMINI_BASE_URL=at, GEMINI_CLI_TRUST_WORKSPACE="true")
        config = {"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
                  "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
        return env, ["-p", "go", "-m", "gemini-2.5-flash", "--approval-mode", "yolo"], {".gemini/settings.json": json.dumps(config)}
    env.update(OPENCODE_DISABLE_AUTOUPDATE="1", OPENCODE_DISABLE_MODELS_FETCH="1")
    config = {"model": "scripted/scripted", "permission": {"*": "allow"}, "autoupdate": False,
              "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted",
                                        "options": {"baseURL": at + "/v1", "apiKey": "x"},
                                        "models": {"scripted": {"name": "scripted", "tool_call": True}}}}}
    return env, ["run", "go"], {".config/opencode/opencode.json": json.dumps(config)}


def program(packages, agent):
    base = os.path.join(packages, agent, "node_modules")
    return {"claude-code": [base + "/.bin/claude"], "codex": [base + "/.bin/codex"],
            "gemini": ["node", base + "/@google/gemini-cli/bundle/gemini.js"],
            "opencode": [base + "/.bin/opencode"]}[agent]


def read_all(root):
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            found[os.path.join(directory, name)] = open(os.path.join(directory, name), "rb").read()
    return found


def play(agent, options, command, missing):
    """One session with one call. Returns whether its file was made, what the model got, and what is wrong."""
    top = tempfile.mkdtemp(prefix="eclusa-agents-", dir=options.scratch)
    home, work, own = top + "/home", top + "/work", top + "/bin"
    for directory in (home, work, own, top + "/tmp"):
        os.makedirs(directory)
    ours = own + "/eclusa"
    shutil.copy(options.eclusa, ours)
    tool, field = TOOL[agent]
    Model.pattern, Model.args, Model.got = tool, {field: command, "description": "a test"}, []
    if agent == "codex":
        del Model.args["description"]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env, args, files = settings(agent, home, server.server_port)
    for name, text in files.items():
        os.makedirs(os.path.dirname(home + "/" + name), exist_ok=True)
        open(home + "/" + name, "w").write(text)
    os.makedirs(home + "/.config/eclusa", exist_ok=True)
    open(home + "/.config/eclusa/eclusa.toml", "w").write(RULES)
    plugin = options.packages + "/opencode-plugin"
    if agent == "opencode":
        # What it would fetch at its first start with a plugin; without a network it looks for it for minutes.
        for name in ("node_modules", "package.json", "package-lock.json"):
            os.symlink(plugin + "/" + name, home + "/.config/opencode/" + name)
    before = read_all(home)
    eclusa = lambda *words: subprocess.run([ours, *words], cwd=work, env=env, capture_output=True, text=True)
    installed = eclusa("install", agent)
    wrong = [] if installed.returncode == 0 else ["install: " + installed.stderr]
    if missing:
        os.remove(ours)
    child = subprocess.Popen(program(options.packages, agent) + args, cwd=work, env=env, stdin=subprocess.DEVNULL,
                             stdout=open(top + "/out", "w"), stderr=open(top + "/err", "w"), start_new_session=True)
    try:
        child.wait(options.time)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        wrong.append("it did not end in %d s" % options.time)
    server.shutdown()
    made = os.path.exists(work + "/" + command.split()[-1])
    if not missing:
        log = [json.loads(it)["body"] for it in eclusa("log", "export").stdout.splitlines()]
        if not any(it.get("client", "").startswith(agent) for it in log):
            wrong.append("no record names the agent")
        if made and not any(it.get("sandbox") for it in log):
            wrong.append("it did not run in the sandbox")
        eclusa("uninstall", agent)
        after = read_all(home)
        # These two the agents write anew themselves: of ours nothing may be left there.
        own = lambda it: it.endswith((".claude.json", "opencode.json")) and b"eclusa" not in after.get(it, b"")
        changed = [it for it in before if after.get(it) != before[it] and not own(it)]
        wrong += ["uninstall left " + it for it in changed]
    if not Model.got and not wrong:
        wrong.append("the model got no result (see %s)" % top)
    got = json.dumps(Model.got)[:200]
    if not wrong and not options.keep:
        shutil.rmtree(top, ignore_errors=True)
    return made, got, wrong


def guard(agent, options, live):
    """One session of an agent that is guarded. Returns whether its file was applied, what the model got, and what is wrong."""
    top = tempfile.mkdtemp(prefix="eclusa-guard-", dir=options.scratch)
    home, work = top + "/home", top + "/work"
    for directory in (home + "/.config/eclusa", work, top + "/tmp"):
        os.makedirs(directory)
    tool, field = TOOL[agent]
    command = "env > seen; touch guarded"
    Model.pattern, Model.args, Model.got, Model.keys = tool, {field: command, "description": "a test"}, [], []
    if agent == "codex":
        del Model.args["description"]
    if live:
        Model.pattern, Model.args = r"(?i)(mcp_+)?(eclusa_+)?bash", {"command": command}
        if agent in ("claude-code", "opencode"):
            Model.pattern = r"(mcp__)?eclusa_+bash"
        open(home + "/.config/eclusa/eclusa.toml", "w").write('mode = "auto-approve"\n')
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = "http://127.0.0.1:%d" % server.server_port
    words = {"claude-code": ["claude", "-p", "go"], "codex": ["codex", "exec", "--skip-git-repo-check", "-m", "scripted", "go"],
             "gemini": ["gemini", "-p", "go", "-m", "gemini-2.5-flash"],
             "opencode": ["opencode", "run", "-m", "anthropic/claude-sonnet-4-5", "go"]}[agent]
    key = an_id("a-real-key-")
    env = {"HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
           "PATH": os.path.join(options.packages, agent, "node_modules/.bin") + ":" + os.environ["PATH"],
           "ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": key, "GEMINI_API_KEY": key, "ANTHROPIC_BASE_URL": at,
           "OPENAI_BASE_URL": at + "/v1", "GOOGLE_GEMINI_BASE_URL": at}
    wrong = []
    try:
        ran = subprocess.run([options.eclusa, "guard", "--live" if live else "--apply", "--", *words], cwd=work, env=env, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=options.time * 3)
        if ran.returncode:
            wrong.append("exit %d: %s" % (ran.returncode, (ran.stdout + ran.stderr)[-600:]))
    except subprocess.TimeoutExpired:
        wrong.append("it did not end")
    server.shutdown()
    made = os.path.exists(work + "/guarded")
    if set(Model.keys) != {key}:
        wrong.append("the model got %s" % sorted(set(Model.keys)))
    seen = open(work + "/seen").read() if made else ""
    if key in seen:
        wrong.append("the agent has the key")
    if live and ("ECLUSA_GUARD_TOKEN" in seen or not made):
        wrong.append("it was not run by us; offered: %s" % ", ".join(sorted(Model.offered))[:600])
    own = {"claude-code": "Bash", "codex": "exec_command", "gemini": "run_shell_command", "opencode": "bash"}[agent]
    if live and own in Model.offered:
        wrong.append("its own %s is still there" % own)
    if not wrong and not options.keep:
        shutil.rmtree(top, ignore_errors=True)
    return made, json.dumps(Model.got)[:200], wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eclusa", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--time", type=int, default=120)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache"))
    parser.add_argument("agents", nargs="+")
    options = parser.parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    os.makedirs(options.scratch, exist_ok=True)
    bad = 0
    cases = [("denied by a rule", "touch denied", False, False), ("program missing", "touch allowed", True, False),
             ("allowed", "touch allowed", False, True)]
    for agent in options.agents:
        guarded = [("guarded, staged", None, False, True), ("guarded, live", None, False, True)]
        for name, command, missing, expected in [*cases, *guarded]:
            if command is None:
                made, got, wrong = guard(agent, options, name.endswith("live"))
            else:
                made, got, wrong = play(agent, options, command, missing)
            ok = made == expected and not wrong
            bad += not ok
            print("%-4s %-12s %-17s %s%s" % ("ok" if ok else "BAD", agent, name, "ran" if made else "blocked",
                                              "" if ok else "  " + "; ".join(wrong) + "  " + got), flush=True)
    sys.exit(1 if bad else 0)


main()
