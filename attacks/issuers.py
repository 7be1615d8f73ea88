"""A platform of CI that issues identity tokens to jobs, and whoever has one of these, or makes one."""
import hmac

from fleets import *

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ISSUER, AUDIENCE = "https://platform.example", "eclusa-dev"


def packed(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode() if not isinstance(data, str) else data.encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class IssuerKey:
    """A key for ES256."""

    def __init__(self, kid="one"):
        if not shutil.which("openssl"):
            cannot("there is no `openssl` to make a key with")
        self.kid, self.file = kid, f"{tempfile.mkdtemp(dir=os.environ.get('ATTACKS_BASE'))}/key.pem"
        run = lambda *words: subprocess.run(["openssl", *words], capture_output=True, check=True).stdout
        run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.file)
        self.public = run("ec", "-in", self.file, "-pubout", "-outform", "DER", "-conv_form", "uncompressed")[-65:]
        self.pem = run("ec", "-in", self.file, "-pubout")

    def jwk(self):
        return {"kid": self.kid, "kty": "EC", "crv": "P-256", "x": packed(self.public[1:33]), "y": packed(self.public[33:])}

    def numbers(self, text):
        der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.file], input=text.encode(), capture_output=True, check=True).stdout
        at, parts = 2, []
        for _ in range(2):
            size = der[at + 1]
            parts.append(int.from_bytes(der[at + 2:at + 2 + size], "big"))
            at += 2 + size
        return parts

    def sign(self, text):
        return b"".join(it.to_bytes(32, "big") for it in self.numbers(text))


class Platform:
    """A fleet whose policy lets jobs of `acme` in."""

    def __init__(self, more=""):
        self.key, self.fleet = IssuerKey(), Fleet()
        self.policy(more)

    def policy(self, more="", claims='{ repository = "acme/*", ref = "refs/heads/main" }'):
        jwk = "\n".join(f'{name} = "{value}"' for name, value in self.key.jwk().items())
        with open(f"{self.fleet.dir}/fleet/policy/enroll.toml", "w") as file:
            file.write(f'[[enroll]]\nissuer = "{ISSUER}"\naudience = "{AUDIENCE}"\nclaims = {claims}\nlabels = {{ pool = "ci" }}\n[[enroll.keys]]\n{jwk}\n{more}')
        self.fleet.run("push", f"{self.fleet.dir}/fleet/policy", "--to", self.fleet.documents, "--key", self.fleet.key("policy"))
        self.fleet.publish()

    def said(self, **changed):
        at = int(time.time())
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "repo:acme/web:ref:refs/heads/main", "repository": "acme/web", "ref": "refs/heads/main", "iat": at, "exp": at + 300,
                "jti": os.urandom(8).hex(), **changed}
        return {name: value for name, value in said.items() if value is not None}

    def text(self, head=(), **changed):
        head = {name: value for name, value in {"alg": "ES256", "kid": "one", "typ": "JWT", **dict(head)}.items() if value is not None}
        return f"{packed(head)}.{packed(self.said(**changed))}"

    def token(self, head=(), key=None, **changed):
        text = self.text(head, **changed)
        return f"{text}.{packed((key or self.key).sign(text))}"

    def shows(self, token, key=None, signed=None, name="runner"):
        """What the server answers to the machine of somebody who has this token."""
        key = key or Ed25519()
        body = {"token": token, "key": base64.b64encode(key.public).decode(), "name": name}
        return self.fleet.as_machine(key, 0, "POST", "/v1/enroll-job", body, signed=signed)

    def machines(self):
        return int(self.fleet.sql("select count(*) from machines"))

    def works(self):
        got = self.shows(self.token())
        control(got[0] == 200, f"a true token lets a machine in: {got}")
