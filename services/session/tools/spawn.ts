import { z } from 'zod';
import { resolveModel } from '../../../shared/domain/config/model-name.ts';
import type { Config } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { deadlineTimer, depthOf, spawnOf } from '../../../shared/domain/keys/spawn-key.ts';
import { occasionOf } from '../../../shared/domain/routing/occasion.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { CommandEnvelope } from '../../../shared/domain/session/envelope.ts';
import { type DeliveryTarget, type SessionSource, sessionChannel } from '../../../shared/domain/values/types.ts';
import { NatterError } from '../../../shared/kit/errors.ts';
import { limits } from '../../../shared/kit/limits.ts';
import { oneLine, quoted } from '../../../shared/kit/one-line.ts';
import type { Tool, ToolRun, ToolScope } from '../../../shared/ports/tools.ts';
import { defineTool } from './define.ts';
import { personId, type SessionToolsOptions, spawnedKind } from './sessions-reach.ts';
import { senderOf } from './sessions-send.ts';

/** This many characters fit into one command in any script. */
const taskCharacters = limits.commandBytes / 4;

const input = z.strictObject({
  task: z
    .string()
    .min(1, 'is empty; say what is to be done')
    .max(taskCharacters)
    .describe('What is to be done, with all that must be known for it: the sub-agent sees nothing of this conversation.'),
  model: z.string().min(1).max(128).optional().describe('A model to use instead of the usual one.'),
  label: z.string().min(1).max(256).optional().describe('A short name for lists.'),
  timeoutSeconds: z.int().min(1).max(86_400).optional().describe('End the run when it has no answer after so many seconds.'),
});
type Input = z.infer<typeof input>;

/** True unless the session is at the maximum depth (B3). */
export const maySpawn = ({ tools: { spawn } }: Pick<Config, 'tools'>, key: SessionKey): boolean => depthOf(key) < spawn.depth;

/**
 * `sessions_spawn` (B3): starts a sub-agent in a session of its own. Returns at once; delivery later brings the result back as a
 * message that starts a turn here. A repeated call yields the same run.
 */
export const sessionsSpawnTool = (options: SessionToolsOptions): Tool => ({
  ...defineTool({
    name: 'sessions_spawn',
    description:
      'Begins a sub-agent that works on a task in a conversation of its own. Answers at once; the result comes later as a message here.',
    input,
    idempotent: true,
    usual: 'allow',
    line: ({ task, model }) => `begin a sub-agent${model === undefined ? '' : ` with ${quoted(model)}`}: ${quoted(task, 1_000)}`,
    act: (given, run, signal) => spawn(options, given, run, signal),
  }),
  spawns: ({ callId, scope, arguments: given }) => {
    const parsed = given === undefined ? undefined : input.safeParse(given);
    if (parsed?.success === false || problemOf(options.config, parsed?.data, { callId, scope }) !== null) return undefined;
    const { key, runId } = spawnOf(scope.key, callId);
    return { key, runId };
  },
});

/** Why a call is refused, or `null`. A run already recorded as spawned does not count against the limit again. */
const problemOf = (config: Config, given: Input | undefined, { callId, scope }: Omit<ToolRun, 'arguments'>): string | null => {
  const { spawned = [] } = scope;
  const { count } = config.tools.spawn;
  const { runId } = spawnOf(scope.key, callId);
  if (!maySpawn(config, scope.key)) return 'sub-agents may not be nested deeper here';
  if (spawned.length >= count && !spawned.some((run) => run.runId === runId)) {
    return `${spawned.length} sub-agents are at work already, and ${count} may be; wait for a result`;
  }
  const named = given?.model === undefined ? undefined : resolveModel(given.model, config);
  if (named === null || (named && 'unknown' in named))
    return `model: ${quoted(given?.model ?? '')} is not known here; leave it out`;
  return named && 'ambiguous' in named
    ? oneLine(`model: ${given?.model} could be any of ${named.ambiguous.join(', ')}; name one`, 1_000)
    : null;
};

const spawn = async (
  { config, ports }: SessionToolsOptions,
  given: Input,
  run: ToolRun,
  signal: AbortSignal,
): Promise<string> => {
  const problem = problemOf(config, given, run);
  if (problem !== null) throw new NatterError('invalid', problem);
  const { key, runId, mark } = spawnOf(run.scope.key, run.callId);
  const at = ports.clock.now();
  const envelope = (id: string, data: SessionCommand): CommandEnvelope => ({
    ...{ id, key, at, data, correlationId: runId },
    causationId: run.scope.turn.id,
    actor: 'tool:sessions_spawn',
  });
  const { timeoutSeconds } = given;
  if (timeoutSeconds !== undefined) {
    const stop = envelope(`deadline-${mark}`, { type: 'stop', reason: `no answer within ${timeoutSeconds} s` });
    await ports.commands.schedule(deadlineTimer, at + timeoutSeconds * 1_000, stop);
  }
  for (const { id, data } of beginning(config, given, run, at)) {
    // Stopping the turn also stops this run, so it must not start afterwards.
    signal.throwIfAborted();
    await ports.commands.publish(envelope(id, data));
  }
  return JSON.stringify({ status: 'accepted', runId, sessionKey: key });
};

/** The commands for the new session, in order: its own settings, if any, then the task. */
const beginning = (
  config: Config,
  given: Input,
  { callId, scope }: ToolRun,
  at: number,
): { id: string; data: SessionCommand }[] => {
  const { key, runId, mark } = spawnOf(scope.key, callId);
  const occasion = {
    ...occasionOf(key, config, { at, sessionId: `${spawnedKind}:${mark}` }),
    source: sourceOf(scope),
  };
  const message = { messageId: runId, text: given.task, sender: senderOf(scope), deliverTo: wayBack(scope, runId) };
  const settings = { ...modelFor(config, given, scope), ...(given.label !== undefined && { displayName: given.label }) };
  const preparing: { id: string; data: SessionCommand }[] = [
    { id: `open-${mark}`, data: { type: 'open_session', ...occasion } },
    { id: `settings-${mark}`, data: { type: 'patch_session', settings } },
  ];
  const task = { id: runId, data: { type: 'post_message', ...occasion, message } } as const;
  return Object.keys(settings).length === 0 ? [task] : [...preparing, task];
};

const modelFor = (config: Config, given: Input, { model }: ToolScope): { model?: string } => {
  const named = given.model === undefined ? null : resolveModel(given.model, config);
  const chosen = named && 'model' in named ? named.model : model;
  return chosen === undefined ? {} : { model: chosen };
};

/**
 * The session's origin and the person it works for, who may see it. A principal that is too long is left out; then only the owner
 * may see the session.
 */
const sourceOf = ({ key, sender: { principal = '' } }: ToolScope): SessionSource => ({
  kind: spawnedKind,
  interactive: false,
  ids: { parent: key, ...(principal.length <= 256 && { [personId]: principal }) },
});

/** Sends the answer to the session that spawned it, as long as that generation is not deleted (C9). */
const wayBack = ({ key, generation }: ToolScope, runId: string): DeliveryTarget => ({
  channel: sessionChannel,
  to: key,
  threadId: runId,
  ...(generation !== undefined && { accountId: `${generation}` }),
});
