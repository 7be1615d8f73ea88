"""llama.cpp's own server with a model made by hand, talked to by `eclusa ask`; see tests/e2e/real-server."""

import json
import os
import subprocess
import sys
import tempfile

import gguf
import numpy
import xllamacpp

BINARY = os.path.abspath(sys.argv[1])
CALL = ["<tool", "_call>\n", '{"name": "read", ', '"arguments": {"path": "a.txt"}}', "\n</tool_call>"]
# What follows what: a text and a call behind a person's words, a last text behind a result.
SAYS = {"<|ask|>": ["I look", " at the file", ".\n", *CALL], "<|result|>": ["I have", " seen", " it", "."]}
# The last word of the prompt says whether a result came last.
TEMPLATE = """\
{%- if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>
For each call write <tool_call>
{"name": NAME, "arguments": OBJECT}
</tool_call>
{% endif %}
{%- for message in messages %}
{%- if message.role == "tool" %}<tool_response>{{ message.content }}</tool_response>
{%- else %}[{{ message.role }}] {{ message.content or "" }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}
{%- endif %}
{% endfor %}
{%- if add_generation_prompt %}{% if messages[-1].role == "tool" %}<|result|>{% else %}<|ask|>{% endif %}{% endif %}"""


def make_model(path):
    """Each token stands alone, and a table says which one comes next: the only layer adds nothing."""
    control = gguf.TokenType.CONTROL
    tokens = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", control), ("</s>", control)]
    tokens += [("<0x%02X>" % it, gguf.TokenType.BYTE) for it in range(256)]
    following, last = {}, None
    for start, pieces in SAYS.items():
        last = len(tokens)
        tokens.append((start, control))
        for piece in pieces:
            following[last] = len(tokens)
            last = len(tokens)
            tokens.append((piece, gguf.TokenType.USER_DEFINED))
        following[last] = 2
    while len(tokens) % 32:
        tokens.append(("<|unused-%d|>" % len(tokens), control))
    count = len(tokens)
    table = numpy.zeros((count, count), dtype=numpy.float32)
    for token in range(count):
        table[following.get(token, 2), token] = 10
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("by hand")
    writer.add_context_length(262144)
    writer.add_embedding_length(count)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(32)
    writer.add_value_length(32)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(32)
    writer.add_vocab_size(count)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([it[0].encode() for it in tokens])
    writer.add_token_scores([0.0] * count)
    writer.add_token_types([int(it[1]) for it in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    writer.add_tensor("token_embd.weight", numpy.eye(count, dtype=numpy.float32))
    writer.add_tensor("output_norm.weight", numpy.ones(count, dtype=numpy.float32))
    writer.add_tensor("output.weight", table)
    shapes = {"attn_q": (32, count), "attn_k": (32, count), "attn_v": (32, count), "attn_output": (count, 32), "ffn_gate": (32, count), "ffn_up": (32, count), "ffn_down": (count, 32)}
    for name, shape in shapes.items():
        writer.add_tensor("blk.0.%s.weight" % name, numpy.zeros(shape, dtype=numpy.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor("blk.0.%s.weight" % name, numpy.ones(count, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def start_server(model):
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = 65536
    params.n_parallel = 1
    params.warmup = False
    params.use_jinja = True
    params.port = 0
    return xllamacpp.Server(params)


def ask(root, url, wire):
    for name in ("workspace", "config/eclusa", "state", "home"):
        os.makedirs(os.path.join(root, name))
    with open(root + "/workspace/a.txt", "w") as file:
        file.write("content of a\n")
    base = url if wire == "anthropic" else url + "/v1"
    with open(root + "/config/eclusa/eclusa.toml", "w") as file:
        file.write('[models.m]\nwire = "%s"\nmodel = "by-hand"\nurl = "%s"\nwindow = 65536\noutput = 256\n' % (wire, base))
    env = {"PATH": os.environ["PATH"], "HOME": root + "/home", "XDG_CONFIG_HOME": root + "/config", "XDG_STATE_HOME": root + "/state", "USER": "tester"}
    command = [BINARY, "--json", "ask", "look at a.txt"]
    ran = subprocess.run(command, cwd=root + "/workspace", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if ran.returncode:
        return "ended with %d: %s%s" % (ran.returncode, ran.stdout, ran.stderr)
    answer = json.loads(ran.stdout)
    if answer["calls"]["ok"] != 1 or answer["text"].strip() != "I have seen it.":
        return "a call and a last text were expected: %s" % ran.stdout
    print("%s: a text, a call, its result and a last text; %s" % (wire, answer["usage"]))
    return None


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        model = root + "/by-hand.gguf"
        make_model(model)
        server = start_server(model)
        url = server.listening_address
        print("llama.cpp (xllamacpp %s) serves a model of %d KB" % (getattr(xllamacpp, "__version__", "?"), os.path.getsize(model) // 1024))
        for wire in ("openai-chat", "openai", "anthropic"):
            why = ask(os.path.join(root, wire), url, wire)
            if why:
                wrong += 1
                print("%s: %s" % (wire, why))
        sys.stdout.flush()
        # The server's threads end with the process.
        os._exit(1 if wrong else 0)


main()
