import { describe, expect, test } from 'vitest';
import { methods } from '../../../services/gateway/rpc-methods.ts';
import type { Change } from '../../../shared/policy/access.ts';
import { bytesOf, type Door, type Name, names, startDoor } from './access-rig.ts';
import { ofNoSession, type RegisteredRoute, registeredRoutes } from './registered-routes.ts';
import { pathOf } from './setup.ts';

/** Principal × route × relation, every cell against the real server, each with a session of its own (A5/67, A8/87–90, C14). */

/** How a session stands to those who call. `cell` makes its key its own. */
const relations = {
  'a direct session of ann': (door: Door, cell: string) => door.said(`agent:main:telegram:${cell}:dm:1`, ['telegram:1']),
  'a group of ann and bob': (door: Door, cell: string) =>
    door.said(`agent:main:telegram:group:${cell}`, ['telegram:1', 'telegram:2']),
  'a group of bob elsewhere': (door: Door, cell: string) => door.said(`agent:main:discord:group:${cell}`, ['discord:2']),
  'a session of strangers': (door: Door, cell: string) => door.said(`agent:main:telegramx:dm:${cell}`, ['telegramx:9']),
  'a deleted group of ann': async (door: Door, cell: string) => {
    await door.said(`agent:main:telegram:group:gone-${cell}`, ['telegram:1']);
    await door.done(`agent:main:telegram:group:gone-${cell}`, { type: 'delete_session', mode: 'key', reason: 'test' });
  },
  'a session that never was': async () => {},
  'the direct session eve may begin': async () => {},
} as const;
type Relation = keyof typeof relations;
const keyOf: Readonly<Record<Relation, (cell: string) => string>> = {
  'a direct session of ann': (cell) => `agent:main:telegram:${cell}:dm:1`,
  'a group of ann and bob': (cell) => `agent:main:telegram:group:${cell}`,
  'a group of bob elsewhere': (cell) => `agent:main:discord:group:${cell}`,
  'a session of strangers': (cell) => `agent:main:telegramx:dm:${cell}`,
  'a deleted group of ann': (cell) => `agent:main:telegram:group:gone-${cell}`,
  'a session that never was': (cell) => `agent:main:telegram:group:never-${cell}`,
  'the direct session eve may begin': (cell) => `agent:main:telegram:${cell}:dm:9`,
};
const isThere = (relation: Relation): boolean =>
  !['a deleted group of ann', 'a session that never was', 'the direct session eve may begin'].includes(relation);

/** Who sees what: written down, not computed. The owner sees whatever is there. */
const seen: Readonly<Record<Name, readonly Relation[]>> = {
  owner: (Object.keys(relations) as Relation[]).filter(isThere),
  second: (Object.keys(relations) as Relation[]).filter(isThere),
  ann: ['a direct session of ann', 'a group of ann and bob'],
  bob: ['a group of ann and bob', 'a group of bob elsewhere'],
  eve: [],
  telegram: ['a direct session of ann', 'a group of ann and bob'],
  discord: ['a group of bob elsewhere'],
  annAtTelegram: ['a direct session of ann', 'a group of ann and bob'],
  admin: (Object.keys(relations) as Relation[]).filter(isThere),
  reader: (Object.keys(relations) as Relation[]).filter(isThere),
  approver: [],
  approverAtTelegram: [],
};
const isOwner = (name: Name): boolean => ['owner', 'second', 'admin'].includes(name);
const seesAll = (name: Name): boolean => isOwner(name) || name === 'reader';
/** Whose role changes nothing of sessions, whatever they are. */
const changesNothing = (name: Name): boolean => ['reader', 'approver', 'approverAtTelegram'].includes(name);

type Expected = readonly [status: number, code?: string];
const ok: Expected = [200];
const notFound: Expected = [404, 'not_found'];
const forbidden: Expected = [403, 'forbidden'];

/** What a caller finds: the session (`there`), a place where it may begin one (`may begin`), or nothing. */
type Finds = 'there' | 'may begin' | 'nothing';
const finds = (name: Name, relation: Relation): Finds => {
  if (seen[name].includes(relation)) return 'there';
  return seesAll(name) || (name === 'eve' && relation === 'the direct session eve may begin') ? 'may begin' : 'nothing';
};
const reading = (found: Finds): Expected => (found === 'there' ? ok : notFound);
const writing =
  (there: Expected, begun: Expected = there) =>
  (found: Finds): Expected =>
    found === 'there' ? there : found === 'may begin' ? begun : notFound;

