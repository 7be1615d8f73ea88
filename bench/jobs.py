#!/usr/bin/env python3
"""What jobs cost, beside a baseline of the same run.

    bench/jobs.py target/release/eclusa           all of it
    bench/jobs.py target/release/eclusa --json    the numbers alone

Bringing 1,000 changed files into the view of a job, against rewriting the same files in a plain directory: a call
changes them all, with a job that runs and without one, in turns, and the difference is what the view costs. The first
time a file is copied into the layer of the job; later it is written over. And the process that holds the jobs: its
private memory, and the time until it is there.
"""
import json, os, pathlib, resource, signal, statistics, subprocess, sys, time

here = pathlib.Path(__file__).resolve().parent.parent
words = [it for it in sys.argv[1:] if it != "--json"]
os.environ["ECLUSA"] = str(pathlib.Path(words[0] if words else here / "target/release/eclusa").resolve())
sys.path.insert(0, str(here / "attacks"))
from world import PROGRAM, World, done, needs_sandbox, running

FILES, ROUNDS, BYTES = 1000, 7, 4096


def processor_ms():
    """Processor time of this process and of all that it has waited for: a busy machine adds little to it."""
    return sum(it.ru_utime + it.ru_stime for it in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))) * 1000


def timed(act):
    """How long it took, and how much of a processor."""
    began, used = time.perf_counter(), processor_ms()
    act()
    return (time.perf_counter() - began) * 1000, processor_ms() - used


def plain(directory, round_):
    """Rewrites the files as a program does that truncates and writes."""
    text = f"{round_:8}".encode() * (BYTES // 8)
    for number in range(FILES):
        with open(os.path.join(directory, f"{number}.txt"), "wb") as file:
            file.write(text)


def world_with_files():
    world = World('mode = "auto-approve"\n')
    plain(world.path("workspace"), -1)
    world.write("rewrite.py", f"import sys\nfor n in range({FILES}):\n    open(f'{{n}}.txt', 'wb').write(f'{{int(sys.argv[1]):8}}'.encode() * {BYTES // 8})\n")
    return world


def rewrite(world, round_):
    """A call that changes all files."""
    ran = world.run("exec", "--apply", "--", f"python3 {world.path('rewrite.py')} {round_}")
    if ran.code != 0 or "may not see" in ran.all or "does not see" in ran.all:
        done(1, f"the call did not change them all: {ran}")


def start_job(world, command="sleep 1000"):
    ran = world.carried_out(world.hook(world.event("Bash", {"command": command, "run_in_background": True})))
    if ran is None or " as job " not in ran.out:
        done(1, f"no job: {ran}")
    return json.loads(world.run("--json", "jobs").out)["jobs"][-1]


def private_kb(pid):
    """What nobody else has and cannot be read again from the program's file."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return sum(int(it.split()[1]) for it in file if it.startswith("Private_Dirty"))


def start_ms(world, number):
    """Until an owner says that it is there."""
    state = world.path("owner-state")
    os.makedirs(state, mode=0o700, exist_ok=True)
    began = time.perf_counter()
    owner = subprocess.Popen([PROGRAM, "session", state, f"s{number}"], stdout=subprocess.PIPE, env=world.env)
    owner.stdout.readline()
    took = (time.perf_counter() - began) * 1000
    owner.wait()
    # It has left its starter: it is known by what it was started for.
    for pid in running(f"session\0--held\0{state}\0s{number}"):
        os.kill(int(pid), signal.SIGTERM)
    return took


with_job, without = world_with_files(), world_with_files()
needs_sandbox(without)
job = start_job(with_job)
idle = private_kb(job["owner"])
times = {"plain": [], "first": [], "later": []}
used = {"plain": [], "first": [], "later": []}
directory = without.path("plain")
os.makedirs(directory)
plain(directory, -1)
bare = []
for round_ in range(ROUNDS):
    took = timed(lambda: plain(directory, round_))
    alone = timed(lambda: rewrite(without, round_))
    seen = timed(lambda: rewrite(with_job, round_))
    bare.append(alone[0])
    which = "first" if round_ == 0 else "later"
    for at, into in ((0, times), (1, used)):
        into["plain"].append(took[at])
        into[which].append(seen[at] - alone[at])
starts = [start_ms(without, it) for it in range(20)]
version = [timed(lambda: subprocess.run([PROGRAM, "--version"], stdout=subprocess.DEVNULL))[0] for _ in range(20)]
busy = private_kb(job["owner"])
with_job.run("jobs", "end", "--all")
medians = {name: statistics.median(all_) for name, all_ in times.items()}
cpu = {name: statistics.median(all_) for name, all_ in used.items()}
found = {
    "files": FILES, "rewrite_plain_ms": medians["plain"], "view_first_ms": medians["first"], "view_later_ms": medians["later"],
    "call_ms": statistics.median(bare), "ratio_first": medians["first"] / medians["plain"], "ratio_later": medians["later"] / medians["plain"],
    "rewrite_plain_cpu_ms": cpu["plain"], "view_first_cpu_ms": cpu["first"], "view_later_cpu_ms": cpu["later"],
    "owner_private_kb": idle, "owner_private_kb_after": busy,
    "owner_start_ms": statistics.median(starts), "version_ms": statistics.median(version),
}
found = {name: round(value, 2) for name, value in found.items()}
if "--json" in sys.argv:
    done(0, json.dumps(found))
done(0, f"""{FILES} files of {BYTES} bytes rewritten in a plain directory: {found['rewrite_plain_ms']} ms
brought into the view of a job, for the first time: {found['view_first_ms']} ms, {found['ratio_first']} of that
brought into the view of a job, again: {found['view_later_ms']} ms, {found['ratio_later']} of that (goal: 0.5)
the same in processor time: {found['rewrite_plain_cpu_ms']} ms; {found['view_first_cpu_ms']} ms and {found['view_later_cpu_ms']} ms
owner: {found['owner_private_kb']} KB of private memory (dirty) with one job, {found['owner_private_kb_after']} KB after {ROUNDS} such calls (goal: 4096)
owner: there after {found['owner_start_ms']} ms (goal: 5), `--version` takes {found['version_ms']} ms""")
