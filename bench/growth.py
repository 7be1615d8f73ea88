#!/usr/bin/env python3
"""How what people wait for grows with what is kept: calls in the log, changes that can be undone, pending questions.

    bench/growth.py target/release/eclusa                 the table; 10, 10,000 and 1,000,000 calls
    bench/growth.py target/release/eclusa --draw FILE     and drawn
    bench/growth.py target/release/eclusa --json          the numbers alone
    bench/growth.py target/release/eclusa --calls 10,1000 other numbers of calls
    bench/growth.py target/debug/eclusa --no-valgrind     without instructions, which take minutes to count in such a build

The log is made from records that the program wrote, with other numbers and chained anew, and `log verify` is asked
whether it is whole. One call in ten has changed a file: its directory in the undo history is made too, with a link to
the journal of a real one. The last calls are real. Told of each act: processor time of the whole process, the shortest
and the median of some runs; its instructions (valgrind) and system calls (strace), which the load of the machine does
not disturb. An act grows if its instructions, or its processor time where valgrind cannot run it, do.
"""
import base64, hashlib, http.client, json, os, pathlib, re, resource, shutil, sqlite3, statistics, subprocess, sys, time

here = pathlib.Path(__file__).resolve().parent.parent


def option(name, default=None):
    if name not in sys.argv:
        return default
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return value


sizes = [int(it) for it in option("--calls", "10,10000,1000000").split(",")]
drawing = option("--draw")
counts_instructions = "--no-valgrind" not in sys.argv
program = next((it for it in sys.argv[1:] if not it.startswith("--")), here / "target/release/eclusa")
os.environ["ECLUSA"] = str(pathlib.Path(program).resolve())
sys.path.insert(0, str(here / "attacks"))
from world import PROGRAM, World, done, needs_sandbox

RUNS, EDITS = 5, 24
# One call in so many has changed a file.
CHANGING = 10


def chained(previous, number, body):
    return hashlib.sha256(f"{previous.hex()}\n{number}\n{body}\n".encode()).digest()


