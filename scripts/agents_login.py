"""A server of the Model Context Protocol at an address that wants a login (OAuth with PKCE), which issues its tokens
itself, and a person who logs in. Used by agents_odd.py."""
import base64, hashlib, json, subprocess, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode
from urllib.request import urlopen

TOKEN = "a-token-for-notes-alone"


class Notes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    challenge = ""

    def log_message(self, *_):
        pass

    def say(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def base(self):
        return "http://127.0.0.1:%d" % self.server.server_port

    def do_GET(self):
        base, (path, _, query) = self.base(), self.path.partition("?")
        if path.startswith("/.well-known/oauth-protected-resource"):
            return self.say(200, {"resource": base + "/mcp", "authorization_servers": [base]})
        if path.startswith("/.well-known/oauth-authorization-server"):
            return self.say(200, {
                "issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
                "registration_endpoint": base + "/register", "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": True})
        if path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(query).items()}
            Notes.challenge = asked["code_challenge"]
            back = urlencode({"code": "the-code", "state": asked["state"], "iss": base})
            return self.say(302, location=asked["redirect_uri"] + "?" + back)
        self.say(404)

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        if self.path == "/register":
            return self.say(201, {**json.loads(text), "client_id": "somebody"})
        if self.path == "/token":
            verifier = parse_qs(text)["code_verifier"][0].encode()
            made = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).decode().rstrip("=")
            if made != Notes.challenge:
                return self.say(400, {"error": "invalid_grant"})
            return self.say(200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})
        if self.headers.get("authorization") != "Bearer " + TOKEN:
            wanted = 'Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"' % self.base()
            return self.say(401, www_authenticate=wanted)
        message = json.loads(text)
        if "id" not in message:
            return self.say(202)
        results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}},
                   "tools/list": {"tools": [{"name": "read", "inputSchema": {"type": "object"}}]},
                   "tools/call": {"content": [{"type": "text", "text": "the note behind the login"}]}}
        result = results.get(message["method"])
        said = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], **said})


def start():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Notes)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def log_in(words, **how):
    """Goes where `eclusa servers login` says, as a browser does. Whether that was a login."""
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **how)
    address = next((it.strip() for it in child.stdout if it.strip().startswith("http")), None)
    if address:
        urlopen(address, timeout=30).read()
    child.stdout.read()
    return child.wait() == 0
