import type { Config } from '../../../shared/domain/config/schema.ts';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import { type SessionKey, sessionKeyProblem } from '../../../shared/domain/keys/session-key.ts';
import { deadlineTimer } from '../../../shared/domain/keys/spawn-key.ts';
import { subAgentMessage } from '../../../shared/domain/prompt/sub-agent-message.ts';
import { occasionOf } from '../../../shared/domain/routing/occasion.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { sessionChannel } from '../../../shared/domain/values/types.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { Outbound } from '../../../shared/ports/custody-log.ts';
import type { Outlet, SendResult } from '../../../shared/ports/outlet.ts';
import type { CommandBus } from '../../../shared/ports/work-queue.ts';
import { deliveryActor } from '../../../shared/runtime/outgoing/content.ts';

export interface SessionOutletOptions {
  readonly config: () => Config;
  readonly commands: Pick<CommandBus, 'publish' | 'cancel'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Bytes of an answer; the rest of the limit is for the command around it. */
const answerBytes = limits.commandBytes - 16 * 1024;

/** The log it reads and the queue it writes are on one broker: while that is away, everything is. */
const attempts = 1_000;

/**
 * The outlet between sessions (A11/125): the answer of a spawned run becomes a message of the session that started it, a run that must end
 * gets a stop command, and a notice for a person goes where that session's last answer went. A command's id comes from the outbound's id,
 * so sending it again does nothing.
 */
export const sessionOutlet = ({ config, commands, clock }: SessionOutletOptions): Outlet => {
  const send = async (outbound: Outbound): Promise<SendResult> => {
    const { id, kind, target } = outbound;
    const problem = sessionKeyProblem(target.to);
    if (problem !== null) return { kind: 'refused', failure: 'not_found', detail: `the session key ${problem}` };
    const key = target.to as SessionKey;
    const at = clock.now();
    const commandId = runIdOf(key, `delivery-${id}`);
    const data = commandOf(outbound, key, { commandId, at, config: config() });
    const generation = Number(target.accountId ?? 0);
    await commands.publish({
      ...{ id: commandId, key, at, data, actor: deliveryActor },
      correlationId: commandId,
      causationId: id,
      ...(generation > 0 && { ifGeneration: generation }),
    });
    if (kind !== 'notice' && target.threadId) await commands.cancel(kind === 'stop' ? key : outbound.key, deadlineTimer);
    return { kind: 'sent' };
  };
  return { channel: sessionChannel, unknownSend: { by: 'key' }, attempts, send };
};

interface Circumstances {
  readonly commandId: string;
  readonly at: number;
  readonly config: Config;
}

const commandOf = (outbound: Outbound, key: SessionKey, circumstances: Circumstances): SessionCommand => {
  const { kind, text } = outbound;
  switch (kind) {
    case 'stop':
      return { type: 'stop', reason: text };
    case 'notice':
      return { type: 'post_notice', notice: { code: 'spawned_run', text }, toRoute: true };
    case 'assistant_message':
      return messageFrom(outbound, key, circumstances);
  }
};

/**
 * A sub-agent's message for the session that started it. The end of a run starts a turn there, unless the answer is empty; either way the
 * run is over. A message before the end is only added to the context.
 */
const messageFrom = (
  { key: from, target: { threadId: runId }, text }: Outbound,
  key: SessionKey,
  { commandId: messageId, at, config }: Circumstances,
): SessionCommand => {
  const { sessionId, source } = occasionOf(key, config, { at });
  const message = {
    messageId,
    text: subAgentMessage({ key: from, runId, text: shortened(text) }),
    sender: { id: from, role: 'program' as const },
    ...(runId && { answers: runId }),
  };
  return { type: runId && text !== '' ? 'post_message' : 'append_message', sessionId, source, message };
};

const shortened = (text: string): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= answerBytes) return text;
  return `${bytes
    .subarray(0, answerBytes)
    .toString()
    .replace(/\uFFFD$/, '')}\n[The rest is left out; read its session.]`;
};
