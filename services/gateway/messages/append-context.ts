import { createHash } from 'node:crypto';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { nextResetByCall } from '../../../shared/domain/reset/reset.ts';
import { speakerOf } from '../access/speaker.ts';
import type { IncomingFile } from '../attachments/incoming-file.ts';
import { withKeptFiles } from '../attachments/keep-files.ts';
import { type Caller, envelopeOf, idempotentIdOf, occasionFor } from '../commands/envelope.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { submitCommand } from './submit-message.ts';

/** Context that a program adds to a session. */
export interface Background {
  readonly key: SessionKey;
  readonly text: string;
  /** Without one, the same text is added once per generation, and again when it is far back. */
  readonly idempotencyKey: string | undefined;
  readonly files?: readonly IncomingFile[];
  readonly signal: AbortSignal;
}

/** Appends context to the session before the message that follows (A5/69). Throws as `submitMessage`. */
export const appendContext = async (
  context: GatewayContext,
  caller: Caller,
  { key, text, idempotencyKey, files, signal }: Background,
): Promise<void> => {
  const { access, config, ports } = context;
  const seen = await access.enter(caller.principal, key);
  context.newSessions.enter(caller, key);
  const id =
    idempotencyKey === undefined
      ? `told-${hashOf([caller.actor, key, await generationOf(context, key), text])}`
      : idempotentIdOf(caller, key, 'append_message', idempotencyKey);
  const message = { messageId: id, text, sender: speakerOf(caller.principal, undefined, access.identities) };
  const at = ports.clock.now();
  const envelope = envelopeOf(caller, {
    id,
    key,
    at,
    data: { type: 'append_message', ...occasionFor(config, key, at), message },
  });
  await submitCommand(context, await withKeptFiles(context, envelope, files), { waitMs: 0, signal, seen });
};

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** The generation that the message will be in. */
const generationOf = async ({ sessions, config, ports }: GatewayContext, key: SessionKey): Promise<number> => {
  const row = await sessions.row(key);
  if (row === null) return 1;
  const isNew = row.deleted || row.generation === 0 || nextResetByCall(row, config.session, ports.clock.now()).due;
  return isNew ? row.generation + 1 : row.generation;
};
