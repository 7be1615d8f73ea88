// Drives `eclusa` with the official TypeScript client: the older era, over stdio and HTTP.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const eclusa = process.argv[2];
const directory = mkdtempSync(join(tmpdir(), "eclusa-clients-"));
const workspace = join(directory, "workspace");
mkdirSync(workspace);
const env = {
  HOME: directory,
  XDG_CONFIG_HOME: join(directory, "config"),
  XDG_STATE_HOME: join(directory, "state"),
  PATH: process.env.PATH,
};

async function drive(name, transport) {
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  const answers = ["no", "yes"];
  client.setRequestHandler(ElicitRequestSchema, (request) => {
    assert.match(request.params.message, /tool: note/);
    return { action: "accept", content: { answer: answers.shift() } };
  });
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "eclusa");
  const { tools } = await client.listTools();
  assert.equal(tools.find((it) => it.name === "read").annotations.readOnlyHint, true);
  const echo = await client.callTool({ name: "echo", arguments: { text: "hello" } });
  assert.equal(echo.content[0].text, "hello");
  const todos = [{ content: "x", status: "pending" }];
  const todo = await client.callTool({ name: "todo", arguments: { todos } });
  assert.deepEqual(todo.structuredContent, { todos });
  const note = { name: "note", arguments: { text: name } };
  assert.equal((await client.callTool(note)).isError, true);
  assert.equal((await client.callTool(note)).isError, false);
  assert.match(readFileSync(join(workspace, "notes.txt"), "utf8"), new RegExp(`${name}\n$`));
  await client.close();
  console.log(`typescript, ${name}: ok`);
}

const up = spawn(eclusa, ["up", "--example-tools", "--same-user", "--trust-client-answers", "--listen", "127.0.0.1:0"], { env, cwd: workspace });
try {
  await drive("stdio", new StdioClientTransport({ command: eclusa, args: ["mcp", "--example-tools"], env, cwd: workspace }));
  const line = await new Promise((told) => up.stdout.once("data", (it) => told(String(it))));
  await drive("http", new StreamableHTTPClientTransport(new URL(line.match(/http:\S+/)[0])));
} finally {
  up.kill();
  rmSync(directory, { recursive: true, force: true });
}
