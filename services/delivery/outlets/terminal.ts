import type { Outlet } from '../../../shared/ports/outlet.ts';

/** Control characters except line feed and tab: a reply must not control the terminal that shows it. */
const controls = /[^\P{Cc}\n\t]/gu;

/**
 * Writes replies to a stream, for the channel `terminal`; a notice begins with `! `. A terminal cannot recognise a repeated id, so an
 * uncertain write is not repeated.
 */
export const terminalOutlet = (stream: NodeJS.WritableStream): Outlet => ({
  channel: 'terminal',
  unknownSend: { by: 'neither' },
  send: ({ kind, text }) =>
    new Promise((resolve) => {
      const line = `${kind === 'notice' ? '! ' : ''}${text.replaceAll(controls, '')}\n`;
      stream.write(line, (error) =>
        resolve(error ? { kind: 'refused', failure: 'gone', detail: error.message } : { kind: 'sent' }),
      );
    }),
});
