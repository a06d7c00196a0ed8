import { createInterface } from 'node:readline/promises';
import pc from 'picocolors';
import { NatterApiError, type NatterClient } from '../../../shared/client/main.ts';
import type { World } from '../terminal.ts';
import { ChatView } from './chat-view.ts';

/** Sequence of the session's last commit; 0 if there is none. Events after it are new. */
const lastSeq = async (client: NatterClient, key: string): Promise<number> => {
  try {
    return (await client.sessions.get(key, { patienceMs: 5_000 })).seq;
  } catch (error) {
    if (error instanceof NatterApiError && error.status === 404) return 0;
    throw error;
  }
};

/**
 * A prompt: each line is sent to the session, and its answer is streamed. Approval requests are shown and answered with `/approve` or `/deny`
 * (A5/62). Ends with `/quit`, Ctrl-D or the signal.
 */
export const chat = async (world: World, client: NatterClient, key: string, signal: AbortSignal): Promise<void> => {
  const { terminal } = world;
  const ended = new AbortController();
  const all = AbortSignal.any([signal, ended.signal]);
  const lines = createInterface({ input: world.input, output: world.output, prompt: pc.bold('you> ') });
  let isClosed = false;
  lines.on('close', () => {
    isClosed = true;
  });
  lines.on('SIGINT', () => ended.abort());
  all.addEventListener('abort', () => lines.close());
  const events = client.events({
    ...{ key, live: true, after: await lastSeq(client, key), signal: all },
    onWaiting: (reason) => terminal.note(pc.dim(`waiting for the gateway: ${reason}`)),
  });
  // A prompt after the end would read the keyboard again and keep the process alive.
  const view = new ChatView(terminal, client, key, () => isClosed || lines.prompt(true));
  const following = view.follow(events);
  try {
    view.prompt();
    for await (const line of lines) {
      if (line.trim() === '/quit') break;
      if (line.trim() !== '') await view.send(line, all);
      view.prompt();
    }
  } finally {
    ended.abort();
    lines.close();
    await events.return(undefined);
    await following;
  }
};
