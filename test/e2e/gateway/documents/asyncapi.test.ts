import { readFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { asyncApiDocument } from '../../../../services/gateway/protocols/asyncapi/document.ts';
import { openNats } from '../../../../shared/adapters/nats/open.ts';
import { auditKinds } from '../../../../shared/domain/access/audit.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import { sessionEvent } from '../../../../shared/domain/session/events.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { AuditRecord } from '../../../../shared/ports/audit-log.ts';
import type { CustodyRecord } from '../../../../shared/ports/custody-log.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { decode } from '../../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../../shared/wire/topology.ts';
import { commitTo, unrecorded } from '../../../support/domain/commits.ts';
import { corpus, readCommits } from '../../../support/domain/golden.ts';
import { startServer } from '../../../support/nats.ts';
import { provisionFor } from '../../../support/system.ts';
import { startWorld } from '../setup.ts';

const root = new URL('../../../../', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const documentOf = (prefix: string) => JSON.parse(JSON.stringify(asyncApiDocument(version, prefix)));
const document = documentOf('natter');

/** What the document's own words let through. */
const validator = (schema: any): z.ZodType => {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/')));
};
const schemaOf = (name: string) => validator(document.components.schemas[name]);
const problemsOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues ?? [];

test('docs/integrate/asyncapi.json is what the schemas and subjects say', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(`${root}docs/integrate/asyncapi.json`);
});

test('GET /v1/asyncapi.json serves it to whoever has a token', async () => {
  const { call } = await startWorld();
  const served = await call('GET', '/v1/asyncapi.json');
  expect(served.body).toEqual({ ...document, info: { ...document.info, version: '0.0.0-test' } });
  expect((await call('GET', '/v1/asyncapi.json?x=1')).body).toMatchObject({ code: 'invalid', field: 'x' });
  expect((await call('GET', '/v1/asyncapi.json', { headers: { authorization: 'Bearer no' } })).status).toBe(401);
});

describe('the document is AsyncAPI 3.0', () => {
  const to = (place: string) => z.strictObject({ $ref: z.string().regex(new RegExp(`^#/${place}/[A-Za-z_./0-9]+$`)) });
  const schema = z.looseObject({ type: z.string().optional(), properties: z.record(z.string(), z.unknown()).optional() });
  const nats = z.strictObject({ nats: z.strictObject({ queue: z.string().optional(), bindingVersion: z.literal('0.1.0') }) });
  const name = z.string().regex(/^[A-Za-z0-9._-]+$/);
  const asyncApi = z.strictObject({
    asyncapi: z.literal('3.0.0'),
    info: z.strictObject({
      title: z.string(),
      version: z.string(),
      description: z.string(),
      license: z.strictObject({ name: z.string() }),
    }),
    defaultContentType: z.literal('application/msgpack'),
    servers: z.record(
      name,
      z.strictObject({
        host: z.string(),
        protocol: z.literal('nats'),
        description: z.string(),
        variables: z.record(name, z.strictObject({ default: z.string() })),
      }),
    ),
    channels: z.record(
      name,
      z.strictObject({
        address: z.string().nullable(),
        summary: z.string().min(1),
        messages: z.record(name, to('components/messages')),
        parameters: z.record(name, to('components/parameters')).optional(),
        'x-jetstream-stream': z.string().optional(),
      }),
    ),
    operations: z.record(
      name,
      z.strictObject({
        action: z.enum(['send', 'receive']),
        summary: z.string(),
        channel: to('channels'),
        messages: z.array(to('channels')).min(1),
        bindings: nats,
        tags: z.array(z.strictObject({ name: z.string() })).optional(),
        reply: z
          .strictObject({
            address: z.strictObject({ location: z.string().regex(/^\$message\.payload#\/\w+$/) }),
            channel: to('channels'),
            messages: z.array(to('channels')).min(1),
          })
          .optional(),
      }),
    ),
    components: z.strictObject({
      schemas: z.record(name, schema),
      messages: z.record(
        name,
        z.strictObject({
          name,
          summary: z.string().min(1),
          contentType: z.literal('application/msgpack'),
          payload: to('components/schemas'),
          headers: schema.extend({ type: z.literal('object') }).optional(),
          correlationId: z.strictObject({ location: z.string().startsWith('$message.payload#/') }).optional(),
        }),
      ),
      parameters: z.record(
        name,
        z.strictObject({
          description: z.string(),
          enum: z.array(z.string()).optional(),
          examples: z.array(z.string()).optional(),
        }),
      ),
    }),
  });

  test('in its structure', () => expect(asyncApi.safeParse(document).error?.issues ?? []).toEqual([]));

  test('every reference leads somewhere, and every component is used', () => {
    const references = new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path));
    const lead = [...references].map((path) => path.split('/').reduce((at: any, part) => at?.[part], document));
    expect(lead.every((target) => typeof target === 'object' && target !== null)).toBe(true);
    const { schemas, messages, parameters } = document.components;
    const all = Object.entries({ schemas, messages, parameters }).flatMap(([kind, named]) =>
      Object.keys(named).map((one) => `components/${kind}/${one}`),
    );
    expect(all.length).toBeGreaterThan(50);
    expect(all.filter((path) => !references.has(path))).toEqual([]);
    expect(Object.keys(document.channels).filter((one) => !references.has(`channels/${one}`))).toEqual([]);
  });

  test('the parameters of a channel are those of its address, and replies name a field of the payload', () => {
    for (const { address, parameters = {} } of Object.values<any>(document.channels)) {
      const named = [...(address ?? '').matchAll(/\{(\w+)\}/g)].map(([, one]) => one);
      expect(Object.keys(parameters)).toEqual(named);
    }
    for (const { reply, channel } of Object.values<any>(document.operations)) {
      if (reply === undefined) continue;
      const [message] = Object.keys(document.channels[channel.$ref.split('/')[2]].messages);
      const field = reply.address.location.split('/')[1];
      expect(Object.keys(document.components.schemas[message ?? ''].properties)).toContain(field);
    }
  });

  test('every schema is one that a validator can read, and says draft-07', () => {
    for (const one of Object.keys(document.components.schemas)) expect(() => schemaOf(one)).not.toThrow();
    expect(JSON.stringify(document)).not.toMatch(/"prefixItems"|"\$defs"|"\$schema"/);
  });
});

describe('the document says what is there', () => {
  test('each event type and version, those of the golden corpus too, and no other', () => {
    const current = sessionEvent.options.map(({ shape }) => `event.${shape.type.value}.v${shape.v.value}`);
    const described = Object.keys(document.components.schemas).filter((one) => one.startsWith('event.'));
    expect(described.sort()).toEqual([...current].sort());
    for (const golden of corpus()) {
      for (const commit of readCommits(golden).map(unrecorded)) {
        expect(problemsOf(schemaOf('commit'), commit)).toEqual([]);
        for (const event of commit.events) expect(problemsOf(schemaOf(`event.${event.type}.v${event.v}`), event)).toEqual([]);
      }
    }
  });

  test('what is no such message is refused', () => {
    const commit = unrecorded(readCommits(corpus()[0]!)[0]!);
    const wrong = [{ rev: 0 }, { events: [] }, { events: [{ type: 'tea_made', v: 1 }] }, { key: undefined }];
    for (const change of wrong) expect(problemsOf(schemaOf('commit'), { ...commit, ...change })).not.toEqual([]);
  });

  const key = 'agent:main:whatsapp:group:120363@g.us' as SessionKey;
  const target = { channel: 'irc', to: '#a b', accountId: 'work' };
  const samples = (prefix: string): Readonly<Record<string, readonly string[]>> => {
    const subjects = subjectsUnder(prefix);
    return {
      commits: [subjects.event('user_message', key), subjects.event('notice', 'main' as SessionKey)],
      liveText: [subjects.live(key)],
      joins: [subjects.join],
      inbound: [subjects.inbound('irc', '#a.b:c')],
      commands: [subjects.command(key)],
      checkpoints: [subjects.checkpoint(key)],
      deliveries: [subjects.delivery('sending', target), subjects.delivery('failed', { channel: 'irc', to: '界'.repeat(512) })],
      resumes: [subjects.resume],
      deadLetters: [subjects.dead('router', 'irc'), subjects.dead('session', '')],
      audit: auditKinds.map((kind) => subjects.audit(kind)),
    };
  };

  test.each([['natter'], ['my.system-2']])('the subjects of the code, under prefix %s', (prefix) => {
    const { channels } = documentOf(prefix);
    const addressed = Object.entries<any>(channels).filter(([, { address }]) => address !== null);
    expect(addressed.map(([one]) => one).sort()).toEqual(Object.keys(samples(prefix)).sort());
    for (const [one, { address }] of addressed) {
      const escaped = address.replaceAll('.', '\\.');
      const pattern = escaped.replaceAll('{keyPath}', '[A-Za-z0-9_%.-]+').replaceAll(/\{\w+\}/g, '[A-Za-z0-9_%:~-]+');
      for (const subject of samples(prefix)[one] ?? []) expect(subject).toMatch(new RegExp(`^${pattern}$`));
    }
  });

  test('every stream but those of timers, probes, buckets and objects, by the subjects it takes', () => {
    const { streams } = topologyOf(subjectsUnder('natter'), { replicas: 1, partitions: 4 });
    const kept = Object.values<any>(document.channels).flatMap((channel) => channel['x-jetstream-stream'] ?? []);
    const named = streams.map(({ name }) => name).filter((one) => !/^KV_|^OBJ_|_(TIMERS|PROBE)$/.test(one));
    expect(kept.sort()).toEqual(named.sort());
  });
});

test('what is on a real broker is as the document says: a commit, a custody record and an audit record, headers too', async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const config = { ...configSchema.parse({}), dataDir: '/nowhere' } as Config;
  await provisionFor(server, { ...config.nats, memoryConsumers: true });
  const ports = await openNats(config, { name: 'test', clock: systemClock, servers: server.url });
  onTestFinished(() => ports.close());
  const commit = commitTo('agent:main:whatsapp:group:120363@g.us' as SessionKey);
  const target = { channel: 'irc', to: '#a b' };
  const custody: CustodyRecord = {
    ...{ v: 1, outboundId: '1.0', outboundSeq: 1, key: commit.key, target, state: 'sending', attempt: 1, at: Date.now() },
  };
  const audit: AuditRecord = { v: 1, at: Date.now(), kind: 'token_created', actor: 'token:api', outcome: 'ok', count: 1 };
  expect((await ports.events.append(commit, 0)).kind).toBe('stored');
  await ports.custody.append(custody, 0);
  await ports.audit.append(audit);

  const reader = await connect({ servers: server.url });
  onTestFinished(() => reader.close());
  const manager = await jetstreamManager(reader, { checkAPI: false });
  for (const [channel, message] of [
    ['commits', 'commit'],
    ['deliveries', 'custodyRecord'],
    ['audit', 'auditRecord'],
  ] as const) {
    const stream = document.channels[channel]['x-jetstream-stream'];
    const stored = await manager.streams.getMessage(stream, { seq: 1 });
    expect(problemsOf(schemaOf(message), decode(stored!.data))).toEqual([]);
    const headers = Object.fromEntries([...(stored!.header ?? [])].map(([name, values]) => [name, values.at(-1)]));
    const { headers: described = {} } = document.components.messages[message];
    expect(problemsOf(validator(described), headers)).toEqual([]);
  }
});
