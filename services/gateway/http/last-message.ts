import { z } from 'zod';

/**
 * The last of a list of messages, and its path. The session has the history, so earlier messages are neither read nor validated. Errors name
 * the path, such as `messages.3.parts.0`.
 */
export const lastMessage = <T>(message: z.ZodType<T, unknown>) =>
  z
    .array(z.unknown(), 'use a list of messages')
    .min(1, 'is empty; send at least the last message')
    .transform((all, context): { readonly message: T; readonly field: string } => {
      const index = all.length - 1;
      const last = message.safeParse(all[index]);
      if (last.success) return { message: last.data, field: `messages.${index}` };
      for (const { message: problem, path } of last.error.issues)
        context.addIssue({ code: 'custom', message: problem, path: [index, ...path] });
      return z.NEVER;
    });
