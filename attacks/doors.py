"""The other side of each door: an editor, a browser, a client, a guarded agent, a machine that is managed."""
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


class Page:
    """The approvals page, and browsers in front of it."""

    def __init__(self, world, words=(), env=None):
        self.world = world
        self.process = world.start(["approvals", "serve", "--listen", "127.0.0.1:0", *words], env=env, stderr=subprocess.DEVNULL)
        line = b""
        while b"/pair#" not in line:
            line = self.process.stdout.readline()
            control(line, "the page is served")
        self.code = line.decode().strip().split("/pair#")[1]
        found = re.search(rb":(\d+)/pair", line)
        self.port = int(found.group(1)) if found else 0

    def raw(self, data, wait=20):
        with socket.create_connection(("127.0.0.1", self.port), wait) as stream:
            stream.settimeout(wait)
            got = b""
            try:
                stream.sendall(data)
                while chunk := stream.recv(65536):
                    got += chunk
            except (socket.timeout, ConnectionError):
                pass
        return got.decode(errors="replace")

    def ask(self, first, headers=(), body=b"", host=None):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"{first} HTTP/1.1\r\nconnection: close\r\nhost: {host or f'localhost:{self.port}'}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers)
        if not first.startswith("GET"):
            head += f"content-length: {len(body)}\r\n"
        got = self.raw(head.encode() + b"\r\n" + body)
        status = re.match(r"HTTP/1\.\d (\d+)", got)
        head, _, rest = got.partition("\r\n\r\n")
        return int(status.group(1)) if status else 0, head.lower(), rest

    def post(self, path, body, cookie="", **other):
        headers = {"origin": f"http://localhost:{self.port}", "sec-fetch-site": "same-origin", "content-type": "application/json", "cookie": cookie,
                   **{name.replace("_", "-"): value for name, value in other.items()}}
        return self.ask(f"POST {path}", [it for it in headers.items() if it[1] is not None], body)


