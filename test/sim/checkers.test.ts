import { beforeAll, describe, expect, test } from 'vitest';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { EventOf, SessionEvent } from '../../shared/domain/session/events.ts';
import { checkers } from './checkers/all.ts';
import type { Effect, History } from './history.ts';
import { simulate } from './simulate.ts';

const asksFor = (event: SessionEvent, { turn }: EventOf<'tool_call_started'>): boolean =>
  event.type === 'user_message' && event.turnId === turn.id;
const isOf =
  (events: readonly SessionEvent[]) =>
  ({ callId }: Effect): boolean =>
    events.some((event) => event.type === 'tool_call_started' && event.callId === callId);

describe('a checker notices a history that was tampered with', () => {
  let history: History;
  beforeAll(async () => {
    // Among much else, people granted several calls here, and those were made.
    history = (await simulate(10)).history;
  });
  const answered = (outcome: string) => history.told.find(({ answer }) => answer.outcome === outcome)!;
  const middle = () => Math.floor(history.commits.length / 2);

  const begun = () => history.commits.find(({ events }) => events.some(({ type }) => type === 'tool_call_started'))!;
  const again = (commit: RecordedCommit): RecordedCommit => ({ ...commit, seq: 99_999 });

  const tampered: Record<string, [invariant: string, change: () => Partial<History>]> = {
    'a commit that told "accepted" is gone': [
      'I1',
      () => ({ commits: history.commits.filter(({ seq }) => seq !== answered('accepted').answer.seq) }),
    ],
    'an answer that was never true': [
      'I1',
      () => ({ told: [{ ...answered('accepted'), answer: { ...answered('accepted').answer, outcome: 'nothing' } }] }),
    ],
    'an acknowledged command without a trace': [
      'I1',
      () => ({
        told: [],
        sent: [{ ...history.sent[0]!, envelope: { ...history.sent[0]!.envelope, id: 'lost' }, acknowledged: true }],
      }),
    ],
    'a commit that comes twice': [
      'I2',
      () => ({ commits: [...history.commits, { ...history.commits[middle()]!, seq: 99_999 }] }),
    ],
    'a gap in the revisions': ['I3', () => ({ commits: history.commits.toSpliced(middle(), 1) })],
    'a snapshot with another state': [
      'I4',
      () => ({
        snapshots: history.snapshots.map(({ state, ...rest }) => ({
          ...rest,
          state: { ...state, context: { ...state.context, messages: -1 } },
        })),
      }),
    ],
    'an index that is behind': ['I4', () => ({ index: history.index?.map((row) => ({ ...row, rev: row.rev - 1 })) ?? [] })],
    'two commits that changed places': ['I5', () => ({ commits: [...history.commits].reverse() })],
    'a model call without an intent': ['I6', () => ({ modelCalls: history.modelCalls.map((call) => ({ ...call, at: 0 })) })],
    'a model call that is made again': ['I6', () => ({ modelCalls: [...history.modelCalls, history.modelCalls[0]!] })],
    'a model that is told another conversation': [
      'I6',
      () => ({ modelCalls: history.modelCalls.map((call) => ({ ...call, prompt: 'other' })) }),
    ],
    'an effect without an intent': ['I6', () => ({ effects: history.effects.map((effect) => ({ ...effect, at: 0 })) })],
    'an effect that is made again': ['I6', () => ({ effects: [...history.effects, history.effects[0]!] })],
    'an effect of a later attempt that nobody began': [
      'I6',
      () => ({ effects: history.effects.map((effect) => ({ ...effect, turn: { ...effect.turn, attempt: 99 } })) }),
    ],
    'a call that is called done and was not': ['I6', () => ({ effects: [] })],
    'a call that begins twice in one attempt': ['I6', () => ({ commits: [...history.commits, again(begun())] })],
    'what was allowed with other arguments': [
      'I7',
      () => ({ effects: history.effects.map((effect) => ({ ...effect, arguments: { sum: 1_000 } })) }),
    ],
    'a grant by somebody else': [
      'I7',
      () => ({
        commits: history.commits.map((commit) => ({
          ...commit,
          events: commit.events.map((event) => (event.type === 'approval_resolved' ? { ...event, by: 'stranger' } : event)),
        })),
      }),
    ],
    'a grant that was a denial': [
      'I7',
      () => ({
        commits: history.commits.map((commit) => ({
          ...commit,
          events: commit.events.map((event) =>
            event.type === 'approval_resolved' ? { ...event, verdict: 'denied' as const } : event,
          ),
        })),
      }),
    ],
    'a command that nobody takes': ['I10', () => ({ unfinished: 1 })],
    'a turn without an end': [
      'I10',
      () => {
        const start = history.commits.findIndex(({ events }) => events.at(-1)?.type === 'turn_started');
        const { key } = history.commits[start]!;
        return { commits: history.commits.filter((commit, index) => commit.key !== key || index <= start) };
      },
    ],
    'a commit that stands on a damaged one': [
      'F13',
      () => {
        const { key, seq, rev, id } = history.commits.find((commit) => commit.rev === 2)!;
        const load = { host: id.replace(/-\d+$/, ''), key, rev: 0 };
        const damage = { key, seq: seq - 1, rev: rev - 1, how: 'changed', at: seq - 1, loads: 0 } as const;
        return { loads: [load], writes: new Map([[id, 1]]), damages: [damage] };
      },
    ],
    'a decision about a session that is whole': [
      'F13',
      () => ({ commits: [{ ...history.commits[0]!, events: [{ type: 'history_damaged' } as SessionEvent] }] }),
    ],
    'a commit in a log that had gone back': [
      'I13',
      () => ({ rollbacks: [{ to: 1, at: 5, written: [history.commits[1]!], reads: [] }] }),
    ],
    'a reader that goes on in a log that had gone back': [
      'I13',
      () => ({ rollbacks: [{ to: 1, at: 5, written: [], reads: [{ reader: 'r', after: 5, seq: 6, id: 'another' }] }] }),
    ],
    'a host that holds too much': ['I11', () => ({ residents: [{ host: 'h', resident: 3, limit: 2 }] })],
  };

  test.each(Object.entries(tampered))('%s', (_, [invariant, change]) => {
    const check = checkers[invariant]!;
    expect(check(history)).toEqual([]);
    expect(check({ ...history, ...change() })).not.toEqual([]);
  });

  test('a call whose turn was lost begins again after a person has decided, and is made again (F13)', () => {
    const { key, events } = begun();
    const started = events.find((event) => event.type === 'tool_call_started')!;
    const asked = history.commits.find((commit) => commit.key === key && commit.events.some((event) => asksFor(event, started)))!;
    const decision = { ...asked, seq: 99_998, events: [{ type: 'history_damaged' } as SessionEvent] };
    const effect = history.effects.find(({ callId }) => callId === started.callId)!;
    const repaired: History = {
      ...history,
      commits: [...history.commits, decision, again(begun())],
      damages: [{ key, seq: asked.seq, rev: asked.rev, how: 'missing', at: 99_997, loads: 0 }],
      effects: [...history.effects, ...history.effects.filter(isOf(events)).map((each) => ({ ...each, at: 99_999 }))],
    };
    expect(checkers.I6?.(repaired)).toEqual([]);
    expect(checkers.I6?.({ ...repaired, effects: [...repaired.effects, { ...effect, at: 99_999 }] })).not.toEqual([]);
  });
});
