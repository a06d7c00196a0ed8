import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type RestOperation as Operation, restOperationsOf } from '../../../services/gateway/protocols/rest/operations.ts';
import { operations as operationTable } from '../../../services/gateway/server/operations.ts';
import type { EventFilter, NatterClient, NewMessage, WriteOptions } from '../../../shared/client/main.ts';
import { serve } from './server.ts';
import { type MethodName, type Row, table } from './table.ts';

/** What the client sends is what the routes take, and all that they take (docs/integrate/openapi.json is made of the same operations). */

const operations = restOperationsOf(operationTable);
const key = 'agent:main:irc:group:#a/b';
const write: WriteOptions = { idempotencyKey: 'once', ifMatch: 17 };
const message: NewMessage = {
  ...{ text: 'hello', messageId: 'm-1', sender: { id: 'ann', name: 'Ann' }, queue: 'steer', commands: false },
  ...{ deliverTo: { channel: 'irc', to: '#a', accountId: 'a', threadId: 't' }, sendAt: '2026-01-31T12:00:00Z' },
  attachments: [{ data: 'YQ==', type: 'text/plain', name: 'a.txt' }],
};
const settings = {
  sendPolicy: null,
  model: 'm',
  thinkingLevel: 'low',
  verboseLevel: 'on',
  displayName: 'D',
  metadata: { topic: 'x' },
  queueMode: 'steer',
  activation: 'always',
  description: 'd',
  pinned: true,
  icon: '🌱',
} as const;

const all = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
};
const first = async (client: NatterClient, filter: EventFilter): Promise<void> => {
  for await (const _ of client.events(filter)) return;
};
/** Each method with all that it can be given. */
const calls: Record<MethodName, (client: NatterClient) => readonly Promise<unknown>[]> = {
  'sessions.list': ({ sessions }) => [
    all(
      sessions.list({
        ...{ activeMinutes: 5, status: 'all', search: 'build' },
        ...{ keyPrefix: 'agent:main', label: 'home', pinned: true, failed: false, unread: true },
      }),
    ),
  ],
  'sessions.get': ({ sessions }) => [sessions.get(key)],
  'sessions.patch': ({ sessions }) => [sessions.patch(key, { ...settings, labels: ['home'] }, write)],
  'sessions.messages': ({ sessions }) => [
    all(sessions.messages(key, { after: '17.2' })),
    all(sessions.messages(key, { before: 'end' })),
  ],
  'sessions.attachment': ({ sessions }) => [sessions.attachment(key, 'a'.repeat(64))],
  'sessions.export': ({ sessions }) => [all(sessions.export(key, { after: 17 })), all(sessions.export(key, { before: 'end' }))],
  'sessions.exportStored': ({ sessions }) => [all(sessions.exportStored(key, { after: 17 }))],
  'sessions.post': ({ sessions }) => [sessions.post(key, message, { ...write, wait: 0.5 }), sessions.post(key, 'hello')],
  'sessions.append': ({ sessions }) => [sessions.append(key, message, { ...write, wait: 5 })],
  'sessions.open': ({ sessions }) => [sessions.open(key, write)],
  'sessions.search': ({ sessions }) => [sessions.search('green build', { limit: 5 })],
  'sessions.deactivate': ({ sessions }) => [sessions.deactivate(key, { ...write, reason: 'done' })],
  'sessions.markRead': ({ sessions }) => [sessions.markRead(key), sessions.markRead(key, { unread: true })],
  'sessions.stop': ({ sessions }) => [sessions.stop(key, { ...write, reason: 'enough' }), sessions.stop(key)],
  'sessions.reset': ({ sessions }) => [sessions.reset(key, { ...write, ifMatch: '*', reason: 'anew' })],
  'sessions.compact': ({ sessions }) => [sessions.compact(key, { ...write, wait: 5, instructions: 'keep' })],
  'sessions.checkpoint': ({ sessions }) => [sessions.checkpoint(key, write)],
  'sessions.fork': ({ sessions }) => [
    sessions.fork(key, { ...write, at: 5 }),
    sessions.fork(key, { at: '2026-01-31', reason: 'again' }),
  ],
  'sessions.delete': ({ sessions }) => [sessions.delete(key, { ...write, mode: 'key' })],
  'sessions.state': ({ sessions }) => [sessions.state(key, { at: 5 })],
  'sessions.diff': ({ sessions }) => [sessions.diff(key, { from: 0, to: '2026-01-31', limit: 5 })],
  'runs.get': ({ runs }) => [runs.get(key, 'r/1')],
  'runs.wait': ({ runs }) => [runs.wait(key, 'r/1')],
  'runs.cancel': ({ runs }) => [runs.cancel(key, 'r/1', { ...write, ifMatch: '*' })],
  'approvals.list': ({ approvals }) => [all(approvals.list())],
  'approvals.resolve': ({ approvals }) => [
    approvals.resolve('k3x9', 'deny', { reason: 'no', sessionKey: key, idempotencyKey: 'once' }),
  ],
  events: (client) => [
    first(client, { keyPrefix: 'agent:main', types: ['notice', 'user_message'], after: 5 }),
    first(client, { key, types: ['notice'], after: '5.1', live: true }),
  ],
  ticket: (client) => [client.ticket('/v1/events?after=0')],
};

