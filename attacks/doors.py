"""The other side of the other doors: a browser, a client, a server behind the gate, a machine that is managed."""
from agents import *

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
        at, parts = 2, []
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


class Up:
    """`eclusa up`, and whoever asks there."""

    def __init__(self, world, words=(), env=None):
        self.process = world.start(["up", "--listen", "127.0.0.1:0", *words], env=env, stderr=subprocess.DEVNULL)
        lines = [self.process.stdout.readline().decode() for _ in range(1 if (env or {}).get("ECLUSA_TOKEN") else 2)]
        control("http://" in lines[0], f"it is served: {lines}")
        self.address = lines[0].split("http://")[1].split("/")[0].strip()
        self.token = (env or {}).get("ECLUSA_TOKEN") or lines[1].strip().rsplit(" ", 1)[-1]

    def raw(self, data, wait=20):
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port)), wait) as stream:
            stream.settimeout(wait)
            got = b""
            try:
                stream.sendall(data)
                while chunk := stream.recv(65536):
                    got += chunk
            except (socket.timeout, ConnectionError):
                pass
        return got.decode(errors="replace")

    def post(self, method, params, **headers):
        """A request of the newer era: (status, the answer)."""
        params = {**params, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        all = {"host": self.address, "content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": method, "authorization": f"Bearer {self.token}"}
        if isinstance(params.get("name"), str):
            all["mcp-name"] = params["name"]
        all.update({name.replace("_", "-"): value for name, value in headers.items()})
        head = "".join(f"{name}: {value}\r\n" for name, value in all.items() if value is not None)
        got = self.raw(f"POST /mcp HTTP/1.1\r\n{head}connection: close\r\ncontent-length: {len(body.encode())}\r\n\r\n{body}".encode())
        status = re.match(r"HTTP/1\.\d (\d+)", got)
        found = re.search(r"\{.*\}", got.partition("\r\n\r\n")[2], re.S)
        try:
            answer = json.loads(found.group(0)) if found else {}
        except ValueError:
            answer = {"raw": found.group(0)}
        return int(status.group(1)) if status else 0, answer
