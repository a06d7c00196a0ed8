import { z } from 'zod';
import { limits } from '../../../shared/kit/limits.ts';
import { type IncomingFile, mediaType, readFileData } from './incoming-file.ts';

/** Files in the body of a message: base64 or a data URL, which names the type itself. */
export const incomingAttachments = z
  .array(
    z
      .strictObject({
        data: z.string('use base64, or a data URL').meta({ description: 'base64, or a data URL' }),
        type: z
          .string()
          .regex(mediaType, 'use a media type such as "image/png"')
          .optional()
          .meta({ description: 'media type, such as `image/png`; a data URL has it already' }),
        name: z.string().min(1).max(256).optional(),
      })
      .transform(({ data, ...told }, context): IncomingFile => {
        const file = readFileData(data, told);
        if (!('problem' in file)) return file;
        context.addIssue({ code: 'custom', message: file.problem, path: ['data'] });
        return z.NEVER;
      }),
    'use a list of files',
  )
  .max(limits.attachments);
