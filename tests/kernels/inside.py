"""Runs inside a sandbox and tries what a missing part would let through. One line each: NAME done, or NAME no REASON."""
import ctypes, mmap, os, signal, socket, subprocess, sys

home, other, root_process, own_process = sys.argv[1], sys.argv[1] + "/other", int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def write(path, mode="w"):
    with open(path, mode) as file:
        file.write("x")


def read(path):
    with open(path, "rb") as file:
        return file.read(1)


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as stream:
        stream.settimeout(2)
        stream.connect(address)
        if not stream.recv(1):
            raise OSError("nobody answers")


def processes(count):
    running = []
    try:
        for _ in range(count):
            running.append(subprocess.Popen(["sleep", "1"]))
    finally:
        for one in running:
            one.kill()
            one.wait()


def leave_behind():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for stream in (0, 1, 2):
                os.close(stream)
            os.execvp("sleep", ["sleep", "44444"])
        os._exit(0)


def limit_other():
    import resource
    resource.prlimit(own_process, resource.RLIMIT_NOFILE, (0, 0))


TRIES = {
    "write-home": lambda: write(home + "/outside"),
    "append-home": lambda: write(other, "a"),
    "read-key": lambda: read(home + "/.ssh/id_rsa"),
    "delete-outside": lambda: os.unlink(home + "/other-to-delete"),
    "chmod-outside": lambda: os.chmod(other, 0o600),
    "touch-outside": lambda: os.utime(other, (1, 1)),
    "attribute-outside": lambda: os.setxattr(other, "user.tried", b"1"),
    "empty-by-open": lambda: os.open(other, os.O_RDONLY | os.O_TRUNC),
    "empty-by-path": lambda: os.truncate(other, 0),
    "see-process": lambda: read(f"/proc/{root_process}/comm"),
    "read-environment": lambda: read(f"/proc/{own_process}/environ"),
    "signal": lambda: os.kill(own_process, signal.SIGTERM),
    "limit-other": limit_other,
    "loopback": lambda: connect(socket.AF_INET, ("127.0.0.1", 7777)),
    "abstract-socket": lambda: connect(socket.AF_UNIX, "\0kernels"),
    "path-socket": lambda: connect(socket.AF_UNIX, "/run/kernels.socket"),
    "shown-socket": lambda: connect(socket.AF_UNIX, "/var/kernels.socket"),
    "shared-memory": lambda: checked(libc.shmget(0x65636C75, 4096, 0o600)),
    "mount": lambda: checked(libc.mount(b"x", b"/mnt", b"tmpfs", 0, None)),
    "remount": lambda: checked(libc.mount(b"x", b"/", None, 32, None)),
    "new-user": lambda: checked(libc.unshare(0x10000000)),
    "root-of-process": lambda: os.listdir(f"/proc/{root_process}/root/"),
    "disk": lambda: read("/dev/vda"),
    "sysctl": lambda: write("/proc/sys/kernel/printk"),
    "trace": lambda: checked(libc.ptrace(16, own_process, 0, 0)),
    "many-processes": lambda: processes(60),
    "left-behind": leave_behind,
    "write-tmp": lambda: write("/tmp/evil"),
}

for name, attempt in TRIES.items():
    try:
        attempt()
        print(name, "done", flush=True)
    except BaseException as error:
        print(name, "no", str(error)[:80], flush=True)
