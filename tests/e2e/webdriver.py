"""A WebDriver client for Debian's chromium, as far as tests of pages need one. Nothing but Python's own library."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time

WAIT = 60

# A name that leads here, as if somebody had rebound their own.
REBOUND = "rebound.example"


def no_browser(why):
    print(f"cannot run: {why}", file=sys.stderr)
    sys.exit(3)


def until(what, look):
    """What look gives as soon as that is something."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for: {what}")


class Browser:
    """A WebDriver client, as far as it is needed here."""

    def __init__(self, directory):
        driver, chromium = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
        if not driver or not chromium:
            no_browser("chromium and chromedriver are not installed")
        self.log = open(os.path.join(directory, "chromedriver.log"), "w+")
        self.process = subprocess.Popen([driver, "--port=0"], stdout=self.log, stderr=subprocess.STDOUT)
        self.session = None

        def port():
            with open(self.log.name) as log:
                found = re.search(r"started successfully on port (\d+)", log.read())
            return found and int(found.group(1))

        self.port = until("chromedriver", port)
        options = {
            "binary": chromium,
            "args": ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1", f"--user-data-dir={directory}/profile"] + (["--no-sandbox"] if os.geteuid() == 0 else []),
        }
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except AssertionError as err:
            self.end()
            no_browser(f"chromium does not start: {err}")

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        path = path if path == "/session" else f"/session/{self.session}{path}"
        connection.request(method, path, json.dumps(body) if body is not None else None)
        answer = json.loads(connection.getresponse().read())["value"]
        assert not (isinstance(answer, dict) and "error" in answer), f"{path}: {answer}"
        return answer

    def go(self, url):
        self.ask("POST", "/url", {"url": url})

    def script(self, text, *args):
        return self.ask("POST", "/execute/sync", {"script": text, "args": list(args)})

    def keys(self, text):
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screen(self, width, height, dark):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def shot(self, path):
        time.sleep(0.3)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def complaints(self):
        return [it["message"] for it in self.ask("POST", "/se/log", {"type": "browser"})]

    def end(self):
        if self.session:
            try:
                self.ask("DELETE", "")
            except (AssertionError, OSError):
                pass
        self.process.terminate()
        self.process.wait()
