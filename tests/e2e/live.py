"""Servers, watchers and daemons as jobs, beside the same in a plain directory: see `live`."""
import json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "attacks"))
from world import World, done, needs_sandbox

LIVE = os.path.abspath(os.environ["LIVE"])
BIN = os.path.join(LIVE, "node_modules/.bin")
SOON = 40


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


class Missed(Exception):
    """What should have come did not."""


class Place:
    """Where a case is played: a directory, commands in it, and what goes on."""

    def until(self, what, is_so):
        end = time.monotonic() + SOON
        while not (found := is_so()):
            if time.monotonic() > end:
                raise Missed(f"{what}; it printed: {self.output()[-400:]!r}")
            time.sleep(0.1)
        return found

    def says(self, what):
        self.until(f"`{what}` was not printed", lambda: what in self.output())

    def serves(self, path, what):
        ask = f"curl -s --max-time 10 http://127.0.0.1:{self.port}/{path}; true"
        self.until(f"`/{path}` is not `{what}` but {self.call(ask)[:200]!r}", lambda: what in self.call(ask))

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


    def person(self, command):
        """What somebody does in a terminal of their own, without a gate."""
        subprocess.run(["bash", "-ec", command], cwd=self.dir, env={**self.own_env(), "LIVE": LIVE}, check=True, capture_output=True)

    def commit(self, more, wanted, says=""):
        said = self.call(f"{more}; git commit -m next; echo code $?")
        if f"code {wanted}" not in said or says not in said:
            raise Missed(f"`{more}; git commit` is not {wanted} with `{says}`: {said[-400:]!r}")


