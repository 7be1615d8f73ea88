"""What the agents of agents_day.py do on their day, and a scripted model that has them do it."""
import base64, json, os, re, sys, threading

from agents_model import Model

HERE = os.path.dirname(os.path.abspath(__file__))
MEDIA = os.path.join(HERE, "../crates/eclusa-cli/tests/fixtures/media")
MAIN, OTHER = "the main task", "the other task"
# What an agent is asked for a summary by.
SUMMARY = re.compile(r"summar|compact|state_snapshot|checkpoint", re.I)
# A step after which the agent waits for its person.
END = ("end", None)


class Conversation:
    """What one agent does, step by step, and what it was told of each."""

    def __init__(self, steps):
        self.steps, self.at, self.waiting, self.known, self.told, self.media = steps, 0, False, 0, {}, {}
        self.last, self.asked = None, 0

    def results(self, results, request):
        """Takes what came of the last call."""
        if len(results) < self.known:
            self.known = len(results)
        if self.waiting and len(results) > self.known:
            name, call = self.steps[self.at]
            # An agent may tell of others behind it, as of a shell that has ended meanwhile.
            self.told[name] = self.last = results[self.known:] if isinstance(call, list) else results[self.known]
            self.media[name] = {it: request.count(data) for it, data in encoded().items()}
            self.at, self.waiting = self.at + 1, False
        self.known = len(results)

    def next(self, offered):
        """The next calls, if there are some: tools that are offered, and their arguments."""
        self.asked += 1
        while self.at < len(self.steps):
            name, call = self.steps[self.at]
            if call is None:
                self.at += 1
                return None
            made = []
            for pattern, args in call if isinstance(call, list) else [call]:
                fitting = [it for it in offered if re.fullmatch(pattern, it)]
                if fitting:
                    made.append((fitting[0], args(self) if callable(args) else args))
            if made:
                self.waiting = True
                return made
            self.told[name], self.at = "no tool fits %s: %s" % (pattern, " ".join(offered)), self.at + 1
        return None


def encoded():
    return {it: base64.b64encode(open(os.path.join(MEDIA, it), "rb").read()).decode() for it in sorted(os.listdir(MEDIA))}


class DayModel(Model):
    """Plays the conversations of one day."""
    shell, talks, summed = "", {}, False
    lock = threading.Lock()

    def read(self):
        self.wanted = super().read()
        return self.wanted

    def calls(self, offered, results):
        request = json.dumps(self.wanted)
        if not any(re.fullmatch(DayModel.shell, it) for it in offered):
            return False
        talk = DayModel.talks["other" if OTHER in request and MAIN not in request else "main"]
        said = last_said(self.wanted)
        if isinstance(said, str) and SUMMARY.search(said) and not said.startswith(MAIN):
            DayModel.summed = True
            return False
        with DayModel.lock:
            talk.results(results, request)
            self.several = talk.next(offered)
        return self.several is not None


def last_said(wanted):
    """The last thing that a person, or the agent in their name, has said; results of tools are none."""
    last = (wanted.get("messages") or wanted.get("contents") or wanted.get("input") or [{}])[-1]
    parts = last.get("content") or last.get("parts") or ""
    if isinstance(parts, str):
        return parts if last.get("role") == "user" else None
    if any("result" in str(it.get("type")) or "functionResponse" in it for it in parts if isinstance(it, dict)):
        return None
    return "".join(it["text"] for it in parts if isinstance(it, dict) and isinstance(it.get("text"), str)
                   and last.get("role", "user") == "user")


