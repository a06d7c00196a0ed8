import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { fileKinds } from '../values/media-type.ts';
import { byChannelName, channelName, checkChannels, withChannelName } from './channel-schema.ts';

/** The parts of the configuration that concern turns: models, context, tools and queue modes. */

/** A provider has one key. */
const requireOneKey = (provider: object, context: z.RefinementCtx): void => {
  const [first, other] = ['apiKeyEnv', 'keyFile', 'keyCommand'].filter((name) => Reflect.get(provider, name) !== undefined);
  if (first === undefined || other === undefined) return;
  context.addIssue({ code: 'custom', path: [other], message: `a provider has one key; remove this or "${first}"` });
};

/** Model providers, timeouts and retries. */
export const modelConfig = z.strictObject({
  providers: z
    .record(
      z.string(),
      z
        .strictObject({
          kind: z.enum(['openai-compatible', 'anthropic']),
          baseUrl: z.url().optional(),
          /** Name of the environment variable that holds the key; the key itself is never in the file. */
          apiKeyEnv: z.string().optional(),
          /** A file with the key and nothing else, which only its owner can read. */
          keyFile: z.string().min(1).optional(),
          /** A program and its arguments: prints the key, each time a process starts that asks models. */
          keyCommand: z.array(z.string()).min(1).optional(),
          /** Context windows of its models in tokens, where they differ from `context.windowTokens`. */
          windows: z.record(z.string(), z.int().min(1_000)).default({}),
          /** What its models are given besides text, by model, where the provider refuses some of it. */
          inputs: z.record(z.string(), z.array(z.enum(fileKinds))).default({}),
          /** Its models by name, so that `/new <model>` can find them. */
          models: z.array(z.string().min(1)).default([]),
        })
        .superRefine(requireOneKey),
    )
    .default({}),
  connectMs: z.int().min(100).default(30_000),
  firstTokenMs: z.int().min(100).default(60_000),
  idleTokenMs: z.int().min(100).default(60_000),
  totalMs: z.int().min(100).default(600_000),
  maxOutputTokens: z.int().min(1).default(8_192),
  /** Retries of a step after 429, 5xx or a failed connection. */
  retries: z.int().min(0).max(10).default(2),
  /** Short names for models: `/new fast` (A4/54). */
  aliases: z.record(z.string(), z.string()).default({}),
});

/** How the model's context is kept within its window (A7/85–86, A11/126). */
export const contextConfig = z.strictObject({
  windowTokens: z.int().min(1_000).default(128_000),
  /** Tokens kept free for the answer: a conversation that would leave less is compacted. */
  reserveTokens: z.int().min(100).default(16_384),
  /** Tokens of the latest messages that a compaction leaves as they are. */
  keepTokens: z.int().min(0).default(20_000),
  /** Before a compaction the model may write notes into its workspace. */
  memoryFlush: z.boolean().default(true),
  /** Shorten old tool outputs in what the model sees. */
  pruneToolResults: z.boolean().default(true),
});

/** When sessions get checkpoints, and which model does the introspection (A7/80–83). Default model: the agent's. */
export const introspectionConfig = z.strictObject({
  enabled: z.boolean().default(true),
  model: z.string().min(1).optional(),
  /** Minutes of silence after which a session gets a checkpoint. */
  idleMinutes: z.number().min(0.01).max(525_600).default(30),
  /** Completed turns after which a session gets a checkpoint. */
  turnLimit: z.int().min(1).max(10_000).default(40),
});

/** The check of the whole log in the background (F13). */
export const scrubConfig = z.strictObject({
  enabled: z.boolean().default(true),
  megabytesPerSecond: z.number().min(0.01).max(10_000).default(1),
  /** Hours from the end of one scrub to the start of the next. */
  everyHours: z.number().min(0).max(8_760).default(24),
});

/** How long sessions are kept (B1, B2, D10). */
export const maintenanceConfig = z.strictObject({
  /** `report` only counts what is due, but for sessions of stateless calls; `enforce` removes it. */
  mode: z.enum(['report', 'enforce']).default('report'),
  pruneAfterDays: z.int().min(1).max(36_500).default(30),
  /** Default: any number. */
  maxSessions: z.int().min(1).optional(),
  /** Default: any number. Megabytes of 1,000,000 bytes. */
  maxLogMegabytes: z.int().min(1).optional(),
  /** Sessions used within this time do not go because there are too many. */
  keepRecentHours: z.int().min(0).max(876_000).default(24),
  /** 0: like any other session. */
  statelessIdleMinutes: z.int().min(0).max(525_600).default(1_440),
  everyMinutes: z.int().min(1).max(44_640).default(60),
  archiveDir: z.string().min(1).optional(),
});

