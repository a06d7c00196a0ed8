import { messageOf } from '../../shared/kit/errors.ts';
import { limits } from '../../shared/kit/limits.ts';
import type { Clock, EventLog, Live, Model } from '../../shared/ports.ts';
import type { SessionKey } from '../../shared/routing/session-key.ts';
import type { TurnInput } from '../../shared/session/machine.ts';
import type { StepOutcome } from '../../shared/session/types.ts';
import { type Reach, readTranscript } from './transcript.ts';

export interface TurnContext {
  readonly key: SessionKey;
  readonly model: Model;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly live: Live;
  /** Where the session was when the turn began. */
  readonly reach: Reach;
  /** Puts the outcome of a step into the session's mailbox; resolves with true once it is recorded and the turn goes on. */
  record(step: number, outcome: StepOutcome): Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * A turn is a loop over recorded steps (§6). It begins at the first step that is not in the log, so a resumed turn repeats none. Every
 * outcome, an error included, goes back as a command; the loop itself changes nothing and stops when its attempt is over.
 */
export const runTurn = async ({ turn }: TurnInput, context: TurnContext): Promise<void> => {
  const { key, reach, signal } = context;
  const ref = { id: turn.id, attempt: turn.attempt };
  const { prompt, messages, steps: finished } = await readTranscript(context, key, turn, reach);
  const steps = finished.slice(0, turn.step - 1);
  for (let step = turn.step; !signal.aborted; step++) {
    const request = { key, turn: ref, step, prompt, system: '', messages, tools: [] };
    const outcome = await takeStep(request, context);
    if (signal.aborted || !(await context.record(step, outcome)) || outcome.kind !== 'continue') return;
    steps.push(outcome.text);
  }
};

/** One model step with its deltas on the ephemeral subject. A model that throws or says too much has failed; the turn says so. */
const takeStep = async (request: Parameters<Model['step']>[0], { model, live, signal }: TurnContext): Promise<StepOutcome> => {
  let offset = 0;
  const onText = (text: string): void => {
    if (signal.aborted) return;
    live.publish(request.key, { turn: request.turn, step: request.step, offset, text });
    offset += text.length;
  };
  try {
    const outcome = await model.step(request, onText, signal);
    if (outcome.kind !== 'failed' && Buffer.byteLength(outcome.text) > limits.modelOutputBytes) {
      return {
        kind: 'failed',
        code: 'output_too_large',
        message: `the model answered more than ${limits.modelOutputBytes} bytes`,
      };
    }
    return outcome;
  } catch (error) {
    return { kind: 'failed', code: 'model_error', message: messageOf(error).slice(0, 2_000) };
  }
};
