import { expect, test } from 'vitest';
import type { Name } from '../gateway/access/access-rig.ts';
import { pathOf } from '../gateway/setup.ts';
import { startWhole, type Whole } from './whole.ts';

/**
 * Two people write by direct message under the scopes that part them, with live text, commands and a reset, and each then asks the API for
 * all it has, with the token of a participant (A3/26-29, A5/67, A8/89).
 */
const people = {
  ann: { from: ['telegram:1'], canary: 'heron' },
  /** Linked: one person under one name, on two channels. */
  bob: { from: ['telegram:2', 'discord:2'], canary: 'walrus' },
} as const;
type Person = keyof typeof people;
const both = ['ann', 'bob'] as const;

const scopes = [
  ['per-peer', { ann: ['agent:main:dm:1'], bob: ['agent:main:dm:bob'] }],
  ['per-channel-peer', { ann: ['agent:main:telegram:dm:1'], bob: ['agent:main:telegram:dm:bob', 'agent:main:discord:dm:bob'] }],
  [
    'per-account-channel-peer',
    {
      ann: ['agent:main:telegram:default:dm:1'],
      bob: ['agent:main:telegram:default:dm:bob', 'agent:main:discord:default:dm:bob'],
    },
  ],
] as const;

const talk = async ({ say, settled, until, as }: Whole, keys: Record<Person, readonly string[]>): Promise<void> => {
  for (const text of ['[[think 20]] [[steps 2]] my', '/new again, my', '/status', '[[fail]] my', 'my last']) {
    for (const who of both) {
      const { from, canary } = people[who];
      for (const id of from) await say(id, text === '/status' ? text : `${text} ${canary}`);
    }
  }
  await settled();
  await until(async () => {
    const { body } = await as.owner('GET', '/v1/sessions?status=all');
    const rows = body.sessions.filter(({ lastMessagePreview }: any) => lastMessagePreview.startsWith('You said: my last'));
    expect(rows).toHaveLength([...keys.ann, ...keys.bob].length);
  });
};

/** Everything the API has for a caller who knows all keys and runs, as one text. */
const everything = async ({ as, commitsOf }: Whole, name: Name, keys: readonly string[]): Promise<string> => {
  const call = as[name];
  const rpc = (method: string, params: object) => call('POST', '/v1/rpc', { body: { method, params } });
  const answers = [
    call('GET', '/v1/sessions?status=all'),
    call('GET', '/v1/events?after=0&limit=1000'),
    call('GET', '/metrics'),
    rpc('sessions.list', { messageLimit: 20, status: 'all' }),
    rpc('status', {}),
  ];
  for (const key of keys) {
    const commits = await commitsOf(key);
    const runs = commits.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'turn_started' ? [event.turn.id] : [])),
    );
    const reads = ['', '/messages', '/events', '/commits', '/state', `/state?at=${commits.at(-1)?.seq}`];
    answers.push(
      ...[...reads, ...runs.map((run) => `/runs/${run}`)].map((path) => call('GET', pathOf(key, path))),
      rpc('chat.history', { sessionKey: key }),
      ...runs.map((runId) => rpc('agent.wait', { sessionKey: key, runId, timeoutMs: 0 })),
    );
  }
  return (await Promise.all(answers)).map(({ text }) => text).join('\n');
};

/** The streams a person may try, opened before anybody speaks. */
const listen = async ({ stream }: Whole, name: Name, keys: readonly string[]) => {
  const streams = await Promise.all([
    stream(name, '/v1/events'),
    ...keys.map((key) => stream(name, pathOf(key, '/events?deltas=1'))),
  ]);
  return () => JSON.stringify(streams.map(({ messages, comments, status }) => ({ messages, comments, status })));
};

test.each(scopes)(
  'A3/26-28, A5/67, A8/89: under %s each sees their own words and not a byte of the other’s',
  async (dmScope, keys) => {
    const whole = await startWhole({ session: { dmScope } });
    const all = [...keys.ann, ...keys.bob];
    const heard = { ann: await listen(whole, 'ann', all), bob: await listen(whole, 'bob', all) };
    await talk(whole, keys);
    const backlog = {
      ann: [await whole.stream('ann', '/v1/events?after=0')],
      bob: [await whole.stream('bob', '/v1/events?after=0')],
    };
    for (const key of all)
      for (const who of both) backlog[who].push(await whole.stream(who, pathOf(key, '/events?after=0&deltas=1')));

    for (const who of both) {
      const other = who === 'ann' ? 'bob' : 'ann';
      const { canary } = people[who];
      const texts = {
        asked: await everything(whole, who, all),
        heard: heard[who](),
        again: '',
      };
      await whole.until(() => {
        texts.again = JSON.stringify(backlog[who].map(({ messages }) => messages));
        expect(texts.again.split(`You said: my last ${canary}`).length - 1).toBeGreaterThanOrEqual(2 * keys[who].length);
        texts.heard = heard[who]();
        expect(texts.heard).toContain(`You said: my last ${canary}`);
      });
      expect(texts.heard).toContain('event":"delta');
      for (const [gateway, text] of Object.entries(texts)) {
        expect([gateway, text.includes(canary)]).toEqual([gateway, true]);
        expect([gateway, text.includes(people[other].canary)]).toEqual([gateway, false]);
        // Not that there is such a session either: who asks for it by its key is told what a stranger's guess is told.
        if (gateway !== 'asked')
          for (const key of keys[other]) expect([gateway, text.includes(JSON.stringify(key))]).toEqual([gateway, false]);
      }
      const list = (await whole.as[who]('GET', '/v1/sessions?status=all')).body.sessions;
      expect(list.map(({ key }: { key: string }) => key).sort()).toEqual([...keys[who]].sort());
      for (const key of keys[other]) {
        const refused = { status: 404, body: { code: 'not_found' } };
        expect(await whole.as[who]('POST', pathOf(key, '/messages'), { body: { text: 'let me in' } })).toMatchObject(refused);
        expect(await whole.as[who]('GET', pathOf(key))).toMatchObject(refused);
      }
    }
    const everyone = await everything(whole, 'owner', all);
    for (const who of both) expect(everyone).toContain(people[who].canary);
  },
);
