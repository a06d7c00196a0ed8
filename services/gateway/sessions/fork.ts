import { z } from 'zod';
import { seesAll } from '../../../shared/domain/access/access.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { ForkBase } from '../../../shared/domain/values/fork-base.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { readThrough } from '../../../shared/runtime/read-through.ts';
import { speakerOf } from '../access/speaker.ts';
import { type Caller, commandIdOf, occasionFor } from '../commands/envelope.ts';
import { type CommandResult, sendCommand } from '../commands/send-command.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { momentParameter } from '../http/input.ts';
import { Refusal } from '../http/problem.ts';
import type { Condition } from '../operation/etag.ts';
import type { Call } from '../operation/operation.ts';
import { type Moment, stateAt } from './state.ts';

/** Where to fork: at a sequence of the log, or at a time by the broker's clock. Default: at the current state. */
const forkPlace = z.strictObject({
  atSeq: z.int().min(1).optional(),
  atTime: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}/, 'use a time such as "2026-01-31T12:00:00Z"')
    .pipe(momentParameter)
    .meta({ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}', description: 'in ISO 8601, by the clock of the broker' })
    .optional(),
});
type ForkPlace = z.infer<typeof forkPlace>;
/** Where to fork, and what for. */
export const forkBody = forkPlace.extend({ reason: z.string().min(1).max(200).optional() });

export interface ForkRequest {
  readonly key: SessionKey;
  readonly place: ForkPlace;
  /** What for. Default: the place. */
  readonly reason?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly condition?: Condition | undefined;
}

/** The generation that a fork started. */
interface Begun {
  readonly sessionId: string;
  readonly generation: number;
  readonly forkedFrom: Pick<ForkBase, 'sessionId' | 'seq' | 'rev'>;
}
/** The result of a fork. The new generation is unknown until the session has answered. */
export type ForkAnswer = { readonly key: SessionKey } & CommandResult & Partial<Begun>;

/**
 * Starts a new generation of a session from an earlier point; the history stays (B21). Only the owner can fork from before a deletion.
 * Throws as `stateAt` does, and `Refusal('fork_invalid')` for a moment without a session.
 */
export const fork = async (
  { context, caller }: Call,
  { key, place, reason, idempotencyKey, condition }: ForkRequest,
): Promise<ForkAnswer> => {
  const { access, config, ports } = context;
  const moment = momentOf(place);
  const { after: since } = await access.read(caller.principal, key);
  await access.permitControl(caller.principal, key, 'forking');
  const when = { runId: commandIdOf(caller, key, 'fork', idempotencyKey), ...(await condition?.()) };
  const { from, deletedGeneration } = await baseAt(context, caller, { key, moment, since });
  const { sessionId } = occasionFor(config, key, ports.clock.now());
  const by = speakerOf(caller.principal, undefined, access.identities);
  const data = {
    ...{ type: 'fork' as const, sessionId, from },
    ...(reason !== undefined && { reason }),
    ...(by.role === 'participant' && { by }),
    // A deletion may come between reading the base and the fork.
    ...(!seesAll(caller.principal) && { ifDeletedGeneration: deletedGeneration }),
  };
  const result = await sendCommand(context, caller, key, data, when);
  const seq = result.status === 'ok' ? result.seq : undefined;
  return { key, ...result, ...(seq !== undefined && (await begunAt(ports, key, seq))) };
};

const momentOf = ({ atSeq: seq, atTime: time }: ForkPlace): Moment | undefined => {
  if (seq === undefined) return time;
  if (time === undefined) return { seq };
  throw new NatterError('invalid', 'atTime: not together with "atSeq"; leave one out', { field: 'atTime' });
};

type Place = { readonly key: SessionKey; readonly moment: Moment | undefined; readonly since: number };

type Base = { readonly from: ForkBase; readonly deletedGeneration: number };

const baseAt = ({ ports, replays }: GatewayContext, { actor }: Caller, { key, moment, since }: Place): Promise<Base> => {
  return replays.during(actor, async () => {
    const { context, position } = await stateAt(ports, key, moment, since);
    if (context.generation === 0 || context.deleted)
      throw new Refusal('fork_invalid', 'there was no session then; name a later moment');
    const { seq, rev, contextSeq, skips } = position;
    const { sessionId, deletedGeneration } = context;
    return { from: { sessionId, seq, rev, contextSeq, skips }, deletedGeneration };
  });
};

/** The generation started by the fork recorded at this sequence. */
const begunAt = async (ports: Pick<Ports, 'events' | 'clock'>, key: SessionKey, seq: number): Promise<Partial<Begun>> => {
  for await (const { events } of readThrough(ports, key, { after: seq - 1, through: seq })) {
    const reset = events.find((event) => event.type === 'session_reset');
    if (reset?.forkedFrom === undefined) break;
    const { sessionId, generation, forkedFrom: from } = reset;
    return { sessionId, generation, forkedFrom: { sessionId: from.sessionId, seq: from.seq, rev: from.rev } };
  }
  return {};
};
