import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ListedErasure, listErasure } from '../../../services/cli/backup/erasure-list.ts';
import { installationIn } from '../../../services/cli/installation.ts';
import { eraseSession } from '../../../services/cli/runtime/erasure.ts';
import { bareKey, type SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { fold, initialState, toPlain, toShown } from '../../../shared/domain/session/fold/evolve.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import type { SendResult } from '../../../shared/ports/outlet.ts';
import { freshKey } from '../../support/domain/commits.ts';
import { openStream, pathOf } from '../gateway/setup.ts';
import { type System, startSystem, until } from './rig.ts';

let system: System;
/** How the far side answers; what it got. */
let answer: SendResult = { kind: 'sent' };
const sent: Outbound[] = [];

beforeAll(async () => {
  const send = async (outbound: Outbound) => {
    sent.push(outbound);
    return answer;
  };
  system = await startSystem({ channel: 'hook', unknownSend: { by: 'key' as const }, attempts: 3, send });
});
afterAll(() => system?.close());

const historyOf = async (key: SessionKey): Promise<RecordedCommit[]> => {
  const commits: RecordedCommit[] = [];
  for await (const commit of system.ports.events.read(key)) commits.push(commit);
  return commits;
};
const repliesOf = async (key: SessionKey): Promise<string[]> =>
  (await historyOf(key)).flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'assistant_message' ? [event.text] : [])),
  );
/** What the API says of a session, everywhere. */
const told = async (key: SessionKey): Promise<string> => {
  const paths = ['', '/events', '/messages', '/commits', '/state'].map((rest) => pathOf(key, rest));
  const all = ['/v1/sessions?status=all', '/v1/events?limit=1000&after=0', ...paths].map((path) => system.call('GET', path));
  return (await Promise.all(all)).map(({ text }) => text).join('\n');
};
/** A text nobody else has. */
const freshCanary = (): string => `canary-${randomUUID()}`;
/** A session with the canary wherever people can write something. Gives the sequence of its last commit. */
const session = async (key: SessionKey, canary = freshCanary()): Promise<number> => {
  const deliverTo = { channel: 'hook', to: key };
  const before = (await repliesOf(key)).length;
  await system.post(key, `my secret is ${canary}`, { sender: { id: 'ann', name: `Ann ${canary}` }, deliverTo });
  await until(async () => expect(await repliesOf(key)).toHaveLength(before + 1));
  await system.send(key, { type: 'patch_session', settings: { displayName: canary } });
  const last = (await system.ports.events.last(key))?.seq ?? 0;
  await until(async () => expect((await system.ports.index.get(key))?.seq).toBe(last));
  return last;
};

