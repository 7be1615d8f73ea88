#!/usr/bin/env python3
"""What the root of overlays costs, in which sockets of the file system may be used (docs/sandbox.md).

    bench/roots.py target/release/eclusa [--rounds 100] [--json]

Two workspaces of the same machine, one of them with a note of its self-test that such sockets stay closed, so that
commands get the machine's own root there. In turns: `exec -- true`, a process that lives for one call, and `bash` over
one `eclusa mcp`, which lives on. The difference is the root. As the user who runs it: an ordinary one makes a user
namespace too.
"""
import json, os, pathlib, resource, statistics, subprocess, sys, time

here = pathlib.Path(__file__).resolve().parent.parent
words = [it for it in sys.argv[1:] if it != "--json"]
rounds = int(words.pop(words.index("--rounds") + 1)) if "--rounds" in words else 100
words = [it for it in words if it != "--rounds"]
os.environ["ECLUSA"] = str(pathlib.Path(words[0] if words else here / "target/release/eclusa").resolve())
sys.path.insert(0, str(here / "attacks"))
from world import PROGRAM, World, done, needs_sandbox

BINDS = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"/tmp/s\")'"


def processor_ms():
    return sum(it.ru_utime + it.ru_stime for it in [resource.getrusage(resource.RUSAGE_CHILDREN)]) * 1000


def timed(act):
    began, used = time.perf_counter(), processor_ms()
    act()
    return (time.perf_counter() - began) * 1000, processor_ms() - used


def one_call(world):
    subprocess.run([PROGRAM, "exec", "--", "true"], cwd=world.ws, env=world.env, stdout=subprocess.DEVNULL, check=True)


class Server:
    def __init__(self, world):
        self.process = subprocess.Popen([PROGRAM, "mcp"], cwd=world.ws, env=world.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}})
        self.send({"method": "notifications/initialized"})
        for _ in range(5):
            self.call()

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self.number:
            pass
        return answer

    def call(self):
        answer = self.ask("tools/call", {"name": "bash", "arguments": {"command": "true"}})
        if answer.get("result", {}).get("isError", True):
            done(1, f"the call failed: {answer}")


worlds = {"overlays": World('mode = "auto-approve"\n'), "own": World('mode = "auto-approve"\n')}
needs_sandbox(worlds["overlays"])
for world in worlds.values():
    one_call(world)
# The note of the self-test: circumstances, words, place of layers.
[note] = pathlib.Path(worlds["own"].path("state")).rglob(".capabilities")
circumstances, found, layers = note.read_text().rsplit("\n", 2)
note.write_text(f"{circumstances}\n{found} closed\n{layers}")
binds = {name: world.run("exec", "--", BINDS).code for name, world in worlds.items()}
if binds["overlays"] != 0 or binds["own"] == 0:
    done(3, f"cannot run: the two roots are not those that they should be: {binds}")
servers = {name: Server(world) for name, world in worlds.items()}
took = {(kind, name): [] for kind in ("one", "cpu", "living") for name in worlds}
for _ in range(rounds):
    for name, world in worlds.items():
        wall, cpu = timed(lambda: one_call(world))
        took["one", name].append(wall)
        took["cpu", name].append(cpu)
        took["living", name].append(timed(servers[name].call)[0])
for it in servers.values():
    it.process.stdin.close()
    it.process.wait()
result = {"rounds": rounds, "load": os.getloadavg()[0]}
for kind in ("one", "cpu", "living"):
    for what, how in (("shortest", min), ("median", statistics.median)):
        own, overlays = (how(took[kind, name]) for name in ("own", "overlays"))
        result[f"{kind}_{what}_ms"] = [round(own, 2), round(overlays, 2), round(overlays - own, 2)]
if "--json" in sys.argv:
    done(0, json.dumps(result))
line = lambda what, key, goal: "%s: %s more at the median, %s more of the shortest (%s and %s ms); %s" % (
    what, result[key + "_median_ms"][2], result[key + "_shortest_ms"][2], *result[key + "_shortest_ms"][:2], goal)
done(0, "\n".join([f"milliseconds, the machine's own root and one of overlays, {rounds} rounds, load {result['load']:.1f}",
                   line("`exec -- true`", "one", "goal: 0.6 more"), line("its processor time", "cpu", "counted in steps of the kernel"),
                   line("`bash` of one that lives", "living", "goal: nothing more")]))
