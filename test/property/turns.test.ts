import { describe, expect, test } from 'vitest';
import type { ActiveTurn, CallState } from '../../shared/domain/session/context.ts';
import { decide } from '../../shared/domain/session/decide/index.ts';
import type { EventOf, SessionEvent } from '../../shared/domain/session/events.ts';
import { fold, type SessionState } from '../../shared/domain/session/fold/evolve.ts';
import { limits } from '../../shared/kit/limits.ts';
import { type Domain, deciding, holdsFor, type Intent, play } from '../support/domain/arbitraries.ts';

/** Calls of tools and approvals, for any commands in any order (I6, I7, A5/62, A7/85, A11/126). */

type Start = EventOf<'tool_call_started'>;

/** All events of a history in order, each with those of its commit. */
const eventsOf = (wishes: readonly Intent[], under: Domain) =>
  play(wishes, under).commits.flatMap(({ events }) => events.map((event) => ({ event, events })));

const changed = (change: (event: SessionEvent) => SessionEvent | SessionEvent[]) => deciding((events) => events.flatMap(change));

/** The state with the running turn's calls, those that have not ended, taken for something else. */
const withCalls = (state: SessionState, change: (call: CallState, turn: ActiveTurn) => CallState): SessionState =>
  withTurn(state, (turn) => ({
    ...turn,
    calls: turn.calls.map((call) => (call.status === 'done' ? call : change(call, turn))),
  }));
const withTurn = (state: SessionState, change: (turn: ActiveTurn) => ActiveTurn): SessionState => {
  const { context } = state.machine;
  const turn = context.turn && change(context.turn);
  return { ...state, machine: { ...state.machine, context: { ...context, turn } } as typeof state.machine };
};

