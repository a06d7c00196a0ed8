// An MCP server that misbehaves as its first argument says. It speaks the protocol by hand: a library would be too polite.
import { createInterface } from 'node:readline';

const [mode = ''] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const cancelled = [];
let grown = false;

const pages = {
  lists: [
    [tool('one', { description: 'First \u001b[31mtool' }), tool('two')],
    [
      tool('three.dots'),
      tool('three dots'),
      tool('x'.repeat(70)),
      tool('big', { inputSchema: { type: 'object', title: 'x'.repeat(20_000) } }),
    ],
  ],
  endless: [],
};
const listOf = (cursor) => {
  if (mode === 'endless') return { tools: [tool(`t${cursor ?? 0}`)], nextCursor: String(Number(cursor ?? 0) + 1) };
  if (mode === 'many') return { tools: Array.from({ length: 500 }, (_, at) => tool(`t${at}`)) };
  if (mode !== 'lists') return { tools: [tool('wait'), tool('cancelled'), tool('huge'), tool('talk'), tool('sizes')] };
  const page = Number(cursor ?? 0);
  const tools = [...pages.lists[page], ...(page === 1 && grown ? [tool('grown')] : [])];
  return { tools, ...(page === 0 && { nextCursor: '1' }) };
};
const text = (words) => ({ content: [{ type: 'text', text: words }] });

const calls = {
  wait: () => null,
  cancelled: () => text(JSON.stringify(cancelled)),
  huge: () => text('x'.repeat(8 * 1024 * 1024)),
  one: () => {
    grown = true;
    send({ method: 'notifications/tools/list_changed' });
    return { ...text('no'), isError: true };
  },
  talk: () => {
    const talk = () => {
      for (let at = 0; at < 100; at++)
        send({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(200) } });
      setTimeout(talk, 1);
    };
    talk();
    return null;
  },
  sizes: () => ({
    content: [
      { type: 'image', data: Buffer.alloc(10).toString('base64'), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: Buffer.alloc(7).toString('base64') } },
      { type: 'resource_link', uri: 'file:///c', name: 'C' },
    ],
  }),
  two: () => ({ content: [], structuredContent: { answer: 42 } }),
};

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'odd', version: '1' },
  }),
  'tools/list': ({ cursor }) => listOf(cursor),
  'tools/call': ({ name }) => calls[name]?.() ?? null,
  ping: () => ({}),
};

if (mode === 'stderr') for (let at = 0; at < 500; at++) console.error(`line ${at} ${process.env.ODD_TOKEN} ${'x'.repeat(5_000)}`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (mode === 'silent') continue;
  if (mode === 'strict' && !(method in answers) && id !== undefined) process.exit(1);
  if (method === 'notifications/cancelled') cancelled.push(params.reason);
  const result = answers[method]?.(params);
  if (id !== undefined && result) send({ id, result });
  if (mode === 'brief' && method === 'tools/list') setTimeout(() => process.exit(1), 100);
  if (id !== undefined && result === undefined) send({ id, error: { code: -32601, message: 'no such method' } });
}
