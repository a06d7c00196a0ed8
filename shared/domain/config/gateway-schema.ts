import { z } from 'zod';
import { roles } from '../values/role.ts';

/** The door's part of the configuration: where it listens, who may call, and how much. */

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** A limited token says what it is limited to, or it would be limited to nothing (A8/89, 90). */
const requireReach = (
  token: { role: string; principal?: string | undefined; namespace?: string | undefined },
  context: z.RefinementCtx,
): void => {
  if (token.role === 'participant' && token.principal === undefined)
    context.addIssue({
      code: 'custom',
      path: ['principal'],
      message: 'is missing; role "participant" needs who it speaks for, such as "telegram:123"',
    });
  if (token.role === 'channel' && token.namespace === undefined)
    context.addIssue({
      code: 'custom',
      path: ['namespace'],
      message: 'is missing; role "channel" needs its channel, such as "telegram"',
    });
};

export const gatewayConfig = z.strictObject({
  host: z.string().default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(4600),
  /** Bearer token; made and kept in `dataDir` when absent. `NATTER_TOKEN` does the same. */
  token: z.string().min(1).meta({ secret: true }).optional(),
  allowPublicBind: z.boolean().default(false),
  /** Further tokens by name, each with what it may see (A8/89–90). The token itself is not in the file, only its SHA-256 in hex. */
  tokens: z
    .record(
      z.string(),
      z
        .strictObject({
          sha256: z.string().regex(/^[0-9a-f]{64}$/, 'use the SHA-256 of the token, 64 hexadecimal digits'),
          role: z.enum(roles),
          /** Who it speaks for, as `<channel>:<id>` or a name of `session.identityLinks`. */
          principal: z.string().min(1).optional(),
          /** Roles `channel` and `approver`: the channel whose sessions it is limited to. */
          namespace: z.string().min(1).optional(),
        })
        .superRefine(requireReach),
    )
    .default({}),
  /** Origins of pages in browsers that may use the gateway, such as `https://chat.example.org`. None: no page may. */
  allowedOrigins: z
    .array(z.string().refine(isOrigin, 'is no origin; use a scheme and a host, such as "https://chat.example.org"'))
    .default([]),
  /** Addresses of proxies that are believed when they say for whom they call (`X-Forwarded-For`). */
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'is no address; use one such as "10.0.0.7" or "10.0.0.0/8"'))
    .default([]),
  /** Calls that one token may make in a minute. */
  requestsPerMinute: z.int().min(1).max(10_000_000).default(300_000),
  /** Wrong tokens that may come from one address in a minute. */
  failedAuthenticationsPerMinute: z.int().min(1).max(10_000_000).default(120),
  /** Connections open at a time, streams and WebSockets among them; who comes beyond is cut off at once. */
  maxConnections: z.int().min(10).max(1_000_000).default(10_000),
});
