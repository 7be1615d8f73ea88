#!/usr/bin/env python3
"""What a command costs that changes 1,000 files, or renames them, and one that changes nothing among many.

    bench/many.py target/release/eclusa              the table
    bench/many.py target/release/eclusa --json       the numbers alone
    bench/many.py target/release/eclusa --unchanged 1000,10000,100000

Processor time (user and system, of everything that was started), which the load of the machine disturbs little: the
median and the shortest of some runs, in turn. Three ways: plainly; plainly on a bare overlay of the kernel's, which is
the floor of every sandbox that shows changes before it makes them; and by `exec --apply`. The system calls are those
of one run of `exec --apply`, by strace. ATTACKS_BASE is where it works; /dev/shm keeps the disk out.
"""
import json, os, pathlib, re, resource, shutil, statistics, subprocess, sys

here = pathlib.Path(__file__).resolve().parent.parent
sizes = [1000, 10000, 100000]
words = sys.argv[1:]
if "--unchanged" in words:
    at = words.index("--unchanged")
    sizes = [int(it) for it in words[at + 1].split(",")]
    del words[at : at + 2]
as_json = "--json" in words
words = [it for it in words if it != "--json"]
os.environ["ECLUSA"] = str(pathlib.Path(words[0] if words else here / "target/release/eclusa").resolve())
sys.path.insert(0, str(here / "attacks"))
from world import PROGRAM, World, cannot, done, needs_sandbox

FILES, ROUNDS = 1000, 9
APPEND = "cd files; for f in f*; do echo more >> $f; done"
# There and back, so that each round finds the same: which way is told by what is there.
RENAME = "perl rename.pl"
RENAMER = """($a, $b) = -e "files/f0" ? ("files", "moved") : ("moved", "files");
mkdir $b; opendir D, $a; for (readdir D) { rename "$a/$_", "$b/$_" unless /^[.]/ }"""
MOUNT = 'mount -t overlay overlay -o lowerdir="$0",upperdir="$1/u",workdir="$1/w",userxattr "$1/m" && cd "$1/m" && eval "$2"'


def used():
    it = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (it.ru_utime + it.ru_stime) * 1000


def run(world, words):
    before = used()
    ran = subprocess.run(words, cwd=world.ws, env=world.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    took = used() - before
    if ran.returncode != 0:
        done(1, f"{words}: {ran}")
    return took


def filled(files=FILES, others=0):
    world = World('mode = "auto-approve"\n')
    for number in range(files):
        world.write(f"workspace/files/f{number}", f"line {number}\n" * 60)
    world.write("workspace/rename.pl", RENAMER)
    for number in range(others):
        world.write(f"workspace/others{number // 1000}/f{number}", "text\n")
    needs_sandbox(world)
    run(world, gate("true"))
    return world


def gate(command):
    return [PROGRAM, "exec", "--apply", "--", command]


def overlay(world, command):
    """The same on an overlay that nobody reads back; making and ending it costs what `true` on it does."""
    place = world.path("overlay")
    shutil.rmtree(place, ignore_errors=True)
    for name in "uwm":
        os.makedirs(os.path.join(place, name))
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount", "/bin/bash", "-c", MOUNT, world.ws, place, command]


def of(times):
    return {"median": round(statistics.median(times), 1), "shortest": round(min(times), 1)}


def system_calls(world, command):
    file = world.path("strace")
    run(world, ["strace", "-f", "-c", "-o", file, *gate(command)])
    return int(re.search(r"(\d+)(?:\s+\d+)? total", world.read(file)).group(1))


def changing(command):
    world = filled()
    if subprocess.run(overlay(world, "true"), stderr=subprocess.DEVNULL).returncode != 0:
        cannot("no overlay can be mounted here")
    ways = {"plain": [], "overlay": [], "gate": [], "nothing_plain": [], "nothing_gate": []}
    for _ in range(ROUNDS):
        # Only what goes through the gate is kept: each way finds the same files.
        ways["overlay"].append(run(world, overlay(world, command)) - run(world, overlay(world, "true")))
        ways["nothing_plain"].append(run(world, ["/bin/bash", "-c", "true"]))
        ways["nothing_gate"].append(run(world, gate("true")))
        ways["plain"].append(run(world, ["/bin/bash", "-c", command]))
        ways["gate"].append(run(world, gate(command)))
    calls = system_calls(world, command)
    shutil.rmtree(world.dir, ignore_errors=True)
    found = {name: of(times) for name, times in ways.items()}
    ratio = lambda name, by: round(found[name][by] / found["plain"][by], 2)
    return {**found, "overlay_ratio": ratio("overlay", "median"), "ratio": ratio("gate", "median"),
            "ratio_shortest": ratio("gate", "shortest"), "system_calls": calls}


def unchanged(others):
    world = filled(files=10, others=others)
    run(world, gate("ls files"))
    times = of([run(world, gate("ls files")) for _ in range(ROUNDS)])
    change = of([run(world, gate("date +%N > files/f0")) for _ in range(ROUNDS)])
    found = {"nothing": times, "one": change, "system_calls": system_calls(world, "ls files")}
    shutil.rmtree(world.dir, ignore_errors=True)
    return found


found = {
    "append": changing(APPEND), "rename": changing(RENAME), "unchanged": {it: unchanged(it) for it in sizes},
    "load": os.getloadavg(), "files": FILES, "rounds": ROUNDS,
}
if as_json:
    done(0, json.dumps(found))
cell = lambda it: f"{it['median']} ({it['shortest']})"
print(f"{FILES} files, processor time in ms: median (shortest) of {ROUNDS}; load {found['load'][0]:.1f}")
print("| a command that | plain | bare overlay | `exec --apply` | overlay to plain | gate to plain (shortest) | system calls |\n|---|---|---|---|---|---|---|")
for name, what in (("append", "appends to each"), ("rename", "renames each")):
    it = found[name]
    print(f"| {what} | {cell(it['plain'])} | {cell(it['overlay'])} | {cell(it['gate'])} | {it['overlay_ratio']} x | "
          f"{it['ratio']} x ({it['ratio_shortest']} x) | {it['system_calls']:,} |")
print(f"`true`: plainly {cell(found['append']['nothing_plain'])}, by `exec --apply` {cell(found['append']['nothing_gate'])}\n")
print("| unchanged files | `exec --apply -- ls files` | one file changed | system calls |\n|---|---|---|---|")
for others, it in found["unchanged"].items():
    print(f"| {others:,} | {cell(it['nothing'])} | {cell(it['one'])} | {it['system_calls']:,} |")
done(0, "")
