import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../../shared/domain/session/commands.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { commandIdOf, envelopeOf } from '../../commands/envelope.ts';
import { scheduleCommand } from '../../commands/publish.ts';
import { sendCommand } from '../../commands/send-command.ts';
import type { GatewayContext } from '../../context/gateway-context.ts';
import type { Answer } from '../../runs/answer.ts';
import { isUnstored } from './format/session-names.ts';

/** `store: false`: the session of such a call is deleted once its client has the answer. */

const timerName = 'unstored';
const deletion = (mode: 'session' | 'key'): SessionCommand => ({ type: 'delete_session', mode, reason: 'store: false' });

/** Has the session deleted after a day at the latest, whatever becomes of this gateway and the client. */
export const limitLife = async ({ ports }: GatewayContext, request: FastifyRequest, key: SessionKey): Promise<void> => {
  const at = ports.clock.now() + limits.unstoredSessionMs;
  const id = commandIdOf(request, key, 'delete_session', timerName);
  await scheduleCommand(ports, timerName, envelopeOf(request, { id, key, at, data: deletion('key') }));
};

/** Deletes the session once the whole answer is sent, unless the program still has calls to answer. A client that was cut off may ask again. */
export const deleteWhenSent = (
  context: GatewayContext,
  request: FastifyRequest,
  reply: FastifyReply,
  key: SessionKey,
): ((answer: Answer) => Answer) => {
  const { ports, log } = context;
  const forget = async (): Promise<void> => {
    await sendCommand(context, request, key, deletion('session'));
    await ports.commands.cancel(key, timerName);
  };
  return (answer) => {
    if (isUnstored(key) && answer.calls.length === 0) {
      reply.raw.once('finish', () => {
        void forget().catch((err: unknown) => log.warn({ err }, 'a session that was not to be stored could not be deleted yet'));
      });
    }
    return answer;
  };
};