def grow(world, calls):
    """Puts calls behind those that are there: one record for those that looked, two for those that changed a file."""
    state = pathlib.Path(world.path("state/eclusa"))
    place = next(it for it in state.iterdir() if (it / "eclusa.db").exists())
    store = sqlite3.connect(place / "eclusa.db")
    store.executescript("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 100000")
    bodies = [it[0] for it in store.execute("SELECT body FROM records ORDER BY seq")]
    told = [(it, json.loads(it)) for it in bodies]
    looked = next(it for it, said in told if said["event"] == "ended" and "number" in said)
    started = next(it for it, said in told if said["event"] == "started")
    ended = next(it for it, said in told if said.get("start"))
    numbers = {it: json.loads(it) for it in (looked, started, ended)}
    seq, head, number = store.execute("SELECT seq, hash, calls FROM head").fetchone()

    def renamed(body, call, **fields):
        said = numbers[body]
        for name, value in {"call": f"grown-{call}", **fields}.items():
            was, now = (f'"{name}":{json.dumps(it)}' for it in (said[name], value))
            body = body.replace(was, now, 1)
        return body

    def records():
        nonlocal seq, head, number
        for at in range(calls):
            number += 1
            parts = [(started, {"number": number}), (ended, {"start": seq + 1})] if at % CHANGING == 0 else [(looked, {"number": number})]
            for body, fields in parts:
                body = renamed(body, number, **fields)
                seq += 1
                head = chained(head, seq, body)
                yield seq, fields.get("start"), head, body

    before = number
    store.executemany("INSERT INTO records (seq, start, hash, body) VALUES (?, ?, ?, ?)", records())
    store.execute("UPDATE head SET seq = ?, hash = ?, calls = ?", (seq, head, number))
    store.commit()
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    history = place / "undo/done"
    model = next(history.iterdir()) / "journal"
    last = max(int(it.name.split("-")[0]) for it in history.iterdir())
    for call in range(before + 1, number + 1, CHANGING):
        last += 1
        directory = history / f"{last:012}-{call}"
        directory.mkdir(mode=0o700)
        os.link(model, directory / "journal")
    # The last number that was given, and how much is kept since somebody counted.
    with open(place / "undo/lock", "r+b") as lock:
        lock.write(last.to_bytes(8, "little"))
    return place


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def command(world, words, input, cwd=None, under=()):
    env = {**world.env, "CLAUDE_CODE_SESSION_ATTENDED": "0"}
    return subprocess.run([*under, PROGRAM, *words], cwd=cwd or world.ws, env=env, input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def act(world, words, input=lambda: b"", runs=RUNS, traced=True):
    """Processor time, instructions and system calls of one command, each run with an input of its own."""
    times = []
    for _ in range(runs):
        before = spent()
        ran = command(world, words, input())
        times.append(spent() - before)
        if ran.returncode not in (0, 4):
            done(1, f"{words}: {ran}")
    found = {"cpu_ms": statistics.median(times), "shortest_ms": min(times)}
    if traced:
        file = world.path("strace")
        command(world, words, input(), under=["strace", "-f", "-c", "-o", file])
        found["system_calls"] = int(re.search(r"(\d+)(?:\s+\d+)? total", world.read("strace")).group(1))
        found["instructions"] = None
    if traced and counts_instructions:
        ran = command(world, words, input(), under=["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"])
        counted = re.search(rb"Collected : (\d+)", ran.stderr)
        found["instructions"] = int(counted.group(1)) if counted and ran.returncode in (0, 4) else None
    return found


def of_page(pid):
    """Processor time of all threads of a process."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    return sum(int((it / "schedstat").read_text().split()[0]) for it in tasks.iterdir()) / 1e6


def page(world, paths):
    server = world.start(["approvals", "serve", "--listen", "127.0.0.1:0"], text=True, stderr=subprocess.STDOUT)
    found = next(filter(None, (re.search(r"localhost:(\d+)/pair#(\S+)", line) for line in server.stdout)))
    port, code = int(found.group(1)), found.group(2)
    connection = http.client.HTTPConnection("localhost", port, timeout=120)
    headers = {"origin": f"http://localhost:{port}", "sec-fetch-site": "same-origin", "content-type": "application/json"}
    public = base64.b64encode(b"\4" + os.urandom(64)).decode()
    connection.request("POST", "/api/pair", json.dumps({"code": code, "public": public, "label": "measure"}), headers)
    answer = connection.getresponse()
    answer.read()
    cookie = answer.getheader("set-cookie").split(";")[0]
    told = {}
    for name, path in paths:
        times = []
        for _ in range(RUNS):
            before = of_page(server.pid)
            connection.request("GET", path, headers={"cookie": cookie})
            answer = connection.getresponse()
            body = answer.read()
            times.append(of_page(server.pid) - before)
            if answer.status != 200:
                done(1, f"{path}: {answer.status} {body[:300]}")
        told[name] = {"cpu_ms": statistics.median(times), "shortest_ms": min(times), "instructions": None, "system_calls": None}
    server.kill()
    server.wait()
    return told


def measured(calls):
    world = World('mode = "auto-approve"\n')
    needs_sandbox(world)
    for at in range(3):
        world.write(f"workspace/{at}.txt", "text\n")
    edit = lambda name, text: world.run("run", "write", f"path={name}", f"content={text}")
    for at in range(3):
        edit(f"edited{at}.txt", "first")
    event = lambda name, tool, args: json.dumps({**world.event(tool, args), "hook_event_name": name, "tool_response": {"stdout": ""}}).encode()
    world.hook(event("PreToolUse", "Bash", {"command": "git status"}))
    place = grow(world, max(0, calls - EDITS))
    for at in range(EDITS):
        edit(f"edited{at}.txt", "second")
    if calls <= 10_000 and "intact" not in world.run("log", "verify").out:
        done(1, f"the log that was made is not whole: {world.run('log', 'verify')}")
    middle = str(max(1, calls // 2))
    acts = {
        "gate: `run read`": act(world, ["run", "read", "path=0.txt"]),
        "gate: `run write`": act(world, ["run", "write", "path=0.txt", "content=other"]),
        "a command that changes a file": act(world, ["exec", "--apply", "--", "date +%N > made.txt"]),
        "hook before a command": act(world, ["hook", "claude-code"], lambda: event("PreToolUse", "Bash", {"command": "git status"})),
        "hook after a command": act(world, ["hook", "claude-code"], lambda: event("PostToolUse", "Bash", {"command": "git status"})),
        "`log`": act(world, ["log"]),
        "`log show`, one in the middle": act(world, ["log", "show", middle]),
        "`changes`": act(world, ["changes"]),
        "`changes show`": act(world, ["changes", "show"]),
        "`undo --dry-run`": act(world, ["undo", "--dry-run"]),
        "`undo`": act(world, ["undo"], traced=False),
        "`approvals list`": act(world, ["approvals", "list"]),
        **page(world, [("page: inbox", "/inbox"), ("page: log", "/log")]),
    }
    size = (place / "eclusa.db").stat().st_size
    shutil.rmtree(world.dir, ignore_errors=True)
    return acts, size


def shown(number, unit=""):
    if number is None:
        return "–"
    return f"{number / 1e6:.1f} M" if unit == "i" else f"{number:.1f}" if unit == "ms" else f"{number:,}"


found, sizes_on_disk = {}, {}
for calls in sizes:
    found[calls], sizes_on_disk[calls] = measured(calls)
    print(f"{calls:,} calls: {sizes_on_disk[calls] / 1e6:.0f} MB", file=sys.stderr)
names = list(found[sizes[0]])
report = {"calls": sizes, "bytes": sizes_on_disk, "acts": {name: {calls: found[calls][name] for calls in sizes} for name in names}}


def growth(name):
    """How much more the largest takes than the smallest: by instructions where they were counted."""
    first, last = (found[it][name] for it in (sizes[0], sizes[-1]))
    key = "instructions" if first.get("instructions") and last.get("instructions") else "shortest_ms"
    return last[key] / max(first[key], 0.05)


def draw(path):
    """A line for each act: its processor time at each number of calls, both on scales of powers of ten."""
    from math import log10
    left, top, wide, high = 60, 50, 420, 360
    x = lambda calls: left + wide * (log10(calls) - log10(sizes[0])) / max(log10(sizes[-1]) - log10(sizes[0]), 1)
    y = lambda ms: top + high * (1 - (log10(max(ms, 0.1)) + 1) / 5)
    colours = ["#2f6f9f", "#c0392b", "#2e7d32", "#8e44ad", "#b9770e", "#117a65", "#7f8c8d"]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {top + high + 40}" font-family="sans-serif" font-size="12">',
             '<rect width="860" height="100%" fill="#fff"/><text x="8" y="20" font-weight="bold">Processor time by calls in the log (shortest of some runs)</text>']
    for power in range(-1, 5):
        parts.append(f'<line x1="{left}" x2="{left + wide}" y1="{y(10**power):.1f}" y2="{y(10**power):.1f}" stroke="#ddd"/>'
                     f'<text x="8" y="{y(10**power) + 4:.1f}">{10.0**power:g} ms</text>')
    for calls in sizes:
        parts.append(f'<text x="{x(calls) - 20:.1f}" y="{top + high + 20}">{calls:,}</text>')
    ends = sorted(((y(found[sizes[-1]][name]["shortest_ms"]), name) for name in names))
    row = 0
    for at, (end, name) in enumerate(ends):
        colour = colours[at % len(colours)]
        points = " ".join(f"{x(it):.1f},{y(found[it][name]['shortest_ms']):.1f}" for it in sizes)
        row = max(row + 14, end + 4)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>'
                     f'<text x="{left + wide + 12}" y="{row:.1f}" fill="{colour}">{name.replace("`", "")} ({growth(name):.1f} x)</text>')
    pathlib.Path(path).write_text("\n".join(parts) + "\n</svg>\n")


if drawing:
    draw(drawing)
if "--json" in sys.argv:
    done(0, json.dumps(report))
print("| act | " + " | ".join(f"{it:,} calls" for it in sizes) + " | grows |\n" + "|---" * (len(sizes) + 2) + "|")
for name in names:
    cells = []
    for calls in sizes:
        it = found[calls][name]
        cells.append(f"{shown(it['shortest_ms'], 'ms')} / {shown(it['cpu_ms'], 'ms')} ms, {shown(it.get('instructions'), 'i')}, {shown(it.get('system_calls'))}")
    print(f"| {name} | " + " | ".join(cells) + f" | {growth(name):.2f} x |")
done(0, f"processor time (shortest / median), instructions, system calls; load {os.getloadavg()[0]:.1f}")
