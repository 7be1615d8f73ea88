#!/usr/bin/env python3
"""Real agents with a person in front of them: a terminal, a scripted model on loopback, and somebody who answers.

    scripts/agents_ahead.py [--eclusa FILE] [--packages DIR] [AGENT…]     claude-code gemini codex copilot

A command runs ahead of its question, the agent's own prompt shows what it changes, and a yes applies exactly that. For
each agent: a yes, a no, and a commit whose hash is the one that was shown. For Claude Code a day besides, beside an
editor that asks git for its status all the time: it must end as a plain run does, with one question a change at most,
and none under auto-approve. Each agent is run in namespaces of its own, which takes root. `scripts/agents --install`
fetches the packages. Prints a line for each, and ends with 1 if one is wrong, with 3 where nothing can be run."""
import argparse, codecs, fcntl, json, os, pty, re, select, shutil, signal, struct, subprocess, sys, tempfile, termios, threading, time
from http.server import ThreadingHTTPServer

from agents_model import Model, program, settings
from agents_table import tell
from agents_terminal import Terminal

TOOL = {"claude-code": ("Bash", "command"), "codex": ("exec_command", "cmd"), "gemini": ("run_shell_command", "command"),
        "copilot": ("bash", "command")}
# What stands in a prompt, without its blanks (some are moves of the cursor), and what says yes and no to it.
PROMPT = {"claude-code": (r"Doyouwantto", b"\r", b"\x1b"), "gemini": (r"Allow(once|execution)", b"\r", b"\x1b"),
          "codex": (r"Wouldyouliketorun", b"y", b"\x1b"), "copilot": (r"1\.Yes", b"1", b"\x1b")}
WORDS = {"claude-code": ["go"], "codex": ["--dangerously-bypass-hook-trust", "go"],
         "gemini": ["-i", "go", "-m", "gemini-2.5-flash"], "copilot": ["-i", "go"]}
GENERATOR = "for n in range(5):\n    open(f'made{n}.py', 'w').write(f'N = {n}\\n')\nprint('made 5')\n"
FORMATTER = ("import glob\nfor it in glob.glob('*.py'):\n    text = open(it).read()\n"
             "    open(it, 'w').write(text.replace(' = ', '  =  '))\n")
# A command, whether it changes something, and whether it goes on.
DAY = [
    ("cat a.txt", False), ("sed -i s/one/two/ a.txt", True), ("git add -A", True), ("git commit -qm two", True),
    ("python3 generate.py", True), ("python3 tidy.py", True), ("git status --short", False), ("rm old.txt", True),
    ("git add -A && git commit -qm made", True), ("python3 -m http.server 8125", False),
    ("sleep 1; curl -s http://127.0.0.1:8125/a.txt", False), ("date > when; git log --oneline | wc -l", True),
]


class Scripted(Model):
    """A model that makes one call after the other, or all of them at once."""
    script, field, extra, together = [], "command", {}, False

    def calls(self, offered, results):
        # Where git's lock was held by somebody else it makes the call again, as a model does; a plain run meets that too.
        results = [it for it in results if "index.lock': File exists" not in json.dumps(it)]
        Model.got = results or Model.got
        fitting = [it for it in offered if re.fullmatch(Model.pattern, it)]
        Model.tool = fitting[0] if fitting else ""
        if not fitting or len(results) >= len(Scripted.script):
            return False
        said = lambda command: {Scripted.field: command, **Scripted.extra, **({"run_in_background": True} if "http.server" in command else {})}
        if Scripted.together:
            self.several = [(Model.tool, said(it)) for it in Scripted.script]
        Model.args = said(Scripted.script[len(results)])
        return True


