import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { diffCommand } from '../../../../services/cli/commands/sessions/diff.ts';
import { replayCommand } from '../../../../services/cli/commands/sessions/replay.ts';
import { historyOf } from '../../../../services/gateway/sessions/state.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { fold, initialState, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { differences } from '../../../../shared/kit/comparison.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { natterWith } from '../../../support/natter.ts';
import { openGateway } from '../access/access-rig.ts';
import { afterwards, type Call, pathOf, startWorld, token } from '../setup.ts';

const key = 'agent:main:main';
const say = (call: Call, text: string, to = key) => call('POST', pathOf(to, '/messages?wait=5'), { body: { text } });
const diff = async (call: Call, query: string) => (await call('GET', pathOf(key, `/diff?${query}`))).body;

/** Three turns of two commits each, with those of another session in between. */
const threeTurns = async () => {
  const world = await startWorld();
  for (const text of ['one', 'two', 'three']) {
    await say(world.call, text);
    await say(world.call, 'elsewhere', 'agent:main:cli:other');
  }
  const { commits } = (await world.call('GET', pathOf(key, '/commits'))).body as { commits: RecordedCommit[] };
  const shown = (count: number) => {
    const { status, context } = toPlain(commits.slice(0, count).reduce(fold, initialState));
    return { status, ...context };
  };
  return { ...world, commits, shown };
};

