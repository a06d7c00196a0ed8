import { z } from 'zod';
import { roles } from '../values/role.ts';
import { withChannelName } from './channel-schema.ts';

/** The gateway's part of the configuration: its address, its tokens and its limits. */

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

/** A limited role must name its limit; otherwise the token would reach nothing (A8/89, 90). */
const requireReach = (
  token: { role: string; principal?: string | undefined; namespace?: string | undefined },
  context: z.RefinementCtx,
): void => {
  if (token.role === 'participant' && token.principal === undefined)
    context.addIssue({
      code: 'custom',
      path: ['principal'],
      message: 'is missing; role "participant" must name the person it speaks for, such as "telegram:123"',
    });
  if (token.role === 'channel' && token.namespace === undefined)
    context.addIssue({
      code: 'custom',
      path: ['namespace'],
      message: 'is missing; role "channel" must name its channel, such as "telegram"',
    });
};

export const gatewayConfig = z.strictObject({
  host: z.string().default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(4600),
  /** Bearer token; created and kept in `dataDir` when absent. `NATTER_TOKEN` does the same. */
  token: z.string().min(1).meta({ secret: true }).optional(),
  allowPublicBind: z.boolean().default(false),
  /** Further tokens by name, each with what it may see (A8/89–90). The file holds only the SHA-256 of a token, in hexadecimal. */
  tokens: z
    .record(
      z.string(),
      z
        .strictObject({
          sha256: z.string().regex(/^[0-9a-f]{64}$/, 'use the SHA-256 of the token, 64 hexadecimal digits'),
          /** Not `viewer`: a link to a session is made while that is there. */
          role: z.enum(roles).exclude(['viewer']),
          /** The person it speaks for, as `<channel>:<id>` or a name of `session.identityLinks`. */
          principal: withChannelName.optional(),
          /** Roles `channel` and `approver`: the channel whose sessions it is limited to. */
          namespace: withChannelName.optional(),
        })
        .superRefine(requireReach),
    )
    .default({}),
  /** Origins of browser pages that may use the gateway, such as `https://chat.example.org`. Empty: no page may. */
  allowedOrigins: z
    .array(z.string().refine(isOrigin, 'is not an origin; use a scheme and a host, such as "https://chat.example.org"'))
    .default([]),
  /** Where people reach the gateway, such as `https://natter.example.org`: the page's own origin behind a TLS proxy. */
  publicUrl: z
    .string()
    .refine(isOrigin, 'is not an origin; use a scheme and a host, such as "https://natter.example.org"')
    .optional(),
  /** Names by which probes reach the gateway, besides its own address, `localhost`, IP addresses and the hosts of `allowedOrigins`. */
  hostNames: z
    .array(
      z
        .string()
        .regex(
          /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i,
          'is not a host name; use one such as "natter.example.org", without a port',
        ),
    )
    .default([]),
  /** Addresses of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'is not an address; use one such as "10.0.0.7" or "10.0.0.0/8"'))
    .default([]),
  /** Calls that one token may make per minute. */
  requestsPerMinute: z.int().min(1).max(10_000_000).default(300_000),
  /** Sessions that one token of a channel or a participant may start per hour. */
  newSessionsPerHour: z.int().min(1).max(10_000_000).default(1_000),
  /** Failed authentications allowed from one address per minute. */
  failedAuthenticationsPerMinute: z.int().min(1).max(10_000_000).default(120),
  /** Open connections, including streams and WebSockets; further ones are closed at once. */
  maxConnections: z.int().min(10).max(1_000_000).default(10_000),
});

/** The page that the gateway serves at its address (docs/use/page.md). */
export const pageConfig = z.strictObject({
  /** Default: only where the gateway listens for this machine alone. */
  enabled: z.boolean().optional(),
});
