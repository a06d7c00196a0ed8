import pino from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { createProjection } from '../../../services/checkpoint/session-index/projection.ts';
import { eraseSession } from '../../../services/cli/runtime/erasure.ts';
import { deliveryLimits } from '../../../services/delivery/delivery-limits.ts';
import { createDeliveryLog } from '../../../services/delivery/delivery-log.ts';
import { createDeliveryWorker } from '../../../services/delivery/delivery-worker.ts';
import { createErasures } from '../../../services/delivery/erasures.ts';
import { ParkedAccounts } from '../../../services/delivery/parked-accounts.ts';
import { EventFeed } from '../../../services/gateway/context/event-feed.ts';
import { loadState } from '../../../services/session/host/load.ts';
import { Conversations } from '../../../services/session/prompt/conversations.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { fold, initialState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import type { SendResult } from '../../../shared/ports/outlet.ts';
import {
  commitTo,
  freshKey,
  recorded,
  sessionDeactivated,
  turnCompleted,
  turnStarted,
  userMessage,
} from '../../support/domain/commits.ts';

/** Readers of a session that was erased while they were behind, in the middle of it, or away. */

const openedAs = (generation: number): SessionEvent => ({
  ...{ type: 'session_opened', v: 1, sessionId: `s${generation}`, generation },
  source: { kind: 'api', interactive: false },
});
const deleted = (mode: 'key' | 'erased'): SessionEvent => ({
  ...{ type: 'session_deleted', v: 1, mode, sessionId: 's1', generation: 1, epoch: 1, turnIds: [], reason: 'asked for' },
});

/** Two messages, the end of that session, and a message of the next: four commits. */
const story = async (mode: 'key' | 'erased' = 'erased') => {
  const system = openInMemory({ clock: systemClock });
  const ports = system.portsFor('test');
  const key = freshKey();
  const turns: [SessionEvent[], number][] = [
    [[openedAs(1), userMessage('a secret', 'm1')], 0],
    [[userMessage('another secret', 'm2')], 0],
    [[deleted(mode)], 1],
    [[openedAs(2), userMessage('hello', 'm3'), turnStarted()], 1],
    [[turnCompleted(), sessionDeactivated()], 1],
  ];
  const commits: RecordedCommit[] = [];
  const record = async (upTo: number): Promise<void> => {
    for (const [events, epoch] of turns.slice(commits.length, upTo)) {
      const commit = commitTo(key, { rev: commits.length + 1, epoch, at: 1_000 + commits.length, events });
      const result = await ports.events.append(commit, commits.at(-1)?.seq ?? 0);
      if (result.kind === 'stored') commits.push(recorded(commit, result.seq));
    }
  };
  return { system, ports, key, commits, record };
};

