import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { sessionKeyProblem } from '../keys/session-key.ts';
import { byChannelName, channelConfig, channelName, checkChannels, withChannelName } from './channel-schema.ts';
import { gatewayConfig, pageConfig } from './gateway-schema.ts';
import { outletsConfig } from './outlets-schema.ts';
import { skillsConfig } from './skills-schema.ts';
import {
  contextConfig,
  introspectionConfig,
  maintenanceConfig,
  mcpConfig,
  memoryConfig,
  modelConfig,
  queueConfig,
  scrubConfig,
  toolsConfig,
} from './turn-schema.ts';

/** The configuration file (`~/.natter/natter.json`, JSON5). Everything is optional (A14/141); unknown keys are refused with a suggestion. */
const secret = z.string().min(1).meta({ secret: true });

const isTimeZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** When a session expires: once a day, after idle minutes, or whichever comes first (A4/44–50). */
const resetPolicy = z.strictObject({
  mode: z.enum(['daily', 'idle']).default('daily'),
  /** Local hour of the daily reset. */
  atHour: z.int().min(0).max(23).default(4),
  /** A sliding idle window; with mode `daily` whichever expires first. Default in mode `idle`: 60. */
  idleMinutes: z.int().min(1).max(525_600).optional(),
});

/** What a rule of the send policy matches: all that is given must match (A9/92). `surface` is the older name of `channel` (C5). */
const sendMatch = z
  .strictObject({
    channel: channelName.optional(),
    surface: channelName.optional(),
    chatType: z.enum(['direct', 'group', 'channel', 'thread']).optional(),
    /** Start of the key, with or without `agent:<agentId>:`. */
    keyPrefix: z.string().min(1).optional(),
    /** Start of the stored key only (B12). */
    rawKeyPrefix: z.string().min(1).optional(),
  })
  .transform(({ surface, ...match }) => ({ ...match, ...((match.channel ?? surface) && { channel: match.channel ?? surface }) }));
const sendAction = z.enum(['allow', 'deny']);

/**
 * An id belongs to one person: two names that claim it would make two people one. A name becomes part of session keys, and a name
 * with `:` could be somebody else's id (A3/29).
 */
