"""What the attacks share: a place of their own for each, the program, and how an attack ends."""
import base64, json, os, pty, queue, re, select, shutil, signal, socket, subprocess, sys, tempfile, threading, time

PROGRAM = os.path.abspath(os.environ.get("ECLUSA", "target/debug/eclusa"))
LONG = int(os.environ.get("ATTACKS_LONG", 60))  # far more than anything takes, in seconds
OPENED = []


def done(code, said):
    print(said)
    sys.stdout.flush()
    for process in OPENED:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    os.environ.get("KEEP") or [shutil.rmtree(it, ignore_errors=True) for it in World.made]
    os._exit(code)


def through(what):
    """The attack worked."""
    done(1, f"{what}")


def cannot(why):
    done(3, why)


def held(what=""):
    """Nothing of it came true."""
    done(0, what)


def control(is_so, what):
    """What must work so that a refusal means something: the same without the attack."""
    if not is_so:
        done(2, f"the control does not hold: {what}")


def broken_if(is_so, what):
    if is_so:
        through(what)


def _unexpected(kind, err, trace):
    import traceback
    traceback.print_exception(kind, err, trace)
    done(2, f"the attack itself failed: {kind.__name__}: {err}")


sys.excepthook = _unexpected


class Ran:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.all = out + err

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"{self.code} {self.out[-600:]!r} {self.err[-600:]!r}"


class World:
    """A home, a configuration, a state and a workspace. Not in /tmp, which sandboxes cover."""
    made = []

    def __init__(self, config="", base=None, name="w"):
        base = base or os.environ.get("ATTACKS_BASE") or os.path.join(os.path.expanduser("~"), ".cache", "eclusa-attacks")
        os.makedirs(base, exist_ok=True)
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix=name, dir=base))
        World.made.append(self.dir)
        for it in ("workspace", "config/eclusa", "state", "home", "outside", "etc"):
            os.makedirs(self.path(it))
        self.ws, self.home = self.path("workspace"), self.path("home")
        self.outside = self.path("outside")
        if config:
            self.config(config)
        self.env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": self.home, "XDG_CONFIG_HOME": self.path("config"),
                    "XDG_STATE_HOME": self.path("state"), "USER": "tester", "TERM": "xterm", "ECLUSA_EXAMPLE_TOOLS": "true"}

    def path(self, name):
        return os.path.join(self.dir, name)

    def config(self, text):
        self.write("config/eclusa/eclusa.toml", text)

    def write(self, name, text, mode=None):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        if mode is not None:
            os.chmod(path, mode)
        return path

    def read(self, name):
        try:
            with open(self.path(name), errors="replace") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def start(self, words, cwd=None, env=None, program=None, **how):
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        process = subprocess.Popen([program or PROGRAM, *words], cwd=cwd or self.ws, env={**self.env, **(env or {})},
                                   start_new_session=True, **how)
        OPENED.append(process)
        return process

    def run(self, *words, input=b"", cwd=None, env=None, program=None, wait=LONG):
        process = self.start(words, cwd, env, program, stdin=subprocess.PIPE)
        return finish(process, input, wait)

    def sh(self, text, cwd=None, env=None, wait=LONG):
        """A line as an agent's shell runs it."""
        return self.run("-c", text, cwd=cwd, env=env, program="/bin/sh", wait=wait)

    def log(self):
        """Every record, as text."""
        return self.run("log", "export").out

    # Hooks.
    def event(self, tool, args, agent="claude-code", session="s", **more):
        names = {"gemini": "BeforeTool"}
        event = {"hook_event_name": names.get(agent, "PreToolUse"), "session_id": session, "cwd": self.ws, "tool_name": tool,
                 "tool_input": args, "tool_use_id": f"t{time.monotonic_ns()}"}
        return {**event, **more}

    def hook(self, event, agent="claude-code", cwd=None, env=None, wait=LONG):
        text = event if isinstance(event, bytes) else json.dumps(event).encode()
        return Hooked(self.run("hook", agent, input=text, cwd=cwd, env={"CLAUDE_CODE_SESSION_ATTENDED": "0", **(env or {})}, wait=wait))

    def bash(self, command, agent="claude-code", cwd=None, env=None, **more):
        return self.hook(self.event("Bash", {"command": command}, agent, **more), agent, cwd, env)

    def carried_out(self, hooked, env=None, cwd=None):
        """What the agent's shell does with the answer: the command that stands there, if it may run."""
        return self.sh(hooked.command, env=env, cwd=cwd) if hooked.word != "deny" and hooked.command else None