/** What routes take that no method says, each with the reason. */
const unsaid: Readonly<Record<string, string>> = {
  'readSession if-none-match': 'the client keeps no copies',
  'readState if-none-match': 'the client keeps no copies',
  'readEvents limit': 'of a page; `events` follows',
  'readEvents before': 'of a page; `events` follows',
  'readSessionEvents before': 'of a page; `events` follows',
  'readSessionEvents limit': 'of a page; `events` follows',
  'readEvents event': 'for browsers without the client',
  'readSessionEvents event': 'for browsers without the client',
};
const byPath = 'by its path, with `client.get`, `client.post` or `client.delete`';
const ownClients = 'its protocol has clients of its own';
/** Operations that no method makes, each with the reason. */
const unmade: Readonly<Record<string, string>> = {
  ...{ readDamage: byPath, repairSession: byPath },
  inbound: `for channels, ${byPath}`,
  ...{ listMemory: byPath, readMemory: byPath, addMemory: byPath, forgetMemory: byPath },
  call: 'the methods by name are those of a WebSocket: `client.connect`',
  ...{
    listTokens: byPath,
    createToken: byPath,
    revokeToken: byPath,
    rotateToken: byPath,
    readAudit: byPath,
    readRetention: byPath,
  },
  ...{ createLoginCode: byPath, logInPage: 'for the page', logOutPage: byPath, whoAmI: byPath },
  ...{ listDeadLetters: byPath, readDeadLetter: byPath, resendDeadLetter: byPath, discardDeadLetter: byPath },
  ...{ listScheduledMessages: byPath, cancelScheduledMessage: byPath },
  ...{ listPairings: byPath, approvePairing: byPath, denyPairing: byPath, revokePairing: byPath },
  readSessionDeliveries: byPath,
  listDelivered: byPath,
  ...{ listDeliveries: byPath, readDelivery: byPath, repeatDelivery: byPath, leaveDelivery: byPath, resumeAccounts: byPath },
  ...{ listHosts: byPath, listSkills: byPath, readConfig: byPath, findProblems: byPath, readLog: byPath },
  readMetricHistory: byPath,
  ...{ describe: byPath, describeEvents: byPath, live: byPath, ready: byPath },
  metrics: 'text, for Prometheus',
  ...{ listModels: ownClients, readModel: ownClients, createChatCompletion: ownClients, createResponse: ownClients },
  ...{ createEmbeddings: ownClients, cancelResponse: ownClients, deleteResponse: ownClients, listResponseInputItems: ownClients },
  ...{ createConversation: ownClients, readConversation: ownClients, updateConversation: ownClients },
  ...{ deleteConversation: ownClients, listConversationItems: ownClients, createConversationItems: ownClients },
  ...{ readConversationItem: ownClients, deleteConversationItem: ownClients },
  ...{
    readResponse: ownClients,
    streamUiChat: ownClients,
    resumeUiChat: ownClients,
    readUiChat: ownClients,
    streamAguiRun: ownClients,
  },
};

