"""An agent on a terminal of its own, with somebody who types. Used by agents_day.py."""
import fcntl, os, pty, re, select, signal, struct, subprocess, termios, time

# What a terminal is asked, and what one says.
ANSWERS = ((rb"\x1b\[c", b"\x1b[?62;22c"), (rb"\x1b\[>0?c", b"\x1b[>1;10;0c"), (rb"\x1b\[6n", b"\x1b[1;1R"),
           (rb"\x1b\[5n", b"\x1b[0n"), (rb"\x1b\]10;\?", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
           (rb"\x1b\]11;\?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"), (rb"\x1b\[\?u", b"\x1b[?0u"))
DRAWN = re.compile(rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[@-Z\\-_=>78]")


class Screen:
    def __init__(self, words, cwd, env):
        self.seen = b""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
        env = {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        env.pop("NO_COLOR", None)

        def lead():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.child = subprocess.Popen(words, cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=lead)
        os.close(theirs)
        self.file = ours

    def look(self, seconds):
        """Reads what is drawn for so long, and answers what is asked of the terminal."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self.file], [], [], left)[0]:
                return
            try:
                part = os.read(self.file, 65536)
            except OSError:
                time.sleep(min(left, 0.05))
                return
            self.seen += part
            for asked, said in ANSWERS:
                for _ in re.finditer(asked, part):
                    self.press(said)

    def press(self, keys):
        try:
            os.write(self.file, keys)
        except OSError:
            pass

    def say(self, text):
        """Types a line and sends it: what comes at once is taken for something pasted."""
        self.press(text.encode())
        self.look(0.7)
        self.press(b"\r")

    def text(self):
        """What was drawn, without how."""
        return DRAWN.sub(b" ", self.seen).decode(errors="replace")

    def shows(self, text, since=0):
        """Whether it was drawn, whatever blanks are between its letters."""
        plain = re.sub(r"\s+", "", DRAWN.sub(b"", self.seen[since:]).decode(errors="replace"))
        return re.sub(r"\s+", "", text) in plain

    def until(self, condition, seconds):
        """Looks until the condition holds; whether it did."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if condition():
                return True
            if self.child.poll() is not None:
                return condition()
            self.look(0.1)
        return condition()

    def close(self):
        """Ends the agent, with all that is its own."""
        for name in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, name)
            except ProcessLookupError:
                break
            self.look(0.5)
        self.child.wait()
        os.close(self.file)
