"""What goes on after a call, and what is not real yet: jobs and their owner, runs that wait for a yes, rehearsals."""
import glob
from doors import *

VERSION = 3  # of the messages of an owner


def job(world, command, session="s", **more):
    """Starts this as a job of a session, as an agent does: its number."""
    hooked = world.hook(world.event("Bash", {"command": command, "run_in_background": True}, session=session, **more))
    ran = world.carried_out(hooked)
    found = ran and re.search(r"job (\d+)", ran.all)
    control(found, f"it is a job: {hooked} {ran}")
    return int(found.group(1))


def jobs(world):
    return json.loads(world.run("--json", "jobs").out or "{}").get("jobs", [])


def until(what, wait=LONG):
    """Waits for something that must come; says whether it did."""
    end = time.monotonic() + wait
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(what())


def owner(world):
    """The sockets of all owners of this world."""
    return sorted(glob.glob(world.path("state") + "/**/sessions/*/owner", recursive=True))


def ask(path, body, fds=(), v=VERSION, raw=None, wait=20):
    """What an owner answers to one message; None where it says nothing."""
    directory = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stream:
        stream.settimeout(wait)
        stream.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
        os.close(directory)
        data = raw if raw is not None else json.dumps({"v": v, "program": "0.1.0", "body": body}).encode()
        try:
            socket.send_fds(stream, [data], list(fds)) if fds else stream.send(data)
            got, more, _, _ = socket.recv_fds(stream, 65536, 40)
        except (ConnectionError, socket.timeout, OSError):
            return None
        for fd in more:
            os.close(fd)
    return {**json.loads(got)["body"], "descriptors": len(more)} if got else None


class Claude:
    """A process that plays Claude Code of a version, as its hooks find it, with a person in front of it."""

    def __init__(self, world, version="2.1.325"):
        self.world, program = world, world.path(f"home/versions/{version}")
        os.makedirs(os.path.dirname(program), exist_ok=True)
        shutil.copy(shutil.which("sh"), program)
        self.process = subprocess.Popen([program, "-c", "read line"], stdin=subprocess.PIPE, start_new_session=True)
        OPENED.append(self.process)

    def asks(self, command, session="s", env=None, **more):
        event = self.world.event("Bash", {"command": command}, session=session, permission_mode="default", **more)
        return self.world.hook(event, env={"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_PID": str(self.process.pid), **(env or {})})


def parked(world, command):
    """A command whose changes wait for a yes: its reply."""
    ran = world.run("--json", "run", "--park", "bash", json.dumps({"command": command}))
    control(ran.code == 4, f"its changes wait: {ran}")
    return ran.json()


def yes(world, approval=1):
    return world.run("approvals", "yes", str(approval))


def calls(*all):
    """What a model writes to make these calls."""
    return "".join(f"```tool\n{json.dumps({'name': tool, 'args': args})}\n```\n" for tool, args in all).encode()


def rehearsed(world, *all, words=(), env=None, wait=LONG):
    """The plan of a dry run of these calls: (plan, what came of it)."""
    ran = world.run("--dry-run", "--json", *words, "feed", input=calls(*all), env=env, wait=wait)
    values, text = [], ran.out.strip()
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        values, text = values + [value], text[end:].strip()
    return next((it for it in reversed(values) if isinstance(it, dict) and "plan" in it), None), ran


class Typist:
    """A person at a terminal, in front of the program."""

    def __init__(self, world, *words, env=None, rows=40, columns=120):
        import fcntl, struct, termios
        env = {**world.env, "NO_COLOR": "1", **(env or {})}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(world.ws)
            os.execve(PROGRAM, [PROGRAM, *words], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.seen = ""

    def sees(self, text, wait=LONG):
        """Whether this comes."""
        end = time.monotonic() + wait
        while text not in self.seen and (left := end - time.monotonic()) > 0 and select.select([self.fd], [], [], left)[0]:
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                break
            if not got:
                break
            self.seen += got.decode(errors="replace")
        return text in self.seen

    def answers(self, keys, prompt="? ["):
        """Waits for a question, and answers it."""
        control(self.sees(prompt), f"there is a question: {self.seen[-400:]}")
        self.before, self.seen = self.seen, ""
        time.sleep(0.5)
        os.write(self.fd, keys.encode() + b"\n")

    def ends(self):
        self.sees("\0never")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
