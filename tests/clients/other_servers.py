"""Drives real servers of other people behind the gate, in their sandboxes, with the official client.

Usage: other_servers.py ECLUSA DIRECTORY, where the packages are installed into DIRECTORY.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time

from mcp import Client, StdioServerParameters

ECLUSA, INTO = sys.argv[1:3]
NODE = os.path.join(INTO, "node_modules", ".bin")
PYTHON = os.path.join(INTO, "python", "bin")


class World:
    """A workspace, a configuration and a state of its own."""

    def __init__(self, directory):
        self.workspace = os.path.join(directory, "workspace")
        self.config = os.path.join(directory, "config", "eclusa", "eclusa.toml")
        os.makedirs(self.workspace)
        os.makedirs(os.path.dirname(self.config))
        with open(os.path.join(self.workspace, "note.txt"), "w") as file:
            file.write("a line\n")
        self.env = {
            "HOME": directory,
            "XDG_CONFIG_HOME": os.path.join(directory, "config"),
            "XDG_STATE_HOME": os.path.join(directory, "state"),
            "PATH": PYTHON + os.pathsep + os.environ["PATH"],
        }

    def configure(self, servers):
        """Servers by name, each a table of settings."""
        lines = ['mode = "yolo"']
        for name, settings in servers.items():
            lines.append(f"[servers.{name}]\ndeferred = false\nstart = \"60s\"")
            lines += [f"{key} = {toml(value)}" for key, value in settings.items()]
        with open(self.config, "w") as file:
            file.write("\n".join(lines) + "\n")

    def run(self, *args):
        ran = subprocess.run(
            [ECLUSA, *args], env=self.env, cwd=self.workspace, capture_output=True, text=True
        )
        return ran.returncode, ran.stdout + ran.stderr

    def mcp(self, mode, **handlers):
        stdio = StdioServerParameters(
            command=ECLUSA, args=["mcp"], env=self.env, cwd=self.workspace
        )
        return Client(stdio, mode=mode, **handlers)


def toml(value):
    if isinstance(value, list):
        return "[" + ", ".join(toml(it) for it in value) + "]"
    return f'"{value}"'


def text(result):
    return "\n".join(it.text for it in result.content if it.type == "text")


async def works(client, tool, args):
    result = await client.call_tool(tool, args)
    assert not result.is_error, (tool, text(result))
    return result


async def fails(client, tool, args, *words):
    result = await client.call_tool(tool, args)
    said = text(result)
    assert result.is_error, (tool, said)
    for word in words:
        assert word in said, (tool, word, said)
    return said


async def ready(client, *wanted):
    """Waits until the tools are listed: a list does not wait for a server that is slow to start."""
    for _ in range(300):
        names = {tool.name for tool in (await client.list_tools()).tools}
        if names.issuperset(wanted):
            return
        await asyncio.sleep(0.2)
    raise AssertionError(f"{wanted} are not all among {names}")


async def everything(client, said):
    """The reference server of everything, from npm."""
    echo = await works(client, "mcp_everything_echo", {"message": "hello"})
    assert "hello" in text(echo), echo
    total = await works(client, "mcp_everything_get-sum", {"a": 2, "b": 40})
    assert "42" in text(total), total
    await fails(client, "mcp_everything_get-sum", {"a": "two", "b": 40}, "a")
    image = await works(client, "mcp_everything_get-tiny-image", {})
    assert any(it.type == "image" for it in image.content), image
    links = await works(client, "mcp_everything_get-resource-links", {"count": 2})
    assert sum(it.type == "resource_link" for it in links.content) == 2, links
    weather = await works(client, "mcp_everything_get-structured-content", {"location": "Chicago"})
    assert weather.structured_content["temperature"], weather
    seen = []

    async def progress(so_far, total, _message):
        seen.append((so_far, total))

    name = "mcp_everything_trigger-long-running-operation"
    await client.call_tool(name, {"duration": 1, "steps": 2}, progress_callback=progress)
    assert seen and seen[-1][1] == 2, seen
    env = text(await works(client, "mcp_everything_get-env", {}))
    assert "XDG_STATE_HOME" not in env and "eclusa-servers" in env, env

    resources = (await client.list_resources()).resources
    uri = next(str(it.uri) for it in resources if "architecture" in str(it.uri))
    assert (await client.read_resource(uri)).contents[0].text, uri
    templates = {it.uri_template for it in (await client.list_resource_templates()).resource_templates}
    assert "demo://resource/dynamic/text/{resourceId}" in templates, templates
    dynamic = await client.read_resource("demo://resource/dynamic/text/7")
    assert "7" in dynamic.contents[0].text, dynamic

    prompts = {it.name for it in (await client.list_prompts()).prompts}
    assert "mcp_everything_simple-prompt" in prompts, prompts
    prompt = await client.get_prompt("mcp_everything_args-prompt", {"city": "Paris"})
    assert "Paris" in prompt.messages[0].content.text, prompt

    if said is not None:
        # It talks of its own accord, between calls.
        await works(client, "mcp_everything_toggle-simulated-logging", {})
        for _ in range(300):
            if said:
                break
            await asyncio.sleep(0.2)
        assert said and all(it.startswith("everything") for it in said), said
        await works(client, "mcp_everything_toggle-simulated-logging", {})


async def files(client, world):
    """The reference server of files, from npm: it reads the workspace and cannot write it."""
    note = os.path.join(world.workspace, "note.txt")
    read = await works(client, "mcp_files_read_text_file", {"path": note})
    assert "a line" in text(read), read
    write = {"path": os.path.join(world.workspace, "new.txt"), "content": "x"}
    await fails(
        client, "mcp_files_write_file", write, "`files`", 'workspace = "write"', "[servers.files]"
    )
    assert not os.path.exists(write["path"])
    await fails(client, "mcp_files_read_text_file", {"path": "/etc/hostname"}, "`files`")
    await works(client, "mcp_writes_write_file", write)
    assert open(write["path"]).read() == "x"
    os.remove(write["path"])


async def python_servers(client):
    """Two reference servers from PyPI: one needs nobody, the other a host."""
    now = await works(client, "mcp_time_get_current_time", {"timezone": "UTC"})
    assert "datetime" in text(now), now
    await fails(client, "mcp_time_get_current_time", {"timezone": "Nowhere/Atall"}, "`time`")
    url = "https://docs.example/page"
    await fails(
        client, "mcp_fetch_fetch", {"url": url}, "`fetch`", '`hosts = ["docs.example"]`', "[servers.fetch]"
    )


async def installed(world):
    server = os.path.join(NODE, "mcp-server-")
    own = {"command": [server + "filesystem", world.workspace]}
    world.configure(
        {
            "everything": {"command": [server + "everything"]},
            "files": own,
            "writes": {**own, "workspace": "write"},
            "time": {"command": [os.path.join(PYTHON, "mcp-server-time"), "--local-timezone=UTC"]},
            "fetch": {"command": [os.path.join(PYTHON, "mcp-server-fetch")]},
        }
    )
    for mode in ["legacy", "2026-07-28"]:
        said = [] if mode == "legacy" else None

        async def heard(params):
            said.append(params.logger)

        handlers = {"logging_callback": heard} if said is not None else {}
        async with world.mcp(mode, **handlers) as client:
            await ready(
                client,
                "mcp_everything_get-sum",
                "mcp_files_read_text_file",
                "mcp_writes_write_file",
                "mcp_time_get_current_time",
                "mcp_fetch_fetch",
            )
            await everything(client, said)
            await files(client, world)
            await python_servers(client)
        print(f"real servers from npm and PyPI, {mode}: ok")


def fetched(world, name, command):
    """A program that fetches its packages when it starts: told what it lacks, and given that."""
    began, hosts = time.monotonic(), []
    for _ in range(5):
        world.configure({name: {"command": command, "hosts": hosts}})
        code, said = world.run("servers", "test", name)
        if code == 0:
            took = time.monotonic() - began
            print(f"{command[0]} in its sandbox: ok, with {len(hosts)} hosts that it was told to be given ({took:.0f} s)")
            return
        refused = re.search(r"it was not let reach `(.+?)`: its `hosts`", said)
        new = [it for it in refused.group(1).split("`, `") if it not in hosts] if refused else []
        assert hosts or new, f"{name}: it does not say what it lacks: {said}"
        if not new:
            print(f"{command[0]} in its sandbox: told what it lacks; NOT CHECKED further: {said.strip()}")
            return
        hosts += new
    raise AssertionError(f"{name}: it wants ever more hosts: {hosts}")


async def main():
    # Not beneath what is installed, where a program would find it without fetching.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(INTO)) as directory:
        world = World(directory)
        await installed(world)
        fetched(world, "npx", ["npx", "-y", "@modelcontextprotocol/server-everything@2026.8.31"])
        fetched(world, "uvx", ["uvx", "mcp-server-time==2026.10.19"])


asyncio.run(main())
