"""An agent in an editor, and a guarded one: scripts that do what an agent should not."""
from world import *

AGENT = r'''#!/usr/bin/env python3
import json, sys
def send(**message):
    print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    params, method = message.get("params", {}), message.get("method")
    if method == "initialize":
        send(id=message["id"], result={"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "7"}})
    elif method in ("session/new", "session/fork", "session/load", "session/resume"):
        send(id=message["id"], result={"sessionId": params.get("sessionId", "s1")})
        send(method="_servers", params=params.get("mcpServers"))
    elif method in ("session/set_mode", "session/set_config_option"):
        send(method="_mode", params=params)
    elif method == "session/prompt":
        for wanted in json.loads(params["prompt"][0]["text"]):
            sys.stdout.buffer.write((wanted if isinstance(wanted, str) else json.dumps(wanted)).encode("latin1" if isinstance(wanted, str) else "utf8") + b"\n")
            sys.stdout.buffer.flush()
    elif method is None:
        send(method="_answer", params=message)
'''
OPTIONS = [{"optionId": "forever", "name": "Always", "kind": "allow_always"}, {"optionId": "go", "name": "Yes", "kind": "allow_once"}, {"optionId": "stop", "name": "No", "kind": "reject_once"}]


class Editor(Lines):
    """An editor that does what an agent asks it for, and says yes only where it is told to."""

    def __init__(self, world, words=(), env=None, servers=(), cwd=None):
        agent = world.write("home/agent", AGENT, 0o755)
        self.world = world
        process = world.start(["acp", *words, "--", agent], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        super().__init__(process)
        self.send(id=0, method="initialize", params={"protocolVersion": 1})
        control((self.until(lambda it: it.get("id") == 0) or {}).get("result"), "the agent is greeted")
        self.send(id=1, method="session/new", params={"cwd": cwd or world.ws, "mcpServers": list(servers)})
        control((self.until(lambda it: it.get("id") == 1) or {}).get("result"), "a session is opened")
        self.servers = (self.until(lambda it: it.get("method") == "_servers") or {}).get("params")

    def agent_sends(self, *messages):
        self.send(id=2, method="session/prompt", params={"sessionId": "s1", "prompt": [{"type": "text", "text": json.dumps(messages)}]})

    def asks(self, method, yes=False, id="a", wait=20, **params):
        """What comes of a request of the agent: (what reached the editor, the answer that the agent got)."""
        self.agent_sends({"jsonrpc": "2.0", "id": id, "method": method, "params": {"sessionId": "s1", **params}})
        return self.settled(yes, id, wait)

    def settled(self, yes=False, id="a", wait=20):
        reached = []
        while True:
            told = self.next(wait)
            if told is None:
                return reached, None
            if told.get("method") == "_answer" and told["params"].get("id") == id:
                return reached, told["params"]
            if "method" in told and "id" in told:
                reached.append(told)
                if told["method"] == "session/request_permission":
                    self.answer(told["id"], yes)
                else:
                    self.send(id=told["id"], result={"content": "it-was-done", "terminalId": "t"})

    def answer(self, id, yes):
        outcome = {"outcome": "selected", "optionId": "eclusa-allow" if yes else "eclusa-reject"}
        self.send(id=id, result={"outcome": outcome})

    def permission(self, yes=False, options=OPTIONS, **call):
        """Whether the agent may: True, False, and what the person was asked."""
        reached, answer = self.asks("session/request_permission", yes, toolCall={"toolCallId": "t1", "title": "x", **call}, options=options)
        outcome = ((answer or {}).get("result") or {}).get("outcome") or {}
        return outcome.get("optionId") in ("go", "forever"), [it for it in reached if it["method"] == "session/request_permission"], outcome


def reaches(reached, method):
    return [it for it in reached if it.get("method") == method]


GUARDED = r'''#!/usr/bin/env python3
import json, os, sys, urllib.request, urllib.error, socket
HOME = os.environ.get("CLAUDE_CONFIG_DIR", "")
TOKEN = os.environ.get("ECLUSA_GUARD_TOKEN", "")
BASE = os.environ.get("ANTHROPIC_BASE_URL", "")
def get(url, data=None, headers={}, method=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=15) as it:
            return it.status, it.read().decode(errors="replace")
    except urllib.error.HTTPError as err:
        return err.code, err.read().decode(errors="replace")
    except Exception as err:
        return 0, type(err).__name__
session = None
def rpc(method, params, token=TOKEN):
    global session
    server = json.load(open(HOME + "/eclusa-mcp.json"))["mcpServers"]["eclusa"]
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", "authorization": "Bearer " + token}
    if session:
        headers.update({"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"})
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications/"):
        message["id"] = 1
    with urllib.request.urlopen(urllib.request.Request(server["url"], json.dumps(message).encode(), headers), timeout=60) as answer:
        session = session or answer.headers.get("mcp-session-id")
        for line in answer:
            line = line.decode().strip().removeprefix("data:").strip()
            if line.startswith("{"):
                value = json.loads(line)
                if "id" in value and "method" not in value:
                    return value
def begin():
    rpc("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "claude-code", "version": "1"}})
    rpc("notifications/initialized", {})
def call(tool, **args):
    answer = rpc("tools/call", {"name": tool, "arguments": args})
    result = answer.get("result") or {}
    return " ".join(it.get("text", "") for it in result.get("content", [])) or json.dumps(answer)
def tries(what, does):
    try:
        got = does()
        print("DID", what, got)
    except BaseException as err:
        print("not", what, type(err).__name__, err)
'''


class Model:
    """A model's service on loopback that keeps every request, and answers `pong`."""

    def __init__(self, answer=b"pong", head="200 OK", more=""):
        self.listener, self.heard = socket.create_server(("127.0.0.1", 0)), []
        self.port, self.answer, self.head, self.more = self.listener.getsockname()[1], answer, head, more
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            stream, _ = self.listener.accept()
            threading.Thread(target=self._one, args=(stream,), daemon=True).start()

    def _one(self, stream):
        stream.settimeout(20)
        data = b""
        try:
            while b"\r\n\r\n" not in data:
                chunk = stream.recv(65536)
                if not chunk:
                    return
                data += chunk
            self.heard.append(data.decode(errors="replace"))
            stream.sendall(f"HTTP/1.1 {self.head}\r\ncontent-length: {len(self.answer)}\r\nconnection: close\r\n{self.more}\r\n".encode() + self.answer)
            stream.close()
        except OSError:
            pass


KEY = "the-real-key-of-a-person"


def guard(world, agent, options=("--apply",), words=("claude", "-p", "go"), model=None, env=None, path="", wait=LONG):
    """Runs a scripted agent in the place of `claude`, guarded."""
    world.write("home/bin/claude", GUARDED + agent, 0o755)
    model = model or Model()
    env = {"PATH": f"{world.path('home/bin')}:{world.env['PATH']}", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}{path}", "ANTHROPIC_API_KEY": KEY, **(env or {})}
    ran = world.run("guard", *options, "--", *words, env=env, wait=wait)
    ran.model = model
    return ran


def did(ran):
    return [it for it in ran.out.splitlines() if it.startswith("DID")]


class Person:
    """A person at a terminal, in front of a guarded agent."""

    def __init__(self, world, agent, rows=30, columns=100):
        import fcntl, struct, termios
        world.write("home/bin/claude", agent, 0o755)
        self.model = Model()
        env = {**world.env, "PATH": f"{world.path('home/bin')}:{world.env['PATH']}", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.model.port}", "ANTHROPIC_API_KEY": KEY, "NO_COLOR": "1"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(world.ws)
            os.execve(PROGRAM, [PROGRAM, "guard", "--", "claude"], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wait):
        """Everything that comes within so many seconds."""
        end, got = time.monotonic() + wait, b""
        while (left := end - time.monotonic()) > 0 and select.select([self.fd], [], [], left)[0]:
            try:
                got += os.read(self.fd, 65536)
            except OSError:
                break
        return got

    def until(self, text, wait=LONG):
        end, got = time.monotonic() + wait, b""
        while text not in got and (left := end - time.monotonic()) > 0 and select.select([self.fd], [], [], left)[0]:
            try:
                got += os.read(self.fd, 65536)
            except OSError:
                break
        return got

    def type(self, keys):
        os.write(self.fd, keys)

    def end(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)
        except OSError:
            pass
