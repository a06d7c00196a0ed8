import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { decodeCommand, encodeCommand } from '../../../shared/wire/codec.ts';
import type { SessionHost } from './host.ts';
import { loadState } from './load.ts';

const rounds = 300;
/** One of so many turns calls a tool, which goes through the turn's loop, and after so many the session is loaded again. */
const roundsEachCall = 10;
const roundsEachLoad = 40;
const loads = 20;
const loadsAtOnce = 10;
const drainMs = 1_000;
const warmUpKey = 'agent:warm-up:main' as SessionKey;

/**
 * Has a host on a broker in memory take a few hundred commands, so that the engine has compiled a turn's code before the first message comes:
 * otherwise the first turn after a start takes several times as long. `rehearsal` is that host. Loading also reads a session that does not exist
 * from the real broker, as the first message of a new session does. One that does not answer does not keep the host from starting. Nothing is
 * written there.
 */
export const warmUp = async (rehearsal: SessionHost, ports: Parameters<typeof loadState>[0]): Promise<void> => {
  for (let round = 1; round <= rounds; round++) {
    const callsTool = round % roundsEachCall === 0;
    const message = decodeCommand(encodeCommand(posted(round, callsTool ? '[[tool nothing {}]] hello' : 'hello')));
    await rehearsal.handle({ message, seq: round, incarnation: 1, partition: 0, attempt: 1 });
    if (callsTool) await rehearsal.drain(drainMs);
    if (round % roundsEachLoad === 0) rehearsal.lose(() => true);
  }
  rehearsal.close();
  const load = async (): Promise<void> => {
    for (let round = 0; round < loads / loadsAtOnce; round++) await loadState(ports, warmUpKey);
  };
  await Promise.all(Array.from({ length: loadsAtOnce }, load)).catch(() => {});
};

const posted = (round: number, text: string): CommandEnvelope => {
  const id = `warm-up-${round}`;
  return {
    ...{ id, key: warmUpKey, at: 0, correlationId: id, causationId: id, actor: 'nobody', answerTo: 'nobody' },
    data: { type: 'post_message', sessionId: 'warm-up', message: { messageId: id, text, sender: { id: 'nobody' } } },
  };
};
