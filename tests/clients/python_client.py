"""Drives `eclusa` with the official Python client: both eras, over stdio and HTTP."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

ECLUSA = sys.argv[1]


class World:
    """A workspace, a configuration and a state of its own."""

    def __init__(self, directory):
        self.workspace = os.path.join(directory, "workspace")
        os.makedirs(self.workspace)
        self.env = {
            "HOME": directory,
            "XDG_CONFIG_HOME": os.path.join(directory, "config"),
            "XDG_STATE_HOME": os.path.join(directory, "state"),
            "PATH": os.environ["PATH"],
        }

    def notes(self):
        path = os.path.join(self.workspace, "notes.txt")
        return open(path).read() if os.path.exists(path) else ""


async def drive(server, mode, world):
    answers = iter(["no", "yes"])
    asked = []

    async def person(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"answer": next(answers)})

    async with Client(server, mode=mode, elicitation_callback=person) as client:
        assert client.server_info is None or client.server_info.name == "eclusa"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["read"].annotations.read_only_hint is True
        result = await client.call_tool("echo", {"text": "hello"})
        assert not result.is_error and result.content[0].text == "hello", result
        # The client checks the structure against the schema.
        todo = await client.call_tool("todo", {"todos": [{"content": "x", "status": "pending"}]})
        assert todo.structured_content["todos"][0]["content"] == "x", todo
        before = world.notes()
        refused = await client.call_tool("note", {"text": mode})
        assert refused.is_error and world.notes() == before, refused
        done = await client.call_tool("note", {"text": mode})
        assert not done.is_error and world.notes() == before + mode + "\n", done
        assert len(asked) == 2 and "tool: note" in asked[0], asked
        long = await client.call_tool("echo", {"text": "0123456789" * 20_000})
        link = next(it for it in long.content if it.type == "resource_link")
        read = await client.read_resource(str(link.uri))
        assert read.contents[0].text == "0123456789" * 20_000
        return client.protocol_version


async def main():
    with tempfile.TemporaryDirectory() as directory:
        world = World(directory)
        stdio = StdioServerParameters(
            command=ECLUSA, args=["mcp", "--example-tools"], env=world.env, cwd=world.workspace
        )
        up = subprocess.Popen(
            [ECLUSA, "up", "--example-tools", "--same-user", "--trust-client-answers", "--listen", "127.0.0.1:0"],
            env=world.env, cwd=world.workspace, stdout=subprocess.PIPE, text=True,
        )
        url = re.search(r"http://\S+", up.stdout.readline()).group()
        try:
            for name, server in [("stdio", stdio), ("http", url)]:
                for mode in ["legacy", "2026-07-28", "auto"]:
                    version = await drive(server, mode, world)
                    print(f"python, {name}, {mode}: {version}")
        finally:
            up.terminate()
            assert up.wait(timeout=60) == 0


asyncio.run(main())