describe('natter erase', () => {
  test('C9: no route tells what was said, the audit fact is there, and the next message begins a new generation', async () => {
    const [key, canary] = [freshKey('agent:main:erase'), freshCanary()];
    await system.post('agent:main:neighbour' as SessionKey, 'hello');
    const last = await session(key, canary);
    await until(() => expect(sent.some((outbound) => outbound.key === key)).toBe(true));
    expect((await told(key)).split(canary).length).toBeGreaterThan(8);
    const stream = await openStream(system.gateway.url, pathOf(key, '/events?after=0'));
    await until(() => expect(stream.messages.at(-1)?.data).toContain('settings_changed'));

    const printed = await system.erase([key, '--yes', '--reason', 'the person asked']);
    expect(printed).toContain('cleared');
    const [erasure] = await historyOf(key);
    expect(await historyOf(key)).toHaveLength(1);
    expect(erasure).toMatchObject({ rev: 3, actor: 'operator:olga' });
    expect(erasure?.events[0]).toMatchObject({ mode: 'erased', generation: 1, reason: 'the person asked' });
    const { records } = await system.ports.audit.page({ limit: 1, kind: 'session_erased' });
    expect(records).toMatchObject([{ actor: 'operator:olga', target: key, outcome: 'ok' }]);
    // The gateway's copy of the index follows within a second.
    await until(async () => expect(await told(key)).not.toContain(canary), 3_000);
    expect(await told(key)).toContain('the person asked');
    expect(await system.ports.index.get(key)).toMatchObject({
      deleted: true,
      lastMessagePreview: '',
      settings: {},
      participants: [],
    });
    expect(JSON.stringify(await system.ports.snapshots.get(key))).not.toContain(canary);
    expect((await system.call('GET', pathOf(key, `/state?at=${last}`))).status).toBe(404);

    // Who resumes in the hole goes on behind it, and so does who was there all the time.
    const resumed = await openStream(system.gateway.url, pathOf(key, '/events'), { 'last-event-id': `${last - 1}.0` });
    await system.post(key, 'hello again');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: hello again']));
    for (const { messages } of [resumed, stream])
      await until(() => expect(messages.map(({ event }) => event)).toContain('assistant_message'));
    expect(resumed.messages.slice(0, 2).map(({ event }) => event)).toEqual(['gap', 'session_deleted']);
    expect(JSON.stringify(resumed.messages)).not.toContain(canary);
    expect((await historyOf(key))[1]?.events[0]).toMatchObject({ type: 'session_opened', generation: 2 });
    expect(await system.call('GET', pathOf(key, `/state?at=${last}`))).toMatchObject({ status: 410, body: { code: 'erased' } });
    const state = await system.call('GET', pathOf(key, '/state'));
    expect(state.body).toMatchObject(toShown(toPlain((await historyOf(key)).reduce(fold, initialState))));
  });

  test('C9: a run that was interrupted after the erasure was recorded is finished by the next, whatever the hosts do', async () => {
    const key = freshKey('agent:main:erase');
    await session(key);
    const killed = { erase: () => Promise.reject(new Error('killed')) };
    const request = { key, actor: 'operator:olga', reason: 'test', recorded: async () => {} };
    await expect(eraseSession(system.ports, killed, request)).rejects.toThrow('killed');
    const [erasure] = (await historyOf(key)).slice(-1);
    expect((await historyOf(key)).length).toBeGreaterThan(1);
    expect(await system.erase([key, '--yes'])).toContain('is now complete');
    expect(await historyOf(key)).toEqual([erasure]);
    expect(await system.erase([key, '--yes'])).toContain('removed: 0 commits');
  });

  test('C9: what came after an interrupted erasure is erased by the next run', async () => {
    const key = freshKey('agent:main:erase');
    const canary = freshCanary();
    await session(key, canary);
    await system.send(key, { type: 'delete_session', mode: 'erased', reason: 'interrupted' });
    await session(key, canary);
    await system.erase([key, '--yes']);
    expect((await historyOf(key)).map(({ events }) => events[0])).toMatchObject([{ generation: 2, epoch: 2 }]);
    // The gateway's copy of the index follows within a second.
    await until(async () => expect(await told(key)).not.toContain(canary), 3_000);
  });

  test('C9: a running turn ends with its session; its late answer is not recorded', async () => {
    const [key, canary] = [freshKey('agent:main:erase'), freshCanary()];
    await system.post(key, `[[think 60000]] ${canary}`);
    await system.erase([key, '--yes']);
    await system.post(key, 'next');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: next']));
    await until(() => expect(system.hosts.map((host) => host.metrics().turns_running)).toEqual([0, 0]));
    // The gateway's copy of the index follows within a second.
    await until(async () => expect(await told(key)).not.toContain(canary), 3_000);
  });

  test('C9: an answer that could not be sent yet is suppressed, and never becomes a dead letter', async () => {
    const [key, canary] = [freshKey('agent:main:erase'), freshCanary()];
    answer = { kind: 'refused', failure: 'transient', afterMs: 400, detail: 'busy' };
    await system.post(key, canary, { deliverTo: { channel: 'hook', to: key } });
    await until(() => expect(sent.some((outbound) => outbound.key === key)).toBe(true));
    await system.erase([key, '--yes']);
    const target = { channel: 'hook', to: key };
    await until(async () => expect((await system.ports.custody.last(target))?.record?.state).toBe('suppressed'));
    answer = { kind: 'sent' };
    const { deadLetters } = system.ports;
    const letters = await Promise.all((await deadLetters.list(100)).map(({ seq }) => deadLetters.get(seq)));
    expect(letters.filter((letter) => letter && Buffer.from(letter.bytes).includes(canary))).toEqual([]);
  });

  test('an unknown session and a wrong key say so; nothing is erased unasked', async () => {
    const key = freshKey('agent:main:erase');
    await expect(system.erase([key, '--yes'])).rejects.toMatchObject({ code: 'not_found' });
    await expect(system.erase(['a b', '--yes'])).rejects.toMatchObject({ code: 'invalid' });
    await system.append(key, 'keep this');
    await expect(system.erase([key])).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('--yes') });
    expect(await system.erase([key], 'no')).toContain('nothing was erased');
    expect(await historyOf(key)).toHaveLength(1);
    expect(await system.erase([bareKey(key)], 'erase')).toContain('removed: 1 commit,');
  });

  test('C9: no file of the log and the queues has what was said: its bytes are overwritten (ADR 8)', async () => {
    const [key, canary] = [freshKey('agent:main:erase'), freshCanary()];
    await session(key, canary);
    await system.post('agent:main:neighbour' as SessionKey, 'so that the erased messages are not the last of their file');
    expect(system.filesWith(canary).join()).toContain('NATTER_EVENTS');
    await system.erase([key, '--yes']);
    // The caches write over themselves as they are used; a row's last version before the erasure may wait for that.
    const lasting = () => system.filesWith(canary).filter((path) => !path.includes('KV_'));
    await until(() => expect(lasting()).toEqual([]), 10_000);
  });

  test('B1, B2: cleanup --erase frees what is due and what was deleted long ago, and finishes what was interrupted', async () => {
    const [due, gone, cut] = [freshKey('agent:main:erase'), freshKey('agent:main:erase'), freshKey('agent:main:erase')];
    const canary = freshCanary();
    const last = await session(due, canary);
    for (const key of [gone, cut]) await session(key);
    await system.send(gone, { type: 'delete_session', mode: 'key', reason: 'test' });
    await until(async () => expect(await system.ports.index.get(gone)).toMatchObject({ deleted: true }));
    const cleanup = async (...more: string[]) =>
      JSON.parse(await system.natter(['sessions', 'cleanup', '--erase', '--json', ...more], { days: 31 }));
    const dry = await cleanup('--dry-run');
    const bytes = Object.fromEntries(dry.due.map((one: { key: string; logBytes: number }) => [one.key, one.logBytes]));
    expect(bytes[due]).toBe((await historyOf(due)).reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0));
    expect(dry.due).toContainEqual(expect.objectContaining({ key: gone, rule: 'deleted' }));
    expect((await historyOf(due)).at(-1)?.seq).toBe(last);

    const killed = { erase: () => Promise.reject(new Error('killed')) };
    const recorded = (erasure: ListedErasure) => listErasure(installationIn(system.home), erasure);
    const request = { actor: 'operator:olga', reason: 'test', recorded };
    await expect(eraseSession(system.ports, killed, { ...request, key: due, ifSeq: last - 1 })).rejects.toThrow('ifSeq');
    expect((await historyOf(due)).at(-1)?.seq).toBe(last);
    await expect(eraseSession(system.ports, killed, { ...request, key: cut })).rejects.toThrow('killed');

    const archive = join(system.home, 'archive');
    expect(await cleanup('--yes', '--archive', archive)).toMatchObject({ freedBytes: expect.any(Number) });
    for (const key of [due, gone, cut]) {
      expect(await historyOf(key)).toMatchObject([{ events: [{ type: 'session_deleted', mode: 'erased' }] }]);
      await until(async () => expect(await system.ports.index.get(key)).toMatchObject({ deleted: true, logBytes: 0 }));
    }
    const kept = readdirSync(archive, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
    expect(kept.map((name) => readFileSync(join(archive, name), 'utf8')).join()).toContain(canary);
    const { records } = await system.ports.audit.page({ limit: 100, kind: 'session_erased' });
    expect(records.filter(({ target }) => target === due)).toMatchObject([{ outcome: 'ok' }, { outcome: 'failed' }, {}]);
    expect(await cleanup('--yes')).toMatchObject({ count: 0, erased: 0 });
  });

  test('C9: the other host takes an erased session over', async () => {
    const key = freshKey('agent:main:erase');
    await session(key);
    await system.erase([key, '--yes']);
    const [first, second] = system.hosts;
    const owned = first?.metrics().partitions_owned;
    expect(owned).toBeGreaterThan(0);
    await first?.stop(2_000);
    await until(() => expect(second?.metrics().partitions_owned).toBe(8));
    await system.post(key, 'hello again');
    await until(async () => expect(await repliesOf(key)).toEqual(['You said: hello again']));
    expect(second?.metrics().sessions_quarantined).toBe(0);
  });
});
