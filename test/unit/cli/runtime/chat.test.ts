import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { chat } from '../../../../services/cli/runtime/chat.ts';
import type { World } from '../../../../services/cli/terminal.ts';
import type { NatterClient } from '../../../../shared/client/main.ts';
import { Signal } from '../../../../shared/kit/signal.ts';

const turn = { id: 'run-1', attempt: 1 };
/** A piece of live text, as the gateway sends it. */
const piece = (offset: number, text: string, end = offset + text.length) => ({
  type: 'delta',
  turn,
  step: 1,
  offset,
  end,
  text,
});
const answer = (text: string) => ({ type: 'assistant_message', turn, text });

type Told = { readonly type: string; readonly [name: string]: unknown };
type Line = readonly [line: string, ...told: Told[]];
/** What a person sees who says these lines, and what the gateway tells after each; the runs are `run-1`, `run-2`, … */
const seenAfter = async (...said: readonly Line[]): Promise<string> => {
  let output = '';
  const write = (text: string) => {
    output += text;
  };
  const posted = said.map(() => new Signal());
  const never = new AbortController().signal;
  let runs = 0;
  const events = async function* () {
    for (const [index, [, ...told]] of said.entries()) {
      await posted[index]?.wait(never);
      yield* told;
    }
  };
  const post = async () => {
    posted[runs]?.notify();
    runs += 1;
    return { runId: `run-${runs}` };
  };
  const client = { sessions: { get: async () => ({ seq: 0 }), post }, events } as unknown as NatterClient;
  const terminal = { write, out: (line: string) => write(`${line}\n`), note: write };
  const world = { terminal, input: Readable.from(said.map(([line]) => `${line}\n`)) } as unknown as World;
  await chat(world, client, 'agent:main:main', new AbortController().signal);
  return stripVTControlCharacters(output).replace(/\n$/, '');
};
const seen = (...messages: Told[]): Promise<string> => seenAfter(['hello', ...messages]);

test.each<[string, Told[], string]>([
  ['the live text, and of the answer the rest', [piece(0, 'Hello '), answer('Hello Ann')], 'Hello Ann'],
  ['the answer where live text is missing', [piece(0, 'Hel'), piece(5, ' Ann'), answer('Hello Ann')], 'Hello Ann'],
  ['A6/79: text goes on behind a marker', [piece(0, 'Hi ', 3), piece(3, 'Ann', 16), answer('Hi <NO_REPLY>Ann')], 'Hi Ann'],
  ['A6/79: space in front of a marker stays', [piece(0, 'Hi '), answer('Hi <NO_REPLY>')], 'Hi '],
  ['A6/79: the answer has no marker', [answer('Sure. <NO_REPLY>')], 'Sure.'],
  [
    'A11/123: what Natter itself answers to a command',
    [{ type: 'notice', correlationId: 'run-1', notice: { code: 'status', text: 'Agent: reachable.' } }],
    'Agent: reachable.',
  ],
  ['A6/78: a silent answer is no reply', [answer('<NO_REPLY>')], '(no reply)'],
])('natter chat shows %s', async (_, messages, expected) => expect(await seen(...messages)).toBe(expected));

const approvalId = 'k3x9abcd';
const request = {
  type: 'approval_requested',
  turn,
  approvalId,
  action: 'run exec {"command":"make"}',
  expiresAt: 0,
};
const resolved = { type: 'approval_resolved', turn: { ...turn, attempt: 2 } };
const told = (run: string, text: string) => ({
  type: 'notice',
  correlationId: run,
  notice: { code: 'approval', text },
});
const asked = [
  'Approval needed: run exec {"command":"make"}',
  'Answer "/approve k3x9abcd", "/approve k3x9abcd always" or "/deny k3x9abcd" and a reason.',
  'The owner may answer, until 1970-01-01 00:00 UTC.',
];

test.each<[string, readonly Line[], string[]]>([
  [
    'A5/62: what is asked, what a person answers, and then the answer of the turn',
    [
      ['hello', piece(0, 'I shall'), request],
      [`/approve ${approvalId}`, resolved, told('run-2', 'Approved: run exec'), answer('done')],
    ],
    ['I shall', ...asked, 'Approved: run exec', 'done'],
  ],
  [
    'A5/62: a call that was cut off, and what counts once alone',
    [['hello', { ...request, asks: 'retry', onceOnly: true }]],
    [
      asked[0],
      expect.stringMatching(/^It was begun and cut off/),
      'Answer "/approve k3x9abcd" or "/deny k3x9abcd" and a reason.',
      asked[2],
    ],
  ],
  [
    'B6: what waits behind a turn that is asked for, and is answered together with it',
    [
      ['hello', request],
      ['and', { type: 'turn_queued', turn: { id: 'run-2' } }],
      ['then', { type: 'turn_joined', turn, runId: 'run-3' }],
      [`/deny ${approvalId}`, resolved, told('run-4', 'Denied: run exec'), answer('for two')],
      [
        'more',
        { type: 'turn_started', turn: { id: 'run-2' }, merged: [{ id: 'run-5' }] },
        { ...answer('for the others'), turn: { id: 'run-2' } },
      ],
    ],
    [...asked, ...['Queued behind the running turn.', 'Denied: run exec', 'for two', 'for the others']],
  ],
  [
    'B6: an answer while others have joined is not the last',
    [['hello', { ...answer('one'), interim: true }, { ...piece(0, 'two'), step: 2 }, answer('two')]],
    ['one', 'two'],
  ],
])('natter chat shows %s', async (_, said, lines) =>
  expect((await seenAfter(...said)).split('\n').filter(Boolean)).toEqual(lines),
);

test('Ctrl-C ends it while an answer is being made, and leaves the keyboard alone (it would keep the process alive)', async () => {
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys });
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const posted = new Signal();
  const asked = posted.wait(new AbortController().signal);
  const post = async () => {
    posted.notify();
    return { runId: 'run-1' };
  };
  const client = {
    sessions: { get: async () => ({ seq: 0 }), post },
    // biome-ignore lint/correctness/useYield: nothing is told until the end
    events: async function* ({ signal }: { signal: AbortSignal }) {
      await new Signal().wait(signal);
    },
  } as unknown as NatterClient;
  const terminal = { write: () => {}, out: () => {}, note: () => {} };
  const world = { terminal, input: keys, output: screen } as unknown as World;
  const chatting = chat(world, client, 'agent:main:main', new AbortController().signal);
  await once(screen, 'data');
  keys.write('hello\r');
  await asked;
  keys.write('\u0003');
  await chatting;
  expect(keys.isPaused()).toBe(true);
});
