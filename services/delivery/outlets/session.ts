import type { Config } from '../../../shared/config/schema.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Clock, CommandBus, Outbound, Outlet, SendResult, SessionIndex } from '../../../shared/ports.ts';
import { occasionOf } from '../../../shared/routing/occasion.ts';
import { type SessionKey, sessionKeyProblem } from '../../../shared/routing/session-key.ts';
import type { SessionCommand } from '../../../shared/session/commands.ts';
import { sessionChannel } from '../../../shared/session/types.ts';
import { runIdOf } from '../../../shared/session-tools/run-id.ts';
import { deadlineTimer } from '../../../shared/tools/spawn-key.ts';
import { deliveryActor } from '../content.ts';

export interface SessionOutletOptions {
  readonly config: () => Config;
  readonly commands: Pick<CommandBus, 'publish' | 'cancel'>;
  readonly index: Pick<SessionIndex, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Bytes of an answer, so that its command has room around it. */
const answerBytes = limits.commandBytes - 16 * 1024;

/** The log it reads from and the queue it writes to are on one broker: as long as that is away, so is everything else. */
const attempts = 1_000;

/**
 * The way from session to session (A11/125): the answer of a spawned run becomes a message of the session that began it, a run that is to
 * end is told to stop, and what a person is to be told goes where that session's last message came from. A command's id comes from the
 * outbound's, so a repetition does nothing.
 */
export const sessionOutlet = ({ config, commands, index, clock }: SessionOutletOptions): Outlet => {
  /** A notice without a place to go to is in the event stream of the session alone. */
  const relayed = async (key: SessionKey, { text }: Outbound): Promise<SessionCommand> => {
    const deliverTo = (await index.get(key))?.lastRoute;
    return { type: 'post_notice', notice: { code: 'spawned_run', text, ...(deliverTo && { deliverTo }) } };
  };
  const send = async (outbound: Outbound): Promise<SendResult> => {
    const { id, kind, target, text } = outbound;
    const problem = sessionKeyProblem(target.to);
    if (problem !== null) return { kind: 'failed', detail: `the session key ${problem}` };
    const key = target.to as SessionKey;
    const at = clock.now();
    const commandId = runIdOf(key, `delivery-${id}`);
    const data =
      kind === 'stop'
        ? ({ type: 'stop', reason: text } as const)
        : kind === 'notice'
          ? await relayed(key, outbound)
          : resultOf(outbound, key, commandId, at, config());
    const generation = Number(target.accountId ?? 0);
    await commands.publish({
      ...{ id: commandId, key, at, data, actor: deliveryActor },
      correlationId: commandId,
      causationId: id,
      ...(generation > 0 && { ifGeneration: generation }),
    });
    if (kind !== 'notice') await commands.cancel(kind === 'stop' ? key : outbound.key, deadlineTimer);
    return { kind: 'sent' };
  };
  return { channel: sessionChannel, idempotent: true, attempts, send };
};

/**
 * The message that a run ends with: it begins a turn, unless the sub-agent has nothing to say; then it is only remembered. Either way the
 * run is no longer among those that go on.
 */
const resultOf = (
  { key: from, target: { threadId: runId }, text }: Outbound,
  key: SessionKey,
  messageId: string,
  at: number,
  config: Config,
): SessionCommand => {
  const { sessionId, source } = occasionOf(key, config, { at });
  const run = `[The sub-agent's run ${runId ?? ''} has ended`;
  const message = {
    messageId,
    text: text === '' ? `${run} without an answer.]` : `${run}.]\n${shortened(text)}`,
    sender: { id: from, role: 'program' as const },
    ...(runId && { answers: runId }),
  };
  return { type: text === '' ? 'append_message' : 'post_message', sessionId, source, message };
};

const shortened = (text: string): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= answerBytes) return text;
  return `${bytes
    .subarray(0, answerBytes)
    .toString()
    .replace(/\uFFFD$/, '')}\n[The rest is left out; read its session.]`;
};
