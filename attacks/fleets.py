"""A fleet to be attacked: an administrator with keys, a server over a database of its own, machines and people, and what each thief holds."""
import glob, hashlib, urllib.parse
from doors import *

ASK = '[[rules]]\ndecision = "ask"\ntool = "note"\n'
QUEUE = 'on_no_approver = "queue"\n'


def now():
    return int(time.time() * 1000)


def compact(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


class Ed25519:
    """A private key that was stolen or made, used with `openssl`."""

    def __init__(self, seed=None):
        if not shutil.which("openssl"):
            cannot("there is no `openssl` to sign with")
        self.seed = seed or os.urandom(32)
        self.dir = tempfile.mkdtemp(dir=os.environ.get("ATTACKS_BASE"))
        self.file = f"{self.dir}/key.der"
        with open(self.file, "wb") as file:
            file.write(bytes.fromhex("302e020100300506032b657004220420") + self.seed)

    @staticmethod
    def of_person(path):
        with open(path) as file:
            private = base64.b64decode(file.read().split()[1])
        return Ed25519(private[16:48])

    @property
    def public(self):
        der = subprocess.run(["openssl", "pkey", "-inform", "DER", "-in", self.file, "-pubout", "-outform", "DER"], capture_output=True, check=True).stdout
        return der[-32:]

    def sign(self, text):
        with open(f"{self.dir}/text", "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        ran = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-keyform", "DER", "-in", f"{self.dir}/text"], capture_output=True)
        if ran.returncode != 0:
            cannot("this `openssl` does not sign with Ed25519")
        return ran.stdout

    @property
    def id(self):
        return sha(base64.b64encode(self.public))[:16]


