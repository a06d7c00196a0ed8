import type { Outlet } from '../../../shared/ports/outlet.ts';

/** Control characters but line feed and tab: a reply must not steer the terminal it is shown on. */
const steering = /[^\P{Cc}\n\t]/gu;

/**
 * Writes replies to a stream, for the channel `terminal`; a notice begins with `! `. Nobody at a terminal can tell a repetition by its id,
 * so an uncertain write is not repeated.
 */
export const terminalOutlet = (stream: NodeJS.WritableStream): Outlet => ({
  channel: 'terminal',
  idempotent: false,
  send: ({ kind, text }) =>
    new Promise((resolve) => {
      const line = `${kind === 'notice' ? '! ' : ''}${text.replaceAll(steering, '')}\n`;
      stream.write(line, (error) => resolve(error ? { kind: 'failed', detail: error.message } : { kind: 'sent' }));
    }),
});
