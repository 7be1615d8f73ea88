"""The official SDKs as judges of what `eclusa ask` sends and reads; see tests/e2e/sdks."""

import collections.abc
import http.server
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading

import anthropic
import openai
import pydantic
import typing_extensions
from google import genai

BINARY = os.path.abspath(sys.argv[1])
ARGS = {"path": "a.txt"}
PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/v1/responses",
    "openai-chat": "/v1/chat/completions",
    "gemini": "/models/m1:streamGenerateContent",
}


def anthropic_events(text, call):
    yield {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m1", "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 1}}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    yield {"type": "content_block_stop", "index": 0}
    if call:
        yield {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}}
        yield {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": json.dumps(ARGS)}}
        yield {"type": "content_block_stop", "index": 1}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


def responses_events(text, call):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}
    output = [message]
    if call:
        output.append({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read", "arguments": json.dumps(ARGS), "status": "completed"})
    usage = {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 14}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m1", "status": "completed", "output": output, "usage": usage, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    number = iter(range(100))
    yield {"type": "response.output_item.added", "output_index": 0, "item": dict(message, content=[]), "sequence_number": next(number)}
    yield {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text, "logprobs": [], "sequence_number": next(number)}
    for place, item in enumerate(output):
        yield {"type": "response.output_item.done", "output_index": place, "item": item, "sequence_number": next(number)}
    yield {"type": "response.completed", "response": response, "sequence_number": next(number)}


def chat_events(text, call):
    def chunk(delta, why=None):
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m1", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]}
    yield chunk({"role": "assistant", "content": text})
    if call:
        yield chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "read", "arguments": json.dumps(ARGS)}}]})
    yield chunk({}, "tool_calls" if call else "stop")
    yield {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m1", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14}}


def gemini_events(text, call):
    parts = [{"text": text}]
    if call:
        parts.append({"functionCall": {"name": "read", "args": ARGS}, "thoughtSignature": "c2ln"})
    yield {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}}


EVENTS = {"anthropic": anthropic_events, "openai": responses_events, "openai-chat": chat_events, "gemini": gemini_events}
SEEN = []


