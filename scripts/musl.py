"""How static programs are built: with the headers of musl, which come from Debian, and the compilers that are here."""
import os, platform, shutil, subprocess, sys

from debian import Debian, run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The machines that there are programs for, and what Debian calls them.
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def target_dir():
    return os.path.abspath(os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target"))


def triple(machine):
    return f"{machine}-unknown-linux-musl"


def compiler(machine):
    """The C compiler of a machine, and the flags with which it sees the headers of musl and no others."""
    name = "gcc" if machine == platform.machine() else f"{machine.replace('_', '-')}-linux-gnu-gcc"
    if not shutil.which(name):
        sys.exit(f"`{name}` is not here: install it to build for {machine}")
    room = os.path.join(target_dir(), "musl")
    headers = os.path.join(room, machine)
    if not os.path.exists(headers + ".ready"):
        debian = Debian(room, "trixie", MACHINES[machine])
        Debian.unpack([debian.one("musl-dev"), debian.one("linux-libc-dev")], headers)
        open(headers + ".ready", "w").close()
    own = subprocess.run([name, "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    places = [own, f"{headers}/usr/include/{machine}-linux-musl", f"{headers}/usr/include/{machine}-linux-gnu", f"{headers}/usr/include"]
    flags = ["-nostdinc", *(word for it in places for word in ("-isystem", it)), "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0"]
    if machine == "aarch64":
        flags.append("-mno-outline-atomics")
    return name, flags


def environment(machine):
    """What cargo is given to build for a machine."""
    name, flags = compiler(machine)
    if shutil.which("rustup"):
        run("rustup", "--quiet", "target", "add", triple(machine), cwd=ROOT)
    under = triple(machine).replace("-", "_")
    given = dict(os.environ)
    given[f"CC_{under}"] = name
    given[f"CARGO_TARGET_{under.upper()}_LINKER"] = name
    # Paths of the machine that built it are nobody's business.
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    places = ((ROOT, "eclusa"), (home, "cargo"))
    given[f"CFLAGS_{under}"] = " ".join(flags + [f"-ffile-prefix-map={at}={to}" for at, to in places])
    kept = [f"--remap-path-prefix={at}={to}" for at, to in places]
    given[f"CARGO_TARGET_{under.upper()}_RUSTFLAGS"] = " ".join(["-Crelocation-model=pie", *kept])
    return given
