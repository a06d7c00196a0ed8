import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { problemStatus } from '../../../../services/gateway/http/problem.ts';
import { elsewhere, openApiDocument } from '../../../../services/gateway/protocols/openapi/document.ts';
import { type RestOperation as Operation, restOperationsOf } from '../../../../services/gateway/protocols/rest/operations.ts';
import { methods } from '../../../../services/gateway/protocols/rpc/table.ts';
import { operations as table } from '../../../../services/gateway/server/operations.ts';
import { open as openRoutes } from '../access/access-table.ts';
import { type Call, pathOf, startWorld } from '../setup.ts';

const root = new URL('../../../../', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const operations = restOperationsOf(table);
const document = JSON.parse(JSON.stringify(openApiDocument(version, table)));
const key = 'agent:main:main';
const say = (call: Call, text: string) => call('POST', pathOf(key, '/messages?wait=5'), { body: { text } });

/** A gateway's routes, as its server has registered them. */
const registered = async () => {
  const routes: string[] = [];
  const listen = (message: unknown): void => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) if (one !== 'HEAD') routes.push(`${one.toLowerCase()} ${url}`);
    });
  };
  subscribe('fastify.initialization', listen);
  try {
    return { ...(await startWorld()), routes };
  } finally {
    unsubscribe('fastify.initialization', listen);
  }
};

test('docs/integrate/openapi.json is what the schemas of the routes say', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(`${root}docs/integrate/openapi.json`);
});

test('every route is in the document, in the description of its own protocol, or is not there', async () => {
  const { routes } = await registered();
  const described = operations.map(({ method, path }) => `${method} ${path}`);
  const open = Object.keys(openRoutes).map((route) => route.replace(/^\w+/, (method) => method.toLowerCase()));
  const undescribed = open.filter((route) => !described.includes(route));
  expect(undescribed).toHaveLength(12);
  const isElsewhere = (route: string) =>
    undescribed.includes(route) || Object.keys(elsewhere).some((path) => route.split(' ')[1]?.startsWith(path));
  expect(routes.length).toBeGreaterThan(25);
  expect(routes.filter((route) => !isElsewhere(route)).sort()).toEqual([...described].sort());
  expect(described.filter(isElsewhere)).toEqual([]);
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  for (const path of Object.keys(elsewhere)) expect(document.info.description).toContain(path);
});

test('GET /v1/openapi.json serves it to whoever has a token', async () => {
  const { call } = await startWorld();
  const served = await call('GET', '/v1/openapi.json');
  expect(served.body).toEqual({ ...document, info: { ...document.info, version: '0.0.0-test' } });
  expect((await call('GET', '/v1/openapi.json?x=1')).body).toMatchObject({ code: 'invalid', field: 'x' });
  expect((await call('GET', '/v1/openapi.json', { headers: { authorization: 'Bearer no' } })).status).toBe(401);
});

