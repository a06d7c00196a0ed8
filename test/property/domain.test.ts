import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDeferredTurn } from '../../shared/domain/session/decide/deferred-call.ts';
import { decide } from '../../shared/domain/session/decide/index.ts';
import { eventTypes, type SessionEvent } from '../../shared/domain/session/events.ts';
import { fold, initialState, type Position, type SessionState } from '../../shared/domain/session/fold/evolve.ts';
import { rememberedIds } from '../../shared/domain/session/repeats/id-memory.ts';
import { limits } from '../../shared/kit/limits.ts';
import {
  answersTurn,
  crowded,
  type Domain,
  deciding,
  domain,
  holdsFor,
  type Intent,
  intents,
  play,
} from '../support/domain/arbitraries.ts';

/** `decide`, with one type of command decided as if it came in another status. */
const always = (type: string, events: (id: string) => readonly SessionEvent[]): Pick<Domain, 'decide'> => ({
  decide: (envelope, state) => (envelope.data.type === type ? { accept: events(envelope.id) } : decide(envelope, state)),
});

describe('the domain, for any commands in any order, stale and hostile ones too', () => {
  test('the random histories reach every event and every status: without this the properties would prove little', () => {
    const histories = fc.sample(intents, { numRuns: 300, seed: 1 }).map((wishes) => play(wishes));
    const types = histories.flatMap(({ commits }) => commits.flatMap(({ events }) => events.map(({ type }) => type)));
    const statuses = histories.flatMap(({ states }) => states.map(({ machine }) => machine.value));
    const crowds = play(Array<Intent>(9).fill(['post', 1]), domain, crowded(limits.queuedTurns - 2)).commits;
    const refused = crowds.flatMap(({ events }) => events.map(({ type }) => type));
    // No command decides a repair: its commit is made of what can be read of a damaged log (test/unit/session/host/damage.test.ts).
    const decided = eventTypes.filter((type) => type !== 'history_damaged');
    expect([...new Set([...types, ...refused])].sort()).toEqual(decided.sort());
    expect([...new Set(statuses)].sort()).toEqual(['awaiting_approval', 'awaiting_results', 'idle', 'inactive', 'running']);
  });

  test('what decide accepts, evolve accepts', () => {
    holdsFor((wishes, under) => void play(wishes, under), {
      'rest is allowed at any time': always('deactivate_session', () => [{ type: 'session_deactivated', v: 1, reason: '' }]),
      'a resume is allowed at any time': always('resume_turn', () => [
        { type: 'turn_resumed', v: 1, turn: { id: 'm0', attempt: 9 }, step: 1 },
      ]),
      'the end of a turn is forgotten': deciding((events) => events.filter(({ type }) => type !== 'turn_completed')),
    });
  });

  test('an attempt at a turn is never used again (I5)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const begun = play(wishes, under).commits.flatMap(({ events }) =>
        events.flatMap((event) => {
          if (event.type === 'turn_started') return [`${event.turn.id}/${event.attempt}`];
          return event.type === 'turn_resumed' || answersTurn(event) ? [`${event.turn.id}/${event.turn.attempt}`] : [];
        }),
      );
      expect(new Set(begun).size).toBe(begun.length);
    };
    const same = (events: readonly SessionEvent[]) =>
      events.map(
        (event): SessionEvent =>
          event.type === 'turn_resumed' ? { ...event, turn: { ...event.turn, attempt: event.turn.attempt - 1 } } : event,
      );
    holdsFor(property, { 'a resume keeps the attempt': deciding(same) });
  });

  test('only the current attempt at the next step is ever recorded (I5, I6)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const { commits, states } = play(wishes, under);
      for (const [index, { events }] of commits.entries()) {
        const [step] = events.flatMap((event) => (event.type === 'model_step' && !isDeferredTurn(event.turn.id) ? [event] : []));
        const turn = states[index]?.machine.context.turn;
        if (step !== undefined) expect(turn).toMatchObject({ ...step.turn, step: step.step });
      }
    };
    const unfenced: Domain['decide'] = (envelope, state) => {
      const { turn } = state.machine.context;
      const { data } = envelope;
      return data.type === 'record_step' && turn !== null && state.machine.value === 'running'
        ? {
            accept: [
              { type: 'model_step', v: 1, turn: data.turn, step: data.step, text: '', finish: 'continue', model: '', usage },
            ],
          }
        : decide(envelope, state);
    };
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    holdsFor(property, { 'a late step counts': { decide: unfenced } });
  });

  test('rev has no gap, sequences and epochs never go back, and a stop or reset begins an epoch (I3, I5)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const { commits, states } = play(wishes, under);
      for (const [index, commit] of commits.entries()) {
        const { machine, position } = states[index] ?? initialState;
        expect(commit.rev).toBe(index + 1);
        expect(commit.seq).toBeGreaterThan(position.seq);
        const ends = commit.events.filter(({ type }) => type === 'queue_cleared' || type === 'session_reset').length;
        expect(commit.epoch).toBeGreaterThanOrEqual(machine.context.epoch + ends);
      }
    };
    const uncounted: Domain['fold'] = (state, commit) => {
      const { machine, position } = fold(state, commit);
      return { machine, position: { ...position, rev: 0 } };
    };
    const gently = (events: readonly SessionEvent[]) =>
      events.map(
        (event): SessionEvent =>
          event.type === 'turn_aborted' ? { type: 'turn_failed', v: 1, turn: event.turn, code: 'stopped', message: '' } : event,
      );
    holdsFor(property, {
      'a stop keeps the epoch': deciding(gently),
      'the fold does not count commits': { fold: uncounted },
    });
  });

  test('all that a session remembers is bounded (I11)', () => {
    const full = crowded(limits.queuedTurns - 2);
    const property = (wishes: readonly Intent[], under: Domain) => {
      for (const { machine, position } of play(wishes, under, full).states) {
        const { queue, turn, resolved, grants, questions } = machine.context;
        const strangers = queue.filter(({ byStranger }) => byStranger);
        expect(strangers.length).toBeLessThanOrEqual(limits.queuedTurns);
        expect(queue.length - strangers.length).toBeLessThanOrEqual(limits.queuedTurns);
        expect(turn?.joined ?? 0).toBeLessThanOrEqual(limits.queuedTurns);
        expect(turn?.step ?? 0).toBeLessThanOrEqual(limits.turnSteps);
        expect(turn?.resumes ?? 0).toBeLessThanOrEqual(limits.turnResumes);
        expect(turn?.stalls ?? 0).toBeLessThan(limits.turnStalls);
        expect(resolved.length).toBeLessThanOrEqual(limits.resolvedApprovals);
        expect(grants.length).toBeLessThanOrEqual(limits.grants);
        expect(questions.length).toBeLessThanOrEqual(limits.openQuestions);
        expect(new Set(questions.map(({ deferred }) => deferred?.principal)).size).toBe(questions.length);
        expect(new Set(grants).size).toBe(grants.length);
        expect(position.recentIds.length).toBeLessThanOrEqual(limits.recentIds);
        expect(rememberedIds(position.olderIds)).toBeLessThanOrEqual(limits.olderIds + limits.olderIdsEach);
        expect(position.window.length).toBeLessThanOrEqual(limits.windowCommits);
      }
    };
    const queueing: Domain['decide'] = (envelope, state) => {
      const decision = decide(envelope, state);
      const refused = 'accept' in decision && decision.accept.some(({ type }) => type === 'message_refused');
      const turn = { id: envelope.correlationId, messageId: envelope.id };
      return refused ? { accept: [{ type: 'turn_queued', v: 1, turn, position: 1 }] } : decision;
    };
    const remembering: Domain['fold'] = (state, commit) => {
      const { machine, position } = fold(state, commit);
      return { machine, position: { ...position, recentIds: [...state.position.recentIds, commit.command.id] } };
    };
    holdsFor(property, { 'the queue never refuses': { decide: queueing }, 'ids are kept for ever': { fold: remembering } }, 60);
  });

  test('a turn is always over or in hand: the queue waits only behind a turn, and a turn is there exactly when one runs or waits', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      for (const { machine } of play(wishes, under).states) {
        const { turn, queue, approval } = machine.context;
        const active = ['running', 'awaiting_approval', 'awaiting_results'].includes(machine.value);
        expect(turn !== null).toBe(active);
        expect(approval !== null).toBe(machine.value === 'awaiting_approval');
        if (!active) expect(queue).toEqual([]);
        expect(new Set(queue.map(({ id }) => id)).size).toBe(queue.length);
      }
    };
    const lazily = (events: readonly SessionEvent[]) =>
      events.some(({ type }) => type === 'turn_failed') ? events.filter(({ type }) => type !== 'turn_started') : events;
    holdsFor(property, { 'the next turn is not started after a failure': deciding(lazily) });
  });

  test('every run that was taken ends, the merged and the joined ones with the turn that carries them: answered, failed, aborted, cleared or refused (I1, I10, B6)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const { commits, state } = play(wishes, under);
      /** Each open run and the turn that carries it. */
      const open = new Map<string, string>();
      const end = (...turnIds: string[]) => {
        for (const [run, turnId] of open) if (turnIds.includes(turnId)) open.delete(run);
      };
      for (const event of commits.flatMap(({ events }) => events)) {
        if (event.type === 'user_message' && event.turnId !== undefined) open.set(event.turnId, event.turnId);
        if (event.type === 'turn_queued' && event.turn.task) open.set(event.turn.id, event.turn.id);
        if (event.type === 'turn_started')
          for (const { id } of [event.turn, ...(event.merged ?? [])]) open.set(id, event.turn.id);
        if (event.type === 'turn_joined') open.set(event.runId, event.turn.id);
        if (event.type === 'turn_completed' || event.type === 'turn_failed' || event.type === 'turn_aborted') end(event.turn.id);
        if (event.type === 'queue_cleared' || event.type === 'session_deleted') end(...event.turnIds);
      }
      const { turn, queue } = state.machine.context;
      const carried = [...open].filter(([, turnId]) => turnId === turn?.id);
      expect([...new Set(open.values())].sort()).toEqual([...(turn ? [turn.id] : []), ...queue.map(({ id }) => id)].sort());
      if (turn) expect(carried).toHaveLength(1 + (turn.merged?.length ?? 0) + turn.joined);
    };
    const silently = (events: readonly SessionEvent[]) => events.filter(({ type }) => type !== 'turn_queued');
    holdsFor(property, {
      'a queued turn is lost': deciding(silently),
      'a turn that waits behind an interrupted one is lost with its generation': deciding((events) =>
        events.map((event) => (event.type === 'session_reset' ? { ...event, keepsQueue: undefined } : event)),
      ),
      'a joined message is forgotten': deciding((events) => events.filter(({ type }) => type !== 'turn_joined')),
    });
  });

  test('whatever was committed from the queue is a repeat for ever after: any redelivery is harmless (I2)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const { asked, state } = play(wishes, under);
      for (const { envelope, seq, committed } of asked) {
        if (committed) expect(under.isRepeat(envelope, { seq, incarnation: 1 }, state)).toBe(true);
      }
      const ids = play([...wishes, ...wishes.map((_, i) => ['redeliver', i] as const)], under).commits.map(
        ({ command }) => command.id,
      );
      expect(new Set(ids).size).toBe(ids.length);
    };
    const forgetting = (lost: Partial<Position>): Pick<Domain, 'fold'> => ({
      fold: (state, commit) => {
        const { machine, position } = fold(state, commit);
        return { machine, position: { ...position, ...lost } };
      },
    });
    holdsFor(property, {
      'nothing is a repeat': { isRepeat: () => false },
      'the fold forgets what it has seen': forgetting({ command: { seq: 0, incarnation: 0 }, recentIds: [] }),
      'the fold forgets the life of the command stream and a full set of ids': forgetting({
        command: { seq: 99, incarnation: 2 },
        recentIds: [],
      }),
    });
  });

  test('decide and evolve change neither the state nor the command they are given', () => {
    const property = (wishes: readonly Intent[], under: Domain) =>
      void play(wishes, { ...under, decide: (envelope, state) => under.decide(deepFreeze(envelope), frozen(state)) });
    const meddling: Domain['decide'] = (envelope, state) => {
      (state.machine.context.queue as unknown[]).reverse();
      return decide(envelope, state);
    };
    holdsFor(property, { 'the queue is changed in place': { decide: meddling } });
  });
});

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(Object.freeze(value))) deepFreeze(part);
  return value;
};
const frozen = (state: SessionState): SessionState => {
  deepFreeze(state.machine.context);
  return state;
};
