import { z } from 'zod';
import { limits } from '../../kit/limits.ts';

/** What programs keep with a session, as OpenAI's conversations have it. */
export const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= limits.metadataPairs, `use at most ${limits.metadataPairs} pairs`);
