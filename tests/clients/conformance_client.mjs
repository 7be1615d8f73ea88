// A client for the conformance suite: what the suite's server is asked goes through `eclusa mcp`.
// The suite runs it with the address of its server as the last argument; ECLUSA names the program
// and SCRATCH a directory to work in.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const url = process.argv.at(-1);
const here = join(process.env.SCRATCH, `client-${process.pid}`);
mkdirSync(join(here, "config", "eclusa"), { recursive: true });
mkdirSync(join(here, "workspace"));
writeFileSync(
  join(here, "config", "eclusa", "eclusa.toml"),
  `[servers.suite]
url = "${url}"
may = ["elicitation", "sampling", "roots", "logging"]

[[rules]]
decision = "allow"
server = "suite"
tainted = true
`,
);

const env = {
  PATH: process.env.PATH,
  HOME: here,
  XDG_CONFIG_HOME: join(here, "config"),
  XDG_STATE_HOME: join(here, "state"),
};
const args = ["servers", "login", "suite"];
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
if (process.env.MCP_CONFORMANCE_SCENARIO?.startsWith("auth/")) await login();

const told = await session();
// A call may want more of a login than the server did.
const more = loginAgain(told);
if (more) {
  await more();
  await session();
}

// Everything that there is, once, through a client of its own. Gives what was answered.
async function session() {
  const asks = { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} };
  const client = new Client({ name: "through-eclusa", version: "1" }, { capabilities: asks });
  client.setRequestHandler(ElicitRequestSchema, (request) => {
    const fields = Object.entries(request.params.requestedSchema?.properties ?? {});
    const required = new Set(request.params.requestedSchema?.required ?? []);
    const answers = fields.filter(([name]) => required.has(name)).map(([name, it]) => [name, some(it)]);
    return { action: "accept", content: Object.fromEntries(answers) };
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: "assistant",
    content: { type: "text", text: "Paris" },
    model: "none",
  }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));

  await client.connect(
    new StdioClientTransport({
      command: process.env.ECLUSA,
      args: ["mcp"],
      cwd: join(here, "workspace"),
      env,
    }),
  );

  // A list waits a second for a server, which may take longer to start.
  let theirs = [];
  for (let tries = 0; tries < 20 && theirs.length === 0; tries += 1) {
    if (tries > 0) await new Promise((done) => setTimeout(done, 500));
    const { tools } = await client.listTools();
    theirs = tools.filter((it) => it.name.startsWith("mcp_suite_"));
  }
  const { resources } = await client.listResources();
  const { prompts } = await client.listPrompts();
  for (const it of resources) await client.readResource({ uri: it.uri }).catch(said);
  for (const it of prompts) {
    const args = (it.arguments ?? []).map((argument) => [argument.name, "some"]);
    await client.getPrompt({ name: it.name, arguments: Object.fromEntries(args) }).catch(said);
  }
  const calls =
    context.toolCalls?.map((it) => ({ name: `mcp_suite_${it.name}`, arguments: it.arguments })) ??
    theirs.map((it) => ({ name: it.name, arguments: given(it, theirs) }));
  const results = await Promise.all(calls.map((it) => client.callTool(it).then(shown, said)));
  await client.close();
  return results.join("\n");
}

// Logs in as a person would, whose browser goes where it is sent; again, if what is said about the
// server then says so.
async function login() {
  if (context.client_id) args.push("--client-id", context.client_id);
  if (context.client_secret) {
    env.SUITE_SECRET = context.client_secret;
    args.push("--client-secret", "SUITE_SECRET");
  }
  await run(args);
  await loginAgain(await run(["servers", "test", "suite"]))?.();
}

// What to do about it, if a text says that a login is wanted.
function loginAgain(told) {
  const again = /`eclusa servers login suite(?: --scope '([^']+)')?`/.exec(told);
  return again && (() => run(again[1] ? [...args, "--scope", again[1]] : args));
}

async function run(args) {
  const cwd = join(here, "workspace");
  const child = spawn(process.env.ECLUSA, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("close", done));
  let told = "";
  for await (const line of createInterface({ input: child.stdout })) {
    told += line;
    const address = line.trim();
    if (address.startsWith("http")) await fetch(address).catch(said);
  }
  const code = await ended;
  if (code !== 0 && args[1] === "login") throw new Error(`the login ended with ${code}`);
  return told;
}

// One tool wants to be told what another's schema looks like from here.
function given(tool, theirs) {
  const focal = theirs.find((it) => it.name.endsWith("json_schema_2020_12_tool"));
  return tool.name.endsWith("json_schema_echo") ? { schema: focal.inputSchema } : all(tool.inputSchema);
}

function all(schema) {
  const fields = Object.entries(schema.properties ?? {});
  return Object.fromEntries(fields.map(([name, it]) => [name, some(it)]));
}

function some(schema) {
  switch (schema.type) {
    case "number":
    case "integer":
      return 5;
    case "boolean":
      return true;
    case "object":
      return all(schema);
    case "array":
      return [];
    default:
      return schema.enum?.[0] ?? "some";
  }
}

function shown(result) {
  console.log(JSON.stringify(result.content));
  return result.content.map((it) => it.text ?? "").join("\n");
}

function said(error) {
  console.error(String(error));
  return String(error);
}
