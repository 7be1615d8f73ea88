#!/usr/bin/env python3
"""Filters of system calls as engines of containers install them, made from the engines' own profiles.

    scripts/profiles.py ENGINE FILE [MACHINE]    writes the filter for `tests/kernels/filter.py FILE PROGRAM ...`
    scripts/profiles.py try [PROGRAM]            the program under each of them on this kernel: its level is the one that is
                                                 the goal, and what commands did whose changes are discarded is gone

An engine is `docker`, `podman`, or `docker-opened`: Docker's with the one rule more that docs/sandbox.md shows. The
profiles come from Debian's packages, the numbers of calls from the headers of its kernel.
"""
import json, os, platform, re, shutil, struct, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from debian import Debian

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# package: where it keeps the profile.
PROFILES = {
    "docker": ("golang-github-docker-docker-dev", "usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json"),
    "podman": ("golang-github-containers-common", "usr/share/containers/seccomp.json"),
}
# What a container may do without being given more.
CAPABILITIES = {
    "docker": "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE",
    "podman": "CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT",
}
MACHINES = {"x86_64": ("amd64", 0xC000003E), "aarch64": ("arm64", 0xC00000B7)}
LOAD, EQUAL, AT_LEAST, AND, GIVE = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
HALF = 0xFFFFFFFF


def numbers(room, machine):
    """The calls of a machine, by name."""
    at = os.path.join(room, "profiles", "headers")
    if not os.path.exists(at):
        Debian.unpack([Debian(room, "trixie", "amd64").one("linux-libc-dev")], at)
    with open(os.path.join(at, f"usr/include/{machine}-linux-gnu/asm/unistd_64.h")) as file:
        return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", file.read())}


def profile(room, engine):
    package, path = PROFILES[engine]
    at = os.path.join(room, "profiles", engine)
    if not os.path.exists(at):
        Debian.unpack([Debian(room, "trixie", "amd64").one(package)], at)
    with open(os.path.join(at, path)) as file:
        return json.load(file)


def shown_rule():
    """The rule that docs/sandbox.md tells people to add."""
    with open(os.path.join(ROOT, "docs/sandbox.md")) as file:
        return json.loads(re.search(r'```json\n(\{"names".*?\})\n```', file.read(), re.S)[1])


def holds(rule, arch, capabilities):
    """Whether a rule is for this machine and this container. Every kernel here is newer than any that is named."""
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    named = lambda it, key: set(it.get(key) or [])
    if named(includes, "caps") - capabilities or named(excludes, "caps") & capabilities:
        return False
    return (not named(includes, "arches") or arch in named(includes, "arches")) and arch not in named(excludes, "arches")


def answer(action, errno):
    if action == "SCMP_ACT_ALLOW":
        return ALLOW
    if action != "SCMP_ACT_ERRNO":
        raise ValueError(f"`{action}` is not known")
    return REFUSE | (1 if errno is None else errno)


def half(offset, mask, wanted, otherwise):
    """Leaves where half an argument is another one; `otherwise` instructions are skipped then."""
    return [(LOAD, 0, 0, offset)] + ([(AND, 0, 0, mask)] if mask != HALF else []) + [(EQUAL, 0, otherwise, wanted)]


def condition(rule, then):
    """Gives the answer where all arguments are as a rule says."""
    code = [(GIVE, 0, 0, then)]
    for one in reversed(rule.get("args") or []):
        at, value, op = 16 + 8 * one["index"], one["value"], one["op"]
        if op == "SCMP_CMP_NE":
            # Either half is another one.
            code = half(at, HALF, value & HALF, 2) + half(at + 4, HALF, value >> 32, 0)[:1] + [(EQUAL, len(code), 0, value >> 32)] + code
            continue
        mask, wanted = (value, one["valueTwo"] if "valueTwo" in one else 0) if op == "SCMP_CMP_MASKED_EQ" else (HALF << 32 | HALF, value)
        if op not in ("SCMP_CMP_MASKED_EQ", "SCMP_CMP_EQ"):
            raise ValueError(f"`{op}` is not known")
        code = half(at + 4, mask >> 32, wanted >> 32, len(code)) + code
        code = half(at, mask & HALF, wanted & HALF, len(code)) + code
    return code


