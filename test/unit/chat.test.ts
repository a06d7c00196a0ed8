import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { ApiClient } from '../../services/cli/api-client.ts';
import { chat } from '../../services/cli/runtime/chat.ts';
import type { World } from '../../services/cli/terminal.ts';

const turn = { id: 'run-1', attempt: 1 };
/** A piece of live text, as the gateway sends it. */
const piece = (offset: number, text: string, end = offset + text.length) => ({
  event: 'delta',
  turn,
  step: 1,
  offset,
  end,
  text,
});
const answer = (text: string) => ({ event: 'assistant_message', type: 'assistant_message', turn, text });

/** What a person sees who says one thing and gets these messages from the gateway. */
const seen = async (...messages: { event: string }[]): Promise<string> => {
  let output = '';
  const write = (text: string) => {
    output += text;
  };
  const stream = async function* () {
    for (const { event, ...data } of messages) yield { id: undefined, event, data: JSON.stringify(data) };
  };
  const client = { get: async () => ({ seq: 0 }), post: async () => ({ runId: 'run-1' }), stream } as unknown as ApiClient;
  const terminal = { write, out: write, note: write };
  const world = { terminal, input: Readable.from(['hello\n']) } as unknown as World;
  await chat(world, client, 'agent:main:main', new AbortController().signal);
  return output;
};

it.each<[string, { event: string }[], string]>([
  ['the live text, and of the answer the rest', [piece(0, 'Hello '), answer('Hello Ann')], 'Hello Ann\n'],
  ['the answer where live text is missing', [piece(0, 'Hel'), piece(5, ' Ann'), answer('Hello Ann')], 'Hello Ann\n'],
  ['A6/79: text goes on behind a marker', [piece(0, 'Hi ', 3), piece(3, 'Ann', 16), answer('Hi <NO_REPLY>Ann')], 'Hi Ann\n'],
  ['A6/79: space in front of a marker stays', [piece(0, 'Hi '), answer('Hi <NO_REPLY>')], 'Hi \n'],
  ['A6/79: the answer has no marker', [answer('Sure. <NO_REPLY>')], 'Sure.\n'],
  [
    'A11/123: what Natter itself answers to a command',
    [{ event: 'notice', type: 'notice', correlationId: 'run-1', notice: { code: 'status', text: 'Agent: reachable.' } } as never],
    'Agent: reachable.',
  ],
  ['A6/78: a silent answer is no reply', [answer('<NO_REPLY>')], '(no reply)\n'],
])('natter chat shows %s', async (_, messages, expected) => expect(await seen(...messages)).toBe(expected));
