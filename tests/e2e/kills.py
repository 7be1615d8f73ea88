"""Kills `eclusa ask` at random moments and resumes it; see tests/e2e/kills."""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

BINARY = os.path.abspath(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
STEPS = 10


def block(name, args):
    return "```tool\n%s\n```\n" % json.dumps({"name": name, "args": args})


def step(number):
    """Odd steps are made by a helper, even ones by the model itself."""
    command = {"command": "echo step-%d >> steps" % number}
    if number % 2:
        return block("task", {"persona": "helper-%d" % number, "prompt": "step %d" % number})
    return block("bash", command)


class World:
    """A workspace, a configuration and a state of their own."""

    def __init__(self, root):
        self.root = root
        for name in ("workspace", "config/eclusa", "state", "home"):
            os.makedirs(os.path.join(root, name))
        script = "rate: 400\n"
        config = ""
        for number in range(STEPS):
            script += "## says\nStep %d, and some words to be cut off in.\n%s" % (number, step(number))
            if number % 2:
                helper = "rate: 400\n## says\nI do it.\n" + block("bash", {"command": "echo step-%d >> steps" % number})
                helper += "## says\nDone.\n" * 3
                path = self.write("helper-%d.md" % number, helper)
                config += "[personas.helper-%d]\nmodel = %s\n" % (number, json.dumps("script:" + path))
        script += "## says\nAll done.\n" * 200
        self.model = "script:" + self.write("script.md", script)
        self.write("config/eclusa/eclusa.toml", config)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": os.path.join(root, "home"),
            "XDG_CONFIG_HOME": os.path.join(root, "config"),
            "XDG_STATE_HOME": os.path.join(root, "state"),
            "USER": "tester",
            "TERM": "dumb",
        }

    def write(self, name, text):
        path = os.path.join(self.root, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def start(self, *args):
        command = [BINARY, *args]
        return subprocess.Popen(
            command,
            cwd=os.path.join(self.root, "workspace"),
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args):
        child = self.start(*args)
        out, err = child.communicate(timeout=300)
        return child.returncode, out, err

    def ask(self, session):
        args = ["--json", "--mode", "auto-approve", "ask", "--model", self.model]
        if session:
            args += ["--resume", session]
        return args + ["go on"]

    def session(self):
        """The oldest session that is nobody's helper."""
        code, out, err = self.run("--json", "sessions", "list", "--all")
        if code:
            return None
        heads = [json.loads(line) for line in out.splitlines()]
        own = [head for head in heads if not head.get("parent")]
        return own[-1]["session"] if own else None


def fail(what, world):
    print("FAILED (seed %d, %s): %s" % (SEED, world.root, what))
    sys.exit(1)


def check(world, session):
    """What must hold once a session has come to its end. Gives how its calls were answered."""
    path = os.path.join(world.root, "workspace", "steps")
    steps = open(path).read().split() if os.path.exists(path) else []
    if len(steps) != len(set(steps)):
        fail("an effect was repeated: %s" % steps, world)
    codes = collections.Counter()
    code, out, err = world.run("--json", "sessions", "list", "--all")
    for head in (json.loads(line) for line in out.splitlines()):
        code, out, err = world.run("sessions", "export", head["session"], "--format", "jsonl")
        items = [json.loads(line) for line in out.splitlines()]
        calls = [it["tool_call"]["id"] for it in items if it["kind"] == "call"]
        answers = [it["tool_result"]["id"] for it in items if it["kind"] == "answer"]
        codes.update(it["tool_result"]["code"] for it in items if it["kind"] == "answer")
        # A helper that was killed has an open call until somebody resumes it.
        open_calls = set(calls) - set(answers)
        if len(answers) != len(set(answers)) or set(answers) - set(calls):
            fail("answers %s to calls %s" % (answers, calls), world)
        if open_calls and head["session"] == session:
            fail("calls without an answer: %s" % open_calls, world)
    code, out, err = world.run("log", "verify")
    if code:
        fail("the log: %s%s" % (out, err), world)
    codes["steps made"] += len(steps)
    return codes


def main():
    random.seed(SEED)
    print("seed %d, %d kills" % (SEED, KILLS))
    began, kills, sessions, late, codes = time.time(), 0, 0, 0, collections.Counter()
    while kills < KILLS:
        with tempfile.TemporaryDirectory() as root:
            world, session = World(root), None
            sessions += 1
            longest = 2.0
            for _ in range(min(8, KILLS - kills)):
                child = world.start(*world.ask(session))
                time.sleep(random.uniform(0.02, longest))
                late += child.poll() is not None
                child.send_signal(signal.SIGKILL)
                child.communicate()
                kills += 1
                session = session or world.session()
            # Two at once: one of them gets it.
            if session:
                pair = [world.start(*world.ask(session)) for _ in range(2)]
                ended = [child.communicate() and child.returncode for child in pair]
                if sorted(ended) not in ([0, 0], [0, 2]):
                    fail("two at once ended with %s" % ended, world)
            for _ in range(3):
                code, out, err = world.run(*world.ask(session))
                if code:
                    fail("it cannot be gone on with: %s%s" % (out, err), world)
                session = json.loads(out)["session"]
                if json.loads(out)["text"] == "All done.":
                    break
            else:
                fail("it does not come to its end: %s" % out, world)
            codes += check(world, session)
        print("  %d kills, %d sessions, %d s" % (kills, sessions, time.time() - began), flush=True)
    told = ", ".join("%s %d" % pair for pair in sorted(codes.items()))
    print("%d kills (%d came after the end) in %d sessions: nothing repeated, every call answered once; answers: %s" % (kills, late, sessions, told))


main()
