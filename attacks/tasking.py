"""Clients that know tasks, over a pipe and over HTTP, and servers that answer calls with tasks."""
from doors import *

TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
FORMS = {"elicitation": {}, **TASKS}
YES = {"action": "accept", "content": {"answer": "yes"}}
PREFIX = "io.modelcontextprotocol/"


def meta(can, name="test"):
    return {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientCapabilities": can, PREFIX + "clientInfo": {"name": name, "version": "1"}}


class Tasker:
    """What a client does with tasks, whichever way its requests go."""

    def begins(self, tool="note", wait=30, **args):
        """The answer to a call that has to wait for a person: (the id of its task, the whole)"""
        answer = self.ask("tools/call", wait, name=tool, arguments=args or {"text": "hello"})
        result = answer.get("result") or {}
        return result.get("taskId"), answer

    def get(self, id):
        return self.ask("tasks/get", taskId=id)

    def cancel(self, id):
        return self.ask("tasks/cancel", taskId=id)

    def update(self, id, key, said=YES):
        return self.ask("tasks/update", taskId=id, inputResponses={key: said})

    def becomes(self, id, *status, wait=LONG):
        """The task, once it has come to this; None where it does not."""
        end = time.monotonic() + wait
        while time.monotonic() < end:
            task = self.get(id).get("result") or {}
            if task.get("status") in status:
                return task
            time.sleep(0.05)
        return None

    def asked(self, id):
        """The name of the question that is open, and the task."""
        task = self.becomes(id, "input_required")
        control(task and task.get("inputRequests"), f"it asks: {task}")
        return next(iter(task["inputRequests"])), task


class Piped(Tasker, Lines):
    """A client of the newer era, over a pipe."""

    def __init__(self, world, can=FORMS, words=("mcp",), env=None, name="test"):
        self.process = world.start(list(words), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        Lines.__init__(self, self.process)
        self.number, self.can, self.name = 0, can, name

    def post(self, method, **params):
        self.number += 1
        self.send(id=self.number, method=method, params={**params, "_meta": meta(self.can, self.name)})
        return self.number

    def ask(self, method, wait=LONG, **params):
        id = self.post(method, **params)
        return self.until(lambda it: it.get("id") == id and "method" not in it, wait) or {}


class Remote(Tasker):
    """A client of the newer era, over HTTP: every request comes by itself."""

    def __init__(self, up, can=FORMS, name="test", token=None):
        self.up, self.can, self.name, self.token = up, can, name, token or up.token

    def ask(self, method, wait=LONG, headers=(), **params):
        params = {**params, "_meta": meta(self.can, self.name)}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        all = {"host": self.up.address, "content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28",
               "mcp-method": method, "authorization": f"Bearer {self.token}"}
        named = params.get("name") or params.get("taskId")
        if isinstance(named, str):
            all["mcp-name"] = named
        all.update(dict(headers))
        head = "".join(f"{name}: {value}\r\n" for name, value in all.items() if value is not None)
        got = self.up.raw(f"POST /mcp HTTP/1.1\r\n{head}connection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body, wait)
        status = re.match(r"HTTP/1\.\d (\d+)", got)
        found = re.search(r"\{.*\}", got.partition("\r\n\r\n")[2], re.S)
        answer = {}
        try:
            answer = json.loads(found.group(0)) if found else {}
        except ValueError:
            answer = {"raw": found.group(0)}
        return {**answer, "status": int(status.group(1)) if status else 0}


TASK_SERVER = r'''import json, os, sys, time
MODE, MARK = (sys.argv[1:] + ["", ""])[:2]
POLLS = 0
def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n"); sys.stdout.flush()
def said(text, **more):
    return dict({"content": [{"type": "text", "text": str(text)}], "isError": False, "resultType": "complete"}, **more)
def task(status="working", **more):
    now = "2026-01-01T00:00:00Z"
    return dict({"taskId": "t1", "status": status, "createdAt": now, "lastUpdatedAt": now, "ttlMs": 60000, "pollIntervalMs": 100}, **more)
def form(text="how?"):
    return {"method": "elicitation/create", "params": {"mode": "form", "message": text, "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}}
def note(what):
    with open("heard", "a") as file: file.write(json.dumps(what) + "\n")
@HOSTILE@
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "server/discover":
        send({"id": id, "result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}, "serverInfo": {"name": "s", "version": "1"}, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [{"name": "do", "description": "does it", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}})
    elif method == "tools/call":
        a = params.get("arguments", {}).get("a", "")
        send({"id": id, "result": begin(a)})
    elif method in ("tasks/get", "tasks/update", "tasks/cancel"):
        note([method, params.get("taskId"), params.get("inputResponses")])
        POLLS += method == "tasks/get"
        result = get(POLLS) if method == "tasks/get" else {"resultType": "complete"}
        if result is not None: send({"id": id, "result": result})
    elif id is not None and method:
        send({"id": id, "error": {"code": -32601, "message": "no"}})
'''


def task_server(world, get, begin='def begin(a): return task(resultType="task")', name="s", more=""):
    """A server of the newer era behind the gate whose calls are tasks; `get` is what it says of them."""
    world.write(f"workspace/{name}.py", TASK_SERVER.replace("@HOSTILE@", begin + "\n" + get))
    path = world.path("config/eclusa/eclusa.toml")
    before = open(path).read() if os.path.exists(path) else 'mode = "yolo"\n'
    # Not in a sandbox: what it heard is read beside it.
    world.config(before + f'[servers.{name}]\ncommand = ["python3", "{world.path("workspace")}/{name}.py"]\nsandbox = false\n{more}\n')
    return name


def heard_by(world):
    """What a server has heard of its tasks."""
    found = [os.path.join(it, "heard") for it, _, names in os.walk(world.dir) if "heard" in names]
    return [json.loads(line) for it in found for line in open(it)]