interface Sent {
  readonly operation: Operation;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: readonly string[];
  readonly body: unknown;
}
const operationAt = (method: string, path: string): Operation => {
  const fits = (one: Operation) =>
    one.method === method.toLowerCase() && new RegExp(`^${one.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
  const operation = operations.find(fits);
  if (operation === undefined) throw new Error(`there is no ${method} ${path}`);
  return operation;
};
const conditional = ['idempotency-key', 'if-match', 'if-none-match', 'last-event-id'];

const sentBy = async (request: IncomingMessage): Promise<Sent> => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway');
  const query = Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
  const text = (await request.setEncoding('utf8').toArray()).join('');
  const headers = conditional.filter((name) => request.headers[name] !== undefined);
  return {
    operation: operationAt(request.method ?? '', pathname),
    query,
    headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
};
/** Two pages of anything, or a stream that breaks off once. */
const answerTo = ({ operation, query, headers }: Sent, response: ServerResponse): void => {
  if (operation.path.endsWith('/events')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (headers.includes('last-event-id')) response.write('id: 6.0\ndata: {}\n\n');
    else response.end(': after 5\n\n');
    return;
  }
  const isLast = query.cursor !== undefined || query.after === '18';
  const page = { nextCursor: isLast ? null : 'next', more: !isLast, next: '18' };
  response.end(JSON.stringify({ ...page, status: 'ok', runId: 'r', ticket: 't' }));
};

const requestsOf = async (name: MethodName): Promise<readonly Sent[]> => {
  const sent: Sent[] = [];
  const { client } = await serve(async (request, response) => {
    // A token never stands in an address.
    expect([request.headers.authorization, request.url?.includes('secret')]).toEqual(['Bearer secret-token', false]);
    const one = await sentBy(request);
    sent.push(one);
    answerTo(one, response);
  });
  await Promise.all(calls[name](client));
  return sent;
};

const names = Object.keys(table) as MethodName[];

describe.each(names)('%s', (name) => {
  const { operations: expected, answer, type }: Row = table[name];

  test('makes calls that their routes take', async () => {
    const sent = await requestsOf(name);
    expect(new Set(sent.map(({ operation }) => operation.id))).toEqual(new Set(expected));
    for (const { operation, query, headers, body } of sent) {
      const { query: querySchema, body: bodySchema, headers: known = [] } = operation;
      expect(Object.keys(query).filter((parameter) => !(parameter in (querySchema?.shape ?? {})))).toEqual([]);
      expect(querySchema?.safeParse(query).error).toBeUndefined();
      expect(headers.filter((header) => !known.some((one) => one.toLowerCase() === header))).toEqual([]);
      if (bodySchema === undefined) expect(body).toBeUndefined();
      else expect(bodySchema.safeParse(body).error).toBeUndefined();
    }
  });

  test('has the answer of its operations', () => {
    for (const id of expected) {
      const { answers } = operations.find((one) => one.id === id) as Operation;
      const good = Object.entries(answers).filter(([status]) => status.startsWith('2'));
      for (const [, schemas] of good) expect<unknown[]>([schemas].flat()).toContain(type ?? answer);
    }
  });
});

test.each(['', '.', '..'])('%j names nothing: an address would lose it, and mean another', async (name) => {
  const paths: unknown[] = [];
  const { client } = await serve((request, response) => {
    paths.push(request.url);
    response.end('{}');
  });
  const { sessions, runs, approvals } = client;
  const called = [
    () => sessions.state(name),
    () => sessions.stop(name),
    () => all(sessions.messages(name)),
    () => runs.get('main', name),
    () => approvals.resolve(name, 'deny'),
    () => client.events({ key: name }).next(),
  ];
  for (const call of called) await expect((async () => call())()).rejects.toMatchObject({ code: 'invalid' });
  expect(paths).toEqual([]);
});

test('all that a route takes can be said', async () => {
  const said = new Set<string>();
  for (const name of names) {
    for (const { operation, query, headers, body } of await requestsOf(name))
      for (const field of [...Object.keys(query), ...headers, ...Object.keys(body ?? {})]) said.add(`${operation.id} ${field}`);
  }
  const taken = operations
    .filter(({ id }) => unmade[id] === undefined)
    .flatMap(({ id, query, headers = [], body }) => {
      const fields = [query, body].flatMap((schema) => (schema && 'shape' in schema ? Object.keys(schema.shape as object) : []));
      return [...fields, ...headers.map((header) => header.toLowerCase())].map((field) => `${id} ${field}`);
    });
  expect(taken.length).toBeGreaterThan(60);
  expect([...said, ...Object.keys(unsaid)].sort()).toEqual(taken.sort());
});

test('every operation of docs/integrate/openapi.json is made by a method, or not for a reason', () => {
  const made = new Set(names.flatMap((name) => [...table[name].operations]));
  expect([...made, ...Object.keys(unmade)].sort()).toEqual(operations.map(({ id }) => id).sort());
  const paths = operations.filter(({ id }) => unmade[id]?.includes(byPath));
  expect(paths.filter(({ method }) => !['get', 'post', 'delete'].includes(method))).toEqual([]);
});
