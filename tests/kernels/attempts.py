"""What the program says about this machine, and what comes of it: lines of JSON that begin with @@.

    attempts.py services        what a command must not reach, as root
    attempts.py all VARIANT     everything, as whoever calls it
"""
import ctypes, json, os, socket, subprocess, sys, threading, time

ECLUSA = "/usr/bin/eclusa"
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


services() if sys.argv[1] == "services" else everything()
