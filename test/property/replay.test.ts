import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor, fromCallback, transition } from 'xstate';
import { processSnapshotKey } from '../../shared/adapters/kv/snapshot-key.ts';
import type { IndexRow } from '../../shared/domain/projections/index-row.ts';
import { summarize } from '../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import {
  evolve,
  fold,
  fromPlain,
  initialState,
  type PlainState,
  type SessionState,
  toPlain,
} from '../../shared/domain/session/fold/evolve.ts';
import {
  type MachineSnapshot,
  type StartTurn,
  sessionMachine,
  type TurnInput,
} from '../../shared/domain/session/fold/machine.ts';
import { livingOf } from '../../shared/domain/session/fold/steps.ts';
import { decodeCommit, encodeCommit } from '../../shared/wire/codec.ts';
import { decodeSnapshot, encodeSnapshot } from '../../shared/wire/snapshot.ts';
import { answersTurn, holds, type Intent, intents, play } from '../support/domain/arbitraries.ts';
import { unrecorded } from '../support/domain/commits.ts';
import { key } from '../support/domain/given.ts';

const ours = processSnapshotKey();

const plainMachine = (snapshot: MachineSnapshot) => ({ status: snapshot.value, context: snapshot.context });

/** A live actor of the machine, as a session host has it, and the turns it has started and not stopped. */
const live = (snapshot: MachineSnapshot) => {
  const started: string[] = [];
  const running = new Set<string>();
  const turn = fromCallback<StartTurn, TurnInput>(({ input }) => {
    const name = `${input.turn.id}/${input.turn.attempt}`;
    started.push(name);
    running.add(name);
    return () => running.delete(name);
  });
  const actor = createActor(livingOf(sessionMachine.provide({ actors: { turn } })), { snapshot }).start();
  return { actor, started, running };
};

/** What a reader of the log gets: the commit after a trip through its bytes. */
const stored = (commit: RecordedCommit): RecordedCommit =>
  decodeCommit(encodeCommit(unrecorded(commit)), commit.seq, commit.recordedAt);