describe('an erasure', () => {
  test('C9: is not begun when the audit trail cannot be written', async () => {
    const { system, ports, key, record } = await story();
    await record(2);
    const audit = { ...ports.audit, append: () => Promise.reject(new NatterError('unavailable', 'away')) };
    const request = { key, actor: 'operator:me', reason: 'asked for', recorded: async () => {} };
    await expect(eraseSession({ ...ports, audit }, system.eraser, request)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await ports.commands.lag()).toBe(0);
    expect((await ports.events.last(key))?.rev).toBe(2);
  });

  test('C9: what waits for its place at a slow outlet is not sent any more', async () => {
    const { ports, key, commits, record } = await story();
    const erasures = createErasures();
    const open = new AbortController().signal;
    const [sent, release]: [string[], (() => void)[]] = [[], []];
    const send = ({ text }: Outbound): Promise<SendResult> =>
      new Promise((resolve) => {
        sent.push(text);
        release.push(() => resolve({ kind: 'sent' }));
      });
    const common = { clock: systemClock, random: () => 0, held: open };
    const deliver = createDeliveryWorker({
      ...common,
      outlets: [{ channel: 'irc', unknownSend: { by: 'key' }, send }],
      deliveryLog: createDeliveryLog({ ...common, custody: ports.custody, member: 'test' }),
      log: pino({ level: 'silent' }),
      stopping: open,
      accounts: new ParkedAccounts(systemClock, pino({ level: 'silent' })),
      report: async () => {},
      recorded: () => {},
      revised: erasures.revised,
    });
    const outbound = (to: string, of: Outbound['key'], text: string): Outbound => ({
      ...{ id: '1.0', seq: 1, key: of, target: { channel: 'irc', to }, kind: 'assistant_message', text, turnId: 't' },
    });
    const others = Array.from({ length: deliveryLimits.sends }, (_, at) => deliver(outbound(`${at}`, freshKey(), 'hello')));
    await vi.waitFor(() => expect(sent).toHaveLength(deliveryLimits.sends));
    const ours = outbound('us', key, 'a secret');
    const delivered = deliver(ours);
    await vi.waitFor(async () => expect((await ports.custody.last(ours.target))?.record?.state).toBe('prepared'));
    await record(3);
    for (const commit of commits) erasures.note(commit);
    for (const finish of release) finish();
    await Promise.all([...others, delivered]);
    expect(sent).not.toContain('a secret');
    expect((await ports.custody.last(ours.target))?.record).toMatchObject({ state: 'suppressed' });
  });

  test('C9, I4: makes the same state wherever the history before it breaks off', async () => {
    const { commits, record } = await story();
    await record(4);
    const states = [0, 1, 2].map((read) => [...commits.slice(0, read), ...commits.slice(2)].reduce(fold, initialState));
    for (const state of states) expect(toPlain(state)).toEqual(toPlain(states[0] ?? initialState));
    expect(states[0]?.position).toMatchObject({ rev: 4, startedRev: 4 });
    expect(states[0]?.position.recentIds).not.toContain('m1');
  });

  test('I3: nothing else may be missing from a history', async () => {
    const { commits, record } = await story('key');
    await record(4);
    expect(() => [commits[0], commits[2]].flatMap((commit) => commit ?? []).reduce(fold, initialState)).toThrow('I3');
  });

  test('C9: a snapshot from before it, of any age, brings nothing back', async () => {
    const { system, ports, key, commits, record } = await story();
    await record(4);
    for (const age of [1, 2]) {
      await ports.snapshots.put(key, toPlain(commits.slice(0, age).reduce(fold, initialState)));
      system.events.purge(key, commits[2]?.seq ?? 0);
      expect(toPlain(await loadState(ports, key))).toEqual(toPlain(commits.slice(2).reduce(fold, initialState)));
    }
  });

  test.each([0, 1, 2, 3])('C9: the index follows when it had read %i commits before the purge', async (read) => {
    const { system, ports, key, commits, record } = await story();
    await record(4);
    const before = createProjection({ ...ports, after: 0 });
    for (const commit of commits.slice(0, read)) await before.fold(commit);
    await before.flush();
    system.events.purge(key, commits[2]?.seq ?? 0);
    const after = createProjection({ ...ports, after: before.written() });
    for (const commit of commits.slice(Math.max(2, read))) await after.fold(commit);
    await after.flush();
    const row = await ports.index.get(key);
    expect(row).toMatchObject({ generation: 2, messageCount: 1, createdAt: commits[2]?.at, lastMessagePreview: 'hello', seq: 4 });
    expect(row?.firstWords).toBe('hello');
  });

  test('C9: the feed of a gateway hands out nothing of it from memory', async () => {
    const { ports, key, record } = await story();
    const feed = new EventFeed(ports.events, systemClock, pino({ level: 'silent' }));
    const stop = new AbortController();
    const texts: string[] = [];
    await vi.waitFor(() => expect(feed.problems()).toEqual([]));
    await record(2);
    const take = async (count: number): Promise<void> => {
      texts.length = 0;
      for await (const { events } of feed.follow({ after: 0, key, signal: stop.signal })) {
        texts.push(JSON.stringify(events));
        if (texts.length === count) return;
      }
    };
    await take(2);
    expect(texts.join()).toContain('a secret');
    await record(4);
    for await (const { seq } of feed.follow({ after: 3, key, signal: stop.signal })) if (seq === 4) break;
    await take(2);
    expect(texts.join()).not.toContain('secret');
    expect(texts[0]).toContain('session_deleted');
    await feed.close();
  });

  test.each(['key', 'erased'] as const)('C9: the model reads nothing of a session that was deleted (%s)', async (mode) => {
    const { ports, key, record } = await story(mode);
    await record(4);
    // Whatever the session's position says, everything there is read.
    const { said, prompt } = await new Conversations(ports).read(key, { id: 'turn-1' }, { seq: 4, contextSeq: 0, skips: [] });
    expect([prompt, said.map(({ message }) => message.text)]).toEqual(['hello', ['hello']]);
  });
});
