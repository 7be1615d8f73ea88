#!/usr/bin/env python3
"""Sessions of many calls of a real agent, headless, with the hooks that `eclusa install` writes.

Started by scripts/agents in namespaces of its own. A scripted model has the agent use our tools, its own on what
rules deny, several at once, under a program of ours that is broken in every way, with a question that waits in the
queue, and with secrets in what it reads; what it changed must be undone back to the start; `status --prove` must say
what is so. Prints one line for each check, and ends with 1 if any is wrong."""
import argparse, json, os, shutil, subprocess, sys, threading, time

from agents_day import Session, end_all, files_of
from agents_model import program
from agents_steps import MAIN, Calls, DayModel
from agents_table import tell

# Copilot CLI takes tokens of GitHub and npm out by itself.
SECRET = "glpat-" + "0123456789abcdefghij"
RULES = """mode = "auto-approve"

[[rules]]
decision = "deny"
command = "touch denied"
reason = "not in this test"

[[rules]]
decision = "deny"
path = "locked/**"
access = "write"
reason = "not in this test"
"""
QUEUE = """on_no_approver = "queue"

[[rules]]
decision = "ask"
command = "touch asked"
"""
DIES = "#!/bin/sh\nkill -%s $$\n"


class Calling(Session):
    """A session whose model makes the calls of a list, after which the agent ends."""

    def __init__(self, agent, options, steps, rules=RULES, words=None, served=False, ours=True):
        super().__init__(agent, options, ours, False, [], rules, served)
        self.words = words or self.args
        DayModel.summed = False
        self.talk.steps = steps(self, Calls(agent, self.work))
        for name in ("notes.txt", "locked/kept.txt", ".env"):
            self.write("work/" + name, "the first line\ntoken %s\n" % SECRET)

    def run(self, agent=None, time_out=None):
        out = open(self.top + "/out", "a")
        words = [MAIN if it == "go" else it for it in self.words]
        child = subprocess.Popen(program(self.options.packages, agent or self.agent) + words, cwd=self.work, env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        try:
            child.wait(time_out or self.options.time)
        except subprocess.TimeoutExpired:
            self.wrong.append("it did not end in %d s" % (time_out or self.options.time))

    def told(self, name):
        return json.dumps(self.talk.told.get(name), ensure_ascii=False)

    def has(self, name):
        return os.path.exists(os.path.join(self.work, name))

    def close(self):
        self.server.shutdown()
        end_all()
        open(self.top + "/told", "w").write(json.dumps(self.talk.told, indent=1))
        for name, _ in self.talk.steps:
            if str(self.talk.told.get(name, "none")).startswith(("none", "no tool fits")):
                self.wrong.append("`%s` was not called: %s" % (name, self.told(name)[:400]))
        if self.wrong:
            self.wrong.append("see " + self.top)
        elif not self.options.keep:
            shutil.rmtree(self.top, ignore_errors=True)
        return self.wrong


def expect(session, wanted):
    """What the model was told of each call: what must be in it, and what must not."""
    for name, (there, absent) in wanted.items():
        told = session.told(name)
        if there and there not in told:
            session.wrong.append("`%s`: no `%s` in %s" % (name, there, told[:400]))
        if absent and absent in told:
            session.wrong.append("`%s`: `%s` in %s" % (name, absent, told[:400]))


def our_tools(agent, options):
    def steps(_, it):
        ours = lambda name, args: it.of("eclusa", name, args)
        return [
            ("write", ours("write", {"path": "a.txt", "content": "one\ntwo\n"})),
            ("read", ours("read", {"path": "a.txt"})),
            ("edit", ours("edit", {"path": "a.txt", "old_string": "two", "new_string": "three"})),
            ("edits", ours("multi_edit", {"path": "a.txt", "edits": [{"old_string": "one", "new_string": "1"}]})),
            ("grep", ours("grep", {"pattern": "three"})),
            ("glob", ours("glob", {"pattern": "**/*.txt"})),
            ("list", ours("list", {})),
            ("bash", ours("bash", {"command": "cat a.txt; echo end"})),
            ("number", ours("bash", {"command": "wc -l < a.txt"})),
            ("array", ours("bash", {"command": "echo '[1, 2]'"})),
            ("fails", ours("bash", {"command": "echo before; exit 3"})),
            ("make", ours("make_dir", {"path": "sub"})),
            ("move", ours("move", {"from": "a.txt", "to": "sub/b.txt"})),
            ("patch", ours("apply_patch", {"patch": "*** Begin Patch\n*** Add File: c.txt\n+patched\n*** End Patch\n"})),
            ("denied", ours("bash", {"command": "touch denied"})),
            ("secret", ours("bash", {"command": "cat notes.txt"})),
        ]
    session = Calling(agent, options, steps)
    session.run()
    expect(session, {"read": ("two", None), "grep": ("three", None), "glob": ("a.txt", None), "list": ("a.txt", None),
                     "bash": ("end", None), "number": ("2", "rror"), "array": (None, "rror"), "fails": ("before", None),
                     "denied": ("not in this test", None), "secret": ("the first line", SECRET)})
    for name, text in (("sub/b.txt", "1\nthree\n"), ("c.txt", "patched\n")):
        if not session.has(name) or open(session.work + "/" + name).read() != text:
            session.wrong.append("%s is not as it was made" % name)
    if session.has("denied"):
        session.wrong.append("what a rule denies was run")
    return session.close()


def denied(agent, options):
    """Its own tools: the model is told no, and nothing of it was done."""
    def steps(session, it):
        outside = session.top + "/outside"
        some = [
            ("plainly", it.shell("touch denied")), ("in a shell", it.shell("sh -c 'touch denied'")),
            ("in another", it.shell("echo $(touch denied)")), ("by a path", it.shell("/usr/bin/touch denied")),
            ("a secret", it.shell("cat .env")), ("the machine", it.shell("rm -rf /")),
            ("locked", it.write("locked/new.txt", "x\n")), ("kept", it.edit("locked/kept.txt", "first", "last")),
            ("outside", it.write(outside, "x\n")), ("allowed", it.shell("touch allowed")),
        ]
        return some if agent == "codex" else [*some, ("read", it.view(".env"))]
    session = Calling(agent, options, steps)
    session.run()
    for name in ("denied", "locked/new.txt", "../outside"):
        if session.has(name):
            session.wrong.append("%s is there" % name)
    if "first" not in open(session.work + "/locked/kept.txt").read():
        session.wrong.append("what a rule denies was edited")
    if not session.has("allowed"):
        session.wrong.append("what is allowed was not run")
    expect(session, {name: (None, SECRET) for name in ("a secret", "read") if name in session.talk.told})
    expect(session, {name: ("not in this test", None) for name in ("plainly", "in a shell", "in another", "locked", "kept")})
    expect(session, {"the machine": ("denied", None)})
    return session.close()


def broken(agent, options):
    """Our program is put out of order between two calls, in one way after the other."""
    faults = {"is missing": lambda file: os.remove(file), "ends with 1": "#!/bin/sh\nexit 1\n", "is killed": DIES % "KILL",
              # Copilot CLI starts what is not executable all the same.
              "crashes": DIES % "SEGV", "cannot be started": ("#!/bin/sh\nexit 3\n", 0o644), "says nothing but 3": "#!/bin/sh\necho no >&2; exit 3\n"}

    def steps(session, it):
        own, kept = session.top + "/bin/eclusa", session.top + "/bin/kept"
        os.rename(own, kept) if session.ours else None

        def put(fault, call):
            def before(_):
                what = faults[fault]
                if os.path.lexists(own):
                    os.remove(own)
                if isinstance(what, (str, tuple)):
                    text, mode = what if isinstance(what, tuple) else (what, 0o755)
                    open(own, "w").write(text)
                    os.chmod(own, mode)
                return call[1]
            return call[0], before

        def back(_):
            if os.path.lexists(own):
                os.remove(own)
            os.rename(kept, own)
            return it.shell("touch after")[1]
        made = []
        for at, fault in enumerate(faults):
            made += [(fault, put(fault, it.shell("touch ran-%d" % at))),
                     ("writes, it " + fault, put(fault, it.write("wrote-%d.txt" % at, "x\n")))]
        return [*made, ("as it was", (it.shell("")[0], back))]
    session = Calling(agent, options, steps)
    session.run()
    for at, fault in enumerate(faults):
        for name in ("ran-%d" % at, "wrote-%d.txt" % at):
            if session.has(name):
                session.wrong.append("it %s, and the call was made (%s)" % (fault, name))
    if not session.has("after"):
        session.wrong.append("put back it does not let a call pass")
    return session.close()


def undone(agent, options):
    """What it changed by its tools and in its shell, taken back call by call to the start."""
    def steps(_, it):
        return [("sed", it.shell("sed -i s/first/last/ notes.txt && cat notes.txt")), ("write", it.write("new.txt", "x\n")),
                ("edit", it.edit("src/start.py", "one", "two")), ("remove", it.shell("rm src/other.py")),
                ("script", it.shell("for n in 1 2 3; do echo $n > made-$n; done; ls made-*"))]
    session = Calling(agent, options, steps)
    session.write("work/src/start.py", "one\n")
    session.write("work/src/other.py", "other\n")
    for words in (["add", "-A"], ["commit", "-qm", "more"]):
        subprocess.run(["git", *words], cwd=session.work, env=session.env, check=True)
    before = files_of(session.work)
    session.run()
    changed = files_of(session.work)
    if changed == before or "new.txt" not in changed or "src/other.py" in changed:
        session.wrong.append("it changed nothing: %s" % sorted(changed))
    expect(session, {"sed": ("the last line", SECRET)})
    for _ in session.talk.steps:
        session.eclusa("undo")
    after = files_of(session.work)
    session.wrong += ["%s is not as at the start" % it for it in sorted({*before, *after}) if before.get(it) != after.get(it)]
    return session.close()


def secrets(agent, options):
    """A token in a file that its own tool reads."""
    session = Calling(agent, options, lambda _, it: [("read", it.view("notes.txt"))])
    session.run()
    expect(session, {"read": ("the first line", SECRET)})
    return session.close()


def at_once(agent, options):
    """Eight calls in one answer of the model: all of them run, and none waits until its hook's time is up."""
    many = range(8)
    session = Calling(agent, options, lambda _, it: [("many", [it.shell("touch one-%d; echo done-%d" % (n, n)) for n in many])])
    session.run()
    session.wrong += ["call %d was not made" % n for n in many if not session.has("one-%d" % n)]
    return session.close()


def queued(agent, options):
    """A person says yes elsewhere, while the agent waits."""
    def steps(_, it):
        return [("own", it.shell("touch asked")), ("after", it.shell("ls"))]
    session = Calling(agent, options, steps, QUEUE)
    over, answered = threading.Event(), []

    def person():
        while not over.wait(0.3):
            for number in range(len(answered) + 1, len(answered) + 3):
                if session.eclusa("approvals", "yes", str(number)).returncode == 0:
                    answered.append(number)
    thread = threading.Thread(target=person, daemon=True)
    thread.start()
    session.run()
    over.set()
    thread.join()
    if not answered:
        session.wrong.append("nobody was asked: " + session.told("own")[:300])
    if not session.has("asked"):
        session.wrong.append("the yes applied nothing: " + session.told("own")[:300])
    return session.close()


def planned(agent, options):
    """In plan mode the agent refuses its own edits, whatever we say."""
    session = Calling(agent, options, lambda _, it: [("write", it.write("planned.txt", "x\n"))],
                      words=["-p", "go", "--permission-mode", "plan"])
    session.run()
    if session.has("planned.txt"):
        session.wrong.append("it was written")
    return session.close()


def prompted(agent, options):
    """Without hooks: its own permission prompt is a tool of ours."""
    words = ["-p", "go", "--allowedTools", "mcp__eclusa", "--permission-prompt-tool", "mcp__eclusa__approve"]
    rules = RULES + "\n[[rules]]\ndecision = \"allow\"\ncommand = \"touch allowed\"\n"
    session = Calling(agent, options, lambda _, it: [("allowed", it.shell("touch allowed")), ("denied", it.shell("touch denied"))],
                      rules, words, ours=False)
    session.env["IS_SANDBOX"] = "1"
    config = json.load(open(session.home + "/.claude.json"))
    config["mcpServers"] = {"eclusa": {"type": "stdio", "command": options.eclusa, "args": ["mcp"], "alwaysLoad": True}}
    session.write("home/.claude.json", json.dumps(config))
    session.run()
    if not session.has("allowed"):
        session.wrong.append("what a rule allows was not run: " + session.told("allowed")[:300])
    if session.has("denied"):
        session.wrong.append("what a rule denies was run")
    return session.close()


def proven(agent, options):
    session = Calling(agent, options, lambda _, it: [])
    own = os.path.join(options.packages, agent, "node_modules/.bin")
    session.env["PATH"] = own + ":" + session.env["PATH"]
    said = session.eclusa("status", agent, "--prove")
    # Hooks of Codex that its person has not trusted hold nothing, and it must not say that they do.
    wanted = "not trusted" if agent == "codex" else "proven here"
    if wanted not in said.stdout + said.stderr:
        session.wrong.append("no `%s`: %s" % (wanted, (said.stdout + said.stderr)[:800]))
    return session.close()


CASES = [("our tools", our_tools, None), ("denied", denied, None), ("broken program", broken, None), ("undo", undone, None),
         ("secrets", secrets, ("claude-code", "gemini", "opencode", "copilot")), ("at once", at_once, None), ("queue", queued, None),
         ("plan mode", planned, ("claude-code",)), ("permission prompt tool", prompted, ("claude-code",)), ("proven", proven, None)]


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
                bad |= bool(wrong)
                tell(agent, name, wrong, time.monotonic() - begun)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
