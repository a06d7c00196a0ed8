import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { commitFenced } from '../../../../services/session/host/commit.ts';
import { logTurns } from '../../../../services/session/host/log-fields.ts';
import { InMemoryEventLog } from '../../../../shared/adapters/in-memory/event-log.ts';
import type { Fault, Faults, FaultyCall } from '../../../../shared/adapters/in-memory/faults.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { encodeCommit } from '../../../../shared/wire/codec.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';
import { commitTo, keyOf, userMessage } from '../../../support/domain/commits.ts';

/** Faults one after the other for each kind of call; healthy when the list is at its end. */
const scripted = (script: Partial<Record<FaultyCall, readonly Fault[]>>): Faults => {
  const asked: Partial<Record<FaultyCall, number>> = {};
  return {
    next: (call) => {
      const turn = asked[call] ?? 0;
      asked[call] = turn + 1;
      return { fault: script[call]?.[turn] ?? 'none', delayMs: 0, lateMs: 500, behind: 1 };
    },
  };
};

const key = keyOf('agent:main:commit');
const long = 10_000;

describe.each(['R1', 'R3'] as const)('a fenced commit on %s', (semantics) => {
  const attempt = async (script: Parameters<typeof scripted>[0], patienceMs: number, before = 0, expected = before) => {
    const clock = new VirtualClock(1_790_000_000_000);
    const log = new InMemoryEventLog({ clock, semantics, faults: scripted(script) });
    for (let rev = 1; rev <= before; rev++) log.storeRaw('user_message', key, encodeCommit(commitTo(key, { rev })));
    const commit = commitTo(key, { rev: before + 1 });
    const never = new AbortController().signal;
    const result = commitFenced(log, commit, expected, { clock, patienceMs, fencing: true, signal: never });
    await clock.pass(60_000);
    return { kind: (await result).kind, stored: log.stored().filter(({ id }) => id === commit.id).length };
  };

  test.each([
    ['nothing goes wrong', {}, 0, 'committed', 1],
    ['the answer is lost, the leader has it', { append: ['answer_lost'] }, 0, 'committed', 1],
    ['the request is lost and made again', { append: ['request_lost'] }, long, 'committed', 1],
    ['it lands late, after it was made again', { append: ['landed_late'] }, long, 'committed', 1],
    ['there is no leader for a while', { append: ['unavailable', 'unavailable'], last: ['unavailable'] }, long, 'committed', 1],
    ['there is no patience for a lost request', { append: ['request_lost'] }, 0, 'uncommitted', 0],
    ['nobody can tell that it has landed', { append: ['answer_lost'], last: ['unavailable'] }, 0, 'uncommitted', 1],
    ['it lands when nobody waits any more', { append: ['landed_late'], last: ['unavailable'] }, 0, 'uncommitted', 1],
  ] as const)('%s', async (_, script, patienceMs, kind, stored) => {
    expect(await attempt(script, patienceMs)).toEqual({ kind, stored });
  });

  test('is fenced when another host wrote first, however that is noticed', async () => {
    expect(await attempt({}, long, 2, 1)).toEqual({ kind: 'fenced', stored: 0 });
    expect(await attempt({ append: ['request_lost'] }, long, 2, 1)).toEqual({ kind: 'fenced', stored: 0 });
    expect(await attempt({ append: ['unavailable'], last: ['unavailable'] }, long, 2, 1)).toEqual({ kind: 'fenced', stored: 0 });
  });

  test('is refused when the log will never take it', async () => {
    const clock = new VirtualClock(1_790_000_000_000);
    const log = new InMemoryEventLog({ clock, semantics });
    const commit = commitTo(key, { events: Array.from({ length: 5 }, () => userMessage('x'.repeat(250_000))) });
    const options = { clock, patienceMs: long, fencing: true, signal: new AbortController().signal };
    expect(await commitFenced(log, commit, 0, options)).toMatchObject({ kind: 'refused' });
  });

  test('stops waiting when the host stops', async () => {
    const clock = new VirtualClock(1_790_000_000_000);
    const log = new InMemoryEventLog({
      clock,
      semantics,
      faults: { next: () => ({ fault: 'unavailable', delayMs: 0, lateMs: 0, behind: 0 }) },
    });
    const options = { clock, patienceMs: long, fencing: true, signal: AbortSignal.abort() };
    expect(await commitFenced(log, commitTo(key), 0, options)).toMatchObject({ kind: 'uncommitted' });
  });
});

describe('what the log of a host says of a turn', () => {
  const turn = { id: 'm', attempt: 2, sessionId: 's' } as never;
  test.each<[string, SessionEvent[], object[]]>([
    [
      'its host was killed: it is recovered',
      [{ type: 'turn_resumed', v: 1, turn, step: 1 }],
      [{ level: 30, msg: 'recovered: the turn of a host that is gone goes on', key, attempt: 2 }],
    ],
    [
      'it made no progress: the reason',
      [{ type: 'turn_resumed', v: 1, turn, step: 1, reason: 'no progress for 5 ms' }],
      [{ level: 30, msg: 'turn goes on in its next attempt', reason: 'no progress for 5 ms' }],
    ],
    [
      'it failed: a warning with the code, without the text',
      [{ type: 'turn_failed', v: 1, turn, code: 'busy', message: 'private' }],
      [{ level: 40, msg: 'turn failed', code: 'busy' }],
    ],
    ['it began: nothing', [{ type: 'turn_started', v: 1, turn } as never], []],
  ])('%s', (_, events, lines) => {
    const logged: string[] = [];
    logTurns(commitTo(key, { events }), pino({}, { write: (line: string) => logged.push(line) }));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject(lines);
    expect(logged.join()).not.toContain('private');
  });
});
