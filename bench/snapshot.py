#!/usr/bin/env python3
"""What a command that writes costs where it runs on the real files (level `snapshot`), beside a plain run of the same run.

    bench/snapshot.py target/release/eclusa           all of it
    bench/snapshot.py target/release/eclusa --json    the numbers alone

A call changes one of 10, of 1,000 and of 10,000 files of 6 KB: plainly with bash, through a gate behind a filter like that of
a container, and through one without it (an overlay, where this machine makes any), in turns. What is told is how much longer
the gate takes than plain, the median and the shortest, and how much of a processor its process takes itself. The first call
copies everything; it is the median of as many new states as are said.
"""
import json, os, pathlib, shutil, statistics, subprocess, sys, tempfile, time

here = pathlib.Path(__file__).resolve().parent.parent
words = [it for it in sys.argv[1:] if it != "--json"]
PROGRAM = str(pathlib.Path(words[0] if words else here / "target/release/eclusa").resolve())
FILTER = [sys.executable, str(here / "tests/kernels/filter.py"), "container"]
SIZES, BYTES, FIRSTS, ROUNDS = (10, 1_000, 10_000), 6_000, 3, 15
# By the number of files: what a first and what a later call may cost more than a plain one, in ms.
GOALS = {1_000: (None, 30), 10_000: (400, 150)}


class Gate:
    """`eclusa mcp` over a workspace."""
    def __init__(self, before, place, workspace):
        env = {"HOME": str(place), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        words = [*before, PROGRAM, "--workspace", str(workspace), "--state", str(place / "state"), "--mode", "yolo", "mcp"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, cwd=workspace)
        self.count = 0
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized", "params": {}})

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def request(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while line := self.process.stdout.readline():
            said = json.loads(line)
            if said.get("id") == self.count:
                return said
        sys.exit("the gate ended")

    def processor_ms(self):
        """What its process has taken, threads that ended included; not the commands."""
        return time.clock_gettime((~self.process.pid << 3) | 2) * 1000

    def run(self, command):
        """How long a call took, and how much of a processor."""
        began, used = time.perf_counter(), self.processor_ms()
        said = self.request("tools/call", {"name": "bash", "arguments": {"command": command}})
        took, used = (time.perf_counter() - began) * 1000, self.processor_ms() - used
        if said.get("result", {}).get("_meta", {}).get("eclusa/code") != "ok":
            sys.exit(f"the call was not carried out: {json.dumps(said)[:600]}")
        return took, used

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def plain(command, workspace):
    began = time.perf_counter()
    subprocess.run(["bash", "--norc", "--noprofile", "-c", command], cwd=workspace, check=True, stdin=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def change(number):
    return f"echo {number} >> d0/f0"


def measured(files, place, before):
    workspace = place / "workspace"
    for number in range(files):
        at = workspace / f"d{number // 100}"
        at.mkdir(parents=True, exist_ok=True)
        (at / f"f{number}").write_bytes(f"{number:8}\n".encode() * (BYTES // 9))
    # What was changed a moment ago is not settled, and is read once more.
    time.sleep(0.3)
    firsts, later, alone = [], [], []
    for round_ in range(FIRSTS):
        shutil.rmtree(place / "state", ignore_errors=True)
        gate = Gate(before, place, workspace)
        # The first sandbox of a state is tried before anything runs in it.
        gate.run("cat d0/f0")
        alone.append(plain(change(round_), workspace))
        firsts.append(gate.run(change(round_)))
        if round_ < FIRSTS - 1:
            gate.end()
    for round_ in range(ROUNDS):
        alone.append(plain(change(round_), workspace))
        later.append(gate.run(change(round_)))
    gate.end()
    more = lambda one, all_: round(one([it[0] for it in all_]) - one(alone), 1)
    return {"plain_ms": round(statistics.median(alone), 1), "first_more_ms": more(statistics.median, firsts), "first_least_ms": more(min, firsts),
            "later_more_ms": more(statistics.median, later), "later_least_ms": more(min, later),
            "first_cpu_ms": round(min(it[1] for it in firsts), 1), "later_cpu_ms": round(min(it[1] for it in later), 1)}


def level(before, place):
    said = subprocess.run([*before, PROGRAM, "--state", str(place / "doctor"), "doctor"], env={"HOME": str(place), "PATH": os.environ["PATH"]},
                          cwd=place, capture_output=True, text=True).stdout
    return next((it.split(":", 1)[1].strip() for it in said.splitlines() if it.strip().startswith("level:")), "?")


found = {}
with tempfile.TemporaryDirectory(prefix=".bench-snapshot-", dir=here) as room:
    room = pathlib.Path(room)
    for name, before in (("snapshot", FILTER), ("overlay", [])):
        (room / name).mkdir()
        found[name] = {"level": level(before, room / name)}
        for files in SIZES:
            place = room / name / str(files)
            place.mkdir()
            found[name][files] = measured(files, place, before)
            shutil.rmtree(place)
if "--json" in sys.argv:
    print(json.dumps(found))
    sys.exit(0)
for name, all_ in found.items():
    print(f"{name} (level: {all_['level']})")
    for files in SIZES:
        one = all_[files]
        first, later = GOALS.get(files, (None, None)) if name == "snapshot" else (None, None)
        goal = lambda it: f" (goal: {it})" if it else ""
        print(f"  {files:6} files: plainly {one['plain_ms']} ms; the first call {one['first_more_ms']} ms more{goal(first)}, at least {one['first_least_ms']}; "
              f"later ones {one['later_more_ms']} ms more{goal(later)}, at least {one['later_least_ms']}, {one['later_more_ms'] / one['plain_ms'] + 1:.1f} x plain; "
              f"processor {one['first_cpu_ms']} and {one['later_cpu_ms']} ms")
