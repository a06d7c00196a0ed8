import { describe, expect, test } from 'vitest';
import { SessionOutcome } from '../../../../services/cli/ingest/outcome.ts';
import { asJson, createTerminal, oneLine } from '../../../../services/cli/terminal.ts';
import { ago, duration, logPlace, parseTime } from '../../../../services/cli/time.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { canonical, differences } from '../../../../shared/kit/comparison.ts';

const commit = (rev: number, ...events: SessionEvent[]): RecordedCommit =>
  ({
    v: 1,
    id: `c${rev}`,
    key: 'agent:main:main',
    rev,
    seq: rev * 10,
    recordedAt: 0,
    sessionId: 's',
    epoch: 0,
    at: 0,
    correlationId: 'r',
    causationId: 'r',
    actor: 'a',
    command: { id: `i${rev}`, seq: rev, incarnation: 1 },
    events,
  }) as unknown as RecordedCommit;
const said = (messageId: string, turnId?: string): SessionEvent => ({
  type: 'user_message',
  v: 1,
  message: { messageId, text: '', sender: { id: 'a' } },
  ...(turnId && { turnId }),
});

describe('what became of an ingested file', () => {
  test('only expected messages count, and a turn is pending until it ends', () => {
    const outcome = new SessionOutcome();
    outcome.accept(
      commit(
        1,
        { type: 'session_opened', v: 1, sessionId: 's', generation: 1, source: { kind: 'x', interactive: true } },
        said('old'),
      ),
    );
    for (const id of ['m1', 'm2', 'm3']) outcome.expect(id);
    expect(outcome.pending).toBe(3);
    const turn = { id: 't1', messageId: 'm1' };
    outcome.accept(commit(2, said('m1', 't1'), { type: 'turn_started', v: 1, turn, attempt: 1 }));
    outcome.accept(commit(3, said('m2')));
    outcome.accept(commit(4, { type: 'message_refused', v: 1, messageId: 'm3', code: 'queue_full' }));
    expect(outcome).toMatchObject({ stored: 2, pending: 1 });
    outcome.accept(commit(5, { type: 'turn_failed', v: 1, turn: { id: 't1', attempt: 1 }, code: 'x', message: 'y' }));
    expect(outcome.pending).toBe(0);
    expect(outcome.turns()).toEqual({ completed: 0, failed: 1, aborted: 0, open: 0 });
    expect([...outcome.refused]).toEqual([['queue_full', 1]]);
    expect(outcome.known).toEqual(new Set(['old', 'm1', 'm2', 'm3']));
  });
});

describe('comparing states (I4)', () => {
  test('the order of keys does not count, the order of lists does', () => {
    expect(canonical({ b: 1, a: { d: [1, 2], c: null } })).toBe(canonical({ a: { c: null, d: [1, 2] }, b: 1 }));
    expect(differences({ a: [1, 2] }, { a: [2, 1] }).map(({ path }) => path)).toEqual(['a.0', 'a.1']);
  });
  test('a field that is missing on one side is a difference', () => {
    expect(differences({ a: { b: 1 } }, { a: {} })).toEqual([{ path: 'a.b', before: 1, after: undefined }]);
    expect(differences({ a: null }, { a: {} })).toHaveLength(1);
    expect(differences([], {})).toHaveLength(1);
  });
});

describe('times that people type', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  test.each([
    ['+10m', now + 600_000],
    ['-2h', now - 7_200_000],
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21T10:00Z', Date.UTC(2026, 10, 21, 10)],
  ])('%s', (text, time) => expect(parseTime('--at', text, now)).toBe(time));
  test.each(['', 'soon', '10m', '2026-13-01', '+1y'])('%j is none', (text) => {
    expect(() => parseTime('--at', text, now)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });
  test('a place is a sequence or a time', () => {
    expect(logPlace('--at', '017', now)).toBe('17');
    expect(logPlace('--at', '-1s', now)).toBe(new Date(now - 1_000).toISOString());
  });
  test('shown to people', () => {
    expect([ago(now - 500, now), ago(now - 45_000, now), ago(now - 3_600_000 * 50, now)]).toEqual(['now', '45s', '2d']);
    expect([duration(850), duration(3_210), duration(245_000)]).toEqual(['850 ms', '3.2 s', '4 min 05 s']);
  });
});

describe('text of strangers on a terminal', () => {
  const written = (use: (terminal: ReturnType<typeof createTerminal>) => void): string => {
    let text = '';
    const stream = { write: (part: string) => (text += part) };
    use(createTerminal({ out: stream, err: stream, interactive: false, now: () => 0 }));
    return text;
  };
  test('cannot move the cursor, set the title or turn the writing direction; colours stay', () => {
    expect(written(({ out }) => out('a\u001b]0;title\u0007\u001b[2J\u009b1A\u202e\u001b[31mred\u001b[39m\r'))).toBe(
      'a]0;title[2J1A\u001b[31mred\u001b[39m\n',
    );
  });
  test('is one line in tables', () => {
    expect(oneLine('a\nb\tc  d', 10)).toBe('a b c d');
    expect(oneLine('😀😀😀😀', 3)).toBe('😀😀…');
  });
  test('loses nothing in JSON', () => {
    const value = { text: 'a\u009b\u2028\u202e\u001b' };
    expect(asJson(value)).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(asJson(value))).toEqual(value);
  });
  test('progress is silent for short work where nobody watches', () => {
    expect(written(({ progress }) => progress('x'))).toBe('');
  });
});
