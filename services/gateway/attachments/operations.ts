import { z } from 'zod';
import { checked } from '../http/input.ts';
import { type Operation, operation } from '../operation/operation.ts';
import { sessionRoute } from '../operation/route.ts';
import { readAttachment, sendAttachment } from './read-attachment.ts';

const path = z.object({
  digest: z.string().regex(/^[0-9a-f]{64}$/, 'use the digest as messages have it: 64 hexadecimal digits'),
});

/** Files that came with messages. */
export const attachmentOperations: readonly Operation[] = [
  operation(readAttachment, {
    ...{ id: 'readAttachment', tag: 'messages', changes: 'nothing' },
    summary: 'Returns a file that came with a message, as it came',
    http: sessionRoute({
      ...{ method: 'get', path: '/attachments/:digest' },
      answers: { 200: ['application/octet-stream'] },
      problems: ['not_found', 'quarantined', 'damaged'],
      input: ({ key, path: { digest } }) => ({ key, digest: checked(path, { digest }, 'path').digest }),
      send: sendAttachment,
    }),
  }),
];
