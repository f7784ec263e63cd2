// The server of the official TypeScript SDK in the comparison.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const { values: flags } = parseArgs({
    args: process.argv.slice(2).map((a) => a.replace(/^-(?=\w)/, '--')),
    options: { http: { type: 'string' }, tools: { type: 'string', default: '4' }, era: { type: 'string', default: 'stateless' } },
});

const steps = 10;
const moreThanEnough = 1 << 20;
const blob = Buffer.from(Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 7) & 0xff));
const shape = z.object({ text: z.string(), count: z.int(), tags: z.array(z.string()) });
const nameForm = z.object({ name: z.string() });
const sizeForm = z.object({ size: z.int() });
const description = 'One of many tools: it returns its arguments, and has a description of ordinary length.';
const tool = { description, inputSchema: shape, outputSchema: shape };

const result = (e) => ({ content: [{ type: 'text', text: JSON.stringify(e) }], structuredContent: e });
const echo = async (args) => result(args);

async function progress(args, ctx) {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let i = 1; i <= steps; i++) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: steps } });
    }
    return result(args);
}

// The state is neither encrypted nor signed, because the SDK does not do it by
// itself.
async function ask(args, ctx) {
    const question = (key, form, requestState) =>
        inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message: `Which ${key}?`, requestedSchema: form }) }, requestState });
    const state = ctx.mcpReq.requestState?.();
    if (!state) return question('name', nameForm, '1');
    if (state === '1') return question('size', sizeForm, '2' + acceptedContent(ctx.mcpReq.inputResponses, 'name', nameForm).name);
    return result({ text: state.slice(1), count: acceptedContent(ctx.mcpReq.inputResponses, 'size', sizeForm).size, tags: args.tags });
}

let handler;

function newServer() {
    const s = new McpServer({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: { listChanged: true }, resources: {} } });
    s.registerTool('echo', tool, echo);
    s.registerTool('progress', tool, progress);
    s.registerTool('ask', tool, ask);
    s.registerTool('change', tool, async (args) => {
        handler?.notify.toolsChanged();
        return result(args);
    });
    for (let i = 4; i < Number(flags.tools); i++) {
        s.registerTool(`tool-${String(i).padStart(5, '0')}`, tool, echo);
    }
    s.registerResource('blob', 'bench://blob', { mimeType: 'application/octet-stream' }, async () => ({
        contents: [{ uri: 'bench://blob', mimeType: 'application/octet-stream', blob: blob.toString('base64') }],
    }));
    return s;
}

// serveSessions keeps a server and a transport for each session.
function serveSessions() {
    const sessions = new Map();
    return async (req, res) => {
        let transport = sessions.get(req.headers['mcp-session-id']);
        if (!transport) {
            transport = new NodeStreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (id) => sessions.set(id, transport),
            });
            await newServer().connect(transport);
        }
        await transport.handleRequest(req, res);
    };
}

function serveStateless() {
    handler = createMcpHandler(newServer, { maxSubscriptions: moreThanEnough });
    return toNodeHandler(handler);
}

if (flags.http) {
    const [host, port] = flags.http.split(':');
    createServer(flags.era === 'session' ? serveSessions() : serveStateless()).listen(Number(port), host);
} else {
    serveStdio(newServer);
}
