import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { isErasure } from '../../../shared/domain/session/chain.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { fold, initialState, toPlain } from '../../../shared/domain/session/fold/evolve.ts';
import type { CustodyRecord } from '../../../shared/ports/custody-log.ts';
import type { Eraser } from '../../../shared/ports/eraser.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Delivery } from '../../../shared/ports/work-queue.ts';
import { encode } from '../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import {
  assistantMessage,
  commitTo,
  freshKey,
  messageWithFiles,
  turnStarted,
  userMessage,
} from '../../support/domain/commits.ts';
import { changed, memoryOf } from '../../support/memories.ts';

export interface EraserBroker {
  readonly ports: Ports;
  readonly eraser: Eraser;
  close(): Promise<void>;
}

const subjects = subjectsUnder('natter');
const opened: SessionEvent = {
  ...{ type: 'session_opened', v: 1, sessionId: 's1', generation: 1 },
  source: { kind: 'api', interactive: false },
};
const erasedEvent = (epoch = 1): SessionEvent => ({
  ...{ type: 'session_deleted', v: 1, mode: 'erased', sessionId: 's1', generation: 1, epoch, turnIds: [], reason: 'asked for' },
});

export const eraserContract = (name: string, open: () => Promise<EraserBroker>): void => {
  describe(name, () => {
    let broker: EraserBroker;
    beforeAll(async () => {
      broker = await open();
    });
    afterAll(() => broker?.close());

    const record = async (key: SessionKey, rev: number, after: number, events: SessionEvent[], epoch = 0): Promise<number> => {
      const result = await broker.ports.events.append(commitTo(key, { rev, epoch, events }), after);
      if (result.kind !== 'stored') throw new Error(JSON.stringify(result));
      return result.seq;
    };
    /** A session with `texts` said in it, and its erasure. Gives the sequences. */
    const erasedSession = async (key: SessionKey, ...texts: SessionEvent[][]): Promise<number[]> => {
      const seqs = [await record(key, 1, 0, [opened])];
      for (const [index, said] of texts.entries()) seqs.push(await record(key, index + 2, seqs.at(-1) ?? 0, said));
      seqs.push(await record(key, texts.length + 2, seqs.at(-1) ?? 0, [erasedEvent()], 1));
      return seqs;
    };
    const historyOf = async (key: SessionKey): Promise<RecordedCommit[]> => {
      const commits: RecordedCommit[] = [];
      for await (const commit of broker.ports.events.read(key)) commits.push(commit);
      return commits;
    };
    const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check);

    test('C9: the commits before the erasure are gone for every reader, the erasure and other sessions stay', async () => {
      const { events } = broker.ports;
      const [key, longer] = [freshKey(), freshKey()];
      const neighbour = `${key}:thread:1` as SessionKey;
      await record(neighbour, 1, 0, [opened]);
      const seqs = await erasedSession(key, [userMessage('a secret')], [userMessage('another')]);
      const tombstone = seqs.at(-1) ?? 0;
      await record(longer, 1, 0, [opened]);
      const before = await events.info();
      expect((await broker.eraser.erase(key, tombstone)).commits).toBe(3);
      await eventually(async () => expect((await historyOf(key)).map(({ seq }) => seq)).toEqual([tombstone]));
      expect((await events.last(key))?.seq).toBe(tombstone);
      expect((await events.page({ after: 0, limit: 100, key })).commits.map(isErasure)).toEqual([true]);
      expect(await historyOf(neighbour)).toHaveLength(1);
      // I13: the log has not gone back.
      expect(await events.info()).toMatchObject({ lastSeq: before.lastSeq, incarnation: before.incarnation });
      const all = (await events.page({ after: 0, limit: 256 })).commits.filter(({ seq }) => seqs.includes(seq));
      expect(all.map(({ seq }) => seq)).toEqual([tombstone]);
    });

    test('C9: the history goes on behind the erasure, fenced by it, and folds to the same state as with what was erased', async () => {
      const key = freshKey();
      const seqs = await erasedSession(key, [userMessage('a secret')]);
      const whole = (await historyOf(key)).reduce(fold, initialState);
      const tombstone = seqs.at(-1) ?? 0;
      await broker.eraser.erase(key, tombstone);
      expect((await broker.ports.events.append(commitTo(key, { rev: 4 }), seqs[1] ?? 0)).kind).toBe('unknown');
      await record(key, 4, tombstone, [{ ...opened, generation: 2 } as SessionEvent], 1);
      const again = await historyOf(key);
      expect(again.map(({ rev }) => rev)).toEqual([3, 4]);
      expect(toPlain(again.slice(0, 1).reduce(fold, initialState))).toEqual(toPlain(whole));
      expect(again.reduce(fold, initialState).machine.context).toMatchObject({ generation: 2, epoch: 1, messages: 0 });
    });

    test('a follower that stands in the hole goes on behind it', async () => {
      const key = freshKey();
      const seqs = await erasedSession(key, [userMessage('a secret')], [userMessage('another')]);
      await broker.eraser.erase(key, seqs.at(-1) ?? 0);
      const stop = new AbortController();
      const found: number[] = [];
      for await (const { seq } of broker.ports.events.follow({ after: seqs[0] ?? 0, key, signal: stop.signal })) {
        found.push(seq);
        if (found.length === 1) await record(key, 5, seq, [{ ...opened, generation: 2 } as SessionEvent], 1);
        else stop.abort();
      }
      expect(found[0]).toBe(seqs.at(-1));
      expect(found).toHaveLength(2);
    });

    test('C9, I4: its snapshot says nothing any more, and a host that was away cannot bring the old one back', async () => {
      const { snapshots } = broker.ports;
      const key = freshKey();
      const named: SessionEvent = { type: 'settings_changed', v: 1, changes: { displayName: 'a secret' } };
      const seqs = await erasedSession(key, [named]);
      const old = toPlain((await historyOf(key)).slice(0, 2).reduce(fold, initialState));
      await snapshots.put(key, old);
      await broker.eraser.erase(key, seqs.at(-1) ?? 0);
      await snapshots.put(key, old);
      await eventually(async () => expect((await snapshots.get(key))?.position.seq).toBe(seqs.at(-1)));
      expect(JSON.stringify(await snapshots.get(key))).not.toContain('a secret');
      const newer = { ...old, position: { ...old.position, seq: (seqs.at(-1) ?? 0) + 1 } };
      await snapshots.put(key, newer);
      await eventually(async () => expect(await snapshots.get(key)).toEqual(newer));
    });

    test('C9: what waits for its time is gone, and comes not even late; what waits for others comes', async () => {
      const { commands } = broker.ports;
      const [key, other] = [freshKey(), freshKey()];
      const wake = (of: SessionKey): CommandEnvelope => {
        const id = randomUUID();
        const data = { type: 'append_message', sessionId: 's', message: { messageId: id, text: 'later', sender: { id: 'ann' } } };
        return { ...{ id, key: of, at: Date.now(), correlationId: id, causationId: id, actor: 'test' }, data: data as never };
      };
      const came: string[] = [];
      const consumption = await commands.consume({
        member: `member-${randomUUID()}`,
        handle: async ({ message }) => {
          came.push(message.key);
          return { kind: 'done' };
        },
      });
      const due = Date.now() + 1_500;
      for (const name of ['one', 'two']) await commands.schedule(name, due, wake(key));
      await commands.schedule('one', due + 500, wake(other));
      const seqs = await erasedSession(key);
      expect((await broker.eraser.erase(key, seqs.at(-1) ?? 0)).timers).toBe(2);
      await vi.waitFor(() => expect(came).toContain(other));
      expect(came).toEqual([other]);
      await consumption.close();
    });

    test('C9: what it was told is gone from the queue, too, where it may stay a while after it was done (ADR 9)', async () => {
      const { commands, events } = broker.ports;
      const [key, other] = [freshKey(), freshKey()];
      const taken: Delivery<CommandEnvelope>[] = [];
      const consumption = await commands.consume({
        member: `member-${randomUUID()}`,
        handle: async (delivery) => {
          taken.push(delivery);
          return { kind: 'recorded' };
        },
      });
      const tell = (of: SessionKey): Promise<unknown> => {
        const id = randomUUID();
        const data = {
          type: 'append_message',
          sessionId: 's',
          message: { messageId: id, text: 'a secret', sender: { id: 'ann' } },
        };
        return commands.publish({
          ...{ id, key: of, at: Date.now(), correlationId: id, causationId: id, actor: 'test' },
          data: data as never,
        });
      };
      // What is already on its way out when the erasure comes is not counted, so it may take some tries to meet the others.
      await vi.waitFor(
        async () => {
          taken.length = 0;
          await Promise.all([tell(key), tell(other), tell(key)]);
          await vi.waitFor(() => expect(taken).toHaveLength(3));
          const ours = taken.filter(({ message }) => message.key === key);
          const command = { id: randomUUID(), seq: ours.at(-1)?.seq ?? 0, incarnation: ours.at(-1)?.incarnation ?? 0 };
          const after = (await events.last(key))?.seq ?? 0;
          const [rev, epoch] = [((await events.last(key))?.rev ?? 0) + 1, ((await events.last(key))?.epoch ?? 0) + 1];
          const result = await events.append(commitTo(key, { rev, epoch, command, events: [erasedEvent(epoch)] }), after);
          expect((await broker.eraser.erase(key, 'seq' in result ? result.seq : 0)).commands).toBe(2);
        },
        { interval: 100 },
      );
      await consumption.close();
    });

    test('C9: its dead letters are gone, by their message or else by their subject', async () => {
      const { deadLetters } = broker.ports;
      const [key, other] = [freshKey(), freshKey()];
      const letter = (id: string, subject: string, bytes: Uint8Array) =>
        deadLetters.put({ id: `${id}-${key}`, service: 'session', reason: 'test', subject, at: 1, bytes });
      await letter('command', subjects.command(key).replace('command.', 'command.7.'), Buffer.from([0xc1]));
      await letter('outbound', 'natter.delivery.failed.hook.~me~', encode({ id: '1.0', key, text: 'a secret' }));
      await letter('other', subjects.command(other), encode({ key: other }));
      await letter('neighbour', subjects.command(`${key}:thread:1`), Buffer.from([0xc1]));
      const seqs = await erasedSession(key);
      await eventually(async () => expect(await deadLetters.list(4)).toHaveLength(4));
      expect((await broker.eraser.erase(key, seqs.at(-1) ?? 0)).deadLetters).toBe(2);
      const left = (await deadLetters.list(10)).filter(({ id }) => id.endsWith(key)).map(({ id }) => id.split('-')[0]);
      expect(left.sort()).toEqual(['neighbour', 'other']);
    });

    test('C9, I9: its custody records are gone but the last one of the conversation, and those of others stay', async () => {
      const { custody } = broker.ports;
      const [key, other] = [freshKey(), freshKey()];
      const [target, shared] = [
        { channel: 'hook', to: key },
        { channel: 'hook', to: other },
      ];
      const put = async (of: SessionKey, to: typeof target, state: CustodyRecord['state'], after: number): Promise<number> => {
        const outbound = { outboundId: '1.0', outboundSeq: 1, key: of, target: to, attempt: 1, at: 1 };
        return (await custody.append({ v: 1, ...outbound, state }, after)) ?? 0;
      };
      let last = await put(key, target, 'prepared', 0);
      last = await put(key, target, 'sending', last);
      last = await put(key, target, 'delivered', last);
      let lastShared = await put(key, shared, 'delivered', 0);
      lastShared = await put(other, shared, 'delivered', lastShared);
      const said = (to: typeof target) => [{ ...assistantMessage('a secret'), deliverTo: to } as SessionEvent];
      const run = [userMessage('hello'), turnStarted()];
      const seqs = await erasedSession(key, run, said(target), said(shared));
      const { custody: removed } = await broker.eraser.erase(key, seqs.at(-1) ?? 0);
      expect(removed).toBe(3);
      expect(await custody.last(target)).toMatchObject({ seq: last, record: { state: 'delivered' } });
      expect(await custody.last(shared)).toMatchObject({ seq: lastShared, record: { key: other } });
    });

    test('C9: what was remembered of it is gone, also what somebody who was held up writes only now', async () => {
      const { memory } = broker.ports;
      const key = freshKey();
      const add = (text: string) => changed([{ op: 'add', scope: { kind: 'agent' }, text }]);
      const seqs = await erasedSession(key, [add('a secret'), add('another')]);
      const [seq = 0, tombstone = 0] = seqs.slice(-2);
      const place = { key, seq };
      const entries = ['a secret', 'another'].map((text, at) => {
        const { source } = memoryOf(seq, text);
        return memoryOf(seq, text, { id: `${seq}-${at}`, source: { ...source, ...place }, changes: [place] });
      });
      await memory.position();
      await memory.put({ entries: entries.slice(0, 1), gone: [] }, tombstone);
      expect((await broker.eraser.erase(key, tombstone)).memories).toBe(1);
      await memory.put({ entries, gone: [] }, tombstone);
      for (const { id } of entries) expect(await memory.get(id)).toBeNull();
      const view = await memory.watch();
      onTestFinished(() => view.close());
      await eventually(async () => expect(view.gone()).toEqual(expect.arrayContaining(entries.map(({ id }) => id))));
      expect(entries.map(({ id }) => view.get(id))).toEqual([undefined, undefined]);
    });

    test('ADR 27: what came with its messages goes, and what was stored for one that never came; what is said again since then stays', async () => {
      const { attachments, events } = broker.ports;
      const [key, other] = [freshKey(), freshKey()];
      const put = (text: string, of = key) => attachments.put(of, Buffer.from(`${text} ${key}`));
      const [said, again, lost, foreign] = [await put('said'), await put('again'), await put('lost'), await put('said', other)];
      const first = await record(key, 1, 0, [opened, messageWithFiles(said, again)]);
      const erasure = { rev: 2, epoch: 1, at: Date.now() + 60_000, events: [erasedEvent()] };
      const result = await events.append(commitTo(key, erasure), first);
      if (result.kind !== 'stored') throw new Error(JSON.stringify(result));
      await record(key, 3, result.seq, [{ ...opened, generation: 2 } as SessionEvent, messageWithFiles(again)], 1);
      expect((await broker.eraser.erase(key, result.seq)).attachments).toBe(2);
      expect((await attachments.of(key)).map(({ digest }) => digest)).toEqual([again]);
      for (const gone of [said, lost]) expect(await attachments.get(key, gone)).toBeNull();
      expect(await attachments.get(other, foreign)).not.toBeNull();
    });

    test('ADR 27: what is stored for a message on its way survives an erasure that was asked for before', async () => {
      const key = freshKey();
      const tombstone = (await erasedSession(key)).at(-1) ?? 0;
      const digest = await broker.ports.attachments.put(key, Buffer.from('new'));
      expect((await broker.eraser.erase(key, tombstone)).attachments).toBe(0);
      expect(await broker.ports.attachments.get(key, digest)).not.toBeNull();
    });

    test('erasing again removes nothing more and is no error', async () => {
      const key = freshKey();
      const tombstone = (await erasedSession(key, [userMessage('a secret')])).at(-1) ?? 0;
      await broker.eraser.erase(key, tombstone);
      const nothing = { commits: 0, timers: 0, commands: 0, custody: 0, deadLetters: 0, memories: 0, attachments: 0 };
      expect(await broker.eraser.erase(key, tombstone)).toEqual(nothing);
      const next = await record(key, 4, tombstone, [{ ...opened, generation: 2 } as SessionEvent], 1);
      const second = await record(key, 5, next, [{ ...erasedEvent(2), generation: 2 } as SessionEvent], 2);
      expect((await broker.eraser.erase(key, second)).commits).toBe(2);
      expect((await historyOf(key)).map(({ rev }) => rev)).toEqual([5]);
    });

    test('nothing is removed up to a commit that is no erasure of this key', async () => {
      const [key, other] = [freshKey(), freshKey()];
      const first = await record(key, 1, 0, [opened]);
      const said = await record(key, 2, first, [userMessage('hello')]);
      const tombstone = (await erasedSession(other)).at(-1) ?? 0;
      await record(key, 3, said, [userMessage('hello')]);
      await expect(broker.eraser.erase(key, said)).rejects.toMatchObject({ code: 'invalid' });
      await expect(broker.eraser.erase(key, tombstone)).rejects.toMatchObject({ code: 'invalid' });
      expect(await historyOf(key)).toHaveLength(3);
    });
  });
};
