"""What the program says about this machine, and what comes of it: lines of JSON that begin with @@.

    attempts.py services        what a command must not reach, as root
    attempts.py all VARIANT     everything, as whoever calls it
    attempts.py attacks         what commands do to a workspace, on this machine: below `HOME`, with the program `ECLUSA`
"""
import ctypes, json, os, socket, subprocess, sys, threading, time

ECLUSA = os.environ.get("ECLUSA", "/usr/bin/eclusa")
LESS = "/tmp/less.toml"


def services():
    with open("/run/sleeper", "w") as file:
        file.write(str(subprocess.Popen(["sleep", "100000"]).pid))
    loopback = socket.create_server(("127.0.0.1", 7777))
    abstract, path, shown = (socket.socket(socket.AF_UNIX) for _ in range(3))
    abstract.bind("\0kernels")
    path.bind("/run/kernels.socket")
    shown.bind("/var/kernels.socket")
    os.chmod("/run/kernels.socket", 0o777)
    os.chmod("/var/kernels.socket", 0o777)

    def answer(server):
        server.listen()
        while True:
            server.accept()[0].sendall(b"reached")

    for server in (abstract, path, shown):
        threading.Thread(target=answer, args=(server,)).start()
    answer(loopback)


def eclusa(*words, cwd=None, given=""):
    began = time.monotonic()
    try:
        ran = subprocess.run([ECLUSA, *words], input=given, capture_output=True, text=True, cwd=cwd, timeout=120)
        code, out, err = ran.returncode, ran.stdout, ran.stderr
    except subprocess.TimeoutExpired as late:
        # What it had said shows where it stood.
        code, out, err = 124, (late.stdout or b"").decode(), "it did not end within two minutes"
    return {"code": code, "out": out, "err": err, "seconds": round(time.monotonic() - began, 2)}


def tell(what, **fields):
    print("@@", json.dumps({"variant": sys.argv[2], "what": what, **fields}), flush=True)


def said(ran):
    return (ran["out"] + ran["err"]).strip()[-300:]


def workspace(name):
    at = os.path.join(os.environ["HOME"], name)
    os.makedirs(at)
    with open(os.path.join(at, "base"), "w") as file:
        file.write("base\n")
    return at


# A workspace, and what is done to it by commands whose changes are discarded.
START = """umask 022; echo one > one; echo two > two; mkdir -p d/deep; echo b > d/deep/b; ln -s one link; mkfifo pipe; echo h > h1; ln h1 h2
git init -q .; echo precious > .env-not; touch -d '2001-02-03 04:05:06.789' one two d/deep d; mkdir shut; echo s > shut/s; chmod 500 shut"""
ATTACKS = {
    "contents": "echo more >> one; printf 'TWO\\n' > two; touch -d '2001-02-03 04:05:06.789' two; touch -d 1999-01-01 h1",
    "all removed": "chmod -R u+w shut; rm -rf one two d link pipe h1 h2 shut .git .env-not; mkdir .git",
    "kinds": "rm -r d one; echo file > d; mkdir -p one/in; rm pipe; echo file > pipe; rm two; mkfifo two",
    "swapped": "mv one t; mv two one; mv t two; mv d e; mkdir many; for i in 1 2 3 4 5 6; do echo $i > many/$i; done",
    "links": "ln -sfn / link; rm -r d; ln -s / d; ln one again; echo through >> again",
    "modes": "chmod 000 one d; mkdir n; echo x > n/x; chmod 000 n; chmod 4755 two; chmod 755 shut; echo n > shut/n; chmod 500 shut",
    "several names": "echo changed > h1; echo over > outer",
    "other names": "rm h2; echo new > t; mv t h1",
    "of git": "echo 'ref: refs/heads/evil' > .git/HEAD; mkdir -p .git/refs/heads; echo e > .git/refs/heads/evil",
    "attributes": "python3 -c 'import os; os.setxattr(\"one\", \"user.x\", b\"1\"); os.setxattr(\"d\", \"user.x\", b\"1\")'",
    "mapped": "python3 -c 'import mmap, os; f = open(\"one\", \"r+b\"); m = mmap.mmap(f.fileno(), 0); m[0] = 65; m.close(); os.utime(\"one\", (5, 5))'",
    "large": "truncate -s 100M one; printf tail >> one",
    "late": "(trap '' TERM HUP; setsid sh -c 'sleep 2; echo late > late; echo late > one' > /dev/null 2>&1 &); echo now > now",
}