class Handler(http.server.BaseHTTPRequestHandler):
    """Makes a call at first, and says a last word after its answer."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        wire = next(wire for wire, it in PATHS.items() if path.endswith(it))
        SEEN.append((wire, body))
        text = json.dumps(body)
        call = "content of a" not in text
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in EVENTS[wire]("I look." if call else "Seen.", call):
            name = "event: %s\n" % event["type"] if "type" in event else ""
            self.wfile.write(("%sdata: %s\n\n" % (name, json.dumps(event))).encode())
        if wire == "openai-chat":
            self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


def forbid_extras(package):
    """Parameter types of this package accept no fields that they do not name."""
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            loaded = importlib.import_module(module.name)
        except Exception:
            continue
        for _, it in inspect.getmembers(loaded, typing_extensions.is_typeddict):
            it.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def consumed(value):
    """Whatever is checked only when somebody looks at it is looked at."""
    if isinstance(value, dict):
        return {key: consumed(it) for key, it in value.items()}
    if isinstance(value, (str, bytes)) or not isinstance(value, collections.abc.Iterable):
        return value
    return [consumed(it) for it in value]


def accept(kind, body):
    # Kept until everything was looked at.
    adapter = pydantic.TypeAdapter(kind)
    consumed(adapter.validate_python(body))
    del adapter


def judge_gemini(body):
    types = genai.types
    unknown = set(body) - {"contents", "systemInstruction", "tools", "generationConfig", "toolConfig"}
    assert not unknown, "fields that nobody knows: %s" % unknown
    for content in body["contents"] + [body["systemInstruction"]]:
        types.Content.model_validate(content)
    for tool in body.get("tools", []):
        types.Tool.model_validate(tool)
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))


def judges():
    from anthropic.types.message_create_params import MessageCreateParamsStreaming
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
    return {
        "anthropic": lambda body: accept(MessageCreateParamsStreaming, body),
        "openai": lambda body: accept(ResponseCreateParamsStreaming, body),
        "openai-chat": lambda body: accept(CompletionCreateParamsStreaming, body),
        "gemini": judge_gemini,
    }


def read_by_sdks(url):
    """The server is a fair one: the SDKs read its streams."""
    client = anthropic.Anthropic(base_url=url, api_key="k")
    with client.messages.stream(model="m1", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as stream:
        message = stream.get_final_message()
    assert message.content[1].input == ARGS, message
    client = openai.OpenAI(base_url=url + "/v1", api_key="k")
    last = [it for it in client.responses.create(model="m1", input="x", stream=True)][-1]
    assert json.loads(last.response.output[1].arguments) == ARGS, last
    chunks = list(client.chat.completions.create(model="m1", messages=[{"role": "user", "content": "x"}], stream=True))
    assert json.loads(chunks[1].choices[0].delta.tool_calls[0].function.arguments) == ARGS, chunks
    client = genai.Client(api_key="k", http_options={"base_url": url})
    chunks = list(client.models.generate_content_stream(model="m1", contents="x"))
    assert chunks[0].function_calls[0].args == ARGS, chunks


TYPES = """\
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { Content, GenerationConfig, Tool } from "@google/genai";
interface Gemini { contents: Content[]; systemInstruction: Content; tools: Tool[]; generationConfig?: GenerationConfig }
"""
TYPE_OF = {"anthropic": "MessageCreateParamsStreaming", "openai": "ResponseCreateParamsStreaming", "openai-chat": "ChatCompletionCreateParamsStreaming", "gemini": "Gemini"}


def types_accept(directory, bodies):
    """What the TypeScript compiler says of these bodies, as literals of the SDKs' types; empty when nothing."""
    path = os.path.join(directory, "bodies.ts")
    with open(path, "w") as file:
        file.write(TYPES)
        for place, (wire, body) in enumerate(bodies):
            file.write("export const body%d: %s = %s;\n" % (place, TYPE_OF[wire], json.dumps(body)))
    command = ["node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "bodies.ts"]
    ran = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    return ran.stdout + ran.stderr if ran.returncode else ""


def judge_types(directory, url, bodies):
    """The TypeScript SDKs: they read the server's streams, and their types accept our bodies."""
    with open(os.path.join(directory, "reads.mjs"), "w") as file:
        file.write(open(os.path.join(os.path.dirname(__file__), "sdks.mjs")).read())
    subprocess.run(["node", "reads.mjs", url], cwd=directory, check=True)
    for wire in TYPE_OF:
        body = next(body for it, body in bodies if it == wire)
        if not types_accept(directory, [(wire, dict(body, bogus=1))]):
            raise SystemExit("%s: types that take anything judge nothing" % wire)
    wrong = types_accept(directory, bodies)
    print(wrong or "TypeScript: the SDKs read the server's streams, their types accept %d bodies" % len(bodies))
    return bool(wrong)


def ask(url, wire, root):
    for name in ("workspace", "config/eclusa", "state", "home"):
        os.makedirs(os.path.join(root, name))
    with open(os.path.join(root, "workspace", "a.txt"), "w") as file:
        file.write("content of a\n")
    with open(os.path.join(root, "config/eclusa/eclusa.toml"), "w") as file:
        file.write('[models.m]\nwire = "%s"\nmodel = "m1"\nurl = "%s"\nkey = { env = "KEY" }\n' % (wire, url))
    env = {"PATH": os.environ["PATH"], "HOME": root + "/home", "XDG_CONFIG_HOME": root + "/config", "XDG_STATE_HOME": root + "/state", "KEY": "k", "USER": "tester"}
    for words in (["look at a"], ["--resume", "", "and again"]):
        if words[0] == "--resume":
            words[1] = session
        ran = subprocess.run([BINARY, "--json", "ask", *words], cwd=root + "/workspace", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert ran.returncode == 0, ran
        answer = json.loads(ran.stdout)
        session = answer["session"]
        assert answer["text"] == "Seen." and answer["usage"]["output"] == (18 if len(words) == 1 else 9), answer


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d" % server.server_address[1]
    read_by_sdks(url)
    print("anthropic %s, openai %s, google-genai %s read the server's streams" % (anthropic.__version__, openai.__version__, genai.__version__))
    forbid_extras(anthropic.types)
    forbid_extras(openai.types)
    wrong, bodies = 0, []
    for wire, judge in judges().items():
        SEEN.clear()
        with tempfile.TemporaryDirectory() as root:
            ask(url, wire, root)
        assert len(SEEN) == 3, SEEN
        bodies += SEEN
        try:
            judge(dict(SEEN[0][1], bogus=1))
            raise SystemExit("%s: a judge that takes anything judges nothing" % wire)
        except (AssertionError, pydantic.ValidationError):
            pass
        for place, (_, body) in enumerate(SEEN):
            try:
                judge(body)
            except (AssertionError, pydantic.ValidationError) as err:
                wrong += 1
                print("%s, request %d: %s" % (wire, place + 1, err))
        print("%s: a call, its answer and a second turn; %d bodies looked at" % (wire, len(SEEN)))
    if len(sys.argv) > 2:
        wrong += judge_types(os.path.abspath(sys.argv[2]), url, bodies)
    sys.exit(1 if wrong else 0)


main()