class Calls:
    """How an agent names what a model may have it do."""

    def __init__(self, agent, work):
        self.agent, self.work = agent, work

    def shell(self, command, background=False):
        said = {"claude-code": {"command": command, "description": "a step", **({"run_in_background": True} if background else {})},
                "codex": {"cmd": command, "yield_time_ms": 2000 if background else 20000},
                "gemini": {"command": command, **({"is_background": True} if background else {})},
                "opencode": {"command": command, "description": "a step"},
                "copilot": {"command": command, "description": "a step", **({"mode": "async"} if background else {})}}
        return SHELL[self.agent], said[self.agent]

    def write(self, name, text):
        path = os.path.join(self.work, name)
        return {"claude-code": ("Write", {"file_path": path, "content": text}),
                "gemini": ("write_file", {"file_path": path, "content": text}),
                "opencode": ("write", {"filePath": path, "content": text}),
                "copilot": ("create", {"path": path, "file_text": text}),
                "codex": self.shell("mkdir -p %s && cat > %s <<'EOF'\n%sEOF" % (os.path.dirname(path), path, text))}[self.agent]

    def edit(self, name, old, new):
        path = os.path.join(self.work, name)
        return {"claude-code": ("Edit", {"file_path": path, "old_string": old, "new_string": new}),
                "gemini": ("replace", {"file_path": path, "old_string": old, "new_string": new, "instruction": "a step"}),
                "opencode": ("edit", {"filePath": path, "oldString": old, "newString": new}),
                "copilot": ("edit", {"path": path, "old_str": old, "new_str": new}),
                "codex": self.shell("python3 - <<'EOF'\np = %r\nt = open(p).read().replace(%r, %r)\nopen(p, 'w').write(t)\nEOF" % (path, old, new))}[self.agent]

    def view(self, name):
        path = os.path.join(self.work, name)
        return {"claude-code": ("Read", {"file_path": path}), "codex": ("view_image", {"path": path}),
                "gemini": ("read_file", {"file_path": path}), "opencode": ("read", {"filePath": path}),
                "copilot": ("view", {"path": path})}[self.agent]

    def of(self, server, name, args=None):
        """A tool of a server."""
        return "(mcp__)?%s[_.-]+%s|mcp_%s_%s" % (server, name, server, name), args or {}


