// Written by `eclusa install opencode`; `eclusa uninstall opencode` takes it away.
// Asks eclusa before each tool call. Whatever is no clear yes stops the call.
import { spawn } from "node:child_process"

const PROGRAM = "ECLUSA"
const LIMIT_MS = 900000

function ask(event) {
  return new Promise((resolve, reject) => {
    const refuse = (why) => reject(new Error("eclusa: " + why))
    let child
    try {
      child = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "pipe"] })
    } catch (err) {
      return refuse("the hook did not run, so the call is refused: " + err)
    }
    let out = ""
    let err = ""
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS)
    child.stdout.on("data", (part) => (out += part))
    child.stderr.on("data", (part) => (err += part))
    child.on("error", (why) => refuse("the hook did not run, so the call is refused: " + why))
    child.stdin.on("error", () => {})
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) return refuse(err.trim() || "the hook failed, so the call is refused")
      try {
        resolve(out.trim() === "" ? {} : JSON.parse(out))
      } catch {
        refuse("the hook gave no answer that can be read, so the call is refused")
      }
    })
    child.stdin.end(JSON.stringify(event))
  })
}

function refused(answer) {
  return new Error(answer.reason || "eclusa: refused")
}

// What is said of a result: a text in its place, or a remark behind it.
async function seen(event, text) {
  let answer
  try {
    answer = await ask({ ...event, output: text })
  } catch (err) {
    answer = { output: "output withheld: " + err.message }
  }
  const shown = typeof answer.output === "string" ? answer.output : text
  return answer.context ? shown + "\n[" + answer.context + "]" : shown
}

// opencode 1
export const Eclusa = async ({ directory, worktree }) => {
  const base = (kind, input) => ({
    event: kind,
    session: input.sessionID,
    call: input.callID,
    tool: input.tool,
    directory,
    root: worktree && worktree !== "/" ? worktree : directory,
  })
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask({ ...base("before", input), args: output.args ?? {} })
      if (answer.decision !== "allow") throw refused(answer)
      if (answer.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const text = typeof output.output === "string" ? output.output : ""
      const shown = await seen({ ...base("after", input), args: input.args ?? {} }, text)
      if (shown !== text) output.output = shown
    },
  }
}

// The text of a result of opencode 2, and the result with another one in its place. Pictures stay.
const isText = (part) => part && part.type === "text" && typeof part.text === "string"

function textOf(result) {
  if (typeof result === "string") return result
  const content = result && result.content
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.filter(isText).map((part) => part.text).join("\n") : ""
}

function withText(result, text) {
  if (!result || typeof result !== "object") return text
  if (!Array.isArray(result.content)) return { ...result, content: text }
  const others = result.content.filter((part) => !isText(part))
  return { ...result, content: [{ type: "text", text }, ...others] }
}

// opencode 2
const setup = async (ctx) => {
  const directory = (ctx.location && ctx.location.directory) || process.cwd()
  const base = (kind, event) => ({
    event: kind,
    session: event.sessionID,
    call: event.callID ?? event.id,
    tool: event.tool,
    directory,
    root: directory,
    args: event.input ?? {},
  })
  await ctx.tool.hook("execute.before", async (event) => {
    const answer = await ask(base("before", event))
    if (answer.decision !== "allow") throw refused(answer)
    if (answer.args) event.input = Object.assign(event.input ?? {}, answer.args)
  })
  await ctx.tool.hook("execute.after", async (event) => {
    const text = textOf(event.result)
    const shown = await seen(base("after", event), text)
    if (shown !== text) event.result = withText(event.result, shown)
  })
}

export default { id: "eclusa", server: Eclusa, setup }
