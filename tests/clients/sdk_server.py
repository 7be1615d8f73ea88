#!/usr/bin/env python3
"""A server made with the official Python SDK that has every tool, resource and prompt which the
conformance suite asks for by name, in both eras: over stdio (`--stdio`), or HTTP (`--port N`).
`tests/e2e/mcp-conformance --sdk-server` puts it behind the gateway."""
import argparse, asyncio, base64, json
from typing import Annotated, Any
from pydantic import BaseModel, Field
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.shared.exceptions import MCPError
import mcp.types as T

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
m = MCPServer(name="conformance-upstream", version="1",
              request_state_security=RequestStateSecurity(keys=[b"a-key-of-a-test-0123456789-0123456789"]))


def text(s): return T.TextContent(type="text", text=s)
def png(): return T.ImageContent(type="image", data=PNG, mime_type="image/png")
def emb(uri, mime, s):
    return T.EmbeddedResource(type="resource", resource=T.TextResourceContents(uri=uri, mime_type=mime, text=s))
def form(msg, **props):
    return T.ElicitRequest(params=T.ElicitRequestFormParams(message=msg, requested_schema={
        "type": "object", "properties": {k: {"type": v} for k, v in props.items()}, "required": list(props)}))
def sample(q, n=100):
    return T.CreateMessageRequest(params=T.CreateMessageRequestParams(
        messages=[T.SamplingMessage(role="user", content=text(q))], max_tokens=n))
def ask(state=None, **reqs): return T.InputRequiredResult(input_requests=reqs, request_state=state)
def val(ctx, key, field):
    r = (ctx.input_responses or {}).get(key)
    return r.content.get(field) if isinstance(r, T.ElicitResult) and r.content else None
def has(ctx, *keys): return all(k in (ctx.input_responses or {}) for k in keys)


@m.tool()
def test_simple_text() -> str:
    """simple text"""
    return "This is a simple text response for testing."

@m.tool()
def test_image_content() -> list[T.ImageContent]:
    """image"""
    return [png()]

@m.tool()
def test_audio_content() -> list[T.AudioContent]:
    """audio"""
    return [T.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]

@m.tool()
def test_embedded_resource() -> list[T.EmbeddedResource]:
    """embedded resource"""
    return [emb("test://embedded-resource", "text/plain", "This is an embedded resource content.")]

@m.tool()
def test_multiple_content_types() -> list[T.TextContent | T.ImageContent | T.EmbeddedResource]:
    """text, image and resource"""
    return [text("Multiple content types test:"), png(),
            emb("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}')]

async def _log(ctx):
    for s in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(s)
        await asyncio.sleep(0.05)

@m.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """log messages while running"""
    await _log(ctx)
    return "Tool with logging executed successfully"

@m.tool()
async def test_logging_tool(ctx: Context) -> str:
    """must stay silent unless the request set a log level"""
    await _log(ctx)
    return "ok"

@m.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """progress 0, 50, 100"""
    for p in (0, 50, 100):
        await ctx.report_progress(progress=p, total=100, message="Completed step %d of 100" % p)
        await asyncio.sleep(0.05)
    return "progress done"

@m.tool()
def test_error_handling() -> str:
    """always fails"""
    raise RuntimeError("This tool intentionally returns an error for testing")

@m.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """legacy server-to-client sampling"""
    r = await ctx.session.create_message(messages=[T.SamplingMessage(role="user", content=text(prompt))],
                                         max_tokens=100, related_request_id=ctx.request_id)
    return "LLM response: " + (r.content.text if r.content.type == "text" else "?")

class Reply(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")

class Defaults(BaseModel):
    name: str = Field(default="John Doe", description="User name")
    age: int = Field(default=30, description="User age")
    score: float = Field(default=95.5, description="User score")
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True, description="Verification status")

def _pairs(*kv): return [{"const": k, "title": t} for k, t in kv]
class Enums(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})
    titledSingle: str = Field(json_schema_extra={"oneOf": _pairs(("low", "Low Priority"), ("medium", "Medium Priority"), ("high", "High Priority"))})
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}})
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": _pairs(("feature", "New Feature"), ("bug", "Bug Fix"), ("docs", "Documentation"))}})
    legacyEnum: str = Field(json_schema_extra={"enum": ["small", "medium", "large"], "enumNames": ["Small Size", "Medium Size", "Large Size"]})

