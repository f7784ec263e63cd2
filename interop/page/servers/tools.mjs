// A server on standard input and output whose tools have every kind of field and of content, and one
// that does not keep what its schema promises. --many N adds N tools, and --choices N one whose arguments are N choices.

import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values: flags } = parseArgs({ options: { many: { type: "string", default: "0" }, choices: { type: "string", default: "0" } } });

const choices = (n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`choice_${i}`, { oneOf: [{ type: "string", title: "a text" }, { type: "object", title: "an object", properties: { a: { type: "integer" } } }] }]));

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const fields = String.raw`{
  "type": "object",
  "$defs": {
    "person": {"type": "object", "title": "Person", "properties": {"name": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#/$defs/person"}}}, "required": ["name"]}
  },
  "properties": {
    "text": {"type": "string", "title": "Text", "description": "Any text, of several lines if need be.", "examples": ["one", "two"]},
    "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{2}$", "description": "Three letters and two digits."},
    "mail": {"type": "string", "format": "email"},
    "day": {"type": "string", "format": "date"},
    "secret": {"type": "string", "format": "password"},
    "count": {"type": "integer", "minimum": 1, "maximum": 12345678901234567890, "default": 9007199254740993},
    "ratio": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.1},
    "sure": {"type": "boolean"},
    "colour": {"type": "string", "enum": ["red", "green", "blue"], "default": "green"},
    "size": {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
    "days": {"type": "array", "items": {"enum": ["mon", "tue", "wed"]}, "uniqueItems": true},
    "names": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 3},
    "point": {"type": "array", "prefixItems": [{"type": "number", "title": "x"}, {"type": "number", "title": "y"}], "items": false},
    "nested": {"type": "object", "properties": {"inner": {"type": "object", "properties": {"leaf": {"type": "string"}}, "required": ["leaf"]}}, "required": ["inner"]},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "maybe": {"type": ["string", "null"]},
    "shape": {"oneOf": [
      {"type": "object", "title": "Circle", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
      {"type": "object", "title": "Square", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}]},
    "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "tree": {"$ref": "#/$defs/person"},
    "anything": {},
    "elsewhere": {"$ref": "https://example.com/schema.json"},
    "__proto__": {"type": "string", "title": "A dangerous name"}
  },
  "required": ["text"],
  "additionalProperties": false
}`.replaceAll(/\n */g, "");

// Written as texts, so that numbers and names stay as they are.
const tools = [
  `{"name": "every_field", "title": "Every field", "description": "Takes every kind of field.\\nSays what it got.", "inputSchema": ${fields}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}`,
  `{"name": "every_content", "description": "Returns every kind of content.", "inputSchema": {"type": "object"}}`,
  `{"name": "misfit", "description": "Promises what it does not keep.", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}, "parts": {"type": "array", "items": {"type": "object", "properties": {"a/b": {"type": "string"}}}}}, "required": ["sum"]}, "annotations": {"destructiveHint": true}}`,
  `{"name": "broken", "description": "Fails, and says of which argument.", "inputSchema": {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}}`,
  `{"name": "steps", "description": "Reports its progress until it is cancelled.", "inputSchema": {"type": "object"}}`,
  ...(flags.choices === "0" ? [] : [JSON.stringify({ name: "choices", inputSchema: { type: "object", properties: choices(Number(flags.choices)) } })]),
  ...Array.from({ length: Number(flags.many) }, (_, i) => `{"name": "tool_${i}", "description": "Tool number ${i} of very many.", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}`),
];

const contents = JSON.stringify([
  { type: "text", text: "Plain text with <b>no</b> markup." },
  { type: "text", text: '{"json": [1, 2, 3]}' },
  { type: "text", text: "# Title\n\nSome *Markdown*, and [a link](https://example.com/)." },
  { type: "image", data: pixel, mimeType: "image/png" },
  { type: "audio", data: silence, mimeType: "audio/wav" },
  { type: "resource_link", uri: "https://example.com/file.txt", name: "A file", mimeType: "text/plain", size: 1234 },
  { type: "resource", resource: { uri: "test://text", mimeType: "text/plain", text: "Embedded text" } },
  { type: "resource", resource: { uri: "test://bytes", mimeType: "application/octet-stream", blob: "AAECAw==" } },
  { type: "unheard-of", what: "a kind that nobody knows" },
]);

const send = (text) => process.stdout.write(`${text}\n`);
const running = new Map();

function call(id, name, line, params) {
  const result = (text) => send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`);
  switch (name) {
    case "every_field":
      // The arguments as they came, to the last digit.
      return result(`{"content":[{"type":"text","text":${JSON.stringify(argumentsOf(line))}}],"structuredContent":${argumentsOf(line)}}`);
    case "every_content":
      return result(`{"content":${contents}}`);
    case "misfit":
      return result('{"content":[],"structuredContent":{"sum":"three","parts":[{},{"a/b":5}],"odd":12345678901234567890}}');
    case "broken":
      return send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32602,"message":"Invalid arguments: [{\\"path\\":[\\"a\\",\\"b\\"],\\"message\\":\\"Too short\\"}]"}}`);
    case "steps":
      return steps(id, params._meta?.progressToken);
  }
  return result('{"content":[{"type":"text","text":"done"}]}');
}

function argumentsOf(line) {
  const from = line.indexOf('"arguments":') + '"arguments":'.length;
  let depth = 0;
  let quoted = false;
  for (let i = from; i < line.length; i++) {
    if (quoted) {
      if (line[i] === "\\") i++;
      else if (line[i] === '"') quoted = false;
    } else if (line[i] === '"') quoted = true;
    else if (line[i] === "{" || line[i] === "[") depth++;
    else if ((line[i] === "}" || line[i] === "]") && --depth === 0) return line.slice(from, i + 1);
  }
  return "{}";
}

function steps(id, progressToken) {
  let n = 0;
  const timer = setInterval(() => {
    n++;
    send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: n, total: 1000, message: `Step ${n}` } }));
    if (n === 2) send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "warning", logger: "steps", data: "two steps are done" } }));
  }, 50);
  running.set(id, timer);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "notifications/cancelled") {
    clearInterval(running.get(params.requestId));
    process.stderr.write(`cancelled: ${params.reason}\n`);
  }
  if (id === undefined) return;
  const result = (value) => send(JSON.stringify({ jsonrpc: "2.0", id, result: value }));
  if (method === "initialize") return result({ protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: "fields", version: "1" } });
  if (method === "tools/list") return send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"tools":[${tools.join(",")}]}}`);
  if (method === "tools/call") return call(id, params.name, line, params);
  if (method === "ping" || method === "logging/setLevel") return result({});
  send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method} here` } }));
});