describe('live = replay = snapshot + tail (I4)', () => {
  test('the live actor, the fold of the stored commits and every snapshot with its tail agree', () => {
    const agree = (save: (state: SessionState) => PlainState) => (wishes: readonly Intent[]) => {
      const { commits, state, states } = play(wishes);
      const { actor } = live(initialState.machine);
      for (const event of commits.flatMap(({ events }) => events)) actor.send(event);
      expect(plainMachine(actor.getSnapshot())).toEqual(plainMachine(state.machine));

      const read = commits.map(stored);
      expect(toPlain(read.reduce(fold, initialState))).toEqual(toPlain(state));

      for (const [cut, middle] of states.entries()) {
        const saved = decodeSnapshot(key, encodeSnapshot(key, save(middle), ours), ours);
        if (saved === null) throw new Error('the snapshot cannot be read back');
        expect(toPlain(read.slice(cut).reduce(fold, fromPlain(saved)))).toEqual(toPlain(state));
      }
    };
    holds(
      intents,
      agree(toPlain),
      {
        'a snapshot forgets the resumes': agree((state) => {
          const plain = toPlain(state);
          return { ...plain, context: { ...plain.context, turn: plain.context.turn && { ...plain.context.turn, resumes: 0 } } };
        }),
        'a snapshot forgets its epoch': agree((state) => ({
          ...toPlain(state),
          context: { ...toPlain(state).context, epoch: 0 },
        })),
        'a snapshot forgets the watermark': agree((state) => ({
          ...toPlain(state),
          position: { ...toPlain(state).position, command: { seq: 0, incarnation: 0 } },
        })),
      },
      60,
    );
  });

  test('the fold and the index read no time but that of the command: the log records a commit later than its host says', () => {
    const agree = (step: typeof fold) => (wishes: readonly Intent[]) => {
      const { commits } = play(wishes);
      const later = commits.map((commit, index) => ({ ...commit, recordedAt: commit.recordedAt + 1_000 * (index + 1) }));
      expect(toPlain(later.reduce(step, initialState))).toEqual(toPlain(commits.reduce(step, initialState)));
      const rowOf = (history: readonly RecordedCommit[]) =>
        history.reduce<IndexRow | null>((row, commit) => summarize(row, commit), null);
      expect(rowOf(later)).toEqual(rowOf(commits));
    };
    holds(
      intents,
      agree(fold),
      { 'the fold takes the time of the log': agree((state, commit) => fold(state, { ...commit, at: commit.recordedAt })) },
      60,
    );
  });

  test("the fold, XState's own transition(), an actor of the plain machine and live ones take the same steps, for events in any order", () => {
    const events = intents.chain((wishes) => fc.shuffledSubarray(play(wishes).commits.flatMap((commit) => commit.events)));
    const equal = (step: typeof evolve) => (sequence: readonly SessionEvent[]) => {
      const [actor, plain] = [createActor(livingOf(sessionMachine)).start(), createActor(sessionMachine).start()];
      const quiet = createActor(livingOf(sessionMachine, { start: false })).start();
      let before = initialState.machine;
      for (const event of sequence) {
        const unmoved = actor.getSnapshot();
        actor.send(event);
        plain.send(event);
        quiet.send(event);
        const expected = actor.getSnapshot();
        const [stepped] = transition(sessionMachine, before, event);
        let after = before;
        try {
          after = step(before, event);
        } catch {
          expect(expected, `evolve refuses ${event.type} in ${before.value}`).toBe(unmoved);
          expect(stepped).toBe(before);
          continue;
        }
        expect(after).not.toBe(before);
        expect(Object.keys(expected.children)).toEqual(Object.keys(plain.getSnapshot().children));
        for (const childless of [after, quiet.getSnapshot()]) expect(Object.keys(childless.children)).toEqual([]);
        for (const other of [expected, stepped, plain.getSnapshot(), quiet.getSnapshot()]) {
          expect(plainMachine(after)).toEqual(plainMachine(other));
          expect(after.can({ type: 'turn_completed' } as SessionEvent)).toBe(
            other.can({ type: 'turn_completed' } as SessionEvent),
          );
          expect([after.status, after.error, after.historyValue]).toEqual([other.status, other.error, other.historyValue]);
        }
        before = after;
      }
    };
    holds(
      events,
      equal(evolve),
      {
        'evolve takes a resume for nothing': equal((before, event) =>
          event.type === 'turn_resumed' ? before : evolve(before, event),
        ),
        'evolve refuses a reset': equal((before, event) => {
          if (event.type === 'session_reset') throw new Error('refused');
          return evolve(before, event);
        }),
      },
      300,
    );
  });

  test('loading starts nothing, and from any state on the tail starts exactly the turns its events begin (I6)', () => {
    const quiet = (restore: (state: SessionState) => MachineSnapshot) => (wishes: readonly Intent[]) => {
      const { commits, states } = play(wishes);
      for (const [cut, state] of states.entries()) {
        const { actor, started, running } = live(restore(state));
        expect(started).toEqual([]);
        const begun: string[] = [];
        for (const event of commits.slice(cut).flatMap(({ events }) => events)) {
          actor.send(event);
          if (event.type === 'turn_started') begun.push(`${event.turn.id}/${event.attempt}`);
          if (event.type === 'turn_resumed' || answersTurn(event) || event.type === 'client_results_received')
            begun.push(`${event.turn.id}/${event.turn.attempt}`);
          if (actor.getSnapshot().value !== 'running') expect([...running]).toEqual([]);
          expect(running.size).toBeLessThanOrEqual(1);
        }
        expect(started).toEqual(begun);
        actor.stop();
        expect(running.size).toBe(0);
      }
    };
    holds(
      intents,
      quiet((state) => fromPlain(toPlain(state)).machine),
      {
        'the snapshot has the child of a live actor': quiet(({ machine: { value, context } }) => {
          const before = sessionMachine.resolveState({ value: 'idle', context });
          if (value !== 'running' || context.turn === null) return sessionMachine.resolveState({ value, context });
          const { turn } = context;
          const [entered] = transition(sessionMachine, before, { type: 'turn_started', v: 1, turn, attempt: turn.attempt });
          return sessionMachine.getPersistedSnapshot({ ...entered, context }) as never;
        }),
      },
      40,
    );
  });
});

describe('the index row', () => {
  test('agrees with the machine at every commit, and a repeated or older commit changes nothing', () => {
    const agrees = (summarizer: typeof summarize) => (wishes: readonly Intent[]) => {
      const { commits, states } = play(wishes);
      let row: IndexRow | null = null;
      for (const [index, commit] of commits.entries()) {
        row = summarizer(row, commit);
        const { value: status, context } = states[index + 1]?.machine ?? initialState.machine;
        expect(row).toMatchObject({
          status,
          sessionId: context.sessionId,
          generation: context.generation,
          queuedTurns: context.queue.length,
          activeTurnId: context.turn?.id ?? null,
          messageCount: context.messages,
          completedTurns: context.completedTurns,
          approval: context.approval,
          costUsd: context.usage.costUsd,
          contextTokens: context.usage.contextTokens,
          settings: context.settings,
          origin: context.origin,
          deleted: context.deleted,
          seq: commit.seq,
          rev: commit.rev,
          updatedAt: commit.at,
        });
        expect(row?.questions?.map(({ approvalId }) => approvalId) ?? []).toEqual(
          context.questions.map(({ approvalId }) => approvalId),
        );
        const again = commits.slice(0, index + 1).map((earlier) => summarizer(row, earlier));
        expect(again.every((same) => same === row)).toBe(true);
      }
    };
    holds(
      intents,
      agrees(summarize),
      {
        'it counts a commit twice': agrees((row, commit) =>
          summarize(row && { ...row, seq: Math.min(row.seq, commit.seq - 1) }, commit),
        ),
        'it is blind to approvals': agrees((row, commit) =>
          commit.events[0]?.type === 'approval_requested' && row
            ? { ...row, seq: commit.seq, rev: commit.rev, updatedAt: commit.at }
            : summarize(row, commit),
        ),
      },
      100,
    );
  });
});