const checkLinks = (links: Readonly<Record<string, readonly string[]>>, context: z.RefinementCtx): void => {
  const owners = new Map<string, string>();
  for (const [name, ids] of Object.entries(links)) {
    if (name.includes(':') || sessionKeyProblem(name) !== null) {
      const message = `"${name}" cannot be part of a session key; use a short name without white space, ":", "*", ">" and "%"`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
    for (const [index, id] of ids.entries()) {
      const other = owners.get(id) ?? name;
      owners.set(id, other);
      if (other === name) continue;
      const message = `"${id}" is claimed by "${other}" and by "${name}"; keep it under one of them`;
      context.addIssue({ code: 'custom', path: [name, index], message });
    }
  }
};

const filePath = z.string().min(1);

/** A certificate is of no use without its key, nor a key without its certificate. */
const requirePair = (tls: { certFile?: string | undefined; keyFile?: string | undefined }, context: z.RefinementCtx): void => {
  if ((tls.certFile === undefined) === (tls.keyFile === undefined)) return;
  const [given, path] = tls.certFile === undefined ? ['keyFile', 'certFile'] : ['certFile', 'keyFile'];
  context.addIssue({ code: 'custom', path: [path], message: `is missing; nats.tls.${given} needs it` });
};

export const configSchema = z.strictObject({
  /** Prefix of subjects, streams and buckets, so that several systems can share a broker. */
  prefix: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'use 1 to 32 of a-z, 0-9, "_" and "-", starting with a letter')
    .default('natter'),
  /** Folder of the managed broker's store, the tokens and other files of this installation. Default: `~/.natter`. */
  dataDir: z.string().optional(),
  nats: z
    .strictObject({
      /**
       * URL of an external broker, comma-separated for a cluster; no managed broker is started then. `NATS_URL` does the same.
       */
      url: z.string().optional(),
      token: secret.optional(),
      /** TLS with that broker: PEM files, read again for each connection. Present, even without files: without TLS there is no connection. */
      tls: z
        .strictObject({ caFile: filePath.optional(), certFile: filePath.optional(), keyFile: filePath.optional() })
        .superRefine(requirePair)
        .optional(),
      credsFile: filePath.optional(),
      nkeySeedFile: filePath.optional(),
      /** Folder with a seed for each user of an external broker, as `natter broker config` makes them. */
      usersDir: filePath.optional(),
      /** Replicas of every stream: 1, 3 or 5. */
      replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).default(1),
      partitions: z.int().min(1).max(limits.partitions).default(64),
      requestTimeoutMs: z.int().min(100).max(30_000).default(2_000),
      /** When the managed broker syncs to disk: `always`, or a NATS duration such as `2m` (loses acknowledged data on a power cut). */
      syncInterval: z.string().default('always'),
      /**
       * File with the Ed25519 key (PEM) of all session hosts' snapshots; for a gateway the public half is enough. Default: one that is
       * made in the data directory.
       */
      snapshotKeyFile: z.string().min(1).optional(),
    })
    .prefault({}),
  gateway: gatewayConfig.prefault({}),
  page: pageConfig.prefault({}),
  agent: z
    .strictObject({
      id: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
        .default('main'),
      /** `offline`, or `provider/model` with a provider of `model.providers`. */
      model: z.string().default('offline'),
      systemPrompt: z.string().default('You are a helpful assistant.'),
      /** Who owns the agent: sender ids as `<channel>:<id>`, or names of `session.identityLinks`. */
      owners: z.array(withChannelName).default([]),
      /** Models that are tried in order when the first does not answer. */
      fallbacks: z.array(z.string().min(1)).default([]),
      /** Folder with the agent's files: instructions, notes, and what its tools read and write. Default: none. */
      workspace: z.string().min(1).optional(),
      workspaceAccess: z.enum(['read-only', 'read-write']).default('read-write'),
      /** Milliseconds without progress after which a turn starts its next attempt; the number of attempts is bounded (B29). */
      stallMs: z.int().min(1_000).default(900_000),
      /** Names by which people address the agent in groups. */
      names: z.array(z.string()).default([]),
    })
    .prefault({}),
  model: modelConfig.prefault({}),
  context: contextConfig.prefault({}),
  introspection: introspectionConfig.prefault({}),
  scrub: scrubConfig.prefault({}),
  memory: memoryConfig.prefault({}),
  skills: skillsConfig.prefault({}),
  tools: toolsConfig.prefault({}),
  mcp: mcpConfig.prefault({}),
  session: z
    .strictObject({
      /** `global`: one session for everything (A3/22). */
      scope: z.enum(['per-sender', 'global']).default('per-sender'),
      /** Who shares a direct session (A3/24–28). With several people in the inbox use `per-channel-peer` (A3/31). */
      dmScope: z.enum(['main', 'per-peer', 'per-channel-peer', 'per-account-channel-peer']).default('main'),
      mainKey: z
        .string()
        .regex(
          /^(?!(global|unknown|memory)$)[^:\s*>%]+$/,
          'use one word without ":", such as "main"; "global", "unknown" and "memory" are taken',
        )
        .default('main'),
      /** Canonical name → the ids of one person, as `<channel>:<id>` (A3/29). */
      identityLinks: z.record(z.string().min(1), z.array(withChannelName)).superRefine(checkLinks).default({}),
      /** Refuse to start, instead of warning, when several people would share one direct session. */
      strict: z.boolean().default(false),
      /** IANA zone of the daily reset. Default: the host's. */
      timeZone: z.string().refine(isTimeZone, 'is not an IANA time zone such as "Europe/Berlin"').optional(),
      reset: resetPolicy.optional(),
      resetByType: z.strictObject({ dm: resetPolicy, group: resetPolicy, thread: resetPolicy }).partial().default({}),
      resetByChannel: z.record(z.string(), resetPolicy).superRefine(checkChannels).transform(byChannelName).default({}),
      /** Older form of an idle-only policy (A4/48). */
      idleMinutes: z.int().min(1).max(525_600).optional(),
      /** Messages that reset, besides `/new` and `/reset` (A4/53, C17). */
      resetTriggers: z.array(z.string().min(1).max(64)).default([]),
      /** Where a readable mirror of the sessions is kept; `{agentId}` is replaced (A2/19). */
      store: z.string().optional(),
      sendPolicy: z
        .strictObject({
          rules: z.array(z.strictObject({ action: sendAction, match: sendMatch })).default([]),
          default: sendAction.default('allow'),
        })
        .prefault({}),
      /** What a message does when a turn is already running (B6). */
      queue: queueConfig.prefault({}),
      maintenance: maintenanceConfig.prefault({}),
      /** Sessions that one host keeps in memory. */
      residents: z.int().min(1).max(20_000).default(10_000),
    })
    .prefault({}),
  channels: z
    .record(
      z.string(),
      // No connector is built in yet.
      channelConfig('posted'),
    )
    .superRefine(checkChannels)
    .transform(byChannelName)
    .default({}),
  outlets: outletsConfig,
  /** Files that come with messages (ADR 27). */
  attachments: z
    .strictObject({
      /** Of all files of one message together. */
      maxMegabytes: z.int().min(1).max(50).default(10),
      perMessage: z.int().min(0).max(limits.attachments).default(8),
      /** Media types, with `*` for all of a kind. */
      types: z
        .array(z.string().regex(/^[a-z0-9.+-]+\/(?:\*|[a-z0-9.+-]+)$/, 'use a media type such as "image/png" or "image/*"'))
        .default(['image/*', 'audio/*', 'text/*', 'application/pdf', 'application/json']),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    })
    .prefault({}),
});
export type Config = z.infer<typeof configSchema>;