interface Route {
  readonly method: string;
  readonly path: (key: string, run: string) => string;
  /** What it changes, for those whose role changes nothing of it. Default: sessions, with all but `GET`. */
  readonly changes?: Change;
  readonly body?: object | ((key: string, run: string) => object);
  readonly expected: (found: Finds, name: Name, relation: Relation) => Expected;
}
const at = (rest: string) => (key: string) => pathOf(key, rest);
/** A method by name, about the session. */
const rpc = (method: string, expected: Route['expected'], more: object = {}, name = 'key'): Route => ({
  method: 'POST',
  ...(['chat.history', 'agent.wait'].includes(method) && { changes: 'nothing' as const }),
  path: () => '/v1/rpc',
  body: (key) => ({ method, params: { [name]: key, ...more } }),
  expected,
});
const get = (rest: string): Route => ({ method: 'GET', path: at(rest), expected: reading });
/** What a deleted session has left behind is the owner's to read, the run that deleted it too. */
const runs: Route['expected'] = (found, name, relation) =>
  seesAll(name) && relation === 'a deleted group of ann' ? ok : reading(found);
const deleting: Route['expected'] = (found, name, relation) => {
  if (name === 'telegram' || name === 'discord') return forbidden;
  if (found !== 'there') return notFound;
  return relation.includes('group') ? [409, 'session_retained'] : ok;
};
const deletingKey: Route['expected'] = (found, name) => (isOwner(name) ? reading(found) : forbidden);
const routes: Readonly<Record<string, Route>> = {
  row: get(''),
  messages: get('/messages'),
  'messages, paged': get('/messages?after=1&limit=1'),
  commits: get('/commits'),
  state: get('/state'),
  diff: get('/diff?from=0'),
  'state, long ago': { method: 'GET', path: at('/state?at=2001-01-01'), expected: () => notFound },
  events: get('/events'),
  'a run': { method: 'GET', path: (key, run) => pathOf(key, `/runs/${run}`), expected: runs },
  'a run, waited for': { method: 'GET', path: (key, run) => pathOf(key, `/runs/${run}?wait=0.01`), expected: runs },
  'a run that never was': { method: 'GET', path: at('/runs/nothing'), expected: () => notFound },
  post: { method: 'POST', path: at('/messages'), body: { text: 'hi' }, expected: writing([202]) },
  'post and wait': { method: 'POST', path: at('/messages?wait=5'), body: { text: 'hi' }, expected: writing(ok) },
  append: { method: 'POST', path: at('/messages'), body: { text: 'hi', mode: 'append' }, expected: writing([202]) },
  'post later': {
    method: 'POST',
    path: at('/messages'),
    body: { text: 'hi', sendAt: Date.now() + 3_600_000 },
    expected: writing([202]),
  },
  stop: { method: 'POST', path: at('/stop'), expected: writing(ok) },
  compact: { method: 'POST', path: at('/compact'), expected: (found) => (found === 'there' ? [202] : notFound) },
  checkpoint: { method: 'POST', path: at('/checkpoint'), expected: (found) => (found === 'there' ? [202] : notFound) },
  fork: { method: 'POST', path: at('/fork'), expected: reading },
  'fork, long ago': { method: 'POST', path: at('/fork'), body: { atTime: '2001-01-01' }, expected: () => notFound },
  'sessions.checkpoint': rpc('sessions.checkpoint', reading),
  'sessions.fork': rpc('sessions.fork', reading),
  'answer an approval that never was': {
    method: 'POST',
    path: () => '/v1/approvals/never',
    changes: 'approvals',
    body: (key) => ({ verdict: 'deny', sessionKey: key }),
    expected: () => [404, 'approval_unknown'],
  },
  reset: { method: 'POST', path: at('/reset'), expected: writing(ok, [404, 'session_unknown']) },
  open: { method: 'POST', path: at('/open'), expected: writing(ok) },
  patch: { method: 'PATCH', path: at(''), body: { displayName: 'x' }, expected: reading },
  delete: { method: 'DELETE', path: at(''), expected: deleting },
  'delete the key': { method: 'DELETE', path: at('?mode=key'), expected: deletingKey },
  'chat.history': rpc('chat.history', reading, {}, 'sessionKey'),
  'chat.send': rpc('chat.send', writing(ok), { message: 'hi' }, 'sessionKey'),
  agent: rpc('agent', writing(ok), { message: 'hi', timeoutSeconds: 5 }, 'sessionKey'),
  'agent.wait': {
    ...rpc('agent.wait', runs),
    body: (key, runId) => ({ method: 'agent.wait', params: { sessionKey: key, runId, timeoutMs: 10 } }),
  },
  'agent.wait, by a run that never was': {
    ...rpc('agent.wait', () => notFound),
    body: (key) => ({ method: 'agent.wait', params: { runId: `${Buffer.from(key).toString('base64url')}.x`, timeoutMs: 0 } }),
  },
  'the UI message stream': {
    method: 'POST',
    path: () => '/v1/ui/chat',
    body: (id) => ({ id, messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] }),
    expected: writing(ok),
  },
  'the UI message stream, resumed': {
    method: 'GET',
    path: (key) => `/v1/ui/chat/${encodeURIComponent(key)}/stream`,
    expected: (found) => (found === 'nothing' ? notFound : [204]),
  },
  'AG-UI': {
    method: 'POST',
    path: () => '/v1/agui',
    body: (threadId) => ({ threadId, runId: 'r', messages: [{ id: 'm', role: 'user', content: 'hi' }] }),
    expected: writing(ok),
  },
  'sessions.reset': rpc('sessions.reset', reading),
  'sessions.compact': rpc('sessions.compact', reading, { timeoutSeconds: 0 }),
  'sessions.patch': rpc('sessions.patch', reading, { displayName: 'x' }),
  'sessions.patch of the send policy': rpc(
    'sessions.patch',
    (found, name) => (found === 'there' && !isOwner(name) ? [403, 'forbidden'] : reading(found)),
    { sendPolicy: 'deny' },
  ),
  'sessions.delete': rpc('sessions.delete', deleting),
  'sessions.delete of the key': rpc('sessions.delete', deletingKey, { mode: 'key' }),
};

