import { z } from 'zod';
import { resolveModel } from '../../shared/domain/config/model-name.ts';
import type { Config } from '../../shared/domain/config/schema.ts';
import { parseKey } from '../../shared/domain/keys/session-key.ts';
import { type SessionRow, sessionsListParameters } from '../../shared/domain/projections/schemas.ts';
import type { IndexRow } from '../../shared/domain/projections/summary.ts';
import { settings } from '../../shared/domain/values/types.ts';
import { NatterError } from '../../shared/kit/errors.ts';
import { keyFrom } from '../../shared/runtime/session-tools/named-session.ts';
import { ownersOnly } from './access.ts';
import { ask } from './asking.ts';
import { occasionFor } from './commands.ts';
import type { GatewayContext } from './context.ts';
import type { Condition } from './etag.ts';
import { fork, forkPlace } from './forking.ts';
import { checkpoint } from './looking-back.ts';
import type { Call } from './rpc.ts';
import { queueModeOf } from './said.ts';
import { listRows } from './session-tools/list.ts';

/** The methods `sessions.*`: lists with all that user interfaces show, and changes, which the session itself answers. */

export const listParameters = sessionsListParameters.extend({
  cursor: z.string().min(1).max(2_048).optional(),
  status: z.enum(['idle', 'running', 'awaiting_approval', 'inactive', 'all']).optional(),
  channel: z.string().min(1).max(64).optional(),
  /** Whole segments of the stored key's beginning, with or without the `:` after them. */
  keyPrefix: z
    .string()
    .min(1)
    .max(1_024)
    .transform((text) => text.replace(/:$/, ''))
    .optional(),
});

/**
 * A row for a user interface: that of the tool, under the key it is stored by, with what else people want to see (A1/3, A2/13–14, 17).
 * The session `global` has no name of its own here either (A3/40).
 */
const wideRow = ({ row, shown }: { row: IndexRow; shown: SessionRow }, { session }: Config) => {
  const { status, generation, source, createdAt, interactedAt, inputTokens, outputTokens, origin } = row;
  const { messageCount, completedTurns, failedTurns, queuedTurns, lastMessagePreview, participants, approval, costUsd } = row;
  const { description, descriptionSource, workingMemory, introspectedAt } = row;
  const { subject, room, space } = origin;
  return {
    ...shown,
    key: parseKey(row.key).kind === 'global' ? shown.key : row.key,
    ...{ status, generation, source, createdAt, interactedAt, inputTokens, outputTokens },
    ...{ messageCount, completedTurns, failedTurns, queuedTurns, lastMessagePreview, participants },
    ...{ description, descriptionSource, workingMemory, introspectedAt },
    ...{ origin, subject, room, space, approval, costUsd, queueMode: queueModeOf(row, session) },
  };
};

export const listSessions = async ({ context, asker }: Call, parameters: z.infer<typeof listParameters>) => {
  const { sessions, nextCursor } = await listRows(context, asker, parameters);
  return { sessions: sessions.map((session) => wideRow(session, context.config)), nextCursor };
};

const key = z.string().min(1, 'is empty; use for example "main"').max(1_024);
const reason = z.string().min(1).max(200).default('api');
const nullable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

export const patchParameters = z.strictObject({
  key,
  sendPolicy: nullable(z.enum(['allow', 'deny'])),
  model: nullable(z.string().min(1).max(256)),
  thinkingLevel: nullable(z.string().min(1).max(32)),
  verboseLevel: nullable(z.string().min(1).max(32)),
  displayName: nullable(z.string().min(1).max(256)),
  description: nullable(settings.shape.description.unwrap()),
});

/** `null` unsets a setting; one that is left out stays (A9/96–97). */
export const patchSession = async (
  { context, asker }: Pick<Call, 'context' | 'asker'>,
  { key: name, ...given }: z.infer<typeof patchParameters>,
  { whole = 'params', runId, condition }: { whole?: string; runId?: string; condition?: Condition } = {},
) => {
  const stored = keyFrom(context.config, name, 'key');
  const { row } = await context.access.read(asker.principal, stored);
  if (given.sendPolicy !== undefined) ownersOnly(asker.principal, 'the send policy of a session');
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(changes).length === 0) {
    const known = Object.keys(settings.shape).join(', ');
    throw new NatterError('invalid', `${whole}: changes nothing; give one of ${known}`, { field: whole });
  }
  const model = typeof given.model === 'string' ? { model: modelNamed(context, given.model) } : {};
  const when = { runId, ...(await condition?.()) };
  const asked = await ask(context, asker, stored, { type: 'patch_session', settings: { ...changes, ...model } }, when);
  return { key: row.key, ...asked, settings: (await context.sessions.get(stored))?.settings ?? {} };
};

/** The model a word means, as `/new <model>` has it (A4/54). */
const modelNamed = ({ config }: GatewayContext, word: string): string => {
  const named = resolveModel(word, config);
  if (named !== null && 'model' in named) return named.model;
  const message =
    named === null ? `there is no model "${word}"` : `"${word}" could be ${named.ambiguous.join(' or ')}; say which`;
  throw new NatterError('invalid', `model: ${message}`, { field: 'model' });
};

export const resetParameters = z.strictObject({ key, reason });

/** A new generation under the same key (A4/53). */
export const resetSession = async ({ context, asker }: Call, given: z.infer<typeof resetParameters>) => {
  const stored = keyFrom(context.config, given.key, 'key');
  await context.access.read(asker.principal, stored);
  const occasion = occasionFor(context.config, stored, context.ports.clock.now());
  const cause = { trigger: 'api', rule: given.reason } as const;
  return { key: stored, ...(await ask(context, asker, stored, { type: 'reset', ...occasion, cause })) };
};

export const checkpointParameters = z.strictObject({ key });

/** A look back on what was said since the last one (A7/80–81). */
export const checkpointSession = async ({ context, asker }: Call, given: z.infer<typeof checkpointParameters>) => {
  const stored = keyFrom(context.config, given.key, 'key');
  return { key: stored, ...(await checkpoint(context, asker, { key: stored })) };
};

export const forkParameters = forkPlace.extend({ key });

/** A new generation that goes on from an earlier point (B21). */
export const forkSession = ({ context, asker }: Call, { key: name, ...place }: z.infer<typeof forkParameters>) =>
  fork(context, asker, { key: keyFrom(context.config, name, 'key'), place });

export const deleteParameters = z.strictObject({ key, mode: z.enum(['session', 'key']).default('session'), reason });

/** `session`: a direct session at rest, by the owner or the one person whose it is (A8/87–88). `key`: the owner's, of whatever it is (C9). The next message begins anew. */
export const deleteSession = async ({ context, asker }: Call, { key: name, mode, reason }: z.infer<typeof deleteParameters>) => {
  const stored = keyFrom(context.config, name, 'key');
  await context.access.permitDeletion(asker.principal, stored, mode);
  return { key: stored, ...(await ask(context, asker, stored, { type: 'delete_session', mode, reason })) };
};