def finish(process, input=b"", wait=LONG):
    try:
        out, err = process.communicate(input if process.stdin else None, timeout=wait)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Ran(-99, out.decode(errors="replace"), err.decode(errors="replace") + "\nhung")
    return Ran(process.returncode, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"))


class Hooked(Ran):
    """A hook's answer, as the agent understands it: everything that is no clear yes is a no here, too."""

    def __init__(self, ran):
        super().__init__(ran.code, ran.out, ran.err)
        self.word, self.command, self.why, self.input = "deny", None, ran.err, None
        if ran.code == 2:
            return
        try:
            said = json.loads(ran.out) if ran.out.strip() else {}
        except ValueError:
            self.word = "allow"  # agents run what they get no answer about
            return
        inner = said.get("hookSpecificOutput", said)
        self.word = inner.get("permissionDecision") or said.get("decision") or ("allow" if ran.code == 0 else "deny")
        self.why = inner.get("permissionDecisionReason") or said.get("reason") or ""
        self.input = inner.get("updatedInput") or inner.get("tool_input")
        self.command = (self.input or {}).get("command") if isinstance(self.input, dict) else None

    @property
    def ticket(self):
        found = re.search(r"--ticket ([0-9a-f]{32})", self.command or "")
        return found and found.group(1)


def running(mark):
    """The processes whose command line holds this."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", errors="replace") as file:
                found += [pid] if mark in file.read() else []
        except OSError:
            pass  # it has ended
    return found


def needs_sandbox(world):
    ran = world.run("exec", "--discard", "--", "echo it-ran")
    if "it-ran" not in ran.out:
        cannot(f"no command runs in a sandbox here: {(ran.err or ran.out).strip()[:120]}")


def needs_root():
    if os.geteuid() != 0:
        cannot("it takes the superuser to play two users")


def other_user():
    """The words that start a program as another user of the machine."""
    needs_root()
    import pwd
    if not shutil.which("setpriv"):
        cannot("there is no `setpriv`")
    nobody = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]


def memory(pid):
    """The most that a process ever held, in MB."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) // 1024
    except (FileNotFoundError, AttributeError):
        return 0


def limited(world, words, input=b"", megabytes=400, wait=LONG, **how):
    """Runs the program where it may have so much memory: more is a crash, which is seen."""
    line = f'ulimit -v {megabytes * 1024}; exec "$0" "$@"'
    return world.run("-c", line, PROGRAM, *words, program="/bin/sh", input=input, wait=wait, **how)


class Lines:
    """A program that is talked to line by line, in JSON."""

    def __init__(self, process):
        self.process, self.lines, self.heard = process, queue.Queue(), []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (BrokenPipeError, OSError):
            pass

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def next(self, wait=LONG):
        """The next message; None where none comes or the client has left."""
        try:
            line = self.lines.get(timeout=wait)
        except queue.Empty:
            return None
        if line is None:
            return None
        try:
            return json.loads(line)
        except ValueError:
            return {"raw": line}

    def until(self, fits, wait=LONG):
        end = time.monotonic() + wait
        for at, it in enumerate(self.heard):
            if fits(it):
                return self.heard.pop(at)
        while (left := end - time.monotonic()) > 0:
            message = self.next(left)
            if message is None:
                return None
            if fits(message):
                return message
            self.heard.append(message)
        return None

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(LONG)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