/** Whether the role says no before anybody looks at the session. */
const isRuledOut = ({ method, changes = method === 'GET' ? 'nothing' : 'sessions' }: Route, name: Name): boolean =>
  changes !== 'nothing' && changesNothing(name) && !(changes === 'approvals' && name !== 'reader');

const each = <T extends string>(values: readonly T[]) => values.map((value) => [value] as const);

describe('access matrix', () => {
  test('has every route, and every method by name, that is about one session', async () => {
    const asked = Object.values(routes).map(({ method, path }) => `${method} ${path('key', 'run').split('?')[0]}`);
    const isAsked = ({ method, url }: RegisteredRoute): boolean => {
      const pattern = new RegExp(`^${method} ${url.replaceAll(/:\w+/g, '[^/]+')}$`);
      return asked.some((each) => pattern.test(each));
    };
    expect((await registeredRoutes()).filter((route) => !ofNoSession.has(route.url) && !isAsked(route))).toEqual([]);
    const names = Object.keys(routes).map((what) => what.split(/[, ]/)[0]);
    expect(Object.keys(methods).filter((name) => !ofNoSession.has(name) && !names.includes(name))).toEqual([]);
  });

  test('every relation is seen by somebody and hidden from somebody else, or is there for nobody', () => {
    for (const relation of Object.keys(relations) as Relation[]) {
      const who = names.filter((name) => seen[name].includes(relation));
      expect(isThere(relation) ? who.length > 1 && who.length < names.length : who.length === 0, relation).toBe(true);
    }
  });

  test.each(each(Object.keys(routes)))('A8/89-90: %s', async (what) => {
    const route = routes[what] as Route;
    const door = await startDoor();
    const wrong: object[] = [];
    const hidden = new Set<string>();
    for (const name of names) {
      for (const relation of Object.keys(relations) as Relation[]) {
        const cell = `c-${name.toLowerCase()}`;
        await relations[relation](door, cell);
        const [key, run] = [keyOf[relation](cell), door.lastRun()];
        const body = typeof route.body === 'function' ? route.body(key, run) : (route.body ?? {});
        const answer = await door.as[name](
          route.method,
          route.path(key, run),
          'POST PATCH'.includes(route.method) ? { body } : {},
        );
        const found = finds(name, relation);
        const expected = isRuledOut(route, name) ? forbidden : route.expected(found, name, relation);
        const got = [answer.status, answer.body?.code];
        if (got[0] !== expected[0] || got[1] !== expected[1]) wrong.push({ name, relation, expected, got, text: answer.text });
        if (found === 'nothing' && answer.status === 404) hidden.add(bytesOf(answer));
      }
    }
    expect(wrong).toEqual([]);
    // Foreign, deleted and missing sessions get one and the same answer, whoever asks.
    expect(hidden.size).toBe(route.expected === deletingKey ? 0 : 1);
  });

  test('A8/89: streams begin for those who may see or begin the session, and for nobody else', async () => {
    const door = await startDoor();
    for (const name of names) {
      for (const relation of Object.keys(relations) as Relation[]) {
        const cell = `c-${name.toLowerCase()}`;
        await relations[relation](door, cell);
        const stream = await door.stream(name, pathOf(keyOf[relation](cell), '/events'));
        stream.close();
        expect({ name, relation, status: stream.status }).toEqual({
          name,
          relation,
          status: finds(name, relation) === 'nothing' ? 404 : 200,
        });
      }
    }
  });
});
