import { expect, test } from 'vitest';
import { InMemoryAttachments } from '../../../../shared/adapters/in-memory/attachments.ts';
import { InMemoryEventLog } from '../../../../shared/adapters/in-memory/event-log.ts';
import { eraseAttachments } from '../../../../shared/adapters/streams/erase-attachments.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { commitTo, keyOf, messageWithFiles, recorded } from '../../../support/domain/commits.ts';

const key = keyOf('agent:main:main');
const erased: SessionEvent = {
  ...{
    type: 'session_deleted',
    v: 1,
    mode: 'erased',
    sessionId: 's1',
    generation: 1,
    epoch: 1,
    turnIds: [],
    reason: 'asked for',
  },
};

/** A session that was erased and has said one of its two files again; its replica lacks that for the first `staleReads` reads. */
const start = async ({ staleReads = 0, unreadable = false } = {}) => {
  const clock = new VirtualClock(1_790_000_000_000);
  let reads = 0;
  const next = (call: string) => {
    const fault = call === 'read' && ++reads <= staleReads ? ('stale' as const) : ('none' as const);
    return { fault, delayMs: 0, lateMs: 0, behind: 1 };
  };
  const events = new InMemoryEventLog({ clock, semantics: 'R3', faults: { next } });
  const attachments = new InMemoryAttachments(clock);
  const put = (text: string) => attachments.put(key, Buffer.from(text));
  const [said, again] = [await put('said'), await put('again')];
  const erasure = commitTo(key, { at: clock.now(), events: [erased] });
  expect(await events.append(erasure, 0)).toMatchObject({ kind: 'stored', seq: 1 });
  expect(await events.append(commitTo(key, { rev: 2, events: [messageWithFiles(again)] }), 1)).toMatchObject({ seq: 2 });
  if (unreadable) events.storeRaw('user_message', key, Buffer.from('no commit'));
  const erasing = eraseAttachments({ events, attachments, clock }, recorded(erasure, 1), new Set([said, again]));
  const left = async () => (await attachments.of(key)).map(({ digest }) => digest);
  return { clock, erasing, left, said, again };
};

test('C9: a commit that cannot be read keeps nothing from being erased, and what was said again stays', async () => {
  const { erasing, left, again } = await start({ unreadable: true });
  expect(await erasing).toBe(1);
  expect(await left()).toEqual([again]);
});

test('what was said again stays although the replica does not know it yet', async () => {
  const { clock, erasing, left, again } = await start({ staleReads: 3 });
  await clock.pass(1_000);
  expect(await erasing).toBe(1);
  expect(await left()).toEqual([again]);
});

test('a replica that does not catch up is no reason to remove what may have been said again', async () => {
  const { clock, erasing, left, said, again } = await start({ staleReads: Number.POSITIVE_INFINITY });
  const refused = expect(erasing).rejects.toMatchObject({ code: 'unavailable' });
  await clock.pass(10_000);
  await refused;
  expect(await left()).toEqual([said, again]);
});