class Plain(Place):
    name = "plain"
    own_env = lambda self: {**os.environ, **self.more}

    def __init__(self):
        base = os.path.join(os.path.expanduser("~"), ".cache")
        os.makedirs(base, exist_ok=True)
        self.dir, self.tmp = tempfile.mkdtemp(prefix="eclusa-plain", dir=base), tempfile.mkdtemp(prefix="ec", dir="/tmp")
        self.port, self.started, self.more = free_port(), [], {}
        self.log = os.path.join(self.tmp, "log")
        open(self.log, "wb").close()

    def env(self):
        return {**self.own_env(), "S": self.tmp, "PORT": str(self.port), "LIVE": LIVE}

    def start(self, command):
        with open(self.log, "ab") as log:
            self.started.append(subprocess.Popen(["sh", "-c", command], cwd=self.dir, env=self.env(), stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log, start_new_session=True))

    def call(self, command):
        ran = subprocess.run(["sh", "-c", command], cwd=self.dir, env=self.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True, timeout=120)
        return ran.stdout.decode(errors="replace")

    def output(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def end(self):
        for it in self.started:
            try:
                os.killpg(it.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            it.wait()
        # A daemon that left its group is known by the directory that it was started for.
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", errors="replace") as file:
                    if self.tmp in file.read() and int(pid) != os.getpid():
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(self.dir, ignore_errors=True)
        shutil.rmtree(self.tmp, ignore_errors=True)


class Gated(Place):
    name = "job"
    own_env = lambda self: self.world.env
    more = property(lambda self: self.world.env)

    def __init__(self):
        self.world = World('mode = "auto-approve"\n[effects]\ndelete = "allow"\n', name="live")
        self.dir, self.port = self.world.ws, free_port()

    def bash(self, command, **more):
        given = f"export S=/tmp PORT={self.port} LIVE={LIVE}; {command}"
        ran = self.world.carried_out(self.world.hook(self.world.event("Bash", {"command": given, **more})))
        if ran is None:
            raise Missed(f"`{command}` may not run")
        return ran

    def start(self, command):
        ran = self.bash(command, run_in_background=True)
        if " as job " not in ran.out:
            raise Missed(f"it is no job: {ran}")

    def call(self, command):
        return self.bash(command).all

    def output(self):
        jobs = json.loads(self.world.run("--json", "jobs").out)["jobs"]
        return "".join(self.world.run("jobs", "output", str(it["job"])).out for it in jobs)

    def end(self):
        self.world.run("jobs", "end", "--all")


def http_server(it):
    it.write("a.txt", "one\n")
    it.start("exec python3 -m http.server $PORT --bind 127.0.0.1")
    it.serves("a.txt", "one")
    it.call("sed -i s/one/two/ a.txt")
    it.serves("a.txt", "two")
    it.serves("b.txt", "404")
    it.call("echo new > b.txt; mkdir d; echo deep > d/c.txt")
    it.serves("b.txt", "new")
    it.serves("d/c.txt", "deep")
    it.serves("", "b.txt")
    it.call("rm -r b.txt d")
    it.serves("b.txt", "404")


def restarts(it, command):
    """A program that starts itself again when its file is written."""
    it.write("app.mjs", "console.log('version ' + 1); setInterval(() => {}, 1000);\n")
    it.start(command)
    for number in (1, 2, 3):
        it.says(f"version {number}")
        # It has printed that before it watches.
        time.sleep(3)
        it.call(f"sed 's/ {number})/ {number + 1})/' app.mjs > t && cat t > app.mjs && rm t")


def node_watch(it):
    restarts(it, "exec node --watch app.mjs")


def nodemon(it):
    restarts(it, "exec $LIVE/node_modules/.bin/nodemon --watch app.mjs app.mjs")


def chokidar(it):
    it.write("watch.mjs", "import { createRequire } from 'module';\nconst chokidar = createRequire(process.env.LIVE + '/x.js')('chokidar');\n"
             "chokidar.watch('src', { persistent: true }).on('ready', () => console.log('ready'))"
             ".on('all', (event, path) => console.log(event, path));\n")
    it.write("src/a.js", "1\n")
    it.start("exec node watch.mjs")
    it.says("ready")
    it.call("echo 2 > src/a.js")
    it.says("change src/a.js")
    it.call("echo 3 > src/n && mv src/n src/b.js; mkdir src/d; echo 4 > src/d/c.js")
    it.says("add src/b.js")
    it.says("add src/d/c.js")
    it.call("rm -r src/b.js src/d")
    it.says("unlink src/b.js")
    it.until("the directory is there", lambda: re.search(r"unlinkDir .*src/d", it.output()))


def vite(it):
    shutil.copytree(os.path.join(LIVE, "node_modules"), os.path.join(it.dir, "node_modules"), symlinks=True)
    it.write("package.json", '{"type": "module"}\n')
    it.write("index.html", '<!doctype html><title>first</title><script type="module" src="/src/main.js"></script>\n')
    it.write("src/main.js", "import { text } from './text.js';\ndocument.body.textContent = text;\nif (import.meta.hot) import.meta.hot.accept();\n")
    it.write("src/text.js", "export const text = 'one';\n")
    it.start("exec node node_modules/.bin/vite --host 127.0.0.1 --port $PORT --strictPort")
    it.serves("", "first")
    it.serves("src/main.js", "text.js")
    it.serves("src/text.js", "'one'")
    it.call("sed -i s/one/two/ src/text.js")
    it.says("hmr update /src/main.js")
    it.serves("src/text.js", "'two'")
    it.call("sed -i s/first/second/ index.html")
    it.says("page reload index.html")
    it.serves("", "second")


def django(it):
    python = "$LIVE/py/bin/python"
    it.call(f"{python} -m django startproject site1 .")
    it.write("site1/urls.py", "from django.http import HttpResponse\nfrom django.urls import path\n"
             "urlpatterns = [path('', lambda request: HttpResponse('version 1'))]\n")
    it.start(f"exec {python} -u manage.py runserver 127.0.0.1:$PORT")
    for number in (1, 2, 3):
        it.serves("", f"version {number}")
        it.call(f"sed -i 's/version {number}/version {number + 1}/' site1/urls.py")


def nohup(it):
    it.call("nohup sh -c 'while :; do echo more; sleep 0.1; done' > server.log 2>&1 & echo started")
    it.until("the log does not grow", lambda: it.call("tail -n 3 server.log").count("more") == 3)


def postgres(it):
    bin = postgres_bin()
    it.call(f"export PATH={bin}:$PATH; initdb -D $S/data -A trust -U me > $S/init 2>&1 && "
            "pg_ctl -D $S/data -o \"-k $S -c listen_addresses=''\" -l $S/log -w start > $S/started 2>&1")
    ask = f"PATH={bin}:$PATH psql -h $S -U me -d postgres -Atc "
    it.until("it does not answer", lambda: "42" in it.call(ask + "'select 21 * 2'"))
    it.call(ask + "'create table t (n int); insert into t values (7)'")
    it.until("it does not keep", lambda: it.call(ask + "'select n from t'").startswith("7"))
    it.call(f"{bin}/pg_ctl -D $S/data -m immediate stop; true")


def redis(it):
    it.call("redis-server --port 0 --unixsocket $S/redis --save '' --dir $S --daemonize yes > /dev/null")
    it.until("it does not answer", lambda: "PONG" in it.call("redis-cli -s $S/redis ping; true"))
    it.call("redis-cli -s $S/redis set k v")
    it.until("it does not keep", lambda: it.call("redis-cli -s $S/redis get k").startswith("v"))


def tmux(it):
    it.call("tmux -S $S/tmux -f /dev/null new-session -d -s inside 'sleep 1000'")
    it.until("it has no session", lambda: "inside: 1 windows" in it.call("tmux -S $S/tmux list-sessions; true"))
    it.call("tmux -S $S/tmux send-keys -t inside x; tmux -S $S/tmux kill-server")


def ssh_agent(it):
    it.call("ssh-agent -a $S/agent > /dev/null; ssh-keygen -q -t ed25519 -N '' -f $S/key")
    it.call("SSH_AUTH_SOCK=$S/agent ssh-add $S/key")
    it.until("it has no key", lambda: "ED25519" in it.call("SSH_AUTH_SOCK=$S/agent ssh-add -l; true"))


def gpg_agent(it):
    it.call("export GNUPGHOME=$S/gpg; mkdir -m 700 $GNUPGHOME; gpg --batch --quiet --passphrase '' "
            "--quick-generate-key me@example.invalid default default never")
    sign = "echo text | GNUPGHOME=$S/gpg gpg --batch --armor --sign; true"
    it.until("it does not sign", lambda: "BEGIN PGP MESSAGE" in it.call(sign))
    it.call("GNUPGHOME=$S/gpg gpgconf --kill gpg-agent")


WHO = "git config user.name Ana; git config user.email ana@example.invalid; "
HOOKS = """repos:
- repo: local
  hooks:
  - {id: no-todo, name: nothing left to do, language: pygrep, entry: TODO, files: py$}
  - id: ends
    name: no blanks at the end
    language: system
    entry: sed -i 's/ *$//'
    files: py$
"""


def pre_commit(it):
    it.write(".pre-commit-config.yaml", HOOKS)
    it.person("git init -q -b main .; " + WHO + "git add -A; git commit -qm first; $LIVE/py/bin/pre-commit install")
    it.commit("echo 'x = 1  # TODO' > a.py; git add a.py", 1, "nothing left to do")
    it.commit("echo 'x = 1   ' > a.py; git add a.py", 1, "files were modified by this hook")
    it.commit("git add a.py", 0, "Passed")
    it.until("there are not two commits", lambda: it.call("git log --oneline | wc -l").strip().startswith("2"))
    it.until("the hook wrote nothing", lambda: it.call("cat a.py | tr ' ' _").startswith("x_=_1\n"))


def husky(it):
    it.write("package.json", '{"scripts": {"test": "test ! -e bad"}}\n')
    it.person("git init -q -b main .; " + WHO + "node $LIVE/node_modules/husky/bin.js init; git add -A; git -c core.hooksPath=/dev/null commit -qm first")
    it.commit("touch bad; git add bad", 1, "husky - pre-commit script failed")
    it.commit("git rm -qf bad; touch good; git add good", 0, "test ! -e bad")
    it.until("there are not two commits", lambda: it.call("git log --oneline | wc -l").strip().startswith("2"))


def direnv(it):
    it.write(".envrc", "source .venv/bin/activate\nexport FROM_DIRENV=yes\n")
    it.person("git init -q .; echo .venv > .gitignore; python3 -m venv .venv; direnv allow; direnv export json > .venv/exported")
    with open(os.path.join(it.dir, ".venv/exported")) as file:
        it.more.update({name: value for name, value in json.load(file).items() if value})
    said = it.call("python -c 'import sys; print(sys.prefix)'; pip --version; command -v python")
    if said.count("/.venv") < 3:
        raise Missed(f"the environment is not there: {said[-400:]!r}")


MANAGER = """import multiprocessing as m, sys
from multiprocessing.managers import BaseManager
kept = {}
BaseManager.register('kept', callable=lambda: kept)
def double(n, into): into[n] = 2 * n
if __name__ == '__main__':
    if sys.argv[1] == 'serve':
        BaseManager(address=sys.argv[2], authkey=b'k').get_server().serve_forever()
    if sys.argv[1] == 'ask':
        it = BaseManager(address=sys.argv[2], authkey=b'k'); it.connect()
        it.kept().update({len(it.kept().keys()): 1}); print('keys', len(it.kept().keys()))
    if sys.argv[1] == 'forks':
        m.set_start_method('forkserver')
        with m.Manager() as manager:
            into = manager.dict()
            all = [m.Process(target=double, args=(n, into)) for n in range(3)]
            [it.start() for it in all]; [it.join() for it in all]
            print(dict(sorted(into.items())))
"""


def forkserver(it):
    it.write("many.py", MANAGER)
    it.until("it does not count", lambda: "{0: 0, 1: 2, 2: 4}" in it.call("python3 many.py forks"))


def manager(it):
    it.write("many.py", MANAGER)
    it.start("exec python3 many.py serve $S/manager")
    it.until("it does not answer", lambda: "keys 1" in it.call("python3 many.py ask $S/manager; true"))
    it.until("it does not keep", lambda: "keys 2" in it.call("python3 many.py ask $S/manager; true"))


def node_path(it):
    it.write("serve.js", "require('net').createServer(it => it.end('over a path')).listen(process.argv[2]);\n")
    it.write("ask.js", "require('net').connect(process.argv[2]).on('data', it => console.log(String(it))).on('error', console.log);\n")
    it.start("exec node serve.js $S/node")
    it.until("it does not answer", lambda: "over a path" in it.call("node ask.js $S/node; true"))


def postgres_bin():
    try:
        found = sorted(os.path.join("/usr/lib/postgresql", it, "bin") for it in os.listdir("/usr/lib/postgresql"))
    except OSError:
        found = []
    return found[-1] if found else ""


def has(*programs):
    missing = [it for it in programs if not shutil.which(it)]
    return f"{missing[0]} is not installed" if missing else None


def package(name):
    return has("node") or (None if os.path.isdir(os.path.join(LIVE, "node_modules", name)) else f"{name} is not installed")


def no_postgres():
    return "PostgreSQL is not installed" if not postgres_bin() else "PostgreSQL refuses to be root's" if os.geteuid() == 0 else None


# name: how it is played, and why it cannot be.
CASES = {
    "http.server": (http_server, has("curl")), "node --watch": (node_watch, has("node")), "nodemon": (nodemon, package("nodemon")),
    "chokidar": (chokidar, package("chokidar")), "vite": (vite, package("vite") or has("curl")),
    "django": (django, None if os.access(os.path.join(LIVE, "py/bin/python"), os.X_OK) and os.path.exists(os.path.join(LIVE, "py/bin/django-admin")) else "Django is not installed"),
    "nohup": (nohup, None), "postgres": (postgres, no_postgres()), "redis": (redis, has("redis-server", "redis-cli")),
    "tmux": (tmux, has("tmux")), "ssh-agent": (ssh_agent, has("ssh-agent")), "gpg-agent": (gpg_agent, has("gpg")),
    "pre-commit": (pre_commit, None if os.access(os.path.join(LIVE, "py/bin/pre-commit"), os.X_OK) else "pre-commit is not installed"),
    "husky": (husky, package("husky")), "direnv": (direnv, has("direnv")),
    "forkserver": (forkserver, None), "manager": (manager, None), "node net": (node_path, has("node")),
}


def played(case, place):
    """What came of it; `None`: it held."""
    try:
        case(place)
        return None
    except Missed as missed:
        return str(missed)
    finally:
        place.end()


wanted = sys.argv[1:] or list(CASES)
for name in wanted:
    if name not in CASES:
        done(2, f"no case is called `{name}`: {', '.join(CASES)}")
needs_sandbox(World())
failed, left_out, held = [], [], 0
for name in wanted:
    case, why = CASES[name]
    if why:
        left_out.append(name)
        print(f"{name:14} left out: {why}", flush=True)
        continue
    plain, job = played(case, Plain()), played(case, Gated())
    held += job is None
    if job is not None and plain is None:
        failed.append(name)
    print(f"{name:14} plain: {plain or 'held'}; as a job: {job or 'held'}", flush=True)
if failed:
    done(1, f"not as in a plain directory: {', '.join(failed)}")
if not held:
    done(3, "cannot run: nothing of it is installed")
done(0, f"{held} held{', left out: ' + ', '.join(left_out) if left_out else ''}")