async def _elicit(ctx, msg, schema):
    r = await ctx.elicit(message=msg, schema=schema)
    return "action=%s, content=%s" % (r.action, r.data.model_dump_json() if r.action == "accept" else "{}")

@m.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """legacy elicitation"""
    return "User response: " + await _elicit(ctx, message, Reply)

@m.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """elicitation defaults"""
    return "Elicitation completed: " + await _elicit(ctx, "Please review", Defaults)

@m.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """elicitation enums"""
    return "Elicitation completed: " + await _elicit(ctx, "Please select", Enums)

@m.tool()
def test_x_mcp_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "<none>") -> str:
    """argument mirrored in the Mcp-Param-Region header"""
    return "region=" + region

@m.tool()
async def test_missing_capability(ctx: Context) -> str:
    """needs the client's sampling capability"""
    c = ctx.session.client_capabilities
    if c is None or c.sampling is None:
        raise MCPError(code=T.MISSING_REQUIRED_CLIENT_CAPABILITY, message="needs sampling",
                       data={"requiredCapabilities": {"sampling": {}}})
    return "ok"

@m.tool()
async def test_reconnection(ctx: Context) -> str:
    """closes its SSE stream in the middle"""
    await ctx.info("before")
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    await ctx.info("after")
    return "Reconnection test completed"

@m.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """changes the tool list"""
    m.add_tool(lambda: "x", name="test_dynamic_tool", description="dynamic")
    m.remove_tool("test_dynamic_tool")
    await ctx.notify_tools_changed()
    return "changed"

@m.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """changes the prompt list"""
    def dyn() -> str:
        return "x"
    m.add_prompt(Prompt.from_function(dyn, name="test_dynamic_prompt", description="dynamic"))
    m.remove_prompt("test_dynamic_prompt")
    await ctx.notify_prompts_changed()
    return "changed"

# ---- 2026-07-28: input_required round trips
IR = str | T.InputRequiredResult
@m.tool()
async def test_input_required_result_elicitation(ctx: Context) -> IR:
    """one elicitation"""
    return "Hello, %s!" % val(ctx, "user_name", "name") if has(ctx, "user_name") else ask(user_name=form("What is your name?", name="string"))

@m.tool()
async def test_streaming_elicitation(ctx: Context) -> IR:
    """one elicitation"""
    return "ok" if has(ctx, "user_name") else ask(user_name=form("What is your name?", name="string"))

@m.tool()
async def test_input_required_result_sampling(ctx: Context) -> IR:
    """one sampling"""
    if has(ctx, "capital_question"):
        r = ctx.input_responses["capital_question"]
        return "Model said: " + (r.content.text if r.content.type == "text" else "?")
    return ask(capital_question=sample("What is the capital of France?"))

@m.tool()
async def test_input_required_result_list_roots(ctx: Context) -> IR:
    """one roots/list"""
    return "Client exposed %d root(s)." % len(ctx.input_responses["client_roots"].roots) if has(ctx, "client_roots") else ask(client_roots=T.ListRootsRequest())

@m.tool()
async def test_input_required_result_request_state(ctx: Context) -> IR:
    """state echo"""
    if has(ctx, "confirm") and ctx.request_state == "nonce":
        return "state-ok: confirmation received"
    return ask("nonce", confirm=form("Please confirm", ok="boolean"))

@m.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> IR:
    """tampered state must be refused"""
    return ask("round-1", confirm=form("Please confirm", ok="boolean")) if ctx.request_state is None else "state-ok: " + ctx.request_state

@m.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> IR:
    """three kinds at once"""
    if has(ctx, "user_name", "greeting", "client_roots"):
        return "All inputs received."
    return ask("multi", user_name=form("What is your name?", name="string"), greeting=sample("Generate a greeting", 50), client_roots=T.ListRootsRequest())

