import { z } from 'zod';
import { resolveModel } from '../../../shared/domain/config/model-name.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { thinkingLevels, verboseLevels } from '../../../shared/domain/values/levels.ts';
import { metadata } from '../../../shared/domain/values/metadata.ts';
import { queueModes } from '../../../shared/domain/values/queue-rule.ts';
import { activations, settings } from '../../../shared/domain/values/settings.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { commandIdOf } from '../commands/envelope.ts';
import { sendCommand } from '../commands/send-command.ts';
import { ownersOnly } from '../context/access.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import type { Condition } from '../operation/etag.ts';
import type { Call } from '../operation/operation.ts';
import { icon } from './icon.ts';

const nullable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

const levelOf = <T extends string>(levels: readonly [T, ...T[]]) => z.enum(levels, `use one of ${levels.join(', ')}, or null`);

/** `null` unsets a setting; one that is left out stays (A9/96–97). */
export const patchBody = z.strictObject({
  sendPolicy: nullable(z.enum(['allow', 'deny'])),
  model: nullable(z.string().min(1).max(256)),
  thinkingLevel: nullable(levelOf(thinkingLevels)),
  verboseLevel: nullable(levelOf(verboseLevels)),
  displayName: nullable(z.string().min(1).max(256)),
  queueMode: nullable(levelOf(queueModes)),
  activation: nullable(levelOf(activations)),
  description: nullable(settings.shape.description.unwrap()),
  pinned: nullable(settings.shape.pinned.unwrap()),
  labels: nullable(settings.shape.labels.unwrap()),
  icon: nullable(icon),
  metadata: nullable(metadata),
});

export interface SettingsPatch {
  readonly key: SessionKey;
  readonly changes: z.infer<typeof patchBody>;
  /** What an empty change is called in the error: the part of the request that holds it. */
  readonly whole: 'body' | 'params';
  readonly idempotencyKey?: string | undefined;
  readonly condition?: Condition | undefined;
}

/** Changes what people set for a session that the caller may see. Throws `NatterError('invalid' | 'forbidden')` and as `sendCommand`. */
export const patchSession = async ({ context, caller }: Call, patch: SettingsPatch) => {
  const { key, changes: given, whole, idempotencyKey, condition } = patch;
  const { row } = await context.access.read(caller.principal, key);
  if (given.sendPolicy !== undefined) ownersOnly(caller.principal, 'the send policy of a session');
  await context.access.permitControl(caller.principal, key, 'changing the settings of');
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(changes).length === 0) {
    const known = Object.keys(settings.shape).join(', ');
    throw new NatterError('invalid', `${whole}: changes nothing; give one of ${known}`, { field: whole });
  }
  const model = typeof given.model === 'string' ? { model: modelNamed(context, given.model) } : {};
  const when = { runId: commandIdOf(caller, key, 'patch_session', idempotencyKey), ...(await condition?.()) };
  const result = await sendCommand(context, caller, key, { type: 'patch_session', settings: { ...changes, ...model } }, when);
  return { key: row.key, ...result, settings: (await context.sessions.get(key))?.settings ?? {} };
};

/** The model a word means, as `/new <model>` has it (A4/54). */
const modelNamed = ({ config }: GatewayContext, word: string): string => {
  const named = resolveModel(word, config);
  if (named !== null && 'model' in named) return named.model;
  const message =
    named === null || 'unknown' in named
      ? `there is no model "${word}"`
      : `"${word}" names no single model; near it: ${named.ambiguous.join(', ')}`;
  throw new NatterError('invalid', `model: ${message}`, { field: 'model' });
};
