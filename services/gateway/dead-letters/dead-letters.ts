import { NatterError } from '../../../shared/kit/errors.ts';
import type { StoredDeadLetter } from '../../../shared/ports/dead-letters.ts';
import { decode } from '../../../shared/wire/codec.ts';
import { listedLetter } from '../../../shared/wire/listed-letter.ts';
import { ownersOnly } from '../context/access.ts';
import type { AuditFacts } from '../context/audit.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';
import type { Call } from '../operation/operation.ts';
import { prospectOf, queueOf } from './prospect.ts';

/** What an operator does with messages that nobody could process. They have the words of people: the owner's alone. */

const permit = ({ caller }: Call): void => ownersOnly(caller.principal, 'reading and deciding about dead letters');

/** Throws `NatterError('not_found')`. */
const letterOf = async ({ ports }: GatewayContext, seq: number): Promise<StoredDeadLetter> => {
  const letter = await ports.deadLetters.get(seq);
  if (letter !== null) return letter;
  throw new NatterError('not_found', `seq: there is no dead letter ${seq}; it was resent or discarded, or is past the bounds`, {
    field: 'seq',
  });
};

const factsOf = ({ seq, service, id }: StoredDeadLetter, reason?: string): AuditFacts => ({
  target: `${seq}`,
  detail: { service, id, reason },
});

/** The newest first. Throws `NatterError('forbidden')`, as all of these. */
export const listDeadLetters = async (call: Call, { before, limit }: { before?: number | undefined; limit: number }) => {
  permit(call);
  const found = await call.context.ports.deadLetters.list(limit + 1, before);
  const deadLetters = found.slice(0, limit);
  return { deadLetters, next: found.length > limit ? (deadLetters.at(-1)?.seq ?? null) : null };
};

/** A message as JSON; `null` if it cannot be read. */
const readable = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(JSON.stringify(decode(bytes)));
  } catch {
    return null;
  }
};

/** One with its message, and what a resend would do. */
export const readDeadLetter = async (call: Call, seq: number) => {
  permit(call);
  const letter = await letterOf(call.context, seq);
  const bytes = Buffer.from(letter.bytes).toString('base64');
  return { ...listedLetter(letter), message: readable(letter.bytes), bytes, resend: await prospectOf(call.context, letter) };
};

/**
 * Puts the message back into its queue, then removes the letter. Of two callers at once, or after a crash in between, the queue
 * takes it once within two minutes (`duplicate`), and later its session knows the message by its own id, which stays (I2). Throws
 * `Refusal('not_resendable')` for what would only come back.
 */
export const resendDeadLetter = async (call: Call, seq: number) => {
  permit(call);
  const { context, caller } = call;
  const letter = await letterOf(context, seq);
  const { isPossible, wouldRepeat, why } = await prospectOf(context, letter);
  const queue = queueOf(letter, context.ports);
  if (!isPossible || queue === undefined) throw new Refusal('not_resendable', why);
  const { duplicate } = await context.audit.before('dead_letter_resent', caller, factsOf(letter), async () => {
    const published = await queue.resend(letter.bytes, `dead:${letter.service}:${letter.id}`);
    await context.ports.deadLetters.remove(seq);
    return published;
  });
  return { ...listedLetter(letter), wouldRepeat, why, duplicate };
};

/** Removes the letter for good. */
export const discardDeadLetter = async (call: Call, { seq, reason }: { seq: number; reason: string }) => {
  permit(call);
  const { context, caller } = call;
  const letter = await letterOf(context, seq);
  await context.audit.before('dead_letter_discarded', caller, factsOf(letter, reason), () =>
    context.ports.deadLetters.remove(seq),
  );
  return listedLetter(letter);
};
