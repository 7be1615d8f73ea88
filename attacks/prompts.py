"""A person in front of an agent: what its hooks answer there, and what becomes of their answers."""
import fcntl, pty, struct, termios

from world import *

EDIT = "sed -i s/one/two/ a.txt"
VERSIONS = {"claude-code": "2.1.325", "gemini": "0.61.0", "codex": "0.166.0", "copilot": "1.0.102"}
SHELL = {"claude-code": "Bash", "gemini": "run_shell_command", "codex": "Bash", "copilot": "bash"}


class Sitting(World):
    """A workspace with `a.txt`, and an agent on a terminal."""

    def __init__(self, config="", agent="claude-code", version=None, words=""):
        super().__init__(config)
        self.agent, self.words = agent, words
        self.write("workspace/a.txt", "one\n")
        os.makedirs(self.path("agent"))
        self.agent_program = self.path("agent/" + (version or VERSIONS[agent]))
        shutil.copy("/bin/sh", self.agent_program)
        if agent == "codex":
            self.env["CODEX_HOME"] = self.path("home/.codex")
            ran = self.run("install", "codex")
            control(ran.code == 0, f"install codex: {ran}")
        needs_sandbox(self)
        self.pid = None
        if agent == "claude-code":
            self.pid = self.start(["-c", "read line"], program=self.agent_program, stdin=subprocess.PIPE).pid

    def says(self, event, turn="", env=None):
        """What the hook answers on a terminal, where the agent has it and a shell runs its hooks."""
        if self.agent == "claude-code":
            return self.hook(event, env={"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_PID": str(self.pid), **(env or {})})
        name = f"event-{time.monotonic_ns()}"
        asked = self.write(name, json.dumps(event))
        answer, code = self.path(name + ".out"), self.path(name + ".code")
        line = f"'{PROGRAM}' hook {self.agent} {turn} < '{asked}' > '{answer}' 2>&1; echo $? > '{code}'; true"
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 160, 0, 0))
        words = ["-c", 'sh -c "$0"; true', line, *self.words.split()]
        process = self.start(words, program=self.agent_program, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
        process.wait(LONG)
        os.close(theirs), os.close(ours)
        said = Hooked(Ran(int(self.read(os.path.basename(code)) or 2), self.read(os.path.basename(answer)), ""))
        whole = json.loads(said.out) if said.out.strip().startswith("{") else {}
        if "modifiedArgs" in whole:
            said.input = whole["modifiedArgs"]
            said.command = said.input["command"]
        if "systemMessage" in whole:
            said.why = whole["systemMessage"]
        return said

    def before(self, command, tool=None, **more):
        """The event before a shell call, or before another tool's."""
        tool, args = tool or SHELL[self.agent], command if isinstance(command, dict) else {"command": command}
        if self.agent == "copilot":
            return {"sessionId": "s", "cwd": self.ws, "toolName": tool, "toolArgs": args, **more}
        event = self.event(tool, args, self.agent, **{"permission_mode": "default", **more})
        if self.agent == "gemini":
            del event["tool_use_id"]
        return event

    def after(self, command, **more):
        """The event after the call that was asked about last."""
        return {**self.event("Bash", {"command": command}), "hook_event_name": "PostToolUse", "tool_use_id": self.call,
                "permission_mode": "default", "tool_response": "out", **more}

    def permission(self, command):
        return {"hook_event_name": "PermissionRequest", "session_id": "s", "turn_id": "t", "cwd": self.ws, "tool_name": "Bash",
                "tool_input": {"command": command}, "permission_mode": "default"}

    def asks(self, command=EDIT, **more):
        """The answer to a shell command, which has run ahead."""
        event = self.before(command, **more)
        self.call = event.get("tool_use_id")
        return self.says(event)

    @property
    def text(self):
        return self.read("workspace/a.txt")

    def kept(self):
        """The pending runs."""
        found = []
        for directory, below, _ in os.walk(self.path("state")):
            if os.path.basename(directory) == "pending":
                found += [os.path.join(directory, it) for it in below if it.isdigit()]
        return found


def ahead(said):
    """Whether a command ran ahead and its agent asks about what it did."""
    return " --ask " in (said.command or "") or bool(said.ticket) and said.word == "ask"


def takes(config="", agent="claude-code", **how):
    """A world in which a yes was seen to apply an edit: what is refused there is refused for the attack."""
    w = Sitting(config, agent, **how)
    said = w.asks()
    control(said.word == "ask" or agent != "claude-code", f"it is asked about: {said}")
    if agent == "copilot":
        asked = w.says(w.before(said.command), "--second")
        control(asked.word == "ask", f"the second hook asks: {asked}")
    if agent == "gemini":
        control(said.word == "ask", f"it is asked about: {said}")
        control(w.says(w.before(said.command), "--second").word == "allow", "the second hook lets it on")
    if agent == "codex":
        control(ahead(said), f"it tells: {said}")
        w.says(w.permission(said.command))
        told = w.sh(said.command)
        control(told.code == 0, f"it tells: {told}")
        w.says(w.after(said.command))
    else:
        ran = w.sh(said.command)
        control(ran.code == 0, f"the ticket runs: {ran}")
    control(w.text == "two\n", f"a yes applies it: {w.text!r}")
    w.write("workspace/a.txt", "one\n")
    return w