def plain(text):
    """What of a terminal's output is words."""
    text = re.sub(r"\x1b\[\d*C", " ", text)
    text = re.sub(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[\[?()][0-9;?<>=]*[ -/]*[@-~]|\x1b[=>78cM]", "", text)
    return text.replace("\r", "\n")


def squeezed(text):
    """Without blanks, and without frames, which break a line within its words."""
    return re.sub(r"[\s\u2500-\u257f]", "", text)


def question(agent, screen):
    """The question that stands on a screen, by the ticket that it names: Codex below its words, the others above."""
    text = squeezed(screen)
    found = [it.start() for it in re.finditer(PROMPT[agent][0], text)]
    if not found:
        return None
    tickets = re.findall(r"[0-9a-f]{32}", text[found[-1]:] if agent == "codex" else text[:found[-1]])
    return tickets[0 if agent == "codex" else -1] if tickets else "no ticket"


class Session:
    """One agent on a terminal, and somebody who answers each of its prompts."""

    def __init__(self, agent, options, script, config="", answer=True, together=False):
        Scripted.together = together
        self.agent, self.options, self.answer, self.prompts, self.screen, self.seen = agent, options, answer, [], "", ""
        self.top = tempfile.mkdtemp(prefix="ahead-", dir=options.scratch)
        self.home, self.work = self.top + "/home", self.top + "/work"
        for directory in (self.home + "/.config/eclusa", self.work, self.top + "/tmp", self.top + "/bin"):
            os.makedirs(directory)
        shutil.copy(options.eclusa, self.top + "/bin/eclusa")
        tool, Scripted.field = TOOL[agent]
        Model.pattern, Model.got, Scripted.script = tool, [], script
        Scripted.extra = {} if agent == "codex" else {"description": "a step"}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.env, _, files = settings(agent, self.home, self.server.server_port)
        self.env.update(TERM="xterm-256color", COLUMNS="160", LINES="60", PATH=self.top + "/bin:" + self.env["PATH"],
                        GIT_CONFIG_GLOBAL=self.home + "/.gitconfig")
        self.env.pop("NO_COLOR", None)
        self.settle(files)
        for name, text in files.items():
            self.write("home/" + name, text)
        self.write("home/.config/eclusa/eclusa.toml", config)
        make(self.work, self.env)

    def settle(self, files):
        """What an agent asks at its first start, answered beforehand."""
        if self.agent == "claude-code":
            self.env.pop("IS_SANDBOX", None)
            project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
            files[".claude.json"] = json.dumps({
                "hasCompletedOnboarding": True, "theme": "dark", "lastOnboardingVersion": "9.9.9", "numStartups": 9,
                "customApiKeyResponses": {"approved": ["scripted"], "rejected": []}, "projects": {self.work: project}})
        elif self.agent == "codex":
            text = files[".codex/config.toml"].replace('"never"', '"on-request"').replace("danger-full-access", "workspace-write")
            files[".codex/config.toml"] = text + '\n[projects."%s"]\ntrust_level = "trusted"\n' % self.work
        elif self.agent == "copilot":
            files[".copilot/config.json"] = json.dumps({"trusted_folders": [self.work], "banner": "never"})

    def write(self, name, text):
        path = self.top + "/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def eclusa(self, *words):
        return subprocess.run([self.top + "/bin/eclusa", *words], cwd=self.work, env=self.env, capture_output=True, text=True)

    def run(self, beside=None):
        """Until the model has all that it wants to know, or nothing comes any more."""
        installed = self.eclusa("install", self.agent)
        if installed.returncode:
            return "install: " + installed.stderr
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.work)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 160, 0, 0))
            words = program(self.options.packages, self.agent) + WORDS[self.agent]
            os.execvpe(words[0], words, self.env)
        over, reader = threading.Event(), codecs.getincrementaldecoder("utf-8")(errors="replace")
        if beside:
            threading.Thread(target=beside, args=(self, over), daemon=True).start()
        _, said_yes, said_no = PROMPT[self.agent]
        end, drawn, answered, stands, ended = time.monotonic() + self.options.time, Terminal(60, 160), -1, None, None
        # The question that was answered last.
        last = None
        while time.monotonic() < end:
            ready, _, _ = select.select([terminal], [], [], 0.3)
            if ready:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                data = reader.decode(data)
                self.screen += data
                drawn.feed(data)
                # What a terminal is asked about itself.
                for asked, told in (("\x1b[c", "\x1b[?62c"), ("\x1b[6n", "\x1b[%d;%dR" % (drawn.row + 1, min(160, drawn.column + 1)))):
                    if asked in data:
                        os.write(terminal, told.encode())
            stood = question(self.agent, drawn.text())
            # It has its answer already, or its call has; of two calls the other one may be asked about before either
            # has come to an end.
            over_with = len(Model.got) >= len(Scripted.script) or answered == len(Model.got) and not Scripted.together
            if stood is None or over_with or stood == last != "no ticket":
                stands = None
            # It takes no keys at once.
            elif stands is None:
                stands = time.monotonic()
            elif time.monotonic() - stands > 2:
                self.prompts.append((len(Model.got), squeezed(drawn.text())))
                answered, last, stands = len(Model.got), stood, None
                os.write(terminal, said_yes if self.answer else said_no)
                ended = None if self.answer else time.monotonic() + 4
            if len(Model.got) >= len(Scripted.script) and ended is None:
                ended = time.monotonic() + 3
            if ended and time.monotonic() > ended:
                break
        over.set()
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(child, how)
            except ProcessLookupError:
                break
            time.sleep(0.5)
        os.waitpid(child, 0)
        os.close(terminal)
        self.seen = drawn.text()
        self.server.shutdown()
        return None

    def text(self, name):
        try:
            with open(self.work + "/" + name) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.work, env=self.env, capture_output=True, text=True).stdout.strip()

    def close(self, wrong):
        with open(self.top + "/screen", "w") as file:
            file.write(plain(self.screen) + "\n\nat the end:\n" + self.seen)
        with open(self.top + "/got", "w") as file:
            json.dump(Model.got, file, indent=1)
        if not wrong and not self.options.keep:
            shutil.rmtree(self.top, ignore_errors=True)
        return [*wrong, "see " + self.top] if wrong else []