def day(agent, work, port):
    """What the agent does, in its own words."""
    it = Calls(agent, work)
    shell, write, edit, view = it.shell, it.write, it.edit, it.view
    served = lambda name: it.of("slow", name)
    serve = "python3 -m http.server %d" % port
    nohup = "nohup %s >/dev/null 2>&1 &" % serve
    serves = shell(nohup) if agent == "opencode" else shell(serve, True)
    stop = {"claude-code": ("TaskStop|KillShell", lambda talk: {"task_id": re.search(r"ID: (\w+)", str(talk.told["serve"]))[1]}),
            "copilot": ("stop_bash", lambda talk: {"shellId": re.search(r"shellId: (\w+)", str(talk.told["serve"]))[1]})}.get(agent)
    prompt = OTHER + ": touch a file"
    task = {"claude-code": ("Agent|Task", {"description": "a step", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": False}),
            "codex": (".*spawn_agent", {"message": prompt}),
            "gemini": ("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),
            "opencode": ("task", {"description": "a step", "prompt": prompt, "subagent_type": "general"}),
            "copilot": ("task", {"description": "a step", "prompt": prompt, "agent_type": "general-purpose", "name": "other", "mode": "sync"})}[agent]
    main = [
        ("write", write("src/app.py", "def main():\n    print('demo')\n")),
        ("edit", edit("src/app.py", "'demo'", "'demo one'")),
        ("sed", shell("sed -i 's/demo/DEMO/' src/app.py && cat src/app.py")),
        ("commit", shell("git add src && git commit -qm 'first' && git status --short src && git log --oneline | wc -l")),
        ("cd", shell("cd src && pwd")),
        ("where", shell("pwd; ls -1")),
        ("back", shell("cd %s && pwd" % work)),
        ("number", shell("wc -l < src/app.py")),
        ("serve", serves),
        ("curl", shell("curl -s --retry 30 --retry-delay 1 --retry-connrefused --max-time 40 http://127.0.0.1:%d/src/app.py" % port)),
        *([("stop", stop)] if stop else []),
        ("picture", view("picture.png")), ("document", view("page.pdf")), ("sound", view("tone.wav")),
        ("its picture", served("picture")), ("its sound", served("sound")), ("it is late", served("late")),
        ("other agent", task),
        *([("wait", (".*wait_agent", lambda talk: {"targets": re.findall(r'"agent_id":\s*"([^"]+)"', str(talk.last)), "timeout_ms": 30000}))]
          if agent == "codex" else []),
        ("fails", shell("ls no-such-file; exit 3")),
        ("quotes", shell("cat > 'a b.txt' <<'EOF'\n$HOME \"x\" 'y'\nEOF\ncat 'a b.txt'; printf '%s\\n' \"it's\"")),
        ("branch", shell("git switch -qc topic && echo two >> notes.txt && git commit -qam second && git switch -q main && git merge -q topic && git log --oneline | wc -l")),
        ("make", shell("touch scratch.txt && ls scratch.txt")),
        ("delete", shell("rm scratch.txt && ls scratch.txt 2>&1 | wc -l")),
        ("denied", shell("touch denied")),
        ("many lines", shell("seq 1 400 | tail -n 300")),
        END,
        ("again", shell("cat src/app.py notes.txt; git status --short | grep -v denied")),
        END,
    ]
    other = [("by another", shell("touch from-another && ls from-another"))]
    return main, other


SHELL = {"claude-code": "Bash", "codex": "exec_command", "gemini": "run_shell_command", "opencode": "bash", "copilot": "bash"}

# The words with which a session goes on.
AGAIN = {"claude-code": lambda words: ["--continue", *words], "codex": lambda words: [words[0], "resume", "--last", *words[1:]],
         "gemini": lambda words: ["--resume", "latest", *words], "opencode": lambda words: [words[0], "--continue", *words[1:]],
         "copilot": lambda words: ["--continue", *words]}


def before_it_starts(agent, home, env, files):
    """What an agent wants to know before it starts on a terminal."""
    work = os.path.join(os.path.dirname(home), "work")
    if agent == "claude-code":
        files[".claude.json"] = json.dumps({
            "hasCompletedOnboarding": True, "theme": "dark",
            "bypassPermissionsModeAccepted": True, "customApiKeyResponses": {"approved": ["scripted"], "rejected": []},
            "projects": {work: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}})
        files[".claude/settings.json"] = json.dumps({"skipDangerousModePermissionPrompt": True})
    elif agent == "codex":
        files[".codex/config.toml"] = "check_for_update_on_startup = false\n" + files[".codex/config.toml"] + """
[projects.%s]
trust_level = "trusted"
""" % json.dumps(work)
    elif agent == "copilot":
        files[".copilot/config.json"] = json.dumps({"trusted_folders": [work], "banner": "never"})


def with_server(agent, home, env, files):
    """The settings with a slow server."""
    words = [sys.executable, os.path.join(HERE, "agents_server.py"), "3", MEDIA]
    entry = {"command": words[0], "args": words[1:]}

    def add(name, key, value):
        config = json.loads(files.get(name, "{}"))
        config[key] = value
        files[name] = json.dumps(config)
    if agent == "claude-code":
        env.update(ENABLE_TOOL_SEARCH="false", MCP_TIMEOUT="30000")
        add(".claude.json", "mcpServers", {"slow": {"type": "stdio", **entry}})
    elif agent == "codex":
        files[".codex/config.toml"] += """
[mcp_servers.slow]
command = %s
args = %s
startup_timeout_sec = 30
default_tools_approval_mode = "approve"
""" % (json.dumps(words[0]), json.dumps(words[1:]))
    elif agent == "gemini":
        add(".gemini/settings.json", "mcpServers", {"slow": {**entry, "trust": True}})
    elif agent == "opencode":
        add(".config/opencode/opencode.json", "mcp", {"slow": {"type": "local", "command": words, "enabled": True, "timeout": 30000}})
    else:
        add(".copilot/mcp-config.json", "mcpServers", {"slow": {"type": "local", **entry, "tools": ["*"]}})
