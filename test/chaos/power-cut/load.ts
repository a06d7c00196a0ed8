import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../../shared/client/main.ts';
import { errorMessage } from '../../../shared/kit/errors.ts';
import type { Ready } from './up-process.ts';

/** Messages sent through the gateway, each with a text of its own, by senders that send one after another. */
export interface Load {
  /** Texts that got their `202`, by session. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>;
  /** The last refusal of each session. */
  readonly refused: ReadonlyMap<string, string>;
  /** Ends it; what has no answer yet is given up. */
  stop(): Promise<void>;
}

const pauseMs = 20;
const timeoutMs = 5_000;

export const startLoad = ({ url, token }: Pick<Ready, 'url' | 'token'>, senders: number): Load => {
  const client = createClient({ url, token, patienceMs: 0 });
  const stopping = new AbortController();
  setMaxListeners(senders, stopping.signal);
  const acknowledged = new Map<string, string[]>();
  const refused = new Map<string, string>();

  const sender = async (key: string): Promise<void> => {
    const texts: string[] = [];
    acknowledged.set(key, texts);
    while (!stopping.signal.aborted) {
      const text = `hello ${randomUUID()}`;
      try {
        await client.sessions.post(key, text, { timeoutMs, signal: stopping.signal });
        texts.push(text);
      } catch (error) {
        // It may be stored or not: nothing was promised.
        refused.set(key, errorMessage(error));
      }
      await delay(pauseMs);
    }
  };
  const keys = Array.from({ length: senders }, (_, index) => `agent:main:power:${index}`);
  const sending = Promise.all(keys.map(sender));
  return {
    acknowledged,
    refused,
    stop: async () => {
      stopping.abort();
      await sending;
    },
  };
};
