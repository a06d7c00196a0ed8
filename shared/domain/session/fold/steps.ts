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

/** A machine as live actors have it. A step that stays in its status has no effect, so it is that of the fold. */
export const livingOf = (machine: typeof sessionMachine): typeof sessionMachine =>
  Object.assign(Object.create(machine) as typeof sessionMachine, {
    transition: (...[before, event, scope]: Parameters<typeof machine.transition>): MachineSnapshot => {
      const [transition] = machine.getTransitionData(before, event);
      const stays = transition !== undefined && transition.target === undefined;
      return stays ? { ...before, context: changedBy(before.context, event) } : machine.transition(before, event, scope);
    },
  });

/** The machine of the sessions in memory. */
export const liveMachine = livingOf(sessionMachine);
