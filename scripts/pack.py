"""Packs programs that were built: the same bytes in every package. Used by scripts/dist."""
import base64, gzip, hashlib, io, json, os, shutil, subprocess, sys, tarfile, tomllib, zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEB = {"x86_64": "amd64", "aarch64": "arm64"}
NODE = {"x86_64": "x64", "aarch64": "arm64"}
SUMMARY = "One gate for every tool call of an AI agent"


def about():
    with open(os.path.join(ROOT, "Cargo.toml"), "rb") as file:
        return tomllib.load(file)["workspace"]["package"]


VERSION = about()["version"]
# How hard it is tried to make packages small; a trial of them does not wait for it.
SMALL = 9


def moment():
    """The time that files in packages have: the last commit's, so that the same source gives the same bytes."""
    said = os.environ.get("SOURCE_DATE_EPOCH") or subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return int(said or 315532800)


def machine_of(path):
    with open(path, "rb") as file:
        head = file.read(20)
    name = {62: "x86_64", 183: "aarch64"}.get(head[18] | head[19] << 8) if head[:4] == b"\x7fELF" else None
    if name is None:
        sys.exit(f"`{path}` is no program for x86_64 or aarch64")
    return name


def check_program(machine, path, is_static):
    """Refuses a program of another machine, and one that needs a library or has a fixed address."""
    if machine_of(path) != machine:
        sys.exit(f"`{path}` is not for {machine}")
    with open(path, "rb") as file:
        content = file.read()
    if is_static and content[16] != 3:
        sys.exit(f"`{path}` has a fixed address: it must be a static PIE")
    if is_static and (b"/lib64/ld-linux" in content[:4096] or b"/lib/ld-" in content[:4096]):
        sys.exit(f"`{path}` needs a loader: it must be static")
    for secret in (ROOT, os.path.expanduser("~/.cargo/registry")):
        if is_static and secret.encode() in content:
            sys.exit(f"`{path}` names `{secret}`, a place of the machine that built it")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def read(name):
    with open(os.path.join(ROOT, name)) as file:
        return file.read()


