import { z } from 'zod';
import { seesAll } from '../../shared/domain/access/access.ts';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import type { ForkBase } from '../../shared/domain/values/types.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import type { Ports } from '../../shared/ports/index.ts';
import { readThrough } from '../../shared/runtime/read-through.ts';
import { type Asked, ask } from './asking.ts';
import { type Asker, occasionFor } from './commands.ts';
import type { GatewayContext } from './context.ts';
import type { Condition } from './etag.ts';
import { momentParameter } from './input.ts';
import { Refusal } from './problem.ts';
import { speakerOf } from './speaker.ts';
import { type Moment, stateAt } from './state.ts';

/** From where: a sequence of the log, or a time by the clock of the broker. Neither: from where the session stands. */
export const forkPlace = z.strictObject({
  atSeq: z.int().min(1).optional(),
  atTime: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}/, 'use a time such as "2026-01-31T12:00:00Z"')
    .pipe(momentParameter)
    .meta({ type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}', description: 'in ISO 8601, by the clock of the broker' })
    .optional(),
});
export type ForkPlace = z.infer<typeof forkPlace>;

/** The generation that a fork began. */
interface Begun {
  readonly sessionId: string;
  readonly generation: number;
  readonly forkedFrom: Pick<ForkBase, 'sessionId' | 'seq' | 'rev'>;
}
/** What became of a fork; of one that the session has not answered for yet nobody knows what it began. */
export type ForkAnswer = { readonly key: SessionKey } & Asked & Partial<Begun>;

/**
 * Begins a new generation of a session that goes on from an earlier point; the history stays (B21). What a deletion has left behind is no
 * point for others than the owner. Throws as `stateAt` does, and `Refusal('fork_invalid')` for a moment without a session.
 */
export const fork = async (
  context: GatewayContext,
  asker: Asker,
  { key, place, runId, condition }: { key: SessionKey; place: ForkPlace; runId?: string; condition?: Condition },
): Promise<ForkAnswer> => {
  const { access, config, ports } = context;
  const moment = momentOf(place);
  const { after: since } = await access.read(asker.principal, key);
  const when = { runId, ...(await condition?.()) };
  const { from, deletedGeneration } = await baseAt(context, asker, { key, moment, since });
  const { sessionId } = occasionFor(config, key, ports.clock.now());
  const by = speakerOf(asker.principal, undefined, access.identities);
  const wish = {
    ...{ type: 'fork' as const, sessionId, from },
    ...(by.role === 'participant' && { by }),
    // A deletion may come between the choice and the fork.
    ...(!seesAll(asker.principal) && { ifDeletedGeneration: deletedGeneration }),
  };
  const asked = await ask(context, asker, key, wish, when);
  const seq = asked.status === 'ok' ? asked.seq : undefined;
  return { key, ...asked, ...(seq !== undefined && (await begunAt(ports, key, seq))) };
};

const momentOf = ({ atSeq: seq, atTime: time }: ForkPlace): Moment | undefined => {
  if (seq === undefined) return time;
  if (time === undefined) return { seq };
  throw new NatterError('invalid', 'atTime: not together with "atSeq"; leave one out', { field: 'atTime' });
};

type Place = { readonly key: SessionKey; readonly moment: Moment | undefined; readonly since: number };

type Base = { readonly from: ForkBase; readonly deletedGeneration: number };

const baseAt = async ({ ports, replays }: GatewayContext, { actor }: Asker, { key, moment, since }: Place): Promise<Base> => {
  const done = replays.take(actor);
  try {
    const { context, position } = await stateAt(ports, key, moment, since);
    if (context.generation === 0 || context.deleted)
      throw new Refusal('fork_invalid', 'there was no session then; name a later moment');
    const { seq, rev, contextSeq, skips } = position;
    const { sessionId, deletedGeneration } = context;
    return { from: { sessionId, seq, rev, contextSeq, skips }, deletedGeneration };
  } finally {
    done();
  }
};

/** The generation that the fork recorded at this sequence has begun. */
const begunAt = async (ports: Pick<Ports, 'events' | 'clock'>, key: SessionKey, seq: number): Promise<Partial<Begun>> => {
  for await (const { events } of readThrough(ports, key, { after: seq - 1, through: seq })) {
    const reset = events.find((event) => event.type === 'session_reset');
    if (reset?.forkedFrom === undefined) break;
    const { sessionId, generation, forkedFrom: from } = reset;
    return { sessionId, generation, forkedFrom: { sessionId: from.sessionId, seq: from.seq, rev: from.rev } };
  }
  return {};
};
