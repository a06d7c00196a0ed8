import { z } from 'zod';
import { type ClientRequest, clientTool } from '../../../shared/domain/values/client-request.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** Tools that an application brings along and runs itself (ADR 26): `[{name, description, parameters}]`, `parameters` a JSON schema. */
export const programTools = z
  .array(
    z.object({
      name: z.string('name the tool').regex(/^[\w-]{1,64}$/, 'use 1 to 64 letters, digits, "_" and "-"'),
      description: z.string('use a text').max(limits.clientToolDescriptionCharacters).default(''),
      parameters: z
        .record(z.string(), z.unknown(), 'use a JSON schema of an object')
        .default({ type: 'object', properties: {} })
        .transform((schema) => JSON.stringify(schema))
        .pipe(clientTool.shape.parameters),
    }),
    'use a list of tools',
  )
  .max(limits.offeredTools)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, 'have a name twice')
  .transform((tools): ClientRequest | undefined => (tools.length === 0 ? undefined : { tools }));