test('docs/integrate/http-api.md and the document have each code of a problem, and no other', () => {
  const table = readFileSync(`${root}docs/integrate/http-api.md`, 'utf8').split('\n## Errors')[1] ?? '';
  const rows = [...table.matchAll(/^\| (`[a-z_`, ]+`) \| (\d{3}) \|/gm)].flatMap(([, codes = '', status]) =>
    [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code]) => [code, Number(status)] as const),
  );
  expect(Object.fromEntries(rows)).toEqual(problemStatus);
  expect([...document.components.schemas.Problem.properties.code.enum].sort()).toEqual(Object.keys(problemStatus).sort());
});

describe('the document is OpenAPI 3.1', () => {
  const reference = z.strictObject({ $ref: z.string().regex(/^#\/components\/(schemas|parameters|responses)\/[A-Za-z_.-]+$/) });
  const schema = z.looseObject({ type: z.union([z.string(), z.array(z.string())]).optional() });
  const content = z.record(z.string().regex(/^[a-z]+\/[a-z+-]+$/), z.strictObject({ schema, example: z.unknown().optional() }));
  const parameter = z.strictObject({
    name: z.string().min(1),
    in: z.enum(['path', 'query', 'header']),
    required: z.boolean(),
    description: z.string().optional(),
    schema,
  });
  const response = z.strictObject({ description: z.string().min(1), content: content.optional() });
  const operation = z.strictObject({
    operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
    summary: z.string().min(1),
    description: z.string().min(1).optional(),
    tags: z.array(z.string()).length(1),
    security: z.array(z.never()).optional(),
    parameters: z.array(z.union([reference, parameter])),
    requestBody: z.strictObject({ required: z.boolean(), content }).optional(),
    responses: z.record(z.string().regex(/^[1-5]\d\d$/), z.union([reference, response])),
  });
  const openApi = z.strictObject({
    openapi: z.literal('3.1.0'),
    info: z.strictObject({
      title: z.string(),
      version: z.string(),
      description: z.string(),
      license: z.strictObject({ name: z.string(), identifier: z.string() }),
    }),
    servers: z.array(z.strictObject({ url: z.string(), description: z.string() })),
    security: z.array(z.strictObject({ token: z.array(z.never()) })).length(1),
    tags: z.array(z.strictObject({ name: z.string(), description: z.string().min(1) })),
    paths: z.record(z.string().startsWith('/'), z.partialRecord(z.enum(['get', 'post', 'patch', 'delete']), operation)),
    components: z.strictObject({
      securitySchemes: z.strictObject({ token: z.strictObject({ type: z.literal('http'), scheme: z.literal('bearer') }) }),
      parameters: z.record(z.string(), parameter),
      responses: z.record(z.string().regex(/^[A-Za-z_.-]+$/), response),
      schemas: z.record(z.string().regex(/^[A-Za-z]+$/), schema),
    }),
  });

  test('in its structure', () => expect(() => openApi.parse(document)).not.toThrow());

  test('every reference leads somewhere, and every component is used', () => {
    const references = new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path));
    const lead = [...references].map((path) => path.split('/').reduce((at: any, part) => at?.[part], document));
    expect(lead.every((target) => typeof target === 'object')).toBe(true);
    const { schemas, parameters, responses } = document.components;
    const names = [
      ...Object.keys(schemas).map((name) => `components/schemas/${name}`),
      ...Object.keys(responses).map((name) => `components/responses/${name}`),
      ...Object.keys(parameters).map((name) => `components/parameters/${name}`),
    ];
    expect(names.filter((name) => !references.has(name))).toEqual([]);
  });

  test('every part of a path is a parameter, and no parameter comes twice', () => {
    for (const [path, item] of Object.entries<any>(document.paths)) {
      for (const { parameters } of Object.values<any>(item)) {
        const names = parameters.map(({ $ref, name, in: where }: any) => $ref ?? `${where} ${name}`);
        expect(new Set(names).size).toBe(names.length);
        for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(names).toContain(`path ${name}`);
      }
    }
  });

  test('every tag is described once, and used', () => {
    const named = document.tags.map(({ name }: any) => name);
    expect(new Set(named).size).toBe(named.length);
    expect(new Set(operations.map(({ tag }) => tag))).toEqual(new Set(named));
  });

  test('every body has an example, and every example is what its schema says', () => {
    const shown = operations.map(({ id }) => ({ id, ...operationOf(id).described }));
    const bodies = shown.flatMap(({ id, requestBody }) => (requestBody ? [[id, requestBody.content['application/json']]] : []));
    const answers = shown.flatMap(({ id, responses }) =>
      Object.values<any>(responses).flatMap(({ content = {} }) => {
        const json = content['application/json'];
        return json?.example === undefined ? [] : [[id, json]];
      }),
    );
    expect(answers.length).toBeGreaterThan(25);
    for (const [id, { schema, example }] of [...bodies, ...answers])
      expect({ id, problem: validator(schema).safeParse(example).error?.issues ?? [] }).toEqual({ id, problem: [] });
  });

  test('every schema is one that a validator can read', () => {
    const found: any[] = [];
    const walk = (value: any): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, part] of Object.entries(value)) {
        if (name === 'schema') found.push(part);
        else walk(part);
      }
    };
    walk(document);
    expect(found.length).toBeGreaterThan(100);
    for (const schema of found) expect(() => validator(schema)).not.toThrow();
  });
});

/** What the document's own words let through. */
const validator = (schema: any): z.ZodType => {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/')));
};
const operationOf = (id: string) => {
  const operation = operations.find((one) => one.id === id) as Operation;
  const template = operation.path.replaceAll(/:(\w+)/g, '{$1}').replace('*', `{${operation.rest}}`);
  const described = document.paths[template][operation.method];
  return { operation, described };
};
const bodySchemaOf = (id: string) => validator(operationOf(id).described.requestBody.content['application/json'].schema);
const querySchemaOf = (id: string): Record<string, z.ZodType> =>
  Object.fromEntries(
    operationOf(id).described.parameters.flatMap(({ name, in: where, schema }: any) =>
      where === 'query' ? [[name, validator(schema)]] : [],
    ),
  );
/** A parameter as the address has it, and as a client of the document would mean it. */
const meant = (text: string, { type }: any): unknown =>
  type === 'integer' || type === 'number' ? Number(text) : type === 'array' ? [text] : text;

describe('the document refuses what the routes refuse', () => {
  test.each<[string, unknown, boolean]>([
    ['postMessage', { text: 'hi' }, true],
    ['postMessage', { text: 'hi', mode: 'append', commands: false }, true],
    ['postMessage', { text: 'hi', sender: { id: 'a', name: 'A' } }, true],
    ['postMessage', {}, false],
    ['postMessage', { text: 7 }, false],
    ['postMessage', { text: 'hi', extra: 1 }, false],
    ['postMessage', { text: 'hi', mode: 'shout' }, false],
    ['postMessage', { text: 'hi', sender: { id: 'a', role: 'owner' } }, false],
    ['postMessage', { text: 'hi', queue: 'drop' }, false],
    ['stopSession', {}, true],
    ['stopSession', { reason: '' }, false],
    ['openSession', { reason: 'x' }, false],
    ['compactSession', { instructions: 'keep' }, true],
    ['compactSession', { instructions: '' }, false],
    ['checkpointSession', {}, true],
    ['checkpointSession', { reason: 'x' }, false],
    ['forkSession', { atSeq: 1 }, true],
    ['forkSession', { atTime: '2026-01-31T12:00:00Z' }, true],
    ['forkSession', { atSeq: 0 }, false],
    ['forkSession', { atSeq: '1' }, false],
    ['forkSession', { atTime: 'yesterday' }, false],
    ['patchSession', { description: 'tea' }, true],
    ['patchSession', { description: '' }, false],
    ['patchSession', { sendPolicy: null }, true],
    ['patchSession', { sendPolicy: 'maybe' }, false],
    ['patchSession', { key: 'other' }, false],
    ['answerApproval', { verdict: 'deny' }, true],
    ['answerApproval', { verdict: 'perhaps' }, false],
    ['answerApproval', {}, false],
    ['call', { method: 'status' }, true],
    ['call', { method: 'sessions.list', params: { limit: 3 } }, true],
    ['call', { method: 'sessions.list', params: { limit: 0 } }, false],
    ['call', { method: 'chat.send', params: { sessionKey: 'main', message: 'hi' } }, true],
    ['call', { method: 'chat.send' }, false],
    ['call', { method: 'sessions.burn' }, false],
    ['inbound', { id: 'x', channel: 'irc', conversation: { id: 'c', kind: 'direct' }, sender: { id: 's' }, text: 'hi' }, true],
    ['inbound', { id: 'x', channel: 'IRC', conversation: { id: 'c', kind: 'direct' }, sender: { id: 's' }, text: 'hi' }, false],
    ['inbound', { id: 'x', channel: 'irc', conversation: { id: 'c', kind: 'dm' }, sender: { id: 's' }, text: 'hi' }, false],
    ['createTicket', { path: '/v1/events' }, true],
    ['createTicket', { path: '/events' }, false],
    ['createToken', { role: 'king' }, false],
    ['rotateToken', { overlapMinutes: -1 }, false],
  ])('%s: body %j: %s', async (id, body, isFine) => {
    expect(bodySchemaOf(id).safeParse(body).success).toBe(isFine);
    const { operation } = operationOf(id);
    expect(operation.body?.safeParse(body).success).toBe(isFine);
    const { call } = await startWorld();
    const path = operation.path.replace(':key', encodeURIComponent(key)).replace(':id', 'nothing');
    const { code } = (await call(operation.method.toUpperCase(), path, { body })).body;
    expect(code === 'invalid').toBe(!isFine);
  });

  test.each<[string, string, string, boolean]>([
    ['listSessions', 'limit', '5', true],
    ['listSessions', 'limit', '0', false],
    ['listSessions', 'limit', '1001', false],
    ['listSessions', 'limit', 'ten', false],
    ['listSessions', 'status', 'idle', true],
    ['listSessions', 'status', 'asleep', false],
    ['listSessions', 'activeMinutes', '0', false],
    ['readCommits', 'after', '17.2', true],
    ['readCommits', 'after', '17.', false],
    ['readState', 'at', '1', true],
    ['readState', 'at', 'yesterday', false],
    ['readDiff', 'from', '2001-01-01', true],
    ['readDiff', 'from', '-1', false],
    ['readRun', 'wait', '0.5', true],
    ['readRun', 'wait', '121', false],
    ['readRun', 'wait', 'long', false],
    ['deleteSession', 'mode', 'erased', false],
    ['readEvents', 'type', 'user_message', true],
    ['readEvents', 'type', 'xstate.init', false],
    ['readSessionEvents', 'deltas', 'yes', false],
  ])('%s: ?%s=%s: %s', async (id, name, text, isFine) => {
    const { operation, described } = operationOf(id);
    const { schema } = described.parameters.find((one: any) => one.name === name);
    expect(querySchemaOf(id)[name]?.safeParse(meant(text, schema)).success).toBe(isFine);
    const { call } = await startWorld();
    await say(call, 'hello');
    const path = operation.path.replace(':key', encodeURIComponent(key)).replace(':runId', 'nothing');
    const { code } = (await call(operation.method.toUpperCase(), `${path}?${name}=${text}`)).body;
    expect(code === 'invalid').toBe(!isFine);
  });

  test('each method by name is in it, and so is each parameter of the query', () => {
    const branches = operationOf('call').described.requestBody.content['application/json'].schema.anyOf;
    expect(branches.map(({ properties }: any) => properties.method.const).sort()).toEqual(Object.keys(methods).sort());
    for (const { id, query } of operations) expect(Object.keys(querySchemaOf(id))).toEqual(Object.keys(query?.shape ?? {}));
  });
});

describe('the document says what the routes answer', () => {
  /** By the schema of the operation: the fields that are told, and none that it does not know. */
  const answers = (id: string, { status, body }: { status: number; body: unknown }) => {
    const { operation, described } = operationOf(id);
    const [schema] = [operation.answers[status]].flat() as [z.ZodType];
    expect(schema.safeParse(body).error?.issues ?? []).toEqual([]);
    const { content } = described.responses[status];
    expect(validator(content['application/json'].schema).safeParse(body).error?.issues ?? []).toEqual([]);
  };

  test('when all is well', async () => {
    const { call } = await startWorld();
    const at = (rest = '') => pathOf(key, rest);
    answers('postMessage', await say(call, 'one'));
    const posted = await call('POST', at('/messages'), { body: { text: 'two' } });
    answers('postMessage', posted);
    answers('postMessage', await call('POST', at('/messages'), { body: { text: 'x', sendAt: Date.now() + 60_000 } }));
    answers('readRun', await call('GET', at(`/runs/${posted.body.runId}?wait=5`)));
    for (const id of ['readSession', 'readMessages', 'readCommits', 'readState', 'readSessionEvents']) {
      const { operation } = operationOf(id);
      answers(id, await call('GET', operation.path.replace(':key', encodeURIComponent(key))));
    }
    answers('readDiff', await call('GET', at('/diff?from=1')));
    answers('readEvents', await call('GET', '/v1/events?after=0'));
    answers('listSessions', await call('GET', '/v1/sessions'));
    answers('listApprovals', await call('GET', '/v1/approvals'));
    answers('patchSession', await call('PATCH', at(), { body: { displayName: 'mine' } }));
    for (const [id, rest] of [
      ['stopSession', '/stop'],
      ['openSession', '/open'],
      ['resetSession', '/reset'],
      ['compactSession', '/compact'],
      ['checkpointSession', '/checkpoint'],
      ['forkSession', '/fork'],
    ] as const)
      answers(id, await call('POST', at(rest), { body: {} }));
    answers('call', await call('POST', '/v1/rpc', { body: { id: 1, method: 'status' } }));
    const platform = { id: 'x', channel: 'irc', conversation: { id: 'c', kind: 'direct' }, sender: { id: 's' }, text: 'hi' };
    answers('inbound', await call('POST', '/v1/inbound', { body: platform }));
    answers('createTicket', await call('POST', '/v1/tickets', { body: { path: '/v1/events' } }));
    const made = await call('POST', '/v1/tokens', { body: { role: 'read-only', label: 'mine' } });
    answers('createToken', made);
    answers('rotateToken', await call('POST', `/v1/tokens/${made.body.id}/rotate`, { body: { overlapMinutes: 5 } }));
    answers('listTokens', await call('GET', '/v1/tokens'));
    answers('revokeToken', await call('DELETE', `/v1/tokens/${made.body.id}`));
    for (const [id, path] of [
      ['live', '/livez'],
      ['ready', '/readyz'],
      ['describe', '/v1/openapi.json'],
    ] as const)
      answers(id, await call('GET', path));
    answers('deleteSession', await call('DELETE', at('?mode=key')));
  });

  test('when it is not: each status and code that is met stands with its operation', async () => {
    const { call } = await startWorld();
    const other = pathOf('agent:main:cli:none');
    const met: [string, Awaited<ReturnType<Call>>][] = [
      ['readSession', await call('GET', other)],
      ['readState', await call('GET', `${other}/state`)],
      ['patchSession', await call('PATCH', other, { body: { displayName: 'x' } })],
      ['resetSession', await call('POST', `${other}/reset`, { body: {} })],
      ['openSession', await call('POST', `${other}/open`, { body: {}, headers: { 'if-match': '*' } })],
      ['postMessage', await call('POST', `${other}/messages`, { bytes: '{' })],
      ['postMessage', await call('POST', `${other}/messages`, { bytes: 'x', headers: { 'content-type': 'text/plain' } })],
      ['postMessage', await call('POST', `${other}/messages`, { bytes: Buffer.alloc(300_000) })],
      ['listSessions', await call('GET', '/v1/sessions', { headers: { authorization: '' } })],
      ['answerApproval', await call('POST', '/v1/approvals/x', { body: { verdict: 'deny' } })],
    ];
    for (const [id, { status, body }] of met) {
      const { $ref = '' } = operationOf(id).described.responses[status] ?? {};
      const { content } = document.components.responses[$ref.split('/').at(-1)] ?? {};
      expect({ id, status, code: body.code, known: content !== undefined }).toMatchObject({ known: true });
      expect(validator(content['application/problem+json'].schema).safeParse(body).error?.issues ?? []).toEqual([]);
    }
  });
});
