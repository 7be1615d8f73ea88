#!/usr/bin/env python3
"""A day of a real agent, played twice: alone, and with the hooks that `eclusa install` writes.

Started by scripts/agents in namespaces of its own. A scripted model has the agent edit, commit, move, start a server
and ask it, look at pictures, use a slow server of its own, send another agent, delete what it made, and come back;
headless, and on a terminal, where it also compacts what was said. Under `auto-approve` the files, and what the model
was told, must be the same both times, apart from what a rule denies. Prints what differs, and ends with 1 if anything
does."""
import argparse, json, os, re, shutil, signal, subprocess, sys, tempfile, threading, time
from http.server import ThreadingHTTPServer

from agents_model import program, settings
from agents_odd_day import odd_day
from agents_screen import Screen
from agents_steps import AGAIN, END, MAIN, MEDIA, SHELL, Conversation, DayModel, before_it_starts, day, encoded, with_server
from agents_table import tell

RULES = """mode = "auto-approve"

[[rules]]
decision = "deny"
command = "touch denied"
reason = "not in this test"

[[rules]]
decision = "allow"
server = "slow"
tainted = true
"""
# What is another one each time, what an agent adds because a hook has put a command in the place of another, and what
# is said of a server that an agent has killed.
OTHERS = ((r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID"), (r"\b((Chunk|session|agent) ID|ID|PGID|PID|shellId)(:? )\w+", r"\1"),
          (r"(tasks|tool-results)/\w+", r"\1/ID"), (r"agentId: \w+|\ba[0-9a-f]{16}\b", "ID"), (r"duration_ms: \d+", "TIME"),
          (r"blob-[\w-]+", "blob-ID"), (r"copilot-tool-output-[\w-]+", "output-ID"), (r"ses_\w+", "ID"), (r'"nickname": ?"\w+"', "NAME"),
          (r'"id": "[^"]+"', "ID"), (r"line (\d+): +\d+ (Killed|Segmentation)", r"line \1: \2"), (r"\d+\.\d+ ?(seconds|s|ms)\b", "TIME"), (r"\b\d{6,}\b", "NUMBER"),
          # Claude Code ends what it has started: where it does not wait until that is over, the next command says so.
          (r"\s*note: job \d+ ended: its owner was killed; its changes to the workspace are lost", ""),
          (r"(\\n)*\[System\] Tool input parameters were modified by a hook before execution\.", ""))
# Where an agent cannot be the same, and why.
APART = {("claude-code", "stop"): "a server is a job of the session, and `eclusa jobs` ends it",
         ("opencode", "serve"): "what goes on after a call is told",
         ("copilot", "no such text"): "it is refused before the agent looks, in other words"}

class Session:
    """One agent on one day, with us or without."""

    def __init__(self, agent, options, ours, screen, steps=None, rules=RULES, served=True):
        self.agent, self.options, self.ours, self.wrong = agent, options, ours, []
        self.top = tempfile.mkdtemp(prefix="eclusa-day-", dir=options.scratch)
        self.home, self.work = self.top + "/home", self.top + "/work"
        for directory in (self.home + "/.config/eclusa", self.work, self.top + "/bin", self.top + "/tmp"):
            os.makedirs(directory)
        self.port = 8100 + 10 * sorted(SHELL).index(agent) + 2 * screen + ours
        main, other = day(agent, self.work, self.port)
        if screen:
            short = ["write", "edit", "sed", "cd", "where", "back", "serve", "curl", "picture", "document", "sound", "its picture",
                     "it is late", "other agent", *(["wait"] if agent == "codex" else []), "denied"]
            named = dict(main)
            pick = lambda *names: [(it, named[it]) for it in names]
            main = [*pick(*short), END, END, *pick("make", "commit", "number", "delete"), END, *pick("branch", "again"), END]
        main = steps or main
        DayModel.shell, DayModel.talks = SHELL[agent], {"main": Conversation(main), "other": Conversation(other)}
        self.talk = DayModel.talks["main"]
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), DayModel)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.env, self.args, files = settings(agent, self.home, self.server.server_port)
        before_it_starts(agent, self.home, self.env, files)
        if served:
            with_server(agent, self.home, self.env, files)
        for name, text in files.items():
            self.write("home/" + name, text)
        self.write("home/.config/eclusa/eclusa.toml", rules)
        self.write("work/notes.txt", "one\n")
        self.write("work/src/start.txt", "")
        for name in os.listdir(MEDIA):
            shutil.copy(os.path.join(MEDIA, name), self.work)
        if agent == "opencode":
            for name in ("node_modules", "package.json", "package-lock.json"):
                os.symlink(options.packages + "/opencode-plugin/" + name, self.home + "/.config/opencode/" + name)
        who = [["config", "user." + it, "a@example.org"] for it in ("name", "email")]
        for words in (["init", "-qb", "main"], *who, ["add", "-A"], ["commit", "-qm", "zero"]):
            subprocess.run(["git", *words], cwd=self.work, env=self.env, check=True)
        if ours:
            shutil.copy(options.eclusa, self.top + "/bin/eclusa")
            installed = self.eclusa("install", agent)
            if installed.returncode:
                self.wrong.append("install: " + installed.stderr)

    def write(self, name, text):
        path = self.top + "/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(text)

    def eclusa(self, *words):
        return subprocess.run([self.top + "/bin/eclusa", *words], cwd=self.work, env=self.env, capture_output=True, text=True)

    def headless(self):
        for words in (self.args, AGAIN[self.agent](self.args)):
            words = [MAIN if it == "go" else it for it in words]
            out = open(self.top + "/out", "a")
            child = subprocess.Popen(program(self.options.packages, self.agent) + words, cwd=self.work, env=self.env,
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
            try:
                child.wait(self.options.time * 2)
            except subprocess.TimeoutExpired:
                self.wrong.append("it did not end in %d s" % (self.options.time * 2))
            # What ends with its agent has a moment to see it.
            time.sleep(1)
            end_all()

    def screen(self, again=False):
        """Starts the agent on a terminal, with its first task, or takes its last session up again."""
        quiet = {"claude-code": ["--permission-mode", "bypassPermissions", MAIN], "codex": ["--dangerously-bypass-hook-trust", MAIN],
                 "gemini": ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-i", MAIN],
                 "opencode": ["--prompt", MAIN], "copilot": ["--allow-all-tools", "-i", MAIN]}[self.agent]
        more = {"codex": ["resume", "--last"], "gemini": ["--resume", "latest"]}.get(self.agent, ["--continue"]) if again else []
        if again and self.agent == "opencode":
            # There it takes no task from its command line.
            quiet = []
        return Screen(program(self.options.packages, self.agent) + more + quiet, self.work, self.env)

    def on_screen(self):
        """The same with somebody who types: a turn, a summary of what was said, another turn, and one on the next day."""
        compact = {"gemini": "/compress"}.get(self.agent, "/compact")
        screen = self.screen()
        ends = [at for at, step in enumerate(self.talk.steps) if step == END]
        try:
            for number, words in enumerate((None, compact, MAIN + ", go on", "")):
                if words == "":
                    # It is closed, and taken up again.
                    screen.look(1.5)
                    screen.close()
                    self.talk.known = 0
                    screen = self.screen(True)
                    if self.agent == "opencode":
                        screen.until(lambda: screen.shows("scratch.txt"), 60)
                        screen.look(1.5)
                        screen.say(MAIN + ", again")
                elif words:
                    screen.look(1.5)
                    before, drawn = self.talk.asked, len(screen.seen)
                    screen.say(words)
                if number == 1:
                    # It asks for the summary in a request of its own; where it does not come, what follows shows it.
                    screen.until(lambda: DayModel.summed, 15)
                    self.talk.at = ends[1] + 1
                elif not screen.until(lambda: self.talk.at > ends[number], self.options.time):
                    self.wrong.append("on its screen it stands still at `%s`" % self.talk.steps[self.talk.at][0])
                    break
        finally:
            open(self.top + "/screen", "w").write(screen.text())
            screen.close()

    def end(self):
        self.server.shutdown()
        end_all()
        told = {**self.talk.told, **DayModel.talks["other"].told}
        self.told = {name: self.plain(it) for name, it in told.items()}
        self.media = self.talk.media
        self.files = files_of(self.work)

    def plain(self, told):
        """What was told, without what is another one each time."""
        text = told if isinstance(told, str) else json.dumps(told, sort_keys=True, ensure_ascii=False)
        name = os.path.basename(self.top)
        for what, word in ((self.work, "WORK"), (self.top, "TOP"), (re.sub(r"\W|_", "-", name), "DAY"), (str(self.port), "PORT")):
            text = text.replace(what, word)
        for name, data in encoded().items():
            text = text.replace(data, name)
        for pattern, word in OTHERS:
            text = re.sub(pattern, word, text)
        return text


# Gemini CLI alone runs no line with `$( )`, and reads `$$` in quotes anew; opencode was not looked at.
ODD = ("claude-code", "codex", "copilot")
# The word for it, what it is called, whether it is on a terminal, whether its work is seldom.
DAYS = [("headless", "a day, headless", False, False), ("screen", "a day, on its screen", True, False), ("odd", "a day of seldom work", False, True)]


def end_all():
    """Ends whatever the day has left running: everything in a process namespace of our own."""
    if os.getpid() != 1:
        sys.exit("it must be the first process of a namespace: `unshare -nmpf --mount-proc`")
    try:
        os.kill(-1, signal.SIGKILL)
        while os.waitpid(-1, 0):
            pass
    except (ProcessLookupError, ChildProcessError):
        pass


def files_of(root):
    found = {}
    for directory, names, files in os.walk(root):
        names[:] = [it for it in names if it != ".git"]
        # The one of a working tree says where it stands.
        for name in [it for it in files if it != ".git"]:
            path = os.path.join(directory, name)
            found[os.path.relpath(path, root)] = (oct(os.stat(path).st_mode), open(path, "rb").read())
    found["(commits)"] = subprocess.run(["git", "log", "--format=%T %s"], cwd=root, capture_output=True).stdout
    return found


def play(agent, options, screen, odd=False):
    """Both days. Returns both, and what differs."""
    both = []
    for ours in (False, True):
        DayModel.summed = False
        session = Session(agent, options, ours, screen)
        if odd:
            session.talk.steps = odd_day(agent, session.work)
            # Alone it looks at the paths that a command names; with us it is given another command.
            session.args += ["--allow-all-paths"] if agent == "copilot" else []
        (session.on_screen if screen else session.headless)()
        session.end()
        both.append(session)
    alone, held = both
    wrong = ["alone: " + it for it in alone.wrong] + held.wrong
    for name, _ in (it for it in alone.talk.steps if it != END):
        one, other = alone.told.get(name), held.told.get(name)
        if name == "denied":
            if os.path.exists(held.work + "/denied"):
                wrong.append("what a rule denies was run")
        elif one != other and (agent, name) not in APART:
            wrong.append("`%s`\n    alone: %s\n    held:  %s" % (name, (one or "")[:900], (other or "")[:900]))
        if alone.media.get(name) != held.media.get(name):
            wrong.append("`%s`: alone it got %s, held %s" % (name, alone.media.get(name), held.media.get(name)))
    names = set(alone.files) | set(held.files)
    others = [it for it in sorted(names) if it != "denied" and alone.files.get(it) != held.files.get(it)]
    wrong += ["%s is another one" % it for it in others[:20]] + (["so are %d more" % (len(others) - 20)] if len(others) > 20 else [])
    if wrong:
        wrong.append("see %s and %s" % (alone.top, held.top))
    elif not options.keep:
        for it in both:
            shutil.rmtree(it.top, ignore_errors=True)
    return both, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eclusa", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--time", type=int, default=120)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--alone", action="store_true", help="only without us, and print what was told")
    parser.add_argument("--only", choices=[it[0] for it in DAYS])
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache"))
    parser.add_argument("agents", nargs="+")
    options = parser.parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    os.makedirs(options.scratch, exist_ok=True)
    bad = 0
    for agent in options.agents:
        for _, name, screen, odd in [it for it in DAYS if options.only in (None, it[0]) and (agent in ODD or not it[3])]:
            begun = time.monotonic()
            if options.alone:
                DayModel.summed = False
                session = Session(agent, options, False, screen)
                (session.on_screen if screen else session.headless)()
                session.end()
                print(session.wrong, session.top)
                for name, it in session.told.items():
                    print("  %s: %s %s" % (name, it[:300], session.media.get(name, "")))
                continue
            _, wrong = play(agent, options, screen, odd)
            bad += bool(wrong)
            tell(agent, name, wrong, time.monotonic() - begun)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