class Browser:
    """A browser that was paired; its key is made by `openssl`, which is there where TLS is."""

    def __init__(self, page, code=None, label="test"):
        if not shutil.which("openssl"):
            cannot("there is no `openssl` to make a key with")
        self.page, self.file = page, page.world.path(f"home/key{time.monotonic_ns()}.pem")
        run = lambda *words: subprocess.run(["openssl", *words], capture_output=True, check=True).stdout
        run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.file)
        self.public = base64.b64encode(run("ec", "-in", self.file, "-pubout", "-outform", "DER", "-conv_form", "uncompressed")[-65:]).decode()
        self.status, head, self.body = page.post("/api/pair", {"code": code or page.code, "public": self.public, "label": label})
        found = re.search(r"set-cookie: ([^;\r\n]+)", head)
        self.cookie = found.group(1) if found else ""

    def get(self, path):
        return self.page.ask(f"GET {path}", [("cookie", self.cookie)])

    def sign(self, text):
        der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.file], input=text.encode(), capture_output=True, check=True).stdout
        at, parts = 4 if der[1] < 128 else 5, []
        at = 2
        for _ in range(2):
            size = der[at + 1]
            parts.append(der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0"))
            at += 2 + size
        return base64.b64encode(b"".join(parts)).decode()

    def shown(self, path="/inbox"):
        text = self.get(path)[2]
        found = {it: re.search(f'data-{it}="([^"]*)"', text) for it in ("workspace", "queue", "binding", "person")}
        control(all(found.values()), f"the question is shown: {text[:300]}")
        return {name: it.group(1) for name, it in found.items()}

    def answer(self, id, word, path="/inbox", shown=None, ids=None, expires=None, **signed):
        shown = shown or self.shown(path)
        expires = expires or int(time.time() * 1000) + 60_000
        statement = {"answer": word, "binding": shown["binding"], "edit_sha256": None, "expires": expires, "person": shown["person"], "questions": ids or [id], "queue": shown["queue"],
                     "reason_sha256": None, **signed}
        text = "eclusa answer v1\n" + json.dumps(dict(sorted(statement.items())), separators=(",", ":"))
        return {"workspace": shown["workspace"], "questions": ids or [id], "binding": shown["binding"], "answer": word, "expires": expires, "signature": self.sign(text)}

    def act(self, what, subject, value, shown=None, signed_as=None, expires=None):
        shown = shown or self.shown()
        expires = expires or int(time.time() * 1000) + 60_000
        statement = json.dumps(dict(sorted({subject: value, "expires": expires, "person": shown["person"], "queue": shown["queue"]}.items())), separators=(",", ":"))
        body = {"workspace": shown["workspace"], "expires": expires, "signature": self.sign(f"eclusa {signed_as or what} v1\n{statement}"), subject: value}
        return self.page.post(f"/api/{what}", body, self.cookie)


def parked(world, text="hello"):
    ran = world.run("run", "--park", "note", json.dumps({"text": text}))
    control(ran.code == 4, f"a call waits: {ran}")


class Client(Lines):
    """An agent that speaks the Model Context Protocol, of the older era; it answers questions as it is told."""

    def __init__(self, world, words=("mcp",), capabilities=None, env=None, version="2025-06-18"):
        super().__init__(world.start(list(words), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env))
        self.number = 0
        self.about = self.request("initialize", protocolVersion=version, capabilities=capabilities or {}, clientInfo={"name": "test", "version": "1"})
        self.send(method="notifications/initialized")

    def request(self, method, wait=LONG, **params):
        self.number += 1
        id = self.number
        self.send(id=id, method=method, params=params)
        return self.until(lambda it: it.get("id") == id and "method" not in it, wait) or {}

    def settle(self):
        self.request("prompts/get", name="nobody has this")

    def tools(self):
        self.settle()
        return {it["name"]: it for it in (self.request("tools/list").get("result") or {}).get("tools", [])}

    def call(self, tool, wait=LONG, **args):
        """(whether it worked, its text, the whole result)"""
        answer = self.request("tools/call", wait, name=tool, arguments=args)
        result = answer.get("result") or {}
        text = " ".join(it.get("text", "") for it in result.get("content", []))
        return bool(result) and not result.get("isError"), text or json.dumps(answer.get("error") or ""), result


SERVER = r'''import json, os, sys, time, urllib.request
MODE = sys.argv[1] if len(sys.argv) > 1 else ""
def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n"); sys.stdout.flush()
def tool(name, description="does it", **more):
    return dict({"name": name, "description": description, "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}}, **more)
TOOLS = [tool("do"), tool("echo"), tool("read"), tool("write"), tool("env"), tool("fetch"), tool("py")]
def said(text, **more):
    return dict({"content": [{"type": "text", "text": str(text)}], "isError": False}, **more)
def run(name, args, id):
    a, b = args.get("a", ""), args.get("b", "")
    try:
        if name == "read": return said(open(os.path.expanduser(a), errors="replace").read())
        if name == "write":
            open(os.path.expanduser(a), "w").write(b); return said("written")
        if name == "env": return said(json.dumps(dict(os.environ)))
        if name == "fetch": return said(urllib.request.urlopen(a, timeout=10).read())
        if name == "py":
            out = {}; exec(a, out); return said(out.get("result", ""))
    except BaseException as err:
        return said(f"{type(err).__name__}: {err} {getattr(err, 'read', lambda: b'')()}", isError=True)
    return said(a)
@HOSTILE@
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if hostile(method, id, params, message):
        continue
    if method == "initialize":
        send({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "s", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        send({"id": id, "result": run(params["name"], params.get("arguments", {}), id)})
    elif id is not None and method:
        send({"id": id, "error": {"code": -32601, "message": "no"}})
'''


def server(world, hostile="def hostile(*_): return False", name="s", more="", mode="yolo", rules=""):
    """A server behind the gate, in a sandbox; `hostile` is what it does otherwise than others."""
    world.write(f"workspace/{name}.py", SERVER.replace("@HOSTILE@", hostile))
    text = f'mode = "{mode}"\n{rules}\n[servers.{name}]\ncommand = ["python3", "{name}.py"]\n{more}\n'
    path = world.path("config/eclusa/eclusa.toml")
    before = open(path).read() if os.path.exists(path) else ""
    world.config(before + (text if "mode" not in before else text.split("\n", 1)[1]))
    return name


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


def on_machine(world, *words, env=None, input=b"", program=None, cwd=None):
    """Runs the program where another /etc is: what `--managed` writes is the attack's own."""
    if not shutil.which("unshare"):
        cannot("there is no `unshare`")
    line = 'mount --bind "$0" /etc && exec "$@"'
    etc = world.path("etc")
    for name in ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "alternatives"):
        it, there = os.path.join("/etc", name), os.path.join(etc, name)
        if os.path.exists(it) and not os.path.lexists(there):
            shutil.copytree(it, there, symlinks=True) if os.path.isdir(it) else shutil.copy(it, there)
    user = ["-m"] if os.geteuid() == 0 else ["-rm"]
    ran = world.run(*user, "sh", "-c", line, etc, program or PROGRAM, *words, program=shutil.which("unshare"), env=env, input=input, cwd=cwd)
    if "unshare" in ran.err and "not permitted" in ran.err:
        cannot(ran.err.strip())
    return ran


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
