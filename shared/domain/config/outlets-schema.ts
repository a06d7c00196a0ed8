import { z } from 'zod';
import { limits } from '../../kit/limits.ts';
import { byChannelName, checkChannels } from './channel-schema.ts';

const secret = z.string().min(1).meta({ secret: true });

/** The part `outlets` of the configuration: the ways out for replies. */
export const outletsConfig = z
  .strictObject({
    /**
     * One webhook per channel name: replies to that channel are posted to it, signed with the secret
     * (`docs/integrate/webhooks.md`).
     */
    webhooks: z
      .record(
        z.string(),
        z.strictObject({
          url: z.url({ protocol: /^https?$/ }),
          secret,
          timeoutMs: z.int().min(100).max(60_000).default(10_000),
          attempts: z.int().min(1).max(50).default(8),
          idempotent: z.boolean().default(true),
          statusUrl: z.url({ protocol: /^https?$/ }).optional(),
          maxCharacters: z.int().min(500).max(limits.partCharacters).optional(),
          unit: z.enum(['utf16', 'bytes', 'characters']).default('utf16'),
        }),
      )
      .superRefine(checkChannels)
      .transform(byChannelName)
      .default({}),
  })
  .prefault({});
