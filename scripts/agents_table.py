#!/usr/bin/env python3
"""What became of each check of scripts/agents, and at the end the table of them all: it passes, the agent itself
cannot, or nobody has looked, and why.

    agents_table.py RESULTS AGENT…     prints the table; ends with 1 where something is wrong or not accounted for

The other parts of scripts/agents import `tell`, which prints one line and keeps it in the file that AGENTS_RESULTS
names."""
import json, os, sys

# What is checked, and the checks that make it up.
ROWS = [
    ("our tools, a dozen calls", ["our tools"]),
    ("our tools over HTTP, with a token", ["at an address"]),
    ("its own tools: rules, secrets, what destroys", ["denied", "denied by a rule", "asked, nobody there", "its own denial"]),
    ("program missing, dead, not executable", ["broken program", "program missing", "program killed"]),
    ("configuration broken, disk full, variables", ["broken configuration", "full disk", "variables"]),
    ("program hangs until its time is up", ["time is up"]),
    ("it hangs after a call: what came back", ["time is up afterwards"]),
    ("shell in the sandbox; undo back to the start", ["allowed", "undo"]),
    ("secrets in what it reads, and prints itself", ["secrets", "output changed"]),
    ("pictures, documents, sound", ["picture", "document", "a day, headless"]),
    ("a day of work, headless, as alone", ["a day, headless"]),
    ("a day of work, on its screen, as alone", ["a day, on its screen"]),
    ("a day of seldom work, as alone", ["a day of seldom work"]),
    ("several calls at once", ["at once"]),
    ("calls from a script of the model", ["denied, from a script", "allowed, from a script"]),
    ("a question on its screen: yes, no", ["a yes, and a commit", "a no"]),
    ("two questions on its screen at once", ["two at once"]),
    ("a question by form: yes, no", ["a form, yes", "a form, no"]),
    ("a question in the queue", ["queue"]),
    ("its own permission prompt at our tool", ["permission prompt tool"]),
    ("hosted by an editor: a question, yes and no", ["hosted, yes", "hosted, no"]),
    ("plan mode", ["plan mode"]),
    ("Esc while a command runs; the agent is killed", ["Esc while it runs", "the agent is killed"]),
    ("the same while it runs ahead of its question", ["Esc while it runs ahead", "killed while it runs ahead"]),
    ("another hook, other settings", ["another hook", "name guessed"]),
    ("its settings: CRLF, marks, comments", ["settings written oddly"]),
    ("a server that wants a login", ["a server with a login"]),
    ("of the whole machine", ["switched off, managed", "another hook, managed"]),
    ("guarded", ["guarded, staged", "guarded, live"]),
    ("in front of it in an editor (`acp`)", ["acp"]),
    ("`status --prove`", ["proven"]),
]
# Where the agent itself cannot, as seen without us or as its maker says.
CANNOT = {
    ("codex", "program hangs until its time is up"): "it runs a call whose hook ran out of time",
    ("claude-code", "it hangs after a call: what came back"): "it shows what came back, also with `onFailure`; what ran in the sandbox is redacted",
    ("codex", "it hangs after a call: what came back"): "it shows what came back; what ran in the sandbox is redacted",
    ("gemini", "it hangs after a call: what came back"): "it shows what came back; what ran in the sandbox is redacted",
    ("copilot", "it hangs after a call: what came back"): "it shows what came back; what ran in the sandbox is redacted",
    ("gemini", "a day of seldom work, as alone"): "alone it runs no line with `$( )`, and reads what is quoted anew",
    ("gemini", "a question by form: yes, no"): "it has no forms",
    ("opencode", "a question by form: yes, no"): "it has no forms",
    ("copilot", "a question by form: yes, no"): "it has no forms",
    ("opencode", "of the whole machine"): "it has no hooks of a machine",
    ("claude-code", "in front of it in an editor (`acp`)"): "it does not speak that protocol itself",
    ("codex", "in front of it in an editor (`acp`)"): "it does not speak that protocol itself",
}
WHOSE = {"its own permission prompt at our tool": ("claude-code",), "plan mode": ("claude-code",),
         "the same while it runs ahead of its question": ("claude-code", "codex", "gemini", "copilot"), "calls from a script of the model": ("claude-code", "codex"),
         "hosted by an editor: a question, yes and no": ("claude-code",)}
# Where nobody has looked here, and why.
NOT_CHECKED = {
    ("claude-code", "calls from a script of the model"): "only accounts that its service lets in have it",
    ("opencode", "a day of seldom work, as alone"): "it was not played",
    ("copilot", "guarded"): "`guard` does not start it",
    ("opencode", "a question on its screen: yes, no"): "nothing runs ahead there: questions are denials, or wait in the queue",
    ("opencode", "two questions on its screen at once"): "nothing runs ahead there",
}


def tell(agent, name, wrong, seconds, became=""):
    """Prints what became of a check, and keeps it for the table."""
    print("%-4s %-12s %-22s %-18s %4.1f s%s" % ("BAD" if wrong else "ok", agent, name, became, seconds,
                                               "".join("\n       " + it for it in wrong)), flush=True)
    if os.environ.get("AGENTS_RESULTS"):
        with open(os.environ["AGENTS_RESULTS"], "a") as file:
            file.write(json.dumps({"agent": agent, "name": name, "ok": not wrong, "seconds": round(seconds, 1)}) + "\n")


def cell(results, agent, row, names):
    """The word of a cell, and a note."""
    seen = {name: ok for name, ok in results.get(agent, {}).items() if name in names}
    if seen and not all(seen.values()):
        return "WRONG", ", ".join(it for it, ok in seen.items() if not ok)
    if seen:
        return "passes", None
    if CANNOT.get((agent, row)):
        return "cannot", CANNOT[agent, row]
    if agent not in WHOSE.get(row, (agent,)):
        return "-", None
    return "not checked", NOT_CHECKED.get((agent, row))


def main():
    results, agents = {}, sys.argv[2:]
    for line in open(sys.argv[1]):
        it = json.loads(line)
        mine = results.setdefault(it["agent"], {})
        mine[it["name"]] = mine.get(it["name"], True) and it["ok"]
    print("\n%-48s%s" % ("", "".join("%-13s" % it for it in agents)))
    notes, bad = [], False
    for row, names in ROWS:
        words = []
        for agent in agents:
            word, note = cell(results, agent, row, names)
            bad |= word == "WRONG"
            words.append(word)
            if note:
                notes.append("%s, %s: %s" % (agent, row, note))
        print("%-48s%s" % (row, "".join("%-13s" % it for it in words)))
    print("".join("\n" + it for it in notes))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
