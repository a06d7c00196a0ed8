import { createRoute } from '../../../shared/domain/routing/route.ts';
import { isRepeat } from '../../../shared/domain/session/decide/repeat.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { fromPlain } from '../../../shared/domain/session/fold/evolve.ts';
import { hasForgottenNone, rememberedIds } from '../../../shared/domain/session/repeats/id-memory.ts';
import { errorMessage, hasCode } from '../../../shared/kit/errors.ts';
import type { DeadLetter } from '../../../shared/ports/dead-letters.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { WorkQueue } from '../../../shared/ports/work-queue.ts';
import { decodeCheckpoint, decodeCommand, decodeInbound, encodeCommand } from '../../../shared/wire/codec.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { Refusal } from '../http/problem.ts';
import { stateAt } from '../sessions/state.ts';

/** What a resend would do, as far as that can be known before it. `wouldRepeat`: the session has it already; `null`: unknown. */
interface Prospect {
  readonly isPossible: boolean;
  readonly wouldRepeat: boolean | null;
  readonly why: string;
}

type ResendingQueue = Pick<WorkQueue<unknown>, 'resend'>;

/** The letters of one service: the queue they came from, and what would become of one there. */
interface Kind {
  queue(ports: Ports): ResendingQueue;
  /** Throws `NatterError('invalid' | 'too_large')` for bytes that the service could not read either. */
  examine(context: GatewayContext, bytes: Uint8Array): Promise<Prospect>;
}

const impossible = (why: string): Prospect => ({ isPossible: false, wouldRepeat: null, why });
const possible = (wouldRepeat: boolean | null, why: string): Prospect => ({ isPossible: true, wouldRepeat, why });

/** Whether the session would recognise the command, by the rule that the session itself applies (I2). */
const commandProspect = async ({ ports }: GatewayContext, command: CommandEnvelope): Promise<Prospect> => {
  const { key } = command;
  try {
    const state = fromPlain(await stateAt(ports, key));
    if (isRepeat(command, null, state)) return possible(true, `${key} has it already; it would change nothing`);
    const { recentIds, olderIds } = state.position;
    if (hasForgottenNone(olderIds)) return possible(false, `${key} remembers everything that was sent to it, and not this`);
    const count = recentIds.length + rememberedIds(olderIds);
    return possible(null, `${key} does not have it among its last ${count} commands and messages, and remembers no more`);
  } catch (error) {
    if (hasCode(error, 'not_found')) return possible(false, `nothing was ever recorded of ${key}`);
    if (hasCode(error, 'quarantined'))
      return impossible(`the history of ${key} cannot be read, so it would come back: ${errorMessage(error)}`);
    if (error instanceof Refusal) return possible(null, `${key} has too long a history to look`);
    throw error;
  }
};

const kinds: Readonly<Record<string, Kind>> = {
  router: {
    queue: ({ inbound }) => inbound,
    examine: async (context, bytes) => {
      const routed = createRoute(context.config)(decodeInbound(bytes), context.ports.clock.now());
      if ('dropped' in routed) return impossible(`the configuration drops it: ${routed.dropped}`);
      if ('unroutable' in routed) return impossible(`it would come back: ${routed.unroutable}`);
      if ('pairing' in routed) return possible(null, 'what comes of it depends on who is paired with the channel then');
      encodeCommand(routed.command);
      return commandProspect(context, routed.command);
    },
  },
  session: {
    queue: ({ commands }) => commands,
    examine: async (context, bytes) => commandProspect(context, decodeCommand(bytes)),
  },
  checkpoint: {
    queue: ({ checkpoints }) => checkpoints,
    examine: async (_, bytes) => {
      const { key } = decodeCheckpoint(bytes);
      return possible(null, `a checkpoint of ${key} begins where its history shows that the last one ended`);
    },
  },
};

const kindOf = ({ service }: DeadLetter): Kind | undefined => (Object.hasOwn(kinds, service) ? kinds[service] : undefined);

/** The queue that a letter came from; `undefined` for one that cannot be sent again. */
export const queueOf = (letter: DeadLetter, ports: Ports): ResendingQueue | undefined => kindOf(letter)?.queue(ports);

/** What a resend of the letter would do. Changes nothing. Throws `NatterError('unavailable')`. */
export const prospectOf = async (context: GatewayContext, letter: DeadLetter): Promise<Prospect> => {
  if (letter.service === 'delivery')
    return impossible('a send that was given up is final (I9); `natter deliveries repeat` has the message sent again');
  const kind = kindOf(letter);
  if (kind === undefined) return impossible(`no queue of this version has messages for "${letter.service}"`);
  try {
    return await kind.examine(context, letter.bytes);
  } catch (error) {
    if (hasCode(error, 'invalid') || hasCode(error, 'too_large')) return impossible(`it would come back: ${errorMessage(error)}`);
    throw error;
  }
};