class Fleet:
    """`fleet dev` without this machine in it: whoever runs it is the administrator; the database is anybody's who steals it."""

    def __init__(self, policy=None):
        if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
            cannot("no PostgreSQL is installed here")
        self.dir = tempfile.mkdtemp(prefix="eclusa-fleet-", dir="/var/tmp")
        World.made.append(self.dir)
        os.chmod(self.dir, 0o755)
        self.admin = World()
        if policy:
            os.makedirs(f"{self.dir}/fleet/policy")
            with open(f"{self.dir}/fleet/policy/all.toml", "w") as file:
                file.write(policy)
        process = self.admin.start(["fleet", "dev", f"{self.dir}/fleet", "--no-machine", "--listen", "127.0.0.1:0"], stderr=subprocess.STDOUT)
        said = ""
        while "Ctrl-C ends it" not in said:
            line = process.stdout.readline().decode(errors="replace")
            control(line, f"the fleet begins: {said[-600:]}")
            said += line
        threading.Thread(target=lambda: [None for _ in process.stdout], daemon=True).start()
        self.url = re.search(r"serving at (\S+)", said).group(1)
        self.port = int(self.url.rsplit(":", 1)[1])
        self.database = re.search(r"ECLUSA_DATABASE='(.*?)'", said).group(1)
        self.documents = f"{self.dir}/fleet/documents.json"
        self.psql = sorted(glob.glob("/usr/lib/postgresql/*/bin/psql"))[-1]

    def key(self, role):
        return f"{self.dir}/fleet/keys/dev-{role}-1.key"

    def sql(self, text):
        ran = subprocess.run([self.psql, "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", f"{self.dir}/fleet/database", "-U", "fleet", "-d", "postgres"], input=text,
                             capture_output=True, text=True)
        control(ran.returncode == 0, f"the database: {ran.stderr}")
        return ran.stdout.strip()

    def run(self, *words):
        ran = self.admin.run("fleet", *words)
        control(ran.code == 0, f"{words}: {ran.all}")
        return ran.out

    def code(self, *words):
        return self.run("invite", "--documents", self.documents, "--key", self.key("enroll"), "--server", self.url, *(words or ("--team", "web"))).split()[-1]

    def machine(self, config=QUEUE + ASK, enrolled=True):
        world = World(config)
        if enrolled:
            ran = world.run("fleet", "enroll", self.code())
            control(ran.code == 0, f"a machine enrols: {ran.all}")
        return world

    def person(self, name, *groups):
        """A person with a key in a file, who is in the people document."""
        path = self.admin.path(f"{name}.key")
        ran = self.admin.run("people", "add", name, "--new-key", path, *[it for group in groups for it in ("--group", group)])
        control(ran.code == 0, f"{name} is added: {ran.all}")
        self.sign_people()
        return path

    def sign_people(self):
        self.run("people", "--to", self.documents, "--key", self.key("people"))
        self.publish()

    def publish(self):
        self.run("publish", self.documents, "--server", self.url)

    def says(self, key, *words):
        return self.admin.run("fleet", *words, "--key", key, "--server", self.url, "--fleet", "dev")

    def ask(self, method, path, body=b"", authorization=None, headers=()):
        body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        head = f"{method} {path} HTTP/1.1\r\nconnection: close\r\nhost: localhost:{self.port}\r\ncontent-length: {len(body)}\r\n"
        if authorization:
            head += f"authorization: {authorization}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers)
        with socket.create_connection(("127.0.0.1", self.port), LONG) as stream:
            stream.settimeout(LONG)
            got = b""
            try:
                stream.sendall(head.encode() + b"\r\n" + body)
            except ConnectionError:
                pass
            try:
                while chunk := stream.recv(65536):
                    got += chunk
            except ConnectionError:
                pass
        status = re.match(rb"HTTP/1\.\d (\d+)", got)
        head, _, rest = got.partition(b"\r\n\r\n")
        return int(status.group(1)) if status else 0, head.decode(errors="replace"), rest.decode(errors="replace")

    def as_machine(self, key, number, method, path, body=b"", at=None, fleet="dev", signed=None):
        """A request as a machine signs it; `signed` is what was signed where it is not this."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        at = at or now()
        fields = {"at": at, "body_sha256": sha(body), "machine": number, "method": method, "path": path, "server": fleet, **(signed or {})}
        text = "eclusa request v1\n" + json.dumps(fields, separators=(",", ":")) + "\n"
        signature = base64.urlsafe_b64encode(key.sign(text)).decode().rstrip("=")
        return self.ask(method, path, body, f"Eclusa {number}.{at}.{signature}")

    def as_person(self, key, method, path, body=b"", at=None, fleet="dev", id=None):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        at = at or now()
        fields = {"at": at, "body_sha256": sha(body), "key": id or key.id, "method": method, "path": path, "server": fleet}
        text = "eclusa person request v1\n" + json.dumps(fields, separators=(",", ":")) + "\n"
        return self.ask(method, path, body, f"Eclusa-Person {id or key.id}.{at}.{base64.b64encode(key.sign(text)).decode()}")

    def vote(self, world, id, key, person, **changed):
        """A yes as a person signs it, as a message for the machine: what a server carries. `changed` is what a thief changes in what is signed."""
        shown = world.run("--json", "approvals", "show", str(id)).json()
        store = self.sql(f"select store from chains c join machines m on m.id = c.machine where c.id in (select chain from questions where binding = '{shown['binding']}') limit 1")
        said = {"answer": "once", "binding": shown["binding"], "edit_sha256": None, "expires": now() + 60_000, "person": person, "questions": [id], "queue": store,
                "reason_sha256": None, **changed}
        text = "eclusa answer v1\n" + compact(said)
        return {"store": store, "question": id, "answer": "once", "person": person, "expires": said["expires"], "key": key.id, "statement": text,
                "signature": base64.b64encode(key.sign(text)).decode()}

    def send(self, body, kind="vote", machine=None):
        """The owner of the database puts a message in."""
        quoted = json.dumps(body).replace("'", "''")
        which = f"m.id = {machine}" if machine else "true"
        self.sql(f"insert into messages (machine, chain, question, person, kind, body) select c.machine, c.id, {body.get('question', 1)}, '{body.get('person', 'x')}', '{kind}', '{quoted}'"
                 f" from chains c join machines m on m.id = c.machine where {which} and c.store = '{body['store']}' limit 1")


def park(world, text):
    ran = world.run("run", "--park", "note", f"text={text}")
    control(ran.code == 4, f"it waits: {ran.all}")
    sync(world)


def sync(world, must=True):
    ran = world.run("fleet", "sync", "--once")
    must and control(ran.code == 0, f"it synchronises: {ran.all}")
    return ran


def state(world, id):
    return world.run("--json", "approvals", "show", str(id)).json()["status"]


def machine_key(world):
    """The key of a machine that was stolen, and its number."""
    text = subprocess.run(["find", world.path("state"), "-name", "machine.key"], capture_output=True, text=True).stdout.strip()
    with open(text) as file:
        said = file.read().strip()
    seed = base64.b64decode(said.split("PRIVATE+KEY+")[1].split("+", 2)[2])
    with open(os.path.join(os.path.dirname(text), "machine.json")) as file:
        number = json.load(file)["machine"]
    return Ed25519(seed[-32:]), number


class PagePerson(Browser):
    """Somebody at the page, with a key that their browser keeps."""

    def __init__(self, fleet, name, known=True):
        self.fleet, self.name, self.cookie = fleet, name, ""
        if not shutil.which("openssl"):
            cannot("there is no `openssl` to make a key with")
        self.file = fleet.admin.path(f"home/{name}{time.monotonic_ns()}.pem")
        run = lambda *words: subprocess.run(["openssl", *words], capture_output=True, check=True).stdout
        run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.file)
        self.public = base64.b64encode(run("ec", "-in", self.file, "-pubout", "-outform", "DER", "-conv_form", "uncompressed")[-65:]).decode()
        self.id = sha(self.public)[:16]
        if known:
            status, _, said = self.join(self.invite())
            control(status == 200, f"the key is kept: {said}")
            fleet.run("keys", "--database", fleet.database, "--accept", sha(self.public)[:32])
            fleet.sign_people()
            control(self.look()[0] == 200, "they look")

    def invite(self, *words):
        link = self.fleet.run("invite", "--documents", self.fleet.documents, "--key", self.fleet.key("enroll"), "--person", self.name, "--server",
                              f"http://localhost:{self.fleet.port}", *words).split()[-1]
        code = link.split("#eclusa-fleet-1.")[1]
        return json.loads(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)))

    def joining(self, code, expires=None, **changed):
        expires = expires or now() + 60_000
        lines = dict(it.split(" ", 1) for it in code["invite"]["payload"].splitlines() if not it.startswith("label"))
        person = re.search(r"label person=(.*)", code["invite"]["payload"])
        text = "eclusa join v1\n" + compact({"expires": expires, "fleet": "dev", "invite": lines["id"], "person": person.group(1) if person else ""})
        return {"invite": code["invite"], "secret": code["secret"], "expires": expires, "public": self.public, "signature": self.sign(text), **changed}

    def join(self, code, **changed):
        return self.post("/page/join", self.joining(code, **changed))

    def looking(self, **changed):
        body = {"expires": now() + 60_000, "fleet": "dev", "nonce": os.urandom(9).hex(), "origin": f"http://localhost:{self.fleet.port}", **changed}
        return {**body, "key": self.id, "signature": self.sign("eclusa sign-in v1\n" + compact(body))}

    def look(self, body=None):
        status, head, said = self.post("/page/sign-in", body or self.looking())
        found = re.search(r"set-cookie: ([^;\r\n]+)", head, re.I)
        self.cookie = found.group(1) if found else self.cookie
        return status, head, said

    def get(self, path):
        return self.fleet.ask("GET", path, headers=[("cookie", self.cookie)])

    def post(self, path, body, **other):
        headers = {"origin": f"http://localhost:{self.fleet.port}", "sec-fetch-site": "same-origin", "content-type": "application/json", "cookie": self.cookie,
                   **{name.replace("_", "-"): value for name, value in other.items()}}
        return self.fleet.ask("POST", path, body, headers=[it for it in headers.items() if it[1] is not None])

    def shown(self, number):
        text = self.get(f"/inbox?question={number}")[2]
        found = {it: re.search(f'data-{it}="([^"]*)"', text) for it in ("store", "id", "binding", "person")}
        control(all(found.values()), f"question {number} is shown: {text[:300]}")
        return {name: it.group(1) for name, it in found.items()}

    def yes(self, number, person=None, expires=None, **changed):
        it = self.shown(number)
        expires = expires or now() + 60_000
        said = {"answer": "once", "binding": it["binding"], "edit_sha256": None, "expires": expires, "person": person or self.name, "questions": [int(it["id"])],
                "queue": it["store"], "reason_sha256": None, **changed}
        text = "eclusa answer v1\n" + compact(said)
        return {"kind": "vote", "numbers": [number], "answer": "once", "expires": expires, "statement": text, "key": self.id, "signature": self.sign(text)}

    def says(self, body):
        return self.post("/page/answers", body)


def counted(got):
    """Whether the server took an answer."""
    return got[0] == 200 and '"refused"' not in got[2]