describe('GET /v1/sessions/{key}/diff', () => {
  test('I4: says for every two moments what our own fold of the log says, and what happened between them', async () => {
    const { call, commits, shown } = await threeTurns();
    for (let from = 0; from <= commits.length; from++) {
      for (let to = Math.max(1, from); to <= commits.length; to++) {
        const seqs = [from === 0 ? 0 : commits[from - 1]?.seq, commits[to - 1]?.seq] as const;
        const body = await diff(call, `from=${seqs[0]}&to=${seqs[1]}`);
        expect(body).toMatchObject({ key, from: { seq: seqs[0], rev: from }, to: { seq: seqs[1], rev: to }, more: false });
        expect(body.changes).toEqual(JSON.parse(JSON.stringify(differences(shown(from), shown(to)))));
        expect(body.events.map(({ type }: any) => type)).toEqual(
          commits.slice(from, to).flatMap(({ events }) => events.map(({ type }) => type)),
        );
      }
    }
  });

  test('goes to now without "to", and takes a sequence of another session or a time for a moment', async () => {
    const { call, commits } = await threeTurns();
    const [first, second] = commits as [RecordedCommit, RecordedCommit];
    const last = commits.at(-1)?.seq ?? 0;
    const all = await diff(call, 'from=0');
    expect(all).toMatchObject({ from: { seq: 0 }, to: { seq: last }, next: String(last) });
    expect(await diff(call, `from=0&to=${last + 1}`)).toEqual(all);
    expect(await diff(call, 'from=2001-01-01')).toEqual(all);
    const future = new Date(Date.now() + 60_000).toISOString();
    expect(await diff(call, `from=0&to=${future}`)).toEqual(all);
    expect(await diff(call, `from=${future}`)).toMatchObject({ changes: [], events: [], from: { seq: last } });
    expect(first.seq).toBeLessThan(second.seq);
  });

  test('has at most "limit" events; the rest is read from "next" on', async () => {
    const { call, commits } = await threeTurns();
    const all = (await diff(call, 'from=0')).events;
    for (const limit of [1, 2, 3, 4, all.length]) {
      const page = await diff(call, `from=0&limit=${limit}`);
      expect(page.more).toBe(limit < all.length);
      const rest = (await call('GET', pathOf(key, `/events?after=${page.next}&limit=1000`))).body.events;
      expect([...page.events, ...rest]).toEqual(all);
      expect(page.changes).toEqual((await diff(call, 'from=0')).changes);
    }
    expect(commits).toHaveLength(6);
  });

  test.each([
    ['', 400, 'from'],
    ['from=soon', 400, 'from'],
    ['from=1&to=later', 400, 'to'],
    ['from=1&from=2', 400, 'from'],
    ['from=-1', 400, 'from'],
    ['from=1&limit=0', 400, 'limit'],
    ['from=1&limit=1001', 400, 'limit'],
    ['from=1&at=2', 400, 'at'],
    ['from=5&to=1', 400, 'from'],
    ['from=2100-01-01&to=1', 400, 'from'],
    ['from=0&to=0', 404, 'to'],
    ['from=0&to=2001-01-01', 404, 'to'],
  ])('?%s is refused with %i and the name of the parameter', async (query, status, field) => {
    const { call } = await threeTurns();
    const answer = await call('GET', pathOf(key, `/diff?${query}`));
    expect([answer.status, answer.body.field]).toEqual([status, field]);
  });

  test('A8/87, 89: is told to those who see the session, and nothing of what was before its deletion but to the owner', async () => {
    const gateway = await openGateway();
    const group = 'agent:main:telegram:group:1';
    await gateway.said(group, ['telegram:1'], 'secret');
    await gateway.done(group, { type: 'delete_session', mode: 'key', reason: 'test' });
    const missing = await gateway.as.bob('GET', pathOf('agent:main:telegram:group:never', '/diff?from=0'));
    expect((await gateway.as.ann('GET', pathOf(group, '/diff?from=0'))).body.code).toBe('not_found');
    await gateway.said(group, ['telegram:1'], 'later');
    const ann = (await gateway.as.ann('GET', pathOf(group, '/diff?from=1'))).body;
    expect(ann).toMatchObject({ from: { seq: 0, rev: 0, at: 0 } });
    expect(JSON.stringify(ann)).not.toContain('secret');
    expect(ann.events.map(({ type }: any) => type)).toEqual(['session_opened', 'user_message']);
    expect((await gateway.as.ann('GET', pathOf(group, '/diff?from=0&to=1'))).body.code).toBe('not_found');
    expect(JSON.stringify((await gateway.as.owner('GET', pathOf(group, '/diff?from=0'))).body)).toContain('secret');
    const bob = await gateway.as.bob('GET', pathOf(group, '/diff?from=0'));
    expect({ ...bob.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
  });
});

describe('bounds of introspection', () => {
  test(`I11: a history of more than ${limits.replayCommits} commits is refused, one that is not read to its end is not told`, async () => {
    const last = { key, seq: limits.replayCommits + 1 } as RecordedCommit;
    const events = (count: number) => ({
      async *read() {
        for (let seq = 1; seq <= count; seq++) yield { key, seq } as RecordedCommit;
      },
    });
    const reading = async (count: number, upTo = last) => {
      let read = 0;
      for await (const _ of historyOf(events(count), upTo)) read++;
      return read;
    };
    await expect(reading(limits.replayCommits + 1)).rejects.toMatchObject({ code: 'history_too_long' });
    await expect(reading(limits.replayCommits)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await reading(10, { ...last, seq: 10 })).toBe(10);
  });

  test('I11: only so many calls of one token fold a history at a time', async () => {
    const { call, ports } = await threeTurns();
    // Otherwise the row would be brought up to date from the log, which is held up from here on.
    await vi.waitFor(async () => {
      const { seq, indexedSeq } = (await call('GET', pathOf(key))).body;
      expect(indexedSeq).toBe(seq);
    });
    const read = ports.events.read.bind(ports.events);
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    Object.assign(ports.events, {
      async *read(...given: Parameters<typeof read>) {
        await gate;
        yield* read(...given);
      },
    });
    const statuses: number[] = [];
    const ask = async (query: string) => statuses.push((await call('GET', pathOf(key, query))).status);
    const asked = Array.from({ length: 10 }, (_, index) => ask(index % 2 ? '/diff?from=0' : '/state?at=3'));
    await vi.waitFor(() => expect(statuses).toEqual(Array(10 - limits.replaysEach).fill(429)));
    letGo();
    await Promise.all(asked);
    expect(statuses.filter((status) => status === 200)).toHaveLength(limits.replaysEach);
    expect((await call('GET', pathOf(key, '/diff?from=0'))).status).toBe(200);
  });
});

describe('GET /v1/sessions/{key}/state?at=', () => {
  test('I4: begins with a snapshot that is old enough, and says the same as the log', async () => {
    const { call, ports, commits } = await threeTurns();
    const snapshot = toPlain(commits.slice(0, 2).reduce(fold, initialState));
    const ask = async (seq: number) => (await call('GET', pathOf(key, `/state?at=${seq}`))).body;
    const before = await Promise.all(commits.slice(0, 3).map(({ seq }) => ask(seq)));
    await ports.snapshots.put(key as never, snapshot);
    const after = await Promise.all(commits.slice(0, 3).map(({ seq }) => ask(seq)));
    expect(after.map(({ from }) => from)).toEqual(['log', 'snapshot', 'snapshot']);
    expect(after.map(({ from: _, ...state }) => state)).toEqual(before.map(({ from: _, ...state }) => state));
  });
});

describe('natter', () => {
  test('diff and replay tell of the past of a session, for people and for programs', async () => {
    const { gateway, commits } = await threeTurns();
    const home = mkdtempSync(join(tmpdir(), 'natter-diff-'));
    afterwards(async () => rmSync(home, { recursive: true }));
    const natter = natterWith([diffCommand, replayCommand], { home, env: { NATTER_URL: gateway.url, NATTER_TOKEN: token } });
    const [, second, third] = commits as [RecordedCommit, RecordedCommit, RecordedCommit];
    const told = await natter('diff', key, '--from', `${second.seq}`, '--to', `${third.seq}`);
    expect(told).toContain('user_message');
    expect(told).toContain('messages: 2 → 3');
    expect(told).not.toContain('three');
    const json = JSON.parse(await natter('diff', key, '--from', '0', '--limit', '1', '--json'));
    expect(json).toMatchObject({ key, more: true, events: [{ type: 'session_opened' }] });
    expect(JSON.parse(await natter('replay', key, '--at', `${third.seq}`, '--json'))).toMatchObject({
      identical: true,
      commits: 3,
      state: { position: { seq: third.seq } },
    });
    await expect(natter('diff', key, '--from', 'soon')).rejects.toMatchObject({ code: 'invalid' });
  });
});
