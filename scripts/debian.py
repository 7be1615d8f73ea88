"""Packages of Debian, fetched and unpacked without root and without a change to this machine's own lists.

    packages = Debian(room, "trixie", "arm64")
    packages.unpack(packages.fetch("bash", "git"), directory)

`room` keeps lists and packages for the next time.
"""
import os, subprocess


def run(*words, **options):
    return subprocess.run(words, check=True, text=True, **options)


class Debian:
    def __init__(self, room, suite, arch):
        self.room, self.suite, self.arch = os.path.join(room, f"{suite}-{arch}"), suite, arch
        for part in ("lists/partial", "archives/partial", "none/partial", "etc/apt.conf.d", "etc/preferences.d", "etc/sources.list.d"):
            os.makedirs(os.path.join(self.room, part), exist_ok=True)
        self.environment = dict(os.environ, APT_CONFIG=os.path.join(self.room, "apt.conf"), LC_ALL="C")
        self.settings()
        if not os.path.exists(os.path.join(self.room, "fresh")):
            self.apt("apt-get", "-qq", "update")
            open(os.path.join(self.room, "fresh"), "w").close()

    def settings(self):
        """The mirror is the one that this machine has its packages from; its keys are Debian's."""
        said = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
            capture_output=True, text=True,
        ).stdout.split()
        mirror = next((it.rstrip("/") for it in said if it.rstrip("/").endswith("/debian")), "http://deb.debian.org/debian")
        keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
        signed = f"[signed-by={keys}] " if os.path.exists(keys) else ""
        lines = [f"deb {signed}{mirror} {self.suite} main"]
        if self.suite in ("bullseye", "bookworm", "trixie"):
            lines.append(f"deb {signed}{mirror}-security {self.suite}-security main")
        self.write("sources", "\n".join(lines) + "\n")
        self.write("status", "")
        at = self.room
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        self.write("apt.conf", f"""Dir::Etc "{at}/etc"; Dir::Etc::sourcelist "{at}/sources";
Dir::State::lists "{at}/lists"; Dir::State::status "{at}/status"; Dir::State "{at}";
Dir::Cache "{at}"; Dir::Cache::archives "{at}/archives";
Acquire::Languages "none"; Acquire::Retries "3"; Acquire::Check-Valid-Until "false"; Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
APT::Architecture "{self.arch}"; APT::Architectures {{ "{self.arch}"; }}; APT::Sandbox::User "{user}";
APT::Install-Recommends "false"; Debug::NoLocking "true";
""")

    def write(self, name, text):
        """As a whole: somebody else may be using this room."""
        at = os.path.join(self.room, name)
        with open(f"{at}.{os.getpid()}", "w") as file:
            file.write(text)
        os.replace(f"{at}.{os.getpid()}", at)

    def apt(self, *words):
        ran = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        if ran.returncode:
            raise OSError(f"`{' '.join(words[:4])} …` for {self.suite} on {self.arch}: {ran.stderr.strip()[-400:]}")
        return ran.stdout

    def fetch(self, *names):
        """The files of these packages and of all that they need."""
        # Those that are here already are not printed, so it is asked as if none were.
        said = self.apt("apt-get", "-y", "-o", f"Dir::Cache::archives={self.room}/none", "--print-uris", "install", *names)
        files = [line.split()[1] for line in said.splitlines() if line.startswith("'")]
        self.apt("apt-get", "-qq", "-y", "-d", "install", *names)
        return [self.archive(it) for it in files]

    def archive(self, name):
        return os.path.join(self.room, "archives", name)

    def one(self, name):
        """The file of one package, without what it needs."""
        said = self.apt("apt-get", "--print-uris", "download", name).splitlines()[0].split()
        at = self.archive(said[1])
        if not os.path.exists(at):
            ran = subprocess.run(["apt-get", "-qq", "download", name], env=self.environment, capture_output=True, text=True, cwd=os.path.dirname(at))
            if ran.returncode:
                raise OSError(f"{name} for {self.suite} on {self.arch} cannot be had: {ran.stderr.strip()[-200:]}")
        return at

    def versions(self, name):
        """The versions that the lists have, the newest first; an archive may have lost one of them."""
        lines = self.apt("apt-cache", "madison", name).splitlines()
        return [f"{name}={line.split('|')[1].strip()}" for line in lines]

    def field(self, name, field):
        """A field of a package, `name` or `name=version`."""
        for line in self.apt("apt-cache", "show", "--no-all-versions", name).splitlines():
            if line.startswith(field + ": "):
                return line.split(": ", 1)[1]
        return ""

    @staticmethod
    def unpack(files, root):
        for name in ("bin", "sbin", "lib", "lib64"):
            os.makedirs(os.path.join(root, "usr", name), exist_ok=True)
            if not os.path.lexists(os.path.join(root, name)):
                os.symlink("usr/" + name, os.path.join(root, name))
        for file in files:
            packed = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE)
            run("tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-C", root, stdin=packed.stdout)
            if packed.wait():
                raise OSError(f"`{file}` cannot be unpacked")
