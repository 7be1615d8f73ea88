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
      if (answer.decision !== "allow") throw new Error(answer.reason || "eclusa: refused")
      if (answer.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const text = typeof output.output === "string" ? output.output : ""
      let answer
      try {
        answer = await ask({ ...base("after", input), args: input.args ?? {}, output: text })
      } catch (err) {
        answer = { output: "output withheld: " + err.message }
      }
      if (typeof answer.output === "string") output.output = answer.output
      if (answer.context) output.output = (output.output ?? "") + "\n[" + answer.context + "]"
    },
  }
}
