import { createHash } from 'node:crypto';
import type { Config } from '../../../shared/domain/config/schema.ts';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { waitedFor } from '../../../shared/domain/projections/run.ts';
import { type SessionsSendParameters, sessionsSendParameters } from '../../../shared/domain/projections/schemas.ts';
import { occasionOf } from '../../../shared/domain/routing/occasion.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import type { Sender } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { quoted } from '../../../shared/kit/one-line.ts';
import type { Tool, ToolEnd, ToolRun, ToolScope } from '../../../shared/ports/tools.ts';
import { findRun, followRun } from '../../../shared/runtime/session-tools/find-run.ts';
import { keyFrom } from '../../../shared/runtime/session-tools/named-session.ts';
import { refuseWhenDenied } from '../../../shared/runtime/session-tools/sending.ts';
import { defineTool } from './define.ts';
import { onBehalfOf } from './on-behalf.ts';
import { reachedRow, type SessionToolsOptions } from './sessions-reach.ts';

/**
 * `sessions_send` (A10/117–121): sends a message to a session that the turn can reach and, if asked to wait, returns the answer.
 * It needs an approval if `tools.visibility` allows more than the sessions spawned from here. A repeated call finds the message
 * it already sent.
 */
export const sessionsSendTool = (options: SessionToolsOptions): Tool =>
  defineTool({
    name: 'sessions_send',
    description: 'Sends a message to another conversation and waits for the answer there. Answers as JSON.',
    input: sessionsSendParameters,
    idempotent: true,
    usual: options.config.tools.visibility === 'tree' ? 'allow' : 'ask',
    line: ({ sessionKey, message }) => `send to the session ${quoted(sessionKey)}: ${quoted(message, 1_000)}`,
    act: (parameters, run, signal) => send(options, parameters, run, signal),
  });

/** The sender of a session's own messages: the session itself, on behalf of the person its turn answers. */
export const senderOf = ({ key, sender }: Pick<ToolScope, 'key' | 'sender'>): Sender => ({
  id: key,
  role: 'program',
  ...(sender.principal !== undefined && { principal: sender.principal }),
  ...onBehalfOf(sender),
});

/** Time reserved for finding the run and returning its state. */
const marginMs = 1_000;

const send = async (
  options: SessionToolsOptions,
  { sessionKey, message: text, timeoutSeconds }: SessionsSendParameters,
  { callId, scope }: ToolRun,
  signal: AbortSignal,
): Promise<ToolEnd> => {
  const { config, ports } = options;
  const key = keyFrom(config, sessionKey);
  if (key === scope.key) throw new NatterError('invalid', 'sessionKey: is this very conversation; just answer here');
  refuseWhenDenied(config, key, await reachedRow(options, scope, key));
  const runId = runIdOf(
    key,
    `sent-${createHash('sha256')
      .update(JSON.stringify([scope.key, callId]))
      .digest('hex')
      .slice(0, 24)}`,
  );
  const found = await findRun(ports, key, runId);
  if (found.run === null) await ports.commands.publish(envelopeFor(config, ports.clock.now(), { key, runId, text, scope }));
  if (timeoutSeconds === 0) return { outcome: 'ok', text: JSON.stringify({ runId, status: 'accepted' }) };

  const waitMs = Math.min(timeoutSeconds * 1_000, Math.max(0, config.tools.timeoutMs - marginMs));
  const follow = (after: number, until: AbortSignal) => ports.events.follow({ after, key, signal: until });
  const run = await followRun(ports.clock, follow, { runId, found, waitMs, signal });
  const result = waitedFor(run ?? { runId, status: 'accepted' });
  return { outcome: result.status === 'error' ? 'error' : 'ok', text: JSON.stringify(result) };
};

const envelopeFor = (
  config: Config,
  at: number,
  { key, runId, text, scope }: { key: SessionKey; runId: string; text: string; scope: ToolScope },
): CommandEnvelope => ({
  id: runId,
  key,
  at,
  correlationId: runId,
  causationId: scope.turn.id,
  actor: 'tool:sessions_send',
  data: {
    type: 'post_message',
    ...occasionOf(key, config, { at }),
    message: { messageId: runId, text, sender: senderOf(scope) },
  },
});