describe('calls of tools, for any commands in any order', () => {
  test('a call begins at most once in an attempt, counts its beginnings, and never begins after its end (I6)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const begun = new Set<string>();
      const tries = new Map<string, number>();
      const ended = new Set<string>();
      for (const { event } of eventsOf(wishes, under)) {
        if (event.type === 'tool_result') ended.add(event.callId);
        if (event.type !== 'tool_call_started') continue;
        const { callId, turn, callAttempt } = event;
        expect(ended.has(callId)).toBe(false);
        expect(begun.has(`${callId} ${turn.attempt}`)).toBe(false);
        begun.add(`${callId} ${turn.attempt}`);
        tries.set(callId, (tries.get(callId) ?? 0) + 1);
        expect(callAttempt).toBe(tries.get(callId));
      }
    };
    const twice: Domain['decide'] = (envelope, state) => {
      const { data } = envelope;
      const { turn } = state.machine.context;
      const call = data.type === 'start_call' ? turn?.calls.find(({ callId }) => callId === data.callId) : undefined;
      if (state.machine.value !== 'running' || turn == null || call === undefined) return decide(envelope, state);
      const { callId, tool, tries } = call;
      const ref = { id: turn.id, attempt: turn.attempt };
      return { accept: [{ type: 'tool_call_started', v: 1, turn: ref, callId, tool, callAttempt: tries + 1 }] };
    };
    holdsFor(property, {
      'a call begins whatever became of it': { decide: twice },
      'beginnings are not counted': changed((event) =>
        event.type === 'tool_call_started' ? { ...event, callAttempt: 1 } : event,
      ),
    });
  });

  test('every result is of a call that the model made, the first and only one; "ok" follows a beginning in the same attempt, "denied" and "expired" no beginning at all', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const made = new Set<string>();
      const ended = new Set<string>();
      const begun = new Map<string, Start>();
      // What a program was asked to do ends with the results that resume the turn as its next attempt (ADR 26).
      const awaited = new Set<string>();
      for (const { event } of eventsOf(wishes, under)) {
        if (event.type === 'client_results_awaited') for (const callId of event.calls) awaited.add(callId);
        if (event.type === 'model_step') {
          for (const { callId } of event.calls ?? []) {
            expect(made.has(callId)).toBe(false);
            made.add(callId);
          }
        }
        if (event.type === 'tool_call_started') begun.set(event.callId, event);
        if (event.type !== 'tool_result') continue;
        const { callId, outcome, turn } = event;
        expect(made.has(callId)).toBe(true);
        expect(ended.has(callId)).toBe(false);
        ended.add(callId);
        const start = begun.get(callId)?.turn;
        if (outcome === 'ok' && awaited.has(callId)) expect(start).toMatchObject({ id: turn.id, attempt: turn.attempt - 1 });
        else if (outcome === 'ok') expect(start).toEqual(turn);
        if (outcome === 'denied' || outcome === 'expired') expect(begun.has(callId)).toBe(false);
      }
    };
    holdsFor(property, {
      'a result needs no beginning': {
        decide: (envelope, state) =>
          decide(
            envelope,
            envelope.data.type === 'record_result'
              ? withCalls(state, (call, { attempt }) => ({ ...call, status: 'started', attempt }))
              : state,
          ),
      },
      'a result comes twice': changed((event) => (event.type === 'tool_result' ? [event, event] : event)),
      'what was cut off is called denied': changed((event) =>
        event.type === 'tool_result' && event.outcome === 'unknown' ? { ...event, outcome: 'denied' } : event,
      ),
    });
  });

  test('the next step is recorded when every call of the last one has its result', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      let open: readonly string[] = [];
      for (const { event } of eventsOf(wishes, under)) {
        if (event.type === 'tool_result') open = open.filter((callId) => callId !== event.callId);
        if (event.type === 'turn_started') open = [];
        if (event.type !== 'model_step') continue;
        expect(open).toEqual([]);
        open = (event.calls ?? []).map(({ callId }) => callId);
      }
    };
    const hasty: Domain['decide'] = (envelope, state) =>
      decide(envelope, envelope.data.type === 'record_step' ? withTurn(state, (turn) => ({ ...turn, calls: [] })) : state);
    holdsFor(property, { 'nobody waits for calls': { decide: hasty } });
  });

  test('I7: a call begins with the grant of its own question or, if nobody was asked, without one; what was denied or expired never begins', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const asked = new Map<string, EventOf<'approval_requested'>>();
      const begun = new Set<string>();
      const refused = new Set<string>();
      const answered = new Map<string, SessionEvent>();
      for (const { event, events } of eventsOf(wishes, under)) {
        if (event.type === 'approval_resolved') answered.set(event.approvalId, event);
        if (event.type === 'approval_requested' && event.callId !== undefined) asked.set(event.callId, event);
        if (event.type === 'approval_resolved' && event.callId !== undefined && event.verdict !== 'granted')
          refused.add(event.callId);
        if (event.type !== 'tool_call_started') continue;
        const { callId, approvalId } = event;
        expect(refused.has(callId)).toBe(false);
        const question = asked.get(callId);
        if (question && !begun.has(callId)) expect(approvalId).toBe(question.approvalId);
        begun.add(callId);
        if (approvalId === undefined) continue;
        expect(question?.approvalId).toBe(approvalId);
        // What was deferred may wait in the queue for its turn after it was allowed.
        const grant = question?.deferred
          ? answered.get(approvalId)
          : events.find((other) => other.type === 'approval_resolved' && other.approvalId === approvalId);
        expect(grant).toMatchObject({ verdict: 'granted', callId });
      }
    };
    const told = changed((event) =>
      event.type === 'approval_resolved' && event.callId !== undefined ? { ...event, verdict: 'denied' } : event,
    );
    holdsFor(property, {
      'a call begins although the answer was no': told,
      'the grant is not named': changed((event) => {
        if (event.type !== 'tool_call_started') return event;
        const { approvalId: _, ...start } = event;
        return start;
      }),
    });
  });

  test('a turn that waits for a person runs nothing (I6), and what is asked about a call is about one that has not ended', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      for (const { machine } of play(wishes, under).states) {
        const { turn, approval } = machine.context;
        if (machine.value !== 'awaiting_approval' || turn === null) continue;
        expect(turn.calls.filter(({ status, attempt }) => status === 'started' && attempt === turn.attempt)).toEqual([]);
        if (approval?.callId !== undefined) {
          expect(turn.calls.find(({ callId }) => callId === approval.callId)).toMatchObject({
            status: expect.not.stringMatching('done'),
          });
        }
      }
    };
    const impatient: Domain['decide'] = (envelope, state) =>
      decide(envelope, envelope.data.type === 'request_approval' ? withCalls(state, (call) => ({ ...call, attempt: 0 })) : state);
    holdsFor(property, { 'a question does not wait for what runs': { decide: impatient } });
  });

  test('an approval is answered once, and only by the owner or who was named', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const resolved = new Set<string>();
      for (const { event } of eventsOf(wishes, under)) {
        if (event.type !== 'approval_resolved') continue;
        expect(resolved.has(event.approvalId)).toBe(false);
        resolved.add(event.approvalId);
        expect(['owner-1', 'boss', 'natter']).toContain(event.by);
      }
    };
    const trusting: Domain['decide'] = (envelope, state) => {
      const { data } = envelope;
      if (data.type !== 'resolve_approval') return decide(envelope, state);
      const by = { ...data.by, role: 'owner' as const };
      return decide({ ...envelope, data: { ...data, by } }, state);
    };
    holdsFor(property, { 'anybody may answer': { decide: trusting } });
  });

  test('pages are whole, in order, in the commit of their result, and within their bounds (I11)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      for (const { event, events } of eventsOf(wishes, under)) {
        if (event.type !== 'tool_result') continue;
        expect(Buffer.byteLength(event.text)).toBeLessThanOrEqual(limits.toolPageBytes);
        const pages = events.flatMap((other) => (other.type === 'tool_output' && other.callId === event.callId ? [other] : []));
        expect(pages.map(({ page }) => page)).toEqual(Array.from({ length: event.pages ?? 0 }, (_, index) => index + 1));
        if (pages.length > 0) expect(event.text).toBe(pages[0]?.text);
        const text = pages.length > 0 ? pages.map((page) => page.text).join('') : event.text;
        expect(Buffer.byteLength(text)).toBe(event.bytes);
      }
    };
    holdsFor(property, {
      'the last page is lost': deciding((events) =>
        events.filter((event, index) => event.type !== 'tool_output' || index < events.length - 1),
      ),
    });
  });

  test('who asks for a compaction gets no answer of the model, and what serves the memory is told to nobody (A7/85, A11/126)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      const tasks = new Set<string>();
      for (const { event, events } of eventsOf(wishes, under)) {
        if (event.type === 'turn_started' && event.turn.task) tasks.add(event.turn.id);
        if (event.type !== 'assistant_message') continue;
        expect(tasks.has(event.turn.id)).toBe(false);
        expect(events.some((other) => other.type === 'model_step' && other.flush)).toBe(false);
      }
    };
    const forgetful: Domain['fold'] = (state, commit) => withTurn(fold(state, commit), ({ task: _, ...turn }) => turn);
    holdsFor(property, { 'a compaction is a turn like any other': { fold: forgetful } });
  });

  test('a session that answers has heard whoever joined, or says that more follows (B6)', () => {
    const property = (wishes: readonly Intent[], under: Domain) => {
      let joined = 0;
      for (const { event, events } of eventsOf(wishes, under)) {
        if (event.type === 'turn_started') joined = 0;
        if (event.type === 'turn_joined') joined++;
        if (event.type !== 'assistant_message') continue;
        const step = events.find((other) => other.type === 'model_step');
        const heard = step?.type === 'model_step' ? (step.heard ?? 0) : 0;
        expect(event.interim === true).toBe(heard < joined);
        const ends = events.some((other) => other.type === 'turn_completed' && other.turn.id === event.turn.id);
        expect(ends).toBe(event.interim !== true);
      }
    };
    const deaf: Domain['decide'] = (envelope, state) =>
      decide(
        envelope,
        withTurn(state, (turn) => ({ ...turn, joined: 0 })),
      );
    holdsFor(property, { 'nobody looks who joined': { decide: deaf } });
  });
});
