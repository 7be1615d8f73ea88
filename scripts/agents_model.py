"""A scripted model on loopback, as Anthropic, OpenAI (both ways) and Google speak, and how an agent is told
of it. Used by agents.py."""
import json, os, re, uuid
from http.server import BaseHTTPRequestHandler


def an_id(prefix):
    return prefix + uuid.uuid4().hex[:16]


class Model(BaseHTTPRequestHandler):
    """Answers the first request that offers the tool (a pattern) with one call, everything else with text."""
    protocol_version = "HTTP/1.1"
    pattern, tool, args, got, keys, offered, seen = "", "", {}, [], [], [], []
    # More than one call at once: tools and arguments.
    several = ()

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
        # Some agents send a picture beside the result and not in it.
        Model.seen = [wanted]
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

    def made(self):
        """The calls to make now."""
        return self.several or [(self.tool, self.args)]

    def messages(self, wanted):
        offered = [it.get("name") for it in wanted.get("tools") or []]
        blocks = [b for m in wanted.get("messages", []) if isinstance(m["content"], list) for b in m["content"]]
        call = self.calls(offered, [b.get("content") for b in blocks if b.get("type") == "tool_result"])
        blocks = [({"type": "tool_use", "id": an_id("toolu_"), "name": tool, "input": {}},
                   {"type": "input_json_delta", "partial_json": json.dumps(args)}) for tool, args in self.made()] if call \
            else [({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})]
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": an_id("msg_"), "type": "message", "role": "assistant", "model": wanted.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        stop = "tool_use" if call else "end_turn"
        if not wanted.get("stream"):
            return self.send(dict(message, content=[{"type": "text", "text": "done"}], stop_reason="end_turn"))
        inner = [it for at, (block, delta) in enumerate(blocks) for it in (
            {"type": "content_block_start", "index": at, "content_block": block},
            {"type": "content_block_delta", "index": at, "delta": delta},
            {"type": "content_block_stop", "index": at})]
        self.stream([(it["type"], it) for it in (
            {"type": "message_start", "message": message}, *inner,
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"})])

    def openai(self, wanted):
        offered, spaces, texts = [], {}, set()
        for tool in wanted.get("tools") or []:
            for inner in tool.get("tools") or [tool]:
                name = inner.get("name") or inner.get("type")
                if inner is not tool:
                    spaces[tool["name"] + "__" + name] = tool["name"], name
                    name = tool["name"] + "__" + name
                offered.append(name)
                texts |= {name} if inner.get("type") == "custom" else set()
        items = wanted.get("input") if isinstance(wanted.get("input"), list) else []
        results = [it.get("output") for it in items if it.get("type") in ("function_call_output", "custom_tool_call_output")]
        def item(tool, args):
            one = {"type": "function_call", "id": an_id("fc_"), "call_id": an_id("call_"), "name": tool,
                   "arguments": json.dumps(args), "status": "completed"}
            if tool in texts:
                one = {"type": "custom_tool_call", "id": an_id("ctc_"), "call_id": an_id("call_"), "name": tool,
                       "input": args, "status": "completed"}
            if tool in spaces:
                one["namespace"], one["name"] = spaces[tool]
            return one
        if self.calls(offered, results):
            items = [item(*it) for it in self.made()]
        else:
            text = {"type": "output_text", "text": "done", "annotations": []}
            items = [{"type": "message", "role": "assistant", "id": an_id("msg_"), "status": "completed",
                      "content": [text]}]
        whole = {"id": an_id("resp_"), "object": "response", "status": "completed", "output": items,
                 "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
        inner = [{"type": "response.output_item." + what, "output_index": at, "item": it}
                 for at, it in enumerate(items) for what in ("added", "done")]
        self.stream([(it["type"], it) for it in (
            {"type": "response.created", "response": dict(whole, output=[], status="in_progress")}, *inner,
            {"type": "response.completed", "response": whole})])

    def chat(self, wanted):
        offered = [it["function"]["name"] for it in wanted.get("tools") or []]
        results = [m.get("content") for m in wanted.get("messages", []) if m.get("role") == "tool"]
        call = self.calls(offered, results)
        calls = [{"index": at, "id": an_id("call_"), "type": "function",
                  "function": {"name": tool, "arguments": json.dumps(args)}} for at, (tool, args) in enumerate(self.made())]
        delta = {"role": "assistant", "tool_calls": calls} if call else {"role": "assistant", "content": "done"}
        base = {"id": an_id("chat-"), "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        end = "tool_calls" if call else "stop"
        chunk = lambda delta, end: dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": end}])
        self.stream([("", chunk(delta, None)), ("", chunk({}, end)), ("", "[DONE]")])

    def gemini(self, wanted, streamed):
        offered = [f["name"] for t in wanted.get("tools") or [] for f in t.get("functionDeclarations") or []]
        parts = [p for c in wanted.get("contents", []) for p in c.get("parts", [])]
        results = [p["functionResponse"] for p in parts if "functionResponse" in p]
        called = self.calls(offered, results)
        parts = [{"functionCall": {"name": tool, "args": args}} for tool, args in self.made()] if called else [{"text": "done"}]
        answer = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
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
    if agent == "copilot":
        env.update(COPILOT_PROVIDER_BASE_URL=at + "/v1", COPILOT_PROVIDER_API_KEY="x", COPILOT_MODEL="gpt-4.1",
                   COPILOT_OFFLINE="true", COPILOT_AUTO_UPDATE="false")
        return env, ["-p", "go", "--allow-all-tools"], {}
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
            "opencode": [base + "/.bin/opencode"], "copilot": [base + "/.bin/copilot"]}[agent]