def tar_gz(at, directory, prefix):
    """A tarball whose bytes depend on its contents alone."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for place, names, files in sorted(os.walk(directory)):
            names.sort()
            for name in sorted(files):
                path = os.path.join(place, name)
                entry = tar.gettarinfo(path, os.path.join(prefix, os.path.relpath(path, directory)))
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = "root"
                entry.mtime = moment()
                entry.mode = 0o755 if entry.mode & 0o100 else 0o644
                with open(path, "rb") as file:
                    tar.addfile(entry, file)
    with open(at, "wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=SMALL, mtime=moment()) as out:
        out.write(packed.getvalue())


def parts(machine):
    """What the program is made of, in the form of CycloneDX."""
    said = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", f"{machine}-unknown-linux-musl"],
        cwd=ROOT, capture_output=True, text=True, check=True).stdout
    metadata = json.loads(said)
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    root = next(it["id"] for it in metadata["packages"] if it["name"] == "eclusa-cli")
    todo, seen = [root], set()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        todo += [it["pkg"] for it in nodes[one]["deps"] if any(kind["kind"] in (None, "build") for kind in it["dep_kinds"])]
    components = []
    for one in sorted(seen - {root}):
        package = packages[one]
        part = {"type": "library", "bom-ref": f"{package['name']}@{package['version']}", "name": package["name"], "version": package["version"]}
        part["purl"] = f"pkg:cargo/{package['name']}@{package['version']}"
        if package["license"]:
            part["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        components.append(part)
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "eclusa", "name": "eclusa", "version": VERSION}},
        "components": components,
    }, indent=1) + "\n"


def tarball(machine, program, sbom, extras, out):
    name = f"eclusa-{VERSION}-{machine}-linux"
    at = os.path.join(out, "work", name)
    os.makedirs(os.path.join(at, "bin"))
    shutil.copy(program, os.path.join(at, "bin/eclusa"))
    os.chmod(os.path.join(at, "bin/eclusa"), 0o755)
    for file in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(os.path.join(ROOT, file), at)
    write(os.path.join(at, "sbom.cdx.json"), sbom)
    if extras:
        shutil.copytree(extras, at, dirs_exist_ok=True)
    path = os.path.join(out, name + ".tar.gz")
    tar_gz(path, at, name)
    return path


def pages(programs, out):
    """Man pages and completions, by a program that can be started here."""
    import platform
    program = programs.get(platform.machine())
    if program is None:
        print("no man pages and completions: none of the programs can be started here")
        return None
    at = os.path.join(out, "work/extras")
    os.makedirs(os.path.join(at, "completions"))
    subprocess.run([program, "man", "--dir", os.path.join(at, "man")], check=True, stdout=subprocess.DEVNULL)
    for shell in ("bash", "zsh", "fish"):
        said = subprocess.run([program, "completions", shell], check=True, capture_output=True, text=True).stdout
        write(os.path.join(at, "completions", f"eclusa.{shell}"), said)
    return at


POSTINST = """#!/bin/sh
set -e
# Only where AppArmor is in force, and only for this program.
if [ "$1" = configure ] && [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser >/dev/null; then
  apparmor_parser -r /etc/apparmor.d/eclusa 2>/dev/null || true
fi
"""

PRERM = """#!/bin/sh
set -e
# An agent whose hook is gone is told no for everything: what was installed for the whole machine is taken back.
if [ "$1" = remove ]; then
  /usr/bin/eclusa uninstall --all --managed || true
  echo "eclusa: everybody who connected an agent for themselves should have run \\`eclusa uninstall --all\\`."
  echo "eclusa: whoever did not takes the entries that name \\`eclusa hook\\` out of their agent's settings."
fi
"""


def deb(machine, program, extras, out):
    if not shutil.which("dpkg-deb"):
        print("no .deb: dpkg-deb is not here")
        return None
    at = os.path.join(out, "work", f"deb-{machine}")
    os.makedirs(os.path.join(at, "usr/bin"))
    shutil.copy(program, os.path.join(at, "usr/bin/eclusa"))
    os.chmod(os.path.join(at, "usr/bin/eclusa"), 0o755)
    write(os.path.join(at, "etc/apparmor.d/eclusa"), read("crates/eclusa-connect/src/commands/agents/apparmor.profile").replace("@PROGRAM@", '"/usr/bin/eclusa"'))
    write(os.path.join(at, "usr/share/doc/eclusa/copyright"), read("LICENSE-MIT") + "\n" + read("LICENSE-APACHE"))
    if extras:
        for name in os.listdir(os.path.join(extras, "man")):
            with open(os.path.join(extras, "man", name), "rb") as file:
                packed = gzip.compress(file.read(), 9, mtime=0)
            to = os.path.join(at, f"usr/share/man/man{name.rsplit('.', 1)[1]}", name + ".gz")
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(to, "wb") as file:
                file.write(packed)
        places = {"bash": "bash-completion/completions/eclusa", "zsh": "zsh/vendor-completions/_eclusa", "fish": "fish/vendor_completions.d/eclusa.fish"}
        for shell, place in places.items():
            with open(os.path.join(extras, "completions", f"eclusa.{shell}")) as file:
                write(os.path.join(at, "usr/share", place), file.read())
    size = sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(at) for name in names) // 1024
    write(os.path.join(at, "DEBIAN/control"), f"""Package: eclusa
Version: {VERSION}
Section: devel
Priority: optional
Architecture: {DEB[machine]}
Installed-Size: {size}
Recommends: bash, git
Maintainer: The Eclusa developers <eclusa@localhost>
Description: {SUMMARY[0].lower() + SUMMARY[1:]}
 Validates, judges, asks about, sandboxes, records and undoes what AI agents do.
""")
    write(os.path.join(at, "DEBIAN/conffiles"), "/etc/apparmor.d/eclusa\n")
    write(os.path.join(at, "DEBIAN/postinst"), POSTINST, 0o755)
    write(os.path.join(at, "DEBIAN/prerm"), PRERM, 0o755)
    for place, names, _ in os.walk(at):
        for name in names:
            os.chmod(os.path.join(place, name), 0o755)
    path = os.path.join(out, f"eclusa_{VERSION}_{DEB[machine]}.deb")
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(moment()))
    subprocess.run(["dpkg-deb", "-Zxz" if SMALL == 9 else "-Zgzip", f"-z{SMALL}", "--root-owner-group", "--build", at, path], check=True, stdout=subprocess.DEVNULL, env=environment)
    return path


def wheel(machine, program, sbom, out):
    """A wheel with the program and nothing else. It is static, so one tag of each C library serves all."""
    tags = [f"manylinux_2_17_{machine}", f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"]
    info = f"eclusa-{VERSION}.dist-info"
    files = {}
    with open(program, "rb") as file:
        files[f"eclusa-{VERSION}.data/scripts/eclusa"] = file.read()
    files[f"{info}/METADATA"] = f"""Metadata-Version: 2.4
Name: eclusa
Version: {VERSION}
Summary: {SUMMARY}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{read("README.md")}""".encode()
    lines = ["Wheel-Version: 1.0", "Generator: eclusa", "Root-Is-Purelib: false", *(f"Tag: py3-none-{tag}" for tag in tags)]
    files[f"{info}/WHEEL"] = ("\n".join(lines) + "\n").encode()
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{name}"] = read(name).encode()
    files[f"{info}/sboms/eclusa.cdx.json"] = sbom.encode()
    record = []
    for name, content in files.items():
        hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={hashed},{len(content)}")
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode()
    path = os.path.join(out, f"eclusa-{VERSION}-py3-none-{'.'.join(tags)}.whl")
    import time
    when = time.gmtime(max(moment(), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=SMALL) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith("scripts/eclusa") else 0o100644) << 16
            archive.writestr(entry, content)
    return path


LAUNCHER = """#!/usr/bin/env node
// Starts the program of this machine, which comes as a package of its own; nothing is fetched.
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");

let program;
try {
  program = require.resolve(`@eclusa/${process.platform}-${process.arch}/bin/eclusa`);
} catch {
  console.error(
    `eclusa: there is no program for ${process.platform} on ${process.arch} here. ` +
      "It comes with the optional dependencies of this package: install it without `--omit=optional`.",
  );
  process.exit(127);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`eclusa: ${program} cannot be started: ${error.message}`);
  process.exit(126);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
"""


def npm(programs, out):
    """A launcher, and a package for each machine. No package has a step that runs when it is installed."""
    made = []
    common = {"version": VERSION, "license": "MIT OR Apache-2.0", "description": SUMMARY}
    for machine, program in programs.items():
        name = f"@eclusa/linux-{NODE[machine]}"
        at = os.path.join(out, "work", f"npm-{machine}")
        os.makedirs(os.path.join(at, "bin"))
        shutil.copy(program, os.path.join(at, "bin/eclusa"))
        os.chmod(os.path.join(at, "bin/eclusa"), 0o755)
        package = {"name": name, **common, "os": ["linux"], "cpu": [NODE[machine]], "files": ["bin/eclusa", "LICENSE-MIT", "LICENSE-APACHE"]}
        write(os.path.join(at, "package.json"), json.dumps(package, indent=2) + "\n")
        for file in ("LICENSE-MIT", "LICENSE-APACHE"):
            shutil.copy(os.path.join(ROOT, file), at)
        made.append(os.path.join(out, f"eclusa-linux-{NODE[machine]}-{VERSION}.tgz"))
        tar_gz(made[-1], at, "package")
    at = os.path.join(out, "work/npm")
    package = {"name": "eclusa", **common, "bin": {"eclusa": "eclusa.js"}, "engines": {"node": ">=18"}}
    package["optionalDependencies"] = {f"@eclusa/linux-{NODE[machine]}": VERSION for machine in NODE}
    write(os.path.join(at, "package.json"), json.dumps(package, indent=2) + "\n")
    write(os.path.join(at, "eclusa.js"), LAUNCHER, 0o755)
    for file in ("README.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(os.path.join(ROOT, file), at)
    made.append(os.path.join(out, f"eclusa-{VERSION}.tgz"))
    tar_gz(made[-1], at, "package")
    return made


def installer(tarballs, address, out):
    """The installer of this release: the digests of what it fetches stand in it."""
    text = read("scripts/install.sh.in").replace("@VERSION@", VERSION).replace("@FROM@", address)
    for machine in DEB:
        text = text.replace(f"@{machine}@", digest(tarballs[machine]) if machine in tarballs else "none")
    path = os.path.join(out, "install.sh")
    write(path, text, 0o755)
    return path


def everything(programs, address, out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(os.path.join(out, "work"))
    made, tarballs = [], {}
    extras = pages(programs, out)
    for machine, program in programs.items():
        sbom = parts(machine)
        tarballs[machine] = tarball(machine, program, sbom, extras, out)
        made += [tarballs[machine], deb(machine, program, extras, out), wheel(machine, program, sbom, out)]
        write(os.path.join(out, f"eclusa-{VERSION}-{machine}.cdx.json"), sbom)
        made.append(os.path.join(out, f"eclusa-{VERSION}-{machine}.cdx.json"))
    made += npm(programs, out)
    made.append(installer(tarballs, address, out))
    made = [it for it in made if it]
    write(os.path.join(out, "SHA256SUMS"), "".join(f"{digest(it)}  {os.path.basename(it)}\n" for it in sorted(made)))
    shutil.rmtree(os.path.join(out, "work"))
    for machine, program in programs.items():
        print(f"program for {machine}: {os.path.getsize(program) / 1e6:.1f} MB, sha256 {digest(program)}")
    for path in sorted(made):
        print(f"{os.path.getsize(path) / 1e6:8.2f} MB  {os.path.relpath(path, ROOT)}")
