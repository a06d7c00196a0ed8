import { z } from 'zod';
import { roles } from '../domain/values/role.ts';
import type { IssuedToken, Ticket } from '../ports/access/tokens.ts';
import { codecOf } from './records.ts';

/** The stored form of tokens and tickets. A record of an older version lacks what has come since. */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const issuedToken = z.object({
  v: z.literal(1),
  id: z.string().min(1).max(64),
  role: z.enum(roles),
  principal: z.string().min(1).max(512).optional(),
  namespace: z.string().min(1).max(512).optional(),
  sessionKey: z.string().min(1).max(1_024).optional(),
  deletedSeq: z.int().min(0).optional(),
  label: z.string().max(256),
  createdAt: z.number(),
  createdBy: z.string().max(256),
  expiresAt: z.number().optional(),
  revokedAt: z.number().optional(),
  secrets: z
    .array(z.object({ sha256, until: z.number().optional() }))
    .min(1)
    .max(2),
  parent: z.object({ actor: z.string().max(256), sha256 }).optional(),
}) satisfies z.ZodType<IssuedToken, unknown>;
export const issuedTokenCodec = codecOf<IssuedToken>(issuedToken, 8 * 1024);

const ticket = z.object({
  actor: z.string().max(256),
  path: z.string().max(4_096),
  expiresAt: z.number(),
  tokenSha256: sha256,
  role: z.enum(roles).optional(),
}) satisfies z.ZodType<Ticket, unknown>;
export const ticketCodec = codecOf<Ticket>(ticket, 8 * 1024);
