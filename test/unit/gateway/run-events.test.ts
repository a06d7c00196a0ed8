import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { visibleText } from '../../../services/gateway/runs/live-text.ts';
import { type RunEvent, RunEventStream } from '../../../services/gateway/runs/run-event-stream.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';

/** Issue 5: what people are told of a run, whatever of its live text is here before what is recorded. */

const key = 'agent:main:main' as SessionKey;
const turn = { id: 'run', attempt: 1 };
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const call = { callId: 'c1', tool: 'write', arguments: '{"a":1}' };
const queued = { id: 'run', messageId: 'm' };
const message = { messageId: 'm', text: 'hi', sender: { id: 'a' } };
const step = (number: number, text: string, more: object = {}) =>
  ({ type: 'model_step', v: 1, turn, step: number, text, finish: 'stop', model: 'x', usage, ...more }) as SessionEvent;
const said = { 1: 'let me see', 2: 'it is <NO_REPLY> done' } as const;
const asking = {
  type: 'approval_requested',
  v: 1,
  turn,
  approvalId: 'k',
  action: 'write',
  expiresAt: 9,
  callId: 'c1',
  tool: 'write',
};

/** A run of two steps with a call that a person is asked about between them. */
const history = (
  [
    [
      { type: 'user_message', v: 1, message, turnId: 'run' },
      { type: 'turn_started', v: 1, turn: queued, attempt: 1 },
    ],
    [step(1, said[1], { finish: 'continue', calls: [call] }), asking as SessionEvent],
    [
      { type: 'approval_resolved', v: 1, turn, approvalId: 'k', verdict: 'granted', by: 'a' },
      { type: 'tool_call_started', v: 1, turn, callId: 'c1', tool: 'write', callAttempt: 1 },
    ],
    [{ type: 'tool_result', v: 1, turn, callId: 'c1', tool: 'write', outcome: 'ok', text: 'wrote', bytes: 5 }],
    [
      step(2, said[2]),
      { type: 'assistant_message', v: 1, turn, messageId: 'a', text: said[2] },
      { type: 'turn_completed', v: 1, turn },
    ],
  ] as SessionEvent[][]
).map((events, index): RecordedCommit => {
  const seq = index + 1;
  const ids = { id: `${seq}`, correlationId: 'run', causationId: 'run', actor: 'test', sessionId: 's' };
  return {
    v: 1,
    key,
    seq,
    rev: seq,
    epoch: 0,
    at: seq,
    recordedAt: seq,
    digest: '',
    command: { id: 'x', seq: null, incarnation: null },
    events,
    ...ids,
  };
});

/** Pieces of a step's live text. */
const piecesOf = (number: 1 | 2, size: number) =>
  Array.from({ length: Math.ceil(said[number].length / size) }, (_, index) => ({
    ...{ turn, step: number, offset: index * size },
    text: said[number].slice(index * size, (index + 1) * size),
  }));

/** The texts put together, the rest as it is. */
const joined = (events: readonly RunEvent[]): string[] => {
  const all: string[] = [];
  let text = '';
  for (const event of events) {
    if (event.type === 'text') text += event.text;
    else all.push(...(text === '' ? [] : [JSON.stringify(text)]), event.type);
    if (event.type !== 'text') text = '';
  }
  return all;
};

const first = ['step_begun', 'text_begun', '"let me see"', 'text_ended', 'call', 'approval'];
const rest = ['step_ended', 'step_begun', 'text_begun', '"it is  done"', 'text_ended', 'step_ended', 'end'];

describe('a run', () => {
  test('is told the same, wherever its live text comes between what is recorded, and however much of it', () => {
    const place = fc.record({
      after: fc.nat({ max: history.length }),
      size: fc.integer({ min: 1, max: 9 }),
      from: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(place, place, (one, two) => {
        const teller = new RunEventStream('run');
        const visible = visibleText((id) => id === teller.turnId);
        const events: RunEvent[] = [];
        for (const [index, commit] of [...history, null].entries()) {
          const isHere = ({ after }: typeof one) => after === index;
          const live = [one, two].flatMap((given, at) =>
            isHere(given) ? piecesOf((at + 1) as 1 | 2, given.size).slice(given.from) : [],
          );
          for (const piece of live) {
            const seen = visible(piece);
            if (seen !== null) events.push(...teller.live(seen));
          }
          if (commit !== null) events.push(...teller.take(commit));
        }
        expect(joined(events)).toEqual([...first, 'result', ...rest]);
      }),
    );
  });

  test('may be told from an answer on: what was told before is left out', () => {
    const teller = new RunEventStream('run', 'k');
    const events = history.flatMap((commit) => teller.take(commit));
    expect(joined(events)).toEqual(['result', ...rest.slice(1)]);
    expect(events.at(-1)).toMatchObject({ run: { status: 'ok' }, tokens: { total: 6 }, earlier: { total: 3 }, sessionId: 's' });
  });

  test('that waits ends with what is asked', () => {
    const teller = new RunEventStream('run');
    for (const commit of history.slice(0, 2)) teller.take(commit);
    const events = teller.pause();
    expect(joined(events)).toEqual(['step_ended', 'end']);
    expect(events.at(-1)).toMatchObject({ run: { status: 'awaiting_approval' }, asked: { approvalId: 'k', callId: 'c1' } });
  });

  test.each([
    [3, { outcome: 'unknown', wasAsked: true }],
    [2, { outcome: 'error', wasAsked: true }],
  ])('that is stopped behind commit %i: the call that was told has ended too', (commits, ended) => {
    const stop = { type: 'turn_aborted', v: 1, turn, reason: 'stop' } as SessionEvent;
    const [last] = history.slice(commits - 1);
    const teller = new RunEventStream('run');
    for (const commit of history.slice(0, commits)) teller.take(commit);
    const events = teller.take({ ...(last as RecordedCommit), seq: 9, events: [stop] });
    expect(joined(events)).toEqual(['result', 'step_ended', 'end']);
    expect(events[0]).toMatchObject({ callId: 'c1', text: expect.stringMatching('^Cut off'), ...ended });
  });

  test('that says something else than what was told is told no further', () => {
    const teller = new RunEventStream('run');
    const [begun, recorded] = history;
    if (begun === undefined || recorded === undefined) throw new Error('no history');
    teller.take(begun);
    teller.live({ turn, step: 1, offset: 0, text: 'something else', end: 14 });
    expect(() => teller.take(recorded)).toThrow('restarted');
  });
});
