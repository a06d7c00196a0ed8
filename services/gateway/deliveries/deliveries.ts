import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import { isToResume, type ResumeRequest, type WaitingDelivery } from '../../../shared/domain/values/delivery.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { deliveryService, type StoredDeadLetter, type Undelivered } from '../../../shared/ports/dead-letters.ts';
import { undeliveredCodec } from '../../../shared/wire/undelivered.ts';
import { holderOf } from '../access/speaker.ts';
import { sendCommand } from '../commands/send-command.ts';
import { ownersOnly } from '../context/access.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';
import type { Call } from '../operation/operation.ts';
import { custodyShown } from './session-deliveries.ts';

/**
 * What a person does about outgoing messages that may not have arrived (D12). Delivery keeps them among the dead letters, with the words
 * of people: the owner's alone.
 */

/** Letters that one page looks through at most, most of which may be of other services. */
const searchedLetters = 10 * limits.pageRows;

const permit = ({ caller }: Call): void => ownersOnly(caller.principal, 'reading and deciding about deliveries');

interface Kept {
  readonly letter: StoredDeadLetter;
  readonly message: Undelivered;
}

/** `null`: there is none, or it cannot be read; the dead letters show it then. */
const keptAt = async ({ ports }: GatewayContext, seq: number): Promise<Kept | null> => {
  const letter = await ports.deadLetters.get(seq);
  if (letter?.service !== deliveryService) return null;
  try {
    return { letter, message: undeliveredCodec.decode(letter.bytes) };
  } catch {
    return null;
  }
};

/** Throws `NatterError('not_found')`. */
const deliveryAt = async (context: GatewayContext, seq: number): Promise<Kept> => {
  const kept = await keptAt(context, seq);
  if (kept !== null) return kept;
  throw new NatterError(
    'not_found',
    `seq: there is no delivery ${seq} to decide about; it was repeated or left, or is past the bounds`,
    {
      field: 'seq',
    },
  );
};

const listed = ({ letter: { seq, reason, at }, message: { id, key, target, kind, outcome, parts } }: Kept) => ({
  ...{ seq, state: outcome, outboundId: id, sessionKey: key, target, kind, detail: reason, at },
  ...(parts && { parts }),
});

/** What is under way and goes on by itself, as the delivery services report it. Empty if none reports. */
const waiting = async ({ ports }: GatewayContext): Promise<WaitingDelivery[]> => {
  const reports = await ports.presence.list();
  return reports.flatMap(({ services }) => services.flatMap((service) => service.waiting ?? []));
};

/** The newest first; the first page also says what waits. Throws `NatterError('forbidden')`, as all of these. */
export const listDeliveries = async (call: Call, { before, limit }: { before?: number | undefined; limit: number }) => {
  permit(call);
  const { context } = call;
  const { deadLetters } = context.ports;
  const found: Kept[] = [];
  let end = before;
  let isOver = (await deadLetters.count(deliveryService)) === 0;
  for (let searched = 0; !isOver && found.length <= limit && searched < searchedLetters; searched += limits.pageRows) {
    const letters = await deadLetters.list(limits.pageRows, end);
    isOver = letters.length < limits.pageRows;
    end = letters.at(-1)?.seq;
    const ours = letters.filter(({ service }) => service === deliveryService).slice(0, limit + 1 - found.length);
    found.push(...(await Promise.all(ours.map(({ seq }) => keptAt(context, seq)))).filter((kept) => kept !== null));
  }
  const deliveries = found.slice(0, limit).map(listed);
  const next = found.length > limit ? deliveries.at(-1)?.seq : isOver ? null : end;
  return { waiting: before === undefined ? await waiting(context) : [], deliveries, next: next ?? null };
};

/** Those that have arrived, newest first, by the delivery log. A page may be short, or empty, and have a `next`. */
export const listDelivered = async (call: Call, range: { before?: number | undefined; limit: number }) => {
  permit(call);
  const { records, next } = await call.context.ports.custody.newest('delivered', range);
  const delivered = records.map((record) => {
    const { seq, outboundId, key: sessionKey, target } = record;
    const { attempt, at, messageIds, parts, detail } = custodyShown(record, true);
    return {
      ...{ seq, outboundId, sessionKey, target, attempt, at, messageIds },
      ...(parts && { parts }),
      ...(detail !== undefined && { detail }),
    };
  });
  return { delivered, next };
};

/** Why it cannot be sent again; `null` if it can. */
const obstacle = ({ message: { kind, text } }: Kept): string | null => {
  if (kind === 'stop') return 'it would stop a run, and says nothing';
  return text === '' ? 'its text is gone, because its session was erased' : null;
};

/** One with the text that was not sent. */
export const readDelivery = async (call: Call, seq: number) => {
  permit(call);
  const kept = await deliveryAt(call.context, seq);
  const why = obstacle(kept);
  return { ...listed(kept), text: kept.message.text, repeat: { isPossible: why === null, why: why ?? mayArriveTwice } };
};

const mayArriveTwice = 'the receiver may get it twice';

/**
 * Has the message, or the rest of its parts, sent again as a new one, behind everything that its session has said. However often it is
 * called, and whatever fails in between, there is one (I2). Throws `Refusal('not_resendable')`, or what the session refuses with.
 */
export const repeatDelivery = async (call: Call, seq: number) => {
  permit(call);
  const { context, caller } = call;
  const kept = await deliveryAt(context, seq);
  const why = obstacle(kept);
  if (why !== null) throw new Refusal('not_resendable', why);
  const { id: outboundId, key, kind, target: deliverTo, text, turnId } = kept.message;
  const by = holderOf(caller, context.access.identities);
  const data = { type: 'repeat_delivery', outboundId, kind, deliverTo, text, turnId, by } as const;
  const command = await context.audit.before('delivery_repeated', caller, factsOf(kept), async () => {
    const sent = await sendCommand(context, caller, key, data, { runId: runIdOf(key, `repeat-${outboundId}`) });
    await context.ports.deadLetters.remove(seq);
    return sent;
  });
  return { ...listed(kept), command, warning: mayArriveTwice };
};

/** Leaves it as it is: nobody is reminded of it any more. */
export const leaveDelivery = async (call: Call, seq: number) => {
  permit(call);
  const { context, caller } = call;
  const kept = await deliveryAt(context, seq);
  await context.audit.before('delivery_left', caller, factsOf(kept), () => context.ports.deadLetters.remove(seq));
  return listed(kept);
};

/**
 * Has the parked accounts of a channel, or one of them, tried again at once instead of at the next try. Resolves with those. The first
 * message of each shows whether it works again; if not, the account stays parked. Throws `NatterError('not_found')` if none is parked.
 */
export const resumeAccounts = async (call: Call, request: ResumeRequest) => {
  permit(call);
  const { context, caller } = call;
  const isMeant = (place: WaitingDelivery): boolean => place.state === 'parked' && isToResume(request, place);
  const parked = (await waiting(context)).filter(isMeant);
  const { channel, accountId } = request;
  if (parked.length === 0)
    throw new NatterError('not_found', `channel: no such account is parked; "waiting" of the list has those that are`, {
      field: 'channel',
    });
  const facts = { target: channel, detail: { accountId } };
  await context.audit.before('delivery_resumed', caller, facts, async () => context.ports.resumeRequests.send(request));
  return { accounts: parked };
};

const factsOf = ({ letter: { seq }, message: { id, outcome } }: Kept) => ({
  target: `${seq}`,
  detail: { outboundId: id, state: outcome },
});
