#!/usr/bin/env python3
"""The chat as a person meets it, in a terminal of its own: first frame, idle memory, key to frame while
the model writes 5,000 tokens a second, and a session of 10,000 messages and 100 MB resumed.

    cargo build --release && bench/chat.py [target/release/eclusa] [--messages 10000] [--megabytes 100] [--codex PROGRAM]

`--codex` starts that program in turn with ours, for its first frame and its memory.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import tempfile
import termios
import time

parser = argparse.ArgumentParser()
parser.add_argument("binary", nargs="?", default="target/release/eclusa")
parser.add_argument("--messages", type=int, default=10_000)
parser.add_argument("--megabytes", type=int, default=100)
parser.add_argument("--codex", help="Codex's own program, as its npm package has it")
ARGS = parser.parse_args()
BINARY = os.path.abspath(ARGS.binary)


class Chat:
    """A chat in a terminal of 80 columns."""

    def __init__(self, root, *args, program=None):
        env = {"PATH": os.environ["PATH"], "HOME": root + "/home", "XDG_CONFIG_HOME": root + "/config", "XDG_STATE_HOME": root + "/state", "USER": "bench", "TERM": "xterm-256color"}
        self.began, self.seen = time.perf_counter(), b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(root + "/workspace")
            command = [program, *args] if program else [BINARY, "chat", *args]
            os.execve(command[0], command, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def until(self, text, seconds=120):
        """Milliseconds until this is on the screen, since the last question."""
        began = time.perf_counter()
        while text.encode() not in self.seen:
            left = seconds - (time.perf_counter() - began)
            ready, _, _ = select.select([self.fd], [], [], max(left, 0))
            if not ready:
                raise SystemExit("no `%s` within %d s: %r" % (text, seconds, self.seen[-2000:]))
            new = os.read(self.fd, 1 << 16)
            self.seen += new
            if b"\x1b[6n" in new:  # Where is the cursor? Terminals answer that at once.
                os.write(self.fd, b"\x1b[1;1R")
        now = time.perf_counter()
        self.seen = self.seen.split(text.encode(), 1)[1]
        return (now - began) * 1000

    def types(self, text):
        os.write(self.fd, text.encode())

    def memory(self):
        """What it holds, in MB."""
        status = open("/proc/%d/status" % self.pid).read()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def ends(self):
        os.kill(self.pid, signal.SIGTERM)
        try:
            while os.read(self.fd, 1 << 16):
                pass
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def world(root):
    for name in ("workspace", "config/eclusa", "state", "home"):
        os.makedirs(os.path.join(root, name))


def told(name, value, unit, goal):
    print("  %-62s %9.1f %s   (goal: %s)" % (name, value, unit, goal))


def started(chat, text):
    """Milliseconds to the first frame, which has this text, and megabytes when nothing happens."""
    chat.until(text)
    took = (time.perf_counter() - chat.began) * 1000
    time.sleep(0.5)
    memory = chat.memory()
    chat.ends()
    return took, memory


def first_frame(root, model):
    ours, theirs = [], []
    for _ in range(9):
        ours.append(started(Chat(root, "--model", model), "/help lists the commands"))
        if ARGS.codex:
            theirs.append(started(Chat(root, program=os.path.abspath(ARGS.codex)), "Codex"))
    told("start to first frame, median of 9", statistics.median(it for it, _ in ours), "ms", "under 30")
    told("memory when idle", max(it for _, it in ours), "MB", "under 40")
    if theirs:
        told("the same, Codex", statistics.median(it for it, _ in theirs), "ms", "its own")
        told("its memory", max(it for _, it in theirs), "MB", "its own")


def keys(root, model):
    """While the model writes: a key is pressed, and its letter is looked for in the input."""
    chat = Chat(root, "--model", model, "go")
    chat.until("word-50 ")
    times = []
    for number in range(200):
        letter = "§" if number % 2 else "¶"
        chat.seen = b""
        chat.types(letter)
        times.append(chat.until(letter, 10))
        time.sleep(0.02)
    chat.ends()
    times.sort()
    told("key to frame at 5,000 tokens/s, p99", times[int(len(times) * 0.99) - 1], "ms", "under 4")
    told("key to frame at 5,000 tokens/s, longest", times[-1], "ms", "under 16")


def resume(root, model):
    """A long session, made by importing one."""
    text = "x" * (ARGS.megabytes * 1_000_000 // ARGS.messages - 200)
    path = root + "/rollout.jsonl"
    with open(path, "w") as file:
        for number in range(ARGS.messages):
            role = "assistant" if number % 2 else "user"
            kind = "output_text" if number % 2 else "input_text"
            item = {"type": "message", "role": role, "content": [{"type": kind, "text": "%d %s end-%d" % (number, text, number)}]}
            file.write(json.dumps({"timestamp": "2026-11-15T19:25:40Z", "type": "response_item", "payload": item}) + "\n")
    env = {"PATH": os.environ["PATH"], "HOME": root + "/home", "XDG_CONFIG_HOME": root + "/config", "XDG_STATE_HOME": root + "/state", "USER": "bench"}
    made = subprocess.run([BINARY, "--json", "sessions", "import", "codex", path], cwd=root + "/workspace", env=env, capture_output=True, text=True)
    if made.returncode:
        raise SystemExit("the session cannot be imported: %s" % made.stderr)
    session = json.loads(made.stdout)["session"]
    times, memory = [], []
    for _ in range(3):
        chat = Chat(root, "--model", model, "--resume", session)
        chat.until("end-%d" % (ARGS.messages - 1))
        times.append((time.perf_counter() - chat.began) * 1000)
        memory.append(chat.memory())
        chat.ends()
    told("resume of %d messages, %d MB, median of 3" % (ARGS.messages, ARGS.megabytes), statistics.median(times), "ms", "under 200")
    told("memory after it", max(memory), "MB", "under 80")


with tempfile.TemporaryDirectory() as root:
    world(root)
    with open(root + "/quiet.md", "w") as file:
        file.write("## says\nhello\n")
    with open(root + "/fast.md", "w") as file:
        file.write("rate: 5000\n## says\n" + " ".join("word-%d" % number for number in range(60_000)) + "\n")
    print("chat, %s" % BINARY)
    first_frame(root, "script:" + root + "/quiet.md")
    keys(root, "script:" + root + "/fast.md")
    resume(root, "script:" + root + "/quiet.md")