def program(room, engine, machine):
    """The filter, as the kernel takes it."""
    base = engine.split("-")[0]
    said = profile(room, base)
    if engine == "docker-opened":
        said["syscalls"].append(shown_rule())
    arch, audit = MACHINES[machine]
    capabilities = {f"CAP_{it}" for it in CAPABILITIES[base].split()}
    otherwise = answer(said["defaultAction"], said.get("defaultErrnoRet"))
    known, always, sometimes = numbers(room, machine), {}, {}
    for rule in said["syscalls"]:
        for name in rule["names"] if holds(rule, arch, capabilities) else []:
            then = answer(rule["action"], rule.get("errnoRet"))
            if name not in known:
                continue
            if rule.get("args"):
                sometimes.setdefault(known[name], []).append((rule, then))
            elif always.get(known[name]) != ALLOW:
                always[known[name]] = then
    code = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, audit), (GIVE, 0, 0, REFUSE | 38), (LOAD, 0, 0, 0)]
    for number, rules in sometimes.items():
        if always.get(number) == ALLOW:
            continue
        block = [line for rule, then in rules for line in condition(rule, then)] + [(GIVE, 0, 0, always.get(number, otherwise))]
        code += [(EQUAL, 0, len(block), number)] + block
        always.pop(number, None)
    # Neighbours with the same answer are one step.
    last = None
    for number in sorted(always):
        if last and last[1] == number - 1 and last[2] == always[number]:
            last[1] = number
            continue
        if last:
            code += run_of(*last)
        last = [number, number, always[number]]
    code += run_of(*last) + [(GIVE, 0, 0, otherwise)]
    return b"".join(struct.pack("HBBI", *one) for one in code)


def run_of(first, last, then):
    return [(AT_LEAST, 0, 2, first), (AT_LEAST, 1, 0, last + 1), (GIVE, 0, 0, then)]


# Parts of /proc as engines of containers mask them.
MASK = """for at in asound acpi scsi; do [ ! -d /proc/$at ] || mount -t tmpfs -o ro none /proc/$at; done
for at in interrupts kcore keys latency_stats timer_list sched_debug; do [ ! -e /proc/$at ] || mount --bind /dev/null /proc/$at; done
for at in bus fs irq sys; do mount --bind /proc/$at /proc/$at && mount -o remount,bind,ro /proc/$at; done 2> /dev/null; exec "$@" """
MASKED = "partial, without a /proc of its own"
# what is installed, whether /proc is masked, who starts the program, and the level that is the goal.
CASES = [
    ("docker", True, "user", "snapshot"), ("docker", True, "root", "snapshot"),
    ("docker-opened", False, "user", "full"), ("docker-opened", False, "root", "full"),
    ("podman", True, "user", MASKED), ("podman", True, "root", MASKED), (None, True, "user", MASKED),
]


def try_all(room, program_file):
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="eclusa-profiles-", dir="/var/tmp") as work:
        os.chmod(work, 0o755)
        # One that everybody may run.
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        own = shutil.copy(program_file, os.path.join(work, "eclusa"))
        for name in ("filter.py", "attempts.py"):
            shutil.copy(os.path.join(ROOT, "tests/kernels", name), work)
        for engine, is_masked, who, goal in CASES:
            home = tempfile.mkdtemp(dir=work)
            words = ["unshare", "-m", "bash", "-c", MASK if is_masked else 'exec "$@"', "in"]
            if engine:
                with open(os.path.join(home, "filter"), "wb") as file:
                    file.write(program(room, engine, platform.machine()))
                words += [python, os.path.join(work, "filter.py"), os.path.join(home, "filter")]
            if who == "user":
                os.chown(home, 65534, 65534)
                words += ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            else:
                kept = ",".join(f"+{it.lower()}" for it in CAPABILITIES[engine.split("-")[0]].split())
                words += ["setpriv", f"--bounding-set=-all,{kept}"]
            words += ["env", "-i", f"PATH={os.environ['PATH']}", f"HOME={home}", f"ECLUSA={own}", python, os.path.join(work, "attempts.py"), "attacks"]
            ran = subprocess.run(words, capture_output=True, text=True, cwd=home)
            try:
                seen = json.loads(ran.stdout.splitlines()[-1])
            except (ValueError, IndexError):
                seen = {"level": "?", "wrong": [f"it failed: {ran.stderr[-600:]}"]}
            problems = seen["wrong"] + ([] if seen["level"] == goal else [f"`{goal}` is the goal"])
            print(f"{'WRONG' if problems else 'ok   '} {engine or 'no profile'}{', masked /proc' if is_masked else ''}, {who}: {seen['level']}", flush=True)
            for one in problems:
                print(f"      {one}", flush=True)
            wrong += len(problems)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def main():
    if len(sys.argv) < 3 and sys.argv[1:2] != ["try"]:
        sys.exit(__doc__)
    if sys.argv[1] == "try":
        if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv", "apt-get", "dpkg-deb"))):
            print("not run: it needs root to mask parts of /proc, and Debian's packages")
            sys.exit(3)
        built = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "debug/eclusa")
        room = room_of_packages()
        sys.exit(try_all(room, sys.argv[2] if len(sys.argv) > 2 else built))
    if len(sys.argv) < 3 or sys.argv[1] not in [*PROFILES, "docker-opened"]:
        sys.exit(__doc__)
    room = room_of_packages()
    machine = sys.argv[3] if len(sys.argv) > 3 else platform.machine()
    with open(sys.argv[2], "wb") as file:
        file.write(program(room, sys.argv[1], machine))


def room_of_packages():
    """Where `scripts/kernels` keeps packages, too."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    room = os.environ.get("KERNELS_ROOM") or os.path.join(cache, "eclusa-kernels")
    os.makedirs(room, exist_ok=True)
    return room


if __name__ == "__main__":
    main()
