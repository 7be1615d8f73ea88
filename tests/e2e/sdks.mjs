// The official TypeScript SDKs read the streams of the server of tests/e2e/sdks.py; see tests/e2e/sdks.
import assert from "node:assert";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { GoogleGenAI } from "@google/genai";

const url = process.argv[2];
const args = { path: "a.txt" };
const messages = [{ role: "user", content: "x" }];

const anthropic = new Anthropic({ baseURL: url, apiKey: "k" });
const message = await anthropic.messages.stream({ model: "m1", max_tokens: 9, messages }).finalMessage();
assert.deepStrictEqual(message.content[1].input, args);

const openai = new OpenAI({ baseURL: url + "/v1", apiKey: "k" });
const events = [];
for await (const it of await openai.responses.create({ model: "m1", input: "x", stream: true })) events.push(it);
assert.deepStrictEqual(JSON.parse(events.at(-1).response.output[1].arguments), args);

const chunks = [];
for await (const it of await openai.chat.completions.create({ model: "m1", messages, stream: true })) chunks.push(it);
assert.deepStrictEqual(JSON.parse(chunks[1].choices[0].delta.tool_calls[0].function.arguments), args);

const google = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } });
const parts = [];
for await (const it of await google.models.generateContentStream({ model: "m1", contents: "x" })) parts.push(it);
assert.deepStrictEqual(parts[0].functionCalls[0].args, args);