/** Long-term memory: what the agent remembers beyond a session (A7/82). */
export const memoryConfig = z.strictObject({
  enabled: z.boolean().default(true),
  /** The newest memories are put into the system prompt, up to these limits. */
  promptEntries: z.int().min(0).max(200).default(20),
  promptCharacters: z.int().min(0).max(32_000).default(4_000),
});

export const toolsConfig = z.strictObject({
  /** Of all rules that match a call, the strictest decides; if none matches, the tool's default does (A5/62). */
  rules: z
    .array(
      z.strictObject({
        /** Name of the tool; `*` stands for any characters. */
        tool: z.string().min(1),
        agent: z.string().optional(),
        channel: channelName.optional(),
        role: z.enum(['owner', 'participant', 'program']).optional(),
        /** Argument name → pattern for its text; `*` stands for any characters. */
        arguments: z.record(z.string(), z.string()).optional(),
        action: z.enum(['allow', 'ask', 'deny']),
        /** Who may answer besides the owner: principals, or `asker` for the author of the message. */
        approvers: z.array(withChannelName).max(32).default([]),
      }),
    )
    .default([]),
  /** Minutes until an unanswered approval expires. */
  approvalMinutes: z.int().min(1).max(525_600).default(4_320),
  /** The same for what is asked on behalf of a stranger (ADR 22). */
  strangerApprovalMinutes: z.int().min(1).max(525_600).default(15),
  /** Minutes that a turn waits for the results of tools that a program brought along. */
  clientResultMinutes: z.int().min(1).max(525_600).default(60),
  /** Names of tools that are not offered at all; `*` stands for any characters. */
  disabled: z.array(z.string().min(1)).default([]),
  /** Which sessions the session tools reach (B4). */
  visibility: z.enum(['self', 'tree', 'agent', 'all']).default('tree'),
  /** Milliseconds one call may take. */
  timeoutMs: z.int().min(100).max(3_600_000).default(120_000),
  exec: z
    .strictObject({
      enabled: z.boolean().default(false),
      /** Names of environment variables that programs get besides PATH, LANG and HOME. */
      environment: z.array(z.string().min(1)).default([]),
      timeoutMs: z.int().min(100).max(3_600_000).default(60_000),
    })
    .prefault({}),
  web: z
    .strictObject({
      /** Hosts that the tool may fetch from, such as `example.org` or `*.example.org`. Empty: the tool is not offered. */
      hosts: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  spawn: z
    .strictObject({
      /** How deep spawned runs may spawn others; 0: the tool is not offered. */
      depth: z.int().min(0).max(limits.spawnDepth).default(1),
      /** Spawned runs that one session may have at a time. */
      count: z.int().min(1).max(limits.spawnedRuns).default(4),
    })
    .prefault({}),
});

/** A server is either a program or an address. */
const requireWay = (
  { command, url }: { command?: string | undefined; url?: string | undefined },
  context: z.RefinementCtx,
): void => {
  if ((command === undefined) === (url === undefined)) {
    context.addIssue({ code: 'custom', message: 'needs either "command" (a program) or "url" (an address)' });
  }
};

export const mcpConfig = z.strictObject({
  /** MCP servers by name: their tools are called `<name>__<tool>`. */
  servers: z
    .record(
      z
        .string()
        .regex(
          /^(?!.*(__|_$))[a-z0-9][a-z0-9_-]{0,31}$/,
          'use up to 32 of a-z, 0-9, "_" and "-", without "__" and without "_" at the end',
        ),
      z
        .strictObject({
          /** A program that speaks MCP on its standard input and output. Either this or `url`. */
          command: z.string().min(1).optional(),
          args: z.array(z.string()).default([]),
          /** Names of environment variables that it gets besides PATH, LANG and HOME. */
          environment: z.array(z.string().min(1)).default([]),
          cwd: z.string().optional(),
          /** The address of a server. Either this or `command`. */
          url: z.url({ protocol: /^https?$/ }).optional(),
          /** Header → name of the environment variable that holds its value. */
          headersEnv: z.record(z.string(), z.string()).default({}),
        })
        .superRefine(requireWay),
    )
    .default({}),
  /** Milliseconds within which a server must answer its first request. */
  startMs: z.int().min(100).default(30_000),
});

/**
 * `followup`: it waits. `collect`: it waits and is answered together with the others. `steer`: the running turn sees it. See
 * `docs/use/queue-modes.md`.
 */
const queue = {
  mode: z.enum(['followup', 'collect', 'steer', 'interrupt', 'reject']),
  limit: z.int().min(0).max(100),
  debounceMs: z.int().min(0).max(60_000),
};

/** What a message does when a turn is already running (B6). A channel inherits what it does not set. */
export const queueConfig = z.strictObject({
  mode: queue.mode.default('followup'),
  limit: queue.limit.default(20),
  debounceMs: queue.debounceMs.default(0),
  byChannel: z
    .record(z.string(), z.strictObject(queue).partial())
    .superRefine(checkChannels)
    .transform(byChannelName)
    .default({}),
});
