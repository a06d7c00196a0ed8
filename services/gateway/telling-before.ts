import { createHash } from 'node:crypto';
import type { SessionKey } from '../../shared/domain/keys/session-key.ts';
import { nextResetOf } from '../../shared/domain/reset/reset.ts';
import { type Asker, envelopeOf, occasionFor, onceIdOf } from './commands.ts';
import type { GatewayContext } from './context.ts';
import { accept } from './posting.ts';
import { speakerOf } from './speaker.ts';

/** What a program tells a session for its model to know. */
export interface Background {
  readonly key: SessionKey;
  readonly text: string;
  /** Without one each generation is told the same text once, and again when it is far back. */
  readonly idempotencyKey: string | undefined;
  readonly signal: AbortSignal;
}

/** Has the session remember a text before the message that follows (A5/69). Throws as `post`. */
export const tellBefore = async (
  context: GatewayContext,
  asker: Asker,
  { key, text, idempotencyKey, signal }: Background,
): Promise<void> => {
  const { access, config, ports } = context;
  const seen = await access.enter(asker.principal, key);
  const id =
    idempotencyKey === undefined
      ? `told-${hashOf([asker.actor, key, await generationOf(context, key), text])}`
      : onceIdOf(asker, key, 'append_message', idempotencyKey);
  const message = { messageId: id, text, sender: speakerOf(asker.principal, undefined, access.identities) };
  const at = ports.clock.now();
  const envelope = envelopeOf(asker, { id, key, at, data: { type: 'append_message', ...occasionFor(config, key, at), message } });
  await accept(context, envelope, { waitMs: 0, signal, seen });
};

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** The generation that a message will be in. */
const generationOf = async ({ sessions, config, ports }: GatewayContext, key: SessionKey): Promise<number> => {
  const row = await sessions.row(key);
  if (row === null) return 1;
  const isNew = row.deleted || row.generation === 0 || nextResetOf(row, config.session, ports.clock.now()).due;
  return isNew ? row.generation + 1 : row.generation;
};
