import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { memoryCommand } from '../../../services/cli/commands/approvals-and-memory/memory.ts';
import { type Gateway, startGateway } from '../../../services/gateway/main.ts';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { openEraser } from '../../../shared/adapters/nats/eraser.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { natterWith } from '../../support/natter.ts';
import { portsOn, provisionFor } from '../../support/system.ts';
import { configOf, type Name, secretOf } from '../gateway/access/access-rig.ts';
import { callerOf, pathOf, ready } from '../gateway/setup.ts';

/** What people say, what is remembered of it and who knows it later, on a real broker (A7/82, I12). `bob` writes from two channels. */
const agent = { owners: ['telegram:7'] };
const people = { role: 'participant', action: 'allow' };
const rules = [
  { tool: 'memory_share', action: 'allow' },
  ...['memory_add', 'memory_forget'].map((tool) => ({ tool, ...people })),
];
const tools = { rules };
const config = configOf({ dmScope: 'per-channel-peer' }, { agent, tools, nats: { partitions: 4 } });
const keyOf = (rest: string) => `agent:main:${rest}` as SessionKey;

let server: TestServer;
let opened: ReturnType<typeof portsOn>;
let ports: Ports;
let gateway: Gateway;
const services: Service[] = [];
beforeAll(async () => {
  server = await startServer();
  await provisionFor(server, { partitions: 4 });
  opened = portsOn(server, config);
  ports = await opened.as('tester');
  const log = pino({ level: 'silent' });
  services.push(await startSession({ config, ports: await opened.as('session'), log, member: 'host', env: {} }));
  services.push(await startRouter({ config: fixed(config), ports: await opened.as('router'), log, member: 'router' }));
  services.push(await startCheckpoint({ ports: await opened.as('checkpoint'), log, member: 'checkpoint' }));
  gateway = await startGateway({
    ...{ config: fixed(config), ports: await opened.as('gateway'), log },
    ...{ token: secretOf('owner'), version: '0' },
  });
  await ready(callerOf(gateway.url, secretOf('owner')));
});
afterAll(async () => {
  await gateway?.stop(2_000);
  await Promise.all(services.map((service) => service.stop(2_000)));
  await opened?.close();
  await server?.stop();
});

const as = (name: Name) => callerOf(gateway.url, secretOf(name));
let messages = 0;
/** Says something as `<channel>:<id>` and resolves with the answer. */
const say = async (person: string, text: string, group?: string): Promise<string> => {
  const [channel = '', id = ''] = person.split(':');
  const conversation = group === undefined ? { id, kind: 'direct' } : { id: group, kind: 'group' };
  const envelope = { id: `m${++messages}`, channel, conversation, sender: { id }, text, mentioned: true };
  const { lastSeq } = await ports.events.info();
  await ports.inbound.publish(inboundEnvelope.parse(envelope));
  const signal = AbortSignal.timeout(10_000);
  for await (const { events, correlationId } of ports.events.follow({ after: lastSeq, signal })) {
    const answer = events.find((event) => event.type === 'assistant_message' || event.type === 'turn_failed');
    const isOurs = correlationId !== '' && answer !== undefined;
    if (isOurs) return answer.type === 'assistant_message' ? answer.text : answer.message;
  }
  throw new Error(`no answer to ${text}`);
};
const remember = (text: string, tool = 'memory_add') => `[[tool ${tool} ${JSON.stringify({ text })}]] ok?`;
const ask = 'What do you remember?';
/** What the memory shows to everybody by now. */
const shown = (text: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await as('owner')('GET', `/v1/memory?query=${encodeURIComponent(text)}`);
      expect(body.memories.map((memory: { text: string }) => memory.text)).toContain(text);
    },
    { timeout: 10_000 },
  );