def look(root):
    """Everything that can be told of a directory by looking at it."""
    seen = {}
    for directory, names, files in os.walk(root):
        for name in [".", *names, *files]:
            path = os.path.join(directory, name)
            about = os.lstat(path)
            kind, content = about.st_mode >> 12, ""
            if kind == 0o10:
                with open(path, "rb") as file:
                    content = file.read(1000)
            elif kind == 0o12:
                content = os.readlink(path)
            attributes = os.listxattr(path) if kind in (0o10, 0o4) else []
            links = about.st_nlink if kind == 0o10 else 1
            seen[path] = (about.st_mode, about.st_mtime_ns, about.st_size if kind == 0o10 else 0, links, content, attributes)
    return seen


def attacks(home, less):
    """What was not as before when a command was discarded, or when the program was killed while one ran."""
    at, changed = os.path.join(home, "attacked"), []
    os.makedirs(at)
    subprocess.run(["bash", "-c", START], cwd=at, check=True, capture_output=True)
    with open(home + "/outer", "w") as file:
        file.write("precious")
    os.link(home + "/outer", at + "/outer")
    before = look(at)

    def differs(name):
        now = look(at)
        wrong = sorted(it for it in set(before) | set(now) if before.get(it) != now.get(it))
        if wrong:
            changed.append(f"{name}: {wrong[0]} and {len(wrong) - 1} more: {before.get(wrong[0])} {now.get(wrong[0])}"[:300])

    for name, text in ATTACKS.items():
        ran = eclusa(*less, "exec", "--discard", "--", text, cwd=at)
        if ran["code"] not in (0, 1):
            changed.append(f"{name}: not tried: {said(ran)}")
        if name == "late":
            time.sleep(3)
        differs(name)
    running = subprocess.Popen([ECLUSA, *less, "exec", "--apply", "--", "echo half > one; rm two; echo begun; sleep 500"], cwd=at,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    running.stdout.readline()
    running.kill()
    running.wait()
    ran = eclusa(*less, "exec", "--discard", "--", "true", cwd=at)
    differs(f"killed: {said(ran)}")
    return changed


def everything():
    home = os.environ["HOME"]
    at = workspace("w")
    os.makedirs(home + "/.ssh")
    for name in (".ssh/id_rsa", "other", "other-to-delete"):
        with open(os.path.join(home, name), "w") as file:
            file.write("kept\n")
    ctypes.CDLL(None).shmget(0x65636C75, 4096, 0o1600)
    with open(LESS, "w") as file:
        file.write('[commands]\nleast = "partial"\n')

    ran = eclusa("doctor", "--json", cwd=at)
    try:
        doctor = json.loads(ran["out"])
    except ValueError:
        doctor = {"level": f"doctor failed: {said(ran)}", "parts": []}
    keys = ("level", "staging", "because", "no_sandbox", "memory", "processes", "parts", "layers")
    tell("doctor", seconds=ran["seconds"], **{key: doctor.get(key) for key in keys})
    is_full = doctor["level"] == "full"
    if sys.argv[2] == "apparmor":
        # Where it will be met first.
        ran = eclusa("demo", cwd=at)
        tell("demo", code=ran["code"], said=(ran["out"] + ran["err"])[:1500])

    # As shipped, with nobody to ask.
    ran = eclusa("exec", "--apply", "--", "echo hi > asked", cwd=at)
    tell("default", code=ran["code"], made=os.path.exists(at + "/asked"), said=said(ran))
    ran = eclusa("run", "bash", "command=cat base", cwd=at)
    tell("read", code=ran["code"], is_right="base" in ran["out"], said=said(ran))

    # With a person who says that less will do.
    less = ["--mode", "yolo"] if is_full else ["--policy", LESS, "--mode", "yolo"]
    ran = eclusa(*less, "exec", "--apply", "--", "echo hi > f; mkdir d; mv d e", cwd=at)
    tell("apply", code=ran["code"], made=os.path.exists(at + "/f") and os.path.exists(at + "/e"), said=said(ran))
    ran = eclusa(*less, "undo", cwd=at)
    tell("undo", code=ran["code"], is_gone=not os.path.exists(at + "/f"), said=said(ran))
    ran = eclusa(*less, "exec", "--discard", "--", "echo no > g; rm base", cwd=at)
    tell("discard", code=ran["code"], is_kept=os.path.exists(at + "/base") and not os.path.exists(at + "/g"), said=said(ran))

    odd = workspace("a:b,c\\d é")
    ran = eclusa(*less, "exec", "--apply", "--", "echo hi > f", cwd=odd)
    tell("odd-names", code=ran["code"], made=os.path.exists(odd + "/f"), said=said(ran))

    tell("attacks", changed=attacks(home, less))

    with open("/run/sleeper") as file:
        root_process = file.read()
    own = subprocess.Popen(["sleep", "100000"])
    before = os.stat(home + "/other")
    ran = eclusa(*less, "exec", "--apply", "--", f"python3 /kernels/inside.py {home} {root_process} {own.pid}", cwd=at)
    tries = dict(line.split(" ", 1) for line in ran["out"].splitlines() if " " in line and line.split()[1] in ("done", "no"))
    after = os.stat(home + "/other")
    with open(home + "/other") as file:
        is_whole = file.read() == "kept\n"
    found = {
        "write-home": os.path.exists(home + "/outside"),
        "append-home": not is_whole,
        "empty": after.st_size == 0,
        "delete-outside": not os.path.exists(home + "/other-to-delete"),
        "chmod-outside": before.st_mode != after.st_mode,
        "touch-outside": before.st_mtime != after.st_mtime,
        "signal": own.poll() is not None,
        "write-tmp": os.path.exists("/tmp/evil"),
        "left-behind": subprocess.run(["pgrep", "-f", "sleep 44444"], capture_output=True).returncode == 0,
    }
    tell("tries", code=ran["code"], tries=tries, found=[name for name, is_so in found.items() if is_so], said=said(ran) if not tries else "")
    own.kill()
    subprocess.run(["pkill", "-9", "-f", "sleep 44444"])

    event = {"session_id": "s", "cwd": at, "hook_event_name": "PreToolUse", "tool_use_id": "t", "permission_mode": "default"}
    event |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    ran = eclusa("hook", "claude-code", cwd=at, given=json.dumps(event))
    try:
        answer = json.loads(ran["out"])["hookSpecificOutput"]
    except (ValueError, KeyError):
        answer = {}
    tell("hook", code=ran["code"], decision=answer.get("permissionDecision"), said=said(ran) if not answer else "")
    command = (answer.get("updatedInput") or {}).get("command")
    if answer.get("permissionDecision") == "allow" and command:
        ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=at, stdin=subprocess.DEVNULL)
        tell("ticket", code=ran.returncode, is_right="base" in ran.stdout, said=(ran.stdout + ran.stderr)[-300:])

    with open("/tmp/caps.toml", "w") as file:
        file.write('[commands]\nleast = "partial"\nmemory = "96MB"\n')
    eat = "python3 -c 'import time; x = bytearray(300000000); time.sleep(3); print(\"ATE\", len(x))'"
    ran = eclusa("--policy", "/tmp/caps.toml", "--mode", "yolo", "exec", "--apply", "--", eat, cwd=at)
    tell("memory", code=ran["code"], ate="ATE" in ran["out"], said=said(ran))


def attacked():
    """One line of JSON: the level, and what was not as before."""
    home = os.environ["HOME"]
    os.makedirs(home + "/looked")
    ran = eclusa("doctor", "--json", cwd=home + "/looked")
    level = json.loads(ran["out"])["level"]
    made = eclusa("--mode", "yolo", "exec", "--apply", "--", "echo hi > f", cwd=home + "/looked")
    wrong = [] if os.path.exists(home + "/looked/f") else [f"nothing is applied: {said(made)}"]
    read = eclusa("run", "bash", "command=cat f", cwd=home + "/looked")
    wrong += [] if "hi" in read["out"] else [f"reading: {said(read)}"]
    print(json.dumps({"level": level, "wrong": wrong + attacks(home, ["--mode", "yolo"])}))


if __name__ == "__main__":
    {"services": services, "attacks": attacked}.get(sys.argv[1], everything)()
