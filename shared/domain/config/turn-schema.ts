import { z } from 'zod';
import { limits } from '../../kit/limits.ts';

/** The parts of the configuration that are about turns: what a model sees, what its tools may do, what waits meanwhile. */

/** Where models are, and how long they may take. */
export const modelConfig = z.strictObject({
  providers: z
    .record(
      z.string(),
      z.strictObject({
        kind: z.enum(['openai-compatible', 'anthropic']),
        baseUrl: z.url().optional(),
        /** Name of the environment variable that holds the key; the key itself is never in the file. */
        apiKeyEnv: z.string().optional(),
        /** Tokens that the windows of its models hold, by model, where it is not `context.windowTokens`. */
        windows: z.record(z.string(), z.int().min(1_000)).default({}),
        /** Its models by name, so that `/new <model>` can find them. */
        models: z.array(z.string().min(1)).default([]),
      }),
    )
    .default({}),
  connectMs: z.int().min(100).default(30_000),
  firstTokenMs: z.int().min(100).default(60_000),
  idleTokenMs: z.int().min(100).default(60_000),
  totalMs: z.int().min(100).default(600_000),
  maxOutputTokens: z.int().min(1).default(8_192),
  /** Times a step is asked for again after 429, 5xx or no connection. */
  retries: z.int().min(0).max(10).default(2),
  /** Short names for models: `/new fast` (A4/54). */
  aliases: z.record(z.string(), z.string()).default({}),
});

/** What the model gets to see (A7/85–86, A11/126). */
export const contextConfig = z.strictObject({
  windowTokens: z.int().min(1_000).default(128_000),
  /** Room for the answer: near it the conversation is compacted. */
  reserveTokens: z.int().min(100).default(16_384),
  /** Tokens of the latest messages that a compaction leaves as they are. */
  keepTokens: z.int().min(0).default(20_000),
  /** Before a compaction the model may write notes into its workspace. */
  memoryFlush: z.boolean().default(true),
  /** Old outputs of tools are shortened in what the model sees. */
  pruneToolResults: z.boolean().default(true),
});

/** When what was said is turned into memory, and by which model (A7/80–83). Without a model it is the agent's. */
export const introspectionConfig = z.strictObject({
  enabled: z.boolean().default(true),
  model: z.string().min(1).optional(),
  /** Minutes of silence after which a session is looked back on. */
  idleMinutes: z.number().min(0.01).max(525_600).default(30),
  /** Completed turns after which it is. */
  turnLimit: z.int().min(1).max(10_000).default(40),
});

/** What the agent remembers beyond a session (A7/82). */
export const memoryConfig = z.strictObject({
  enabled: z.boolean().default(true),
  /** Memories that stand in the system prompt, the newest, and their characters. */
  promptEntries: z.int().min(0).max(200).default(20),
  promptCharacters: z.int().min(0).max(32_000).default(4_000),
});

export const toolsConfig = z.strictObject({
  /** Of all rules that match a call the strictest decides; where none does, what is usual for the tool (A5/62). */
  rules: z
    .array(
      z.strictObject({
        /** Name of the tool; `*` stands for any characters. */
        tool: z.string().min(1),
        agent: z.string().optional(),
        channel: z.string().optional(),
        role: z.enum(['owner', 'participant', 'program']).optional(),
        /** Arguments by name, each with a pattern of its text; `*` stands for any characters. */
        arguments: z.record(z.string(), z.string()).optional(),
        action: z.enum(['allow', 'ask', 'deny']),
        /** Who may answer besides the owner: principals, or `asker` for whoever wrote the message. */
        approvers: z.array(z.string().min(1)).max(32).default([]),
      }),
    )
    .default([]),
  /** How long an approval waits for its answer. */
  approvalMinutes: z.int().min(1).max(525_600).default(4_320),
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
      /** Hosts that may be fetched from, such as `example.org` or `*.example.org`. None: there is no such tool. */
      hosts: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  spawn: z
    .strictObject({
      /** How deep spawned runs may spawn others; 0: there is no such tool. */
      depth: z.int().min(0).max(limits.spawnDepth).default(1),
      /** Spawned runs of one session that go on at a time. */
      count: z.int().min(1).max(limits.spawnedRuns).default(4),
    })
    .prefault({}),
});

/** A server is a program or an address. */
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
          /** A program that speaks MCP on its standard input and output … */
          command: z.string().min(1).optional(),
          args: z.array(z.string()).default([]),
          /** Names of environment variables that it gets besides PATH, LANG and HOME. */
          environment: z.array(z.string().min(1)).default([]),
          cwd: z.string().optional(),
          /** … or the address of a server. */
          url: z.url({ protocol: /^https?$/ }).optional(),
          /** Header → name of the environment variable that holds its value. */
          headersEnv: z.record(z.string(), z.string()).default({}),
        })
        .superRefine(requireWay),
    )
    .default({}),
  /** Milliseconds until a server must have answered its first question. */
  startMs: z.int().min(100).default(30_000),
});

/** `followup`: it waits; `collect`: it waits and is answered with the others; `steer`: the running turn hears it; see `docs/use/queue-modes.md`. */
const queue = {
  mode: z.enum(['followup', 'collect', 'steer', 'interrupt', 'reject']),
  limit: z.int().min(0).max(100),
  debounceMs: z.int().min(0).max(60_000),
};

/** What a message does that finds a turn running (B6). What a channel does not say is as for all. */
export const queueConfig = z.strictObject({
  mode: queue.mode.default('followup'),
  limit: queue.limit.default(20),
  debounceMs: queue.debounceMs.default(0),
  byChannel: z.record(z.string(), z.strictObject(queue).partial()).default({}),
});