describe('A7/82: the long-term memory', () => {
  test('a new session of the same person knows it, that of another does not', async () => {
    expect(await say('telegram:2', remember('Bob keeps walruses'))).toContain(
      'remembered for all conversations with this person',
    );
    await shown('Bob keeps walruses');
    // Another channel, another session: the same person.
    await vi.waitFor(async () =>
      expect(await say('discord:2', ask)).toMatch(/^I remember:\n- \[\d+-0] \(person, .*\) Bob keeps walruses$/),
    );
    expect(await say('telegram:1', ask)).toBe('I remember nothing.');
    expect(await say('telegram:7', ask)).toBe('I remember nothing.');
    expect(await say('telegram:1', '[[tool memory_search {"query":"walruses"}]] find')).toContain('{"count":0,"memories":[]}');
    expect(await say('discord:2', '[[tool memory_search {"query":"walrus"}]] find')).toContain('Bob keeps walruses');
    // In a group others hear what is said.
    expect(await say('telegram:2', ask, '-5')).toBe('I remember nothing.');
  });

  test('it survives a reset; what the owner has the agent remember all of its sessions know', async () => {
    await say('telegram:7', remember('The office is closed on Mondays', 'memory_share'));
    await shown('The office is closed on Mondays');
    await vi.waitFor(async () => expect(await say('telegram:1', ask)).toContain('(agent'));
    await say('discord:2', '/new hello');
    expect(await say('discord:2', ask)).toContain('Bob keeps walruses');
  });

  test('A8/89: at the gateway a person sees what is theirs, the owner and who only reads all, others nothing', async () => {
    const textsOf = async (name: Name, query = '') => {
      const { status, body } = await as(name)('GET', `/v1/memory${query}`);
      expect(status).toBe(200);
      return body.memories.map(({ text }: { text: string }) => text);
    };
    const all = ['The office is closed on Mondays', 'Bob keeps walruses'];
    expect(await textsOf('owner')).toEqual(all);
    for (const name of ['admin', 'reader'] as const) expect(await textsOf(name)).toEqual(all);
    expect(await textsOf('bob')).toEqual(['Bob keeps walruses']);
    expect(await textsOf('owner', '?scope=person:main:bob')).toEqual(['Bob keeps walruses']);
    for (const name of ['ann', 'eve', 'telegram', 'discord', 'annAtTelegram', 'approver'] as const) {
      expect(await textsOf(name)).toEqual([]);
      expect(await textsOf(name, '?scope=person:main:bob&query=walruses')).toEqual([]);
    }
    const first = await as('owner')('GET', '/v1/memory?limit=1');
    expect(first.body.nextCursor).not.toBeNull();
    const second = await as('owner')('GET', `/v1/memory?limit=1&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ memories: [{ text: 'Bob keeps walruses' }], nextCursor: null });
  });

  test('why it is believed: the source, and all that was done to it', async () => {
    const { body } = await as('bob')('GET', '/v1/memory?query=walruses');
    const [{ id }] = body.memories;
    const read = await as('bob')('GET', `/v1/memory/${id}`);
    expect(read.body).toMatchObject({
      text: 'Bob keeps walruses',
      source: { key: 'agent:main:telegram:dm:bob', by: 'agent', fromRev: 1 },
      history: [{ op: 'add', text: 'Bob keeps walruses', key: 'agent:main:telegram:dm:bob', seq: Number(id.split('-')[0]) }],
    });
    expect(read.body.history[0].toRev).toBeGreaterThanOrEqual(read.body.history[0].fromRev);
    const missing = await as('ann')('GET', '/v1/memory/1-7');
    const theirs = await as('ann')('GET', `/v1/memory/${id}`);
    expect([theirs.status, theirs.body.detail, theirs.body.code]).toEqual([404, missing.body.detail, 'not_found']);
    expect((await as('ann')('DELETE', `/v1/memory/${id}`)).status).toBe(404);
  });

  test('people add and forget: each their own, the owner everything', async () => {
    const add = (name: Name, body: object) => as(name)('POST', '/v1/memory', { body });
    const own = await add('bob', { text: 'Bob is left-handed', scope: 'person' });
    expect(own).toMatchObject({ status: 201, body: { status: 'ok', scope: 'person:main:bob' } });
    expect((await as('bob')('GET', `/v1/memory/${own.body.id}`)).body).toMatchObject({ source: { by: 'person', person: 'bob' } });
    await vi.waitFor(async () => expect(await say('telegram:2', ask)).toContain('Bob is left-handed'));
    expect((await add('bob', { text: 'x', scope: 'agent' })).status).toBe(403);
    expect((await add('ann', { text: 'x', scope: 'person:main:bob' })).status).toBe(403);
    expect((await add('ann', { text: 'x', scope: 'session:agent:main:telegram:dm:bob' })).status).toBe(404);
    expect((await add('bob', { text: 'x', scope: 'session:agent:main:telegram:group:-5' })).status).toBe(403);
    expect((await add('reader', { text: 'x', scope: 'agent' })).status).toBe(403);
    expect((await add('owner', { text: 'x', scope: 'everybody' })).body).toMatchObject({ code: 'invalid', field: 'scope' });
    // Where nobody else reads of it.
    const { body } = await as('owner')('GET', `/v1/memory/${own.body.id}`);
    expect(body.source.key).toBe('agent:main:memory');
    expect((await as('bob')('GET', pathOf(body.source.key, '/commits'))).status).toBe(404);

    const gone = await as('bob')('DELETE', `/v1/memory/${own.body.id}?reason=no`);
    expect(gone).toMatchObject({ status: 200, body: { id: own.body.id, status: 'ok' } });
    expect((await as('bob')('GET', `/v1/memory/${own.body.id}`)).status).toBe(404);
    const rpc = (name: Name, method: string, params: object) => as(name)('POST', '/v1/rpc', { body: { method, params } });
    const listed = await rpc('bob', 'memory.list', { query: 'walrus' });
    expect(listed.body.result.memories).toMatchObject([{ text: 'Bob keeps walruses' }]);
    const [{ id }] = listed.body.result.memories;
    expect((await rpc('ann', 'memory.get', { id })).body).toMatchObject({ code: 'not_found' });
    expect((await rpc('ann', 'memory.forget', { id })).body).toMatchObject({ code: 'not_found' });
    expect((await rpc('bob', 'memory.get', { id })).body.result).toMatchObject({ id, history: [{ op: 'add' }] });
  });

  test('natter memory lists, searches, shows, adds and forgets', async () => {
    const natter = natterWith([memoryCommand], { home: '/nonexistent', now: () => Date.now() });
    const run = (...words: string[]) => natter('--url', gateway.url, '--token', secretOf('owner'), 'memory', ...words);
    expect(await run('add', 'Parking is behind the house', '--scope', 'agent')).toMatch(/^\d+-0 is remembered for agent:main\n$/);
    const listed = await run('list', '--scope', 'agent:main');
    expect(listed).toMatch(/^MEMORY +CHANGED +SCOPE +WHAT\n\d+-0 +(now|\d+s) +agent:main +Parking is behind the house/);
    const { memories } = JSON.parse(await run('search', 'parking', 'hou', '--json'));
    expect(memories).toMatchObject([{ text: 'Parking is behind the house', scope: 'agent:main' }]);
    const [{ id }] = memories;
    expect(await run('show', id)).toMatch(/add by person token:\S+, from agent:main:memory revs \d+–\d+ \(commit \d+\): Parking/);
    expect(await run('forget', id, '--reason', 'moved')).toBe(`${id} is forgotten\n`);
    await expect(run('show', id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('C9: with an erased session goes what came from it, on the disk too', async () => {
    const { body } = await as('owner')('GET', '/v1/memory?query=walruses');
    const [{ id }] = body.memories;
    const key = keyOf('telegram:dm:bob');
    const commandId = 'erase-it';
    const answer = ports.answers.wait(commandId, 10_000);
    await ports.commands.publish({
      ...{ id: commandId, key, at: Date.now(), correlationId: commandId, causationId: commandId, actor: 'test' },
      answerTo: ports.answers.address,
      data: { type: 'delete_session', mode: 'erased', reason: 'test' },
    });
    const seq = (await answer)?.seq ?? 0;
    const connection = await openConnection({ servers: server.url, name: 'eraser', requestTimeoutMs: 5_000 });
    const { events, snapshots, clock } = ports;
    const eraser = await openEraser({
      ...{ connection, events, snapshots, clock, requestTimeoutMs: 5_000, subjects: subjectsUnder('natter') },
    });
    expect(await eraser.erase(key, seq)).toMatchObject({ memories: 1 });
    await connection.close();
    expect(await ports.memory.get(id)).toBeNull();
    await vi.waitFor(async () => expect((await as('owner')('GET', `/v1/memory/${id}`)).status).toBe(404));
    await vi.waitFor(async () => expect(await say('discord:2', ask)).not.toContain('walruses'));
    // Made anew from the log it does not come back.
    await ports.memory.reset();
    await vi.waitFor(async () => expect(await ports.memory.position()).toBeGreaterThanOrEqual(seq));
    expect(await ports.memory.get(id)).toBeNull();
    const { body: after } = await as('owner')('GET', '/v1/memory');
    expect(after.memories.map(({ text }: { text: string }) => text)).toEqual(['The office is closed on Mondays']);
  });
});