@m.tool()
async def test_input_required_result_multi_round(ctx: Context) -> IR:
    """three rounds"""
    st = json.loads(ctx.request_state) if ctx.request_state else {"round": 0}
    if st["round"] == 1 and has(ctx, "step1"):
        return ask(json.dumps({"round": 2, "name": val(ctx, "step1", "name")}), step2=form("Step 2: What is your favorite color?", color="string"))
    if st["round"] == 2 and has(ctx, "step2"):
        return "%s likes %s." % (st["name"], val(ctx, "step2", "color"))
    return ask(json.dumps({"round": 1}), step1=form("Step 1: What is your name?", name="string"))

@m.tool()
async def test_input_required_result_capabilities(ctx: Context) -> T.InputRequiredResult:
    """asks only what the client declared"""
    c, reqs = ctx.client_capabilities, {}
    if c is None or c.sampling is not None:
        reqs["sample"] = sample("Say hello", 50)
    if c is None or c.elicitation is not None:
        reqs["ask"] = form("What is your name?", name="string")
    return ask("gated", **reqs)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
                          "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                   "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": False}

@m.tool(name="json_schema_2020_12_tool")
def json_schema_tool() -> str:
    """schema keywords must survive tools/list"""
    return "ok"
m._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA


@m.resource("test://static-text")
def r1() -> str:
    """static text"""
    return "This is the content of the static text resource."

@m.resource("test://static-binary")
def r2() -> bytes:
    """static binary"""
    return base64.b64decode(PNG)

@m.resource("test://template/{id}/data")
def r3(id: str) -> str:
    """template"""
    return json.dumps({"id": id, "templateTest": True, "data": "Data for ID: " + id})

@m.resource("test://watched-resource")
def r4() -> str:
    """watched"""
    return "Watched resource content"

def um(c): return UserMessage(role="user", content=c)
@m.prompt()
def test_simple_prompt() -> list[UserMessage]:
    """simple"""
    return [um(text("This is a simple prompt for testing."))]

@m.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """arguments"""
    return [um(text("Prompt with arguments: arg1='%s', arg2='%s'" % (arg1, arg2)))]

@m.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """embedded resource"""
    return [um(emb(resourceUri, "text/plain", "Embedded resource content for testing.")), um(text("Please process it."))]

@m.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """image"""
    return [um(png()), um(text("Please analyze the image above."))]

@m.prompt()
async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | T.InputRequiredResult:
    """round trip from prompts/get"""
    if has(ctx, "user_context"):
        return [um(text("Use the following context: %s" % val(ctx, "user_context", "context")))]
    return ask(user_context=form("What context should the prompt use?", context="string"))

@m.completion()
async def _complete(ref, argument, context) -> T.Completion:
    return T.Completion(values=[], total=0, has_more=False)

async def _ok(ctx, params) -> T.EmptyResult: return T.EmptyResult()
for meth, typ in (("logging/setLevel", T.SetLevelRequestParams), ("resources/subscribe", T.SubscribeRequestParams),
                  ("resources/unsubscribe", T.UnsubscribeRequestParams)):
    m._lowlevel_server.add_request_handler(meth, typ, _ok)


class Store(EventStore):
    def __init__(self): self.ev = []
    async def store_event(self, sid, msg):
        self.ev.append((sid, msg)); return str(len(self.ev))
    async def replay_events_after(self, last, send):
        i = int(last)
        if not 0 < i <= len(self.ev): return None
        sid = self.ev[i - 1][0]
        for k in range(i, len(self.ev)):
            if self.ev[k][0] == sid and self.ev[k][1] is not None:
                await send(EventMessage(self.ev[k][1], str(k + 1)))
        return sid


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--stdio", action="store_true")
    ap.add_argument("--port", type=int, default=3902)
    a = ap.parse_args()
    if a.stdio:
        m.run(transport="stdio")
    else:
        m.run(transport="streamable-http", port=a.port, event_store=Store(), retry_interval=100)
