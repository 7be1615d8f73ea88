#!/usr/bin/env python3
"""A server of the Model Context Protocol that needs its time to start, and has a picture and a sound. Used by
agents_day.py.

    agents_server.py SECONDS DIRECTORY"""
import base64, json, os, sys, time


def content(name):
    directory = sys.argv[2]
    data = lambda it: base64.b64encode(open(os.path.join(directory, it), "rb").read()).decode()
    if name == "picture":
        return [{"type": "text", "text": "a picture"}, {"type": "image", "mimeType": "image/png", "data": data("picture.png")}]
    if name == "sound":
        return [{"type": "text", "text": "a sound"}, {"type": "audio", "mimeType": "audio/wav", "data": data("tone.wav")}]
    return [{"type": "text", "text": "it came late"}]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "slow", "title": "A slow one", "version": "7.8.9"}, "instructions": "Take your time."}
    if method == "tools/list":
        empty = {"type": "object", "properties": {}}
        hints = {"readOnlyHint": True, "title": "Shows something"}
        return {"tools": [{"name": it, "title": it.title(), "description": it, "inputSchema": empty, "annotations": hints}
                          for it in ("picture", "sound", "late")]}
    if method == "tools/call":
        return {"content": content(params["name"])}
    return {} if method == "ping" else None


time.sleep(float(sys.argv[1]))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
