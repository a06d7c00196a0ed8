import { z } from 'zod';

/** The configuration file (`~/.natter/natter.json`, JSON5). Everything is optional (A14/141); unknown keys are refused with a suggestion. */
const secret = z.string().min(1).meta({ secret: true });

export const configSchema = z.strictObject({
  /** Subject, stream and bucket prefix; several systems can share a broker. */
  prefix: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'use 1 to 32 of a-z, 0-9, "_" and "-", starting with a letter')
    .default('natter'),
  /** Where the managed broker, tokens and other files of this installation are. Default: `~/.natter`. */
  dataDir: z.string().optional(),
  nats: z
    .strictObject({
      /** An external broker, comma-separated for a cluster; nothing is started then. `NATS_URL` does the same. */
      url: z.string().optional(),
      token: secret.optional(),
      /** Replicas of every stream: 1 or 3 (5). */
      replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).default(1),
      partitions: z.int().min(1).max(256).default(64),
      requestTimeoutMs: z.int().min(100).max(30_000).default(2_000),
      /** When the managed broker syncs to disk: `always`, or a NATS duration such as `2m` (loses acknowledged data on a power cut). */
      syncInterval: z.string().default('always'),
    })
    .prefault({}),
  gateway: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(4600),
      /** Bearer token; made and kept in `dataDir` when absent. `NATTER_TOKEN` does the same. */
      token: secret.optional(),
      allowPublicBind: z.boolean().default(false),
    })
    .prefault({}),
  agent: z
    .strictObject({
      id: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
        .default('main'),
      /** `offline`, or `provider/model` with a provider of `model.providers`. */
      model: z.string().default('offline'),
      systemPrompt: z.string().default('You are a helpful assistant.'),
      /** Sender ids that are the owner's, as `<channel>:<id>`. */
      owners: z.array(z.string()).default([]),
      /** Names the agent is addressed by in groups. */
      names: z.array(z.string()).default([]),
    })
    .prefault({}),
  model: z
    .strictObject({
      providers: z
        .record(
          z.string(),
          z.strictObject({
            kind: z.enum(['openai-compatible', 'anthropic']),
            baseUrl: z.url().optional(),
            /** Name of the environment variable that holds the key; the key itself is never in the file. */
            apiKeyEnv: z.string().optional(),
          }),
        )
        .default({}),
      firstTokenMs: z.int().min(100).default(60_000),
      idleTokenMs: z.int().min(100).default(60_000),
      totalMs: z.int().min(100).default(600_000),
      maxOutputTokens: z.int().min(1).default(8_192),
    })
    .prefault({}),
  session: z
    .strictObject({
      mainKey: z.string().default('main'),
      /** Sessions kept in memory by one host. */
      residents: z.int().min(1).max(20_000).default(10_000),
    })
    .prefault({}),
  outlets: z
    .strictObject({
      /** One webhook per channel name: replies to that channel are posted there, signed with the secret (`docs/webhooks.md`). */
      webhooks: z
        .record(
          z.string(),
          z.strictObject({
            url: z.url({ protocol: /^https?$/ }),
            secret,
            timeoutMs: z.int().min(100).max(60_000).default(10_000),
            attempts: z.int().min(1).max(50).default(8),
            idempotent: z.boolean().default(true),
          }),
        )
        .default({}),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    })
    .prefault({}),
});
export type Config = z.infer<typeof configSchema>;
