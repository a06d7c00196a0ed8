import { assert } from '../../../kit/assert.ts';
import { neverOpened } from '../context.ts';
import type { SessionEvent } from '../events.ts';
import { changedBy } from './changes.ts';
import { type MachineSnapshot, sessionMachine } from './machine.ts';

/**
 * The steps of the machine (ADR 14). The machine chooses the transition; what it changes is in `changedBy`. What XState does besides for each
 * step is for entries, exits and children, and takes ten times as long, so it is done only where a live actor enters or leaves a status.
 * A property test compares the fold, XState's function `transition()`, an actor of the plain machine and one of the live machine.
 */

/** A snapshot of each status, without children. */
const resting = new Map<string, MachineSnapshot>(
  Object.keys(sessionMachine.states).map((value) => [value, sessionMachine.resolveState({ value, context: neverOpened })]),
);

/** The snapshot after one event, without an effect; the same one if the machine has no transition for it. */
export const stepOf = (before: MachineSnapshot, event: SessionEvent): MachineSnapshot => {
  const [transition] = sessionMachine.getTransitionData(before, event);
  if (transition === undefined) return before;
  const [target] = transition.target ?? [];
  const base = target === undefined ? before : resting.get(target.key);
  assert(base, 'a transition leads to a status of the machine');
  return { ...base, context: changedBy(before.context, event) };
};

/** The same for all sessions, which XState would make for each. */
const noChildren = Object.freeze({});

/** A snapshot without what XState made for it alone although it is the same for all: it stays in memory with its session. */
const slim = (snapshot: MachineSnapshot): MachineSnapshot => {
  const base = resting.get(snapshot.value);
  if (base === undefined || snapshot.status !== 'active') return snapshot;
  const children = Object.keys(snapshot.children).length === 0 ? noChildren : snapshot.children;
  return { ...snapshot, children, tags: base.tags, historyValue: base.historyValue };
};

/** Whether what enters `running` now starts a turn there. */
export interface Turns {
  readonly start: boolean;
}

/**
 * A machine as live actors have it. A step that stays in its status has no effect, so it is that of the fold; and so are all steps of a commit
 * that begins and ends its turn: no turn is made for it, which would be stopped again without having run.
 */
export const livingOf = (machine: typeof sessionMachine, turns: Turns = { start: true }): typeof sessionMachine =>
  Object.assign(Object.create(machine) as typeof sessionMachine, {
    transition: (...[before, event, scope]: Parameters<typeof machine.transition>): MachineSnapshot => {
      const [transition] = machine.getTransitionData(before, event);
      const stays = transition !== undefined && transition.target === undefined;
      if (stays) return { ...before, context: changedBy(before.context, event) };
      if (!turns.start && before.children.turn === undefined) return stepOf(before, event);
      const after = machine.transition(before, event, scope);
      return after === before ? before : slim(after);
    },
  });
