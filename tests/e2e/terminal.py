"""Drives `eclusa chat` in tmux; see tests/e2e/terminal."""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

BINARY = os.path.abspath(sys.argv[1])
SOCKET = "eclusa-%d" % os.getpid()
LONG = " ".join("word-%d" % number for number in range(400))


def script():
    write = json.dumps({"name": "write", "args": {"path": "a.txt", "content": "one\n"}})
    return (
        "rate: 300\n## says\nHello, I am **here**.\n"
        "## says\nI write it.\n```tool\n" + write + "\n```\n## says\nWritten.\n"
        "## says\n" + LONG + "\n"
        "## says\nThat was the queue.\n" + "## says\nOnce more.\n" * 9
    )


def tmux(*args):
    ran = subprocess.run(["tmux", "-L", SOCKET, *args], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit("tmux %s: %s" % (args, ran.stderr))
    return ran.stdout


def screen(history=False):
    # Joined, so that a line which the terminal wrapped is one line.
    return tmux("capture-pane", "-p", "-J", *(["-S", "-"] if history else []))


def sees(text, history=False):
    until = time.time() + 60
    while time.time() < until:
        if text in screen(history):
            return
        time.sleep(0.05)
    raise SystemExit("FAILED: no `%s` on the screen:\n%s" % (text, screen(True)))


def types(text, enter=True):
    tmux("send-keys", "-l", text)
    if enter:
        tmux("send-keys", "Enter")


def asked():
    lines = screen().rstrip().splitlines()
    return bool(lines) and "[y/n" in lines[-1]


def answers(key):
    # What is typed before the question is there counts for nothing.
    until = time.time() + 60
    sees("[y/n")
    time.sleep(1)
    while asked():
        types(key)
        again = time.time() + 10
        while asked() and time.time() < again:
            time.sleep(0.1)
        if time.time() > until:
            raise SystemExit("FAILED: the question is not answered:\n%s" % screen())


def running(root):
    """The processes that were started with this directory among their arguments."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                if name.isdigit() and root.encode() + b"/script.md" in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


def once(text):
    count = screen(True).count(text)
    if count != 1:
        raise SystemExit("FAILED: `%s` stands %d times on the screen:\n%s" % (text, count, screen(True)))


def main():
    with tempfile.TemporaryDirectory() as root:
        for name in ("workspace", "config/eclusa", "state", "home"):
            os.makedirs(os.path.join(root, name))
        with open(root + "/script.md", "w") as file:
            file.write(script())
        env = {"HOME": root + "/home", "XDG_CONFIG_HOME": root + "/config", "XDG_STATE_HOME": root + "/state", "USER": "tester", "NO_COLOR": "1"}
        told = " ".join("%s=%s" % (key, shlex.quote(value)) for key, value in env.items())
        chat = "cd %s && exec env %s %s chat --model script:%s" % (shlex.quote(root + "/workspace"), told, shlex.quote(BINARY), shlex.quote(root + "/script.md"))
        tmux("new-session", "-d", "-x", "80", "-y", "24", "sh")
        tmux("set-option", "-g", "history-limit", "20000")
        types("PS1='$ '; (%s); echo left" % chat)
        sees("/help lists the commands")
        types("hello")
        sees("Hello, I am here.")
        types("write it")
        answers("y")
        sees("Written.")
        assert os.path.exists(root + "/workspace/a.txt")
        types("talk")
        sees("word-20 ")
        types("and then this")
        sees("then: and then this")
        for width, height in ((70, 20), (100, 30), (60, 24), (80, 24), (40, 24), (80, 24), (80, 12), (80, 24)):
            tmux("resize-window", "-x", str(width), "-y", str(height))
            time.sleep(0.3)
        tmux("send-keys", "Escape")
        sees("ended: interrupted", True)
        sees("That was the queue.", True)
        for text in ("Hello, I am here.", "Written.", "That was the queue.", "ended: interrupted"):
            once(text)
        if "then: and then this" in screen(True):
            raise SystemExit("FAILED: a row that was live stayed behind:\n%s" % screen(True))
        types("/rewind 2")
        answers("y")
        sees("rewound to before turn 2", True)
        assert not os.path.exists(root + "/workspace/a.txt"), "the file is still there"
        own = running(root)
        assert own, "nobody to kill"
        for pid in own:
            os.kill(pid, signal.SIGKILL)
        sees("left", True)
        # The terminal is as the chat had it, where Enter ends no line.
        types("stty sane; reset; (%s --last); echo left again" % chat, enter=False)
        tmux("send-keys", "C-j")
        sees("/help lists the commands")
        # Before turn 2 the model had said one thing, so it writes again.
        types("write it once more")
        answers("y")
        sees("Written.")
        assert os.path.exists(root + "/workspace/a.txt")
        types("/quit")
        sees("left again")
        # Away for a while, as a job of the shell.
        types("cd %s; env %s %s chat --last --model script:%s" % (shlex.quote(root + "/workspace"), told, shlex.quote(BINARY), shlex.quote(root + "/script.md")))
        sees("coder ·")
        tmux("send-keys", "C-z")
        sees("Stopped")
        types("echo in the shell; fg")
        sees("\nin the shell")
        types("and back", enter=False)
        sees("› and back")
        tmux("send-keys", "C-c")
        types("/quit")
        sees("resume it with")
    print("talking, a question, a queue, resizing, an interruption, going back with undo, a kill, resuming, Ctrl+Z: as it should be")


try:
    main()
finally:
    subprocess.run(["tmux", "-L", SOCKET, "kill-server"], capture_output=True)
