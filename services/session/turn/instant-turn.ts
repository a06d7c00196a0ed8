import { textForModel } from '../../../shared/domain/prompt/conversation-message.ts';
import { mayCallSkill } from '../../../shared/domain/routing/chat-command.ts';
import { messageOf } from '../../../shared/domain/session/commands.ts';
import { decide } from '../../../shared/domain/session/decide/index.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { evolve, initialState } from '../../../shared/domain/session/fold/evolve.ts';
import type { MachineSnapshot } from '../../../shared/domain/session/fold/machine.ts';
import type { StepOutcome } from '../../../shared/domain/values/types.ts';
import type { Model } from '../../../shared/ports/model.ts';

/** The message, the step and a long answer might not fit in one commit. */
const isLong = (outcome: StepOutcome): boolean => outcome.kind === 'reply' && outcome.text.length > 64 * 1024;

/**
 * A turn that a model without effects can answer at once becomes part of the decision that starts it: one commit instead of two (ADR 3).
 * The events are those that the loop would have recorded, made by the same `decide`. `machine` is the state after the decision so far.
 */
export const instantTurn = (
  model: Model,
  envelope: CommandEnvelope,
  machine: MachineSnapshot,
): { events: readonly SessionEvent[]; machine: MachineSnapshot } => {
  const { turn } = machine.context;
  const message = envelope.data.type === 'append_message' ? undefined : messageOf(envelope.data);
  const answers = machine.value === 'running' && message !== undefined && turn?.messageId === message.messageId;
  const isInstant = answers && turn.quietUntil === undefined && !mayCallSkill(message.text) && !message.client;
  if (!isInstant || turn === null || model.instantly === undefined) return { events: [], machine };

  const ref = { id: turn.id, attempt: turn.attempt };
  const outcome = model.instantly({ step: turn.step, prompt: textForModel(message) });
  if (outcome === null || outcome.kind === 'continue' || isLong(outcome)) return { events: [], machine };

  const step: CommandEnvelope = { ...envelope, data: { type: 'record_step', turn: ref, step: turn.step, outcome } };
  const decision = decide(step, { machine, position: initialState.position });
  const events = 'accept' in decision ? decision.accept : [];
  return { events, machine: events.reduce(evolve, machine) };
};
