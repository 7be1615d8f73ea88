#!/usr/bin/env python3
"""Real agents whose work is broken off: a person presses Esc while a command runs, and the agent is killed.

Started by scripts/agents in namespaces of its own, each time alone and with the hooks that `eclusa install` writes.
What ends without us must end with us, nothing of it may be applied, and nothing of ours may be left running."""
import argparse, os, shutil, signal, subprocess, sys, time

from agents_day import Session, end_all
from agents_steps import DayModel, SHELL
from agents_table import tell

KEYS = {"opencode": (b"\x1b", b"\x1b")}
SLEEPER = "3071"


def running(*words):
    """The processes whose command lines have these words."""
    found = []
    for pid in (it for it in os.listdir("/proc") if it.isdigit() and int(it) > 1):
        try:
            line = open("/proc/%s/cmdline" % pid, "rb").read().split(b"\0")
        except OSError:
            continue
        if all(it.encode() in line for it in words):
            found.append(int(pid))
    return found


def shell(agent):
    # Claude Code refuses a command that begins with a long `sleep`.
    command = "nice sleep %s; touch late" % SLEEPER
    said = {"codex": {"cmd": command, "yield_time_ms": 30000}}.get(agent, {"command": command, "description": "a step"})
    return SHELL[agent], said


def play(agent, options, ours, killed, patience=15):
    """One session that is broken off. Returns whether the command ended, and what is wrong."""
    session = Session(agent, options, ours, True, [("sleep", shell(agent))])
    screen = session.screen()
    wrong, ended = session.wrong, False
    try:
        if not screen.until(lambda: running("sleep", SLEEPER), options.time):
            wrong.append("the command never ran")
        else:
            screen.look(1)
            if killed:
                os.killpg(screen.child.pid, signal.SIGKILL)
            else:
                for key in KEYS.get(agent, (b"\x1b",)):
                    screen.press(key)
                    screen.look(0.3)
            until = time.monotonic() + patience
            while running("sleep", SLEEPER) and time.monotonic() < until:
                screen.look(0.2)
            ended = not running("sleep", SLEEPER)
            if os.path.exists(session.work + "/late"):
                wrong.append("what came after it was run")
            if ours and ended:
                time.sleep(1)
                left = [it for it in running() if os.path.basename(link(it)) == "eclusa" and "mcp" not in words(it)]
                wrong += ["`%s` is left" % " ".join(words(it)) for it in left]
    finally:
        open(session.top + "/screen", "w").write(screen.text())
        screen.close()
        end_all()
        session.server.shutdown()
    if not wrong and not options.keep:
        shutil.rmtree(session.top, ignore_errors=True)
    elif wrong:
        wrong.append("see " + session.top)
    return ended, wrong


def link(pid):
    try:
        return os.readlink("/proc/%d/exe" % pid)
    except OSError:
        return ""


def words(pid):
    try:
        return open("/proc/%d/cmdline" % pid).read().split("\0")
    except OSError:
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eclusa", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--time", type=int, default=120)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--scratch", default=os.path.expanduser("~/.cache"))
    parser.add_argument("agents", nargs="+")
    options = parser.parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    os.makedirs(options.scratch, exist_ok=True)
    bad = 0
    for agent in options.agents:
        for killed in (False, True):
            begun = time.monotonic()
            DayModel.summed = False
            alone, wrong = play(agent, options, False, killed)
            wrong = ["alone: " + it for it in wrong]
            # What ends alone is waited for.
            held, more = play(agent, options, True, killed, 60 if alone else 15)
            wrong += more
            if alone and not held:
                wrong.append("the command goes on, which alone it does not")
            became = "ended" if held else "goes on, as alone"
            bad += bool(wrong)
            tell(agent, "the agent is killed" if killed else "Esc while it runs", wrong, time.monotonic() - begun, became)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