def make(work, env):
    """A small project, the same each time."""
    for name, text in {"a.txt": "one\n", "old.txt": "old\n", "generate.py": GENERATOR, "tidy.py": FORMATTER}.items():
        with open(work + "/" + name, "w") as file:
            file.write(text)
    for words in (["init", "-qb", "main"], ["config", "user.email", "a@example"], ["config", "user.name", "A"],
                  ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=work, env=env, check=True)


def tree(work):
    """The files of a workspace, without git's own and without what holds a time."""
    found = {}
    for directory, below, names in os.walk(work):
        below[:] = [it for it in below if it not in (".git", ".claude", "__pycache__")]
        for name in names:
            path = os.path.join(directory, name)
            if name not in ("when", ".mcp.json"):
                found[os.path.relpath(path, work)] = open(path, "rb").read()
    return found


def a_yes(agent, options):
    session = Session(agent, options, ["sed -i s/one/two/ a.txt", "git commit -qam two; git rev-parse HEAD"])
    wrong = [it for it in [session.run()] if it]
    if session.text("a.txt") != "two\n":
        wrong.append("the yes applied nothing: %r" % session.text("a.txt"))
    if session.git("log", "-1", "--format=%s") != "two" or session.git("rev-parse", "HEAD") not in json.dumps(Model.got):
        wrong.append("the commit did not land with the hash that was shown")
    if len(session.prompts) != 2:
        wrong.append("%d questions, and not 2" % len(session.prompts))
    elif "+two" not in session.prompts[0][1]:
        wrong.append("the first question does not show what changes")
    if session.eclusa("log", "verify").returncode:
        wrong.append("the log does not verify")
    return session.close(wrong)


def a_no(agent, options):
    session = Session(agent, options, ["sed -i s/one/two/ a.txt"], answer=False)
    wrong = [it for it in [session.run()] if it]
    if session.text("a.txt") != "one\n":
        wrong.append("after a no it is applied")
    if len(session.prompts) != 1:
        wrong.append("%d questions, and not 1" % len(session.prompts))
    return session.close(wrong)


