#!/usr/bin/env python3
"""Measures the approvals page with ten thousand pending: how long the inbox takes, and how much memory it has.

    bench/approvals.py [PROGRAM] [PENDING]

The store itself: cargo run --release -p eclusa-store --example approvals
"""
import base64
import http.client
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        found = re.search(r"VmRSS:\s+(\d+) kB", file.read())
    return int(found.group(1)) / 1024


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else f"{ROOT}/target/release/eclusa")
    pending = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        for name in ["shop", "config/eclusa", "state", "home"]:
            os.makedirs(os.path.join(directory, name))
        environment = {
            "PATH": os.environ["PATH"], "HOME": f"{directory}/home", "XDG_CONFIG_HOME": f"{directory}/config",
            "XDG_STATE_HOME": f"{directory}/state", "USER": "ana",
        }
        start = lambda *args: subprocess.Popen([program, *args], cwd=f"{directory}/shop", env=environment, text=True,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        parked = start("run", "--park", "write", "path=notes.txt", "content=hello")
        out, _ = parked.communicate(timeout=60)
        assert parked.returncode == 4, out
        workspace = next(it for it in os.listdir(f"{directory}/state/eclusa") if it.startswith("shop-"))
        store = sqlite3.connect(f"{directory}/state/eclusa/{workspace}/eclusa.db")
        store.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO questions (principal, "
            "conversation, call, binding, shown, question, created, expires, valid, state, changed) SELECT principal, 'c' || i, "
            "'call-' || i, binding || i, shown, json_set(question, '$.binding', binding || i), created, expires + 3600000, valid, "
            "state, i + 1 FROM questions, n", [pending - 1])
        store.commit()
        store.close()
        page = start("approvals", "serve", "--listen", "127.0.0.1:0")
        try:
            found = next(filter(None, (re.search(r"localhost:(\d+)/pair#(\S+)", line) for line in page.stdout)))
            port, code = int(found.group(1)), found.group(2)
            time.sleep(2)
            print(f"idle: {memory(page.pid):.1f} MB")
            connection = http.client.HTTPConnection("localhost", port, timeout=60)
            headers = {"origin": f"http://localhost:{port}", "sec-fetch-site": "same-origin", "content-type": "application/json"}
            public = base64.b64encode(b"\4" + os.urandom(64)).decode()
            connection.request("POST", "/api/pair", json.dumps({"code": code, "public": public, "label": "measure"}), headers)
            answer = connection.getresponse()
            answer.read()
            cookie = answer.getheader("set-cookie").split(";")[0]
            times = []
            for _ in range(30):
                begun = time.perf_counter()
                connection.request("GET", "/inbox", headers={"cookie": cookie})
                body = connection.getresponse().read()
                times.append((time.perf_counter() - begun) * 1000)
            assert f"Inbox ({pending})".encode() in body, body[:300]
            print(f"inbox with {pending} pending: p50 {statistics.median(times):.1f} ms, most {max(times):.1f} ms, {len(body) // 1024} KB")
            print(f"after that: {memory(page.pid):.1f} MB")
        finally:
            page.kill()
            page.wait()


if __name__ == "__main__":
    main()