def two_at_once(agent, options):
    """Two calls in one answer of the model: each has its own question, and its own yes."""
    session = Session(agent, options, ["sed -i s/one/two/ a.txt", "sed -i s/old/new/ old.txt"], together=True)
    wrong = [it for it in [session.run()] if it]
    for name, wanted in (("a.txt", "two\n"), ("old.txt", "new\n")):
        if session.text(name) != wanted:
            wrong.append("the yes applied nothing to %s" % name)
    if len(session.prompts) != 2:
        wrong.append("%d questions, and not 2" % len(session.prompts))
    return session.close(wrong)


def editor(session, over):
    """An editor that wants to know how things stand, again and again."""
    while not over.is_set():
        for name in ("a.txt", "generate.py"):
            os.utime(session.work + "/" + name)
        subprocess.run(["git", "status"], cwd=session.work, env=session.env, capture_output=True)
        time.sleep(0.3)


def day(config):
    def play(agent, options):
        session = Session(agent, options, [it[0] for it in DAY], config)
        wrong = [it for it in [session.run(editor)] if it]
        other = tempfile.mkdtemp(prefix="plain-", dir=options.scratch)
        make(other, session.env)
        for command, _ in DAY:
            if "8125" not in command:
                subprocess.run(["bash", "-c", command], cwd=other, env=session.env, capture_output=True)
        ours, theirs = tree(session.work), tree(other)
        wrong += ["`%s` is not as after a plain run" % it for it in sorted({*ours, *theirs}) if ours.get(it) != theirs.get(it)]
        subjects = lambda at: subprocess.run(["git", "log", "--format=%s %T"], cwd=at, capture_output=True, text=True).stdout
        if subjects(session.work) != subjects(other):
            wrong.append("the commits are others: %s" % subjects(session.work))
        if session.git("fsck", "--strict"):
            wrong.append("fsck: " + session.git("fsck", "--strict"))
        if len(Model.got) != len(DAY):
            wrong.append("%d of %d calls came to an end" % (len(Model.got), len(DAY)))
        elif "two" not in json.dumps(Model.got[10]):
            wrong.append("the server was not reached: %s" % json.dumps(Model.got[10])[:200])
        asked = [0] * (len(DAY) + 1)
        for at, _ in session.prompts:
            asked[at] += 1
        most = [int(changes and not config) for _, changes in DAY]
        wrong += ["%d questions about `%s`" % (it, DAY[at][0]) for at, it in enumerate(asked[:len(DAY)]) if it > most[at]]
        shutil.rmtree(other, ignore_errors=True)
        return session.close(wrong)
    return play


CASES = [("a yes, and a commit", a_yes, None), ("a no", a_no, None), ("two at once", two_at_once, None), ("a day", day(""), "claude-code"),
         ("a day, auto-approve", day('mode = "auto-approve"\n'), "claude-code")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--eclusa", default=os.environ.get("ECLUSA", here + "/target/debug/eclusa"))
    parser.add_argument("--packages", default=os.environ.get("AGENTS_DIR", os.path.expanduser("~/.cache/eclusa-agents")))
    parser.add_argument("--time", type=int, default=300)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache"))
    parser.add_argument("agents", nargs="*")
    options = parser.parse_args()
    options.eclusa, agents = os.path.abspath(options.eclusa), options.agents or list(TOOL)
    missing = [it for it in agents if not os.path.exists(os.path.join(options.packages, it, "ok"))]
    if missing or os.geteuid() != 0 or not os.access(options.eclusa, os.X_OK):
        print("cannot run: %s" % ("no package of " + missing[0] if missing else "it takes root, and the program"))
        return 3
    if os.environ.get("AGENTS_AHEAD_APART") is None and os.getpid() != 1:
        # A network of its own, where only loopback is.
        os.environ["AGENTS_AHEAD_APART"] = "1"
        os.execvp("unshare", ["unshare", "-nm", sys.executable, "-B", *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    os.makedirs(options.scratch, exist_ok=True)
    bad = 0
    for agent in agents:
        for name, play, only in CASES:
            if only not in (None, agent) or not name.startswith(options.only):
                continue
            began = time.monotonic()
            wrong = play(agent, options)
            bad += bool(wrong)
            tell(agent, name, wrong, time.monotonic() - began)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
