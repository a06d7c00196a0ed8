import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Chat } from '../../../../services/cli/chat/chat.ts';
import { questionLines } from '../../../../services/cli/chat/question.ts';
import type { World } from '../../../../services/cli/terminal.ts';
import { NatterApiError, type NatterClient } from '../../../../shared/client/main.ts';
import { Signal } from '../../../../shared/kit/signal.ts';
import { TerminalScreen } from '../../../support/terminal/screen.ts';

type Told = { readonly type: string; readonly [name: string]: unknown };
const turn = { id: 'run-1', attempt: 1 };
/** A piece of live text, as the gateway sends it. */
const piece = (offset: number, text: string, end = offset + text.length) => ({ type: 'delta', turn, step: 1, offset, end, text });
const answer = (text: string) => ({ type: 'assistant_message', turn, text });

const waiting = { interval: 5, timeout: 30_000 };

/** A chat at a terminal, with a gateway that says what the test tells it to. */
const atTerminal = (
  given: { earlier?: readonly object[]; session?: object; pending?: readonly object[]; fail?: () => boolean } = {},
) => {
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys });
  const screen = new TerminalScreen();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  output.on('data', (data) => screen.write(String(data)));
  const posted: string[] = [];
  const queue: Told[] = [];
  const more = new Signal();
  let above: ((text: string) => void) | null = null;
  const client = {
    sessions: {
      get: async () => {
        if (given.session === undefined) throw new NatterApiError(404, { detail: 'there is no such session' });
        return given.session;
      },
      messages: async function* () {
        yield* given.earlier ?? [];
      },
      post: async (_: string, text: string) => {
        if (given.fail?.()) throw new NatterApiError(0, { detail: 'no answer from http://gateway' });
        posted.push(text);
        return { runId: `run-${posted.length}` };
      },
    },
    approvals: {
      list: async function* () {
        yield* given.pending ?? [];
      },
    },
    events: async function* ({ signal }: { signal: AbortSignal }) {
      while (!signal.aborted) {
        yield* queue.splice(0);
        await more.wait(signal);
      }
    },
  } as unknown as NatterClient;
  const terminal = { divert: (to: typeof above) => (above = to) };
  const world = { terminal, input: keys, output } as unknown as World;
  const stop = new AbortController();
  const done = new Chat(world, client, 'agent:main:main', {
    skills: new Map([['tides', 'When the tide is high']]),
    triggers: ['/fresh'],
  }).run(stop.signal);
  const shows = (text: string): Promise<void> => vi.waitFor(() => expect(screen.text).toContain(text), waiting);
  return {
    ...{ keys, screen, posted, done, shows, stop },
    note: (text: string) => above?.(text),
    type: (text: string) => keys.write(text),
    tell: (...told: Told[]) => {
      queue.push(...told);
      more.notify();
    },
    /** Types a line and waits until it is posted. */
    say: async (text: string): Promise<void> => {
      const count = posted.length + 1;
      keys.write(`${text}\r`);
      await vi.waitFor(() => expect(posted).toHaveLength(count), waiting);
    },
    /** Leaves, and resolves with what the person saw. */
    left: async (): Promise<string[]> => {
      keys.write('\r/quit\r');
      await done;
      return screen.lines.filter((line) => line !== '' && line !== 'you> /quit');
    },
  };
};

test.each<[string, Told[], string[]]>([
  ['the live text, and of the answer the rest', [piece(0, 'Hello '), answer('Hello Ann')], ['Hello Ann']],
  ['the answer where live text is missing', [piece(0, 'Hel'), piece(5, ' Ann'), answer('Hello Ann')], ['Hello Ann']],
  ['another answer than the live text', [piece(0, 'Help '), answer('Hello Ann')], ['Hello Ann']],
  ['A6/79: text goes on behind a marker', [piece(0, 'Hi ', 3), piece(3, 'Ann', 16), answer('Hi <NO_REPLY>Ann')], ['Hi Ann']],
  ['A6/79: no marker', [answer('Sure. <NO_REPLY>')], ['Sure.']],
  ['A6/78: that a silent answer is none', [answer('<NO_REPLY>')], ['(no reply)']],
  ['Markdown', [piece(0, '# A\n\n- b\n'), answer('# A\n\n- b\n\n**c**')], ['A', '• b', 'c']],
  [
    'A11/123: what Natter itself answers',
    [{ type: 'notice', correlationId: 'run-1', notice: { text: 'Agent: reachable.' } }],
    ['Agent: reachable.'],
  ],
  ['why a turn failed', [{ type: 'turn_failed', turn, code: 'busy', message: 'later' }], ['failed: busy: later']],
  [
    'what to do when the model did not answer',
    [{ type: 'turn_failed', turn, code: 'model_auth', message: 'no' }],
    [
      'failed: model_auth: no',
      '→ check the key, and that the account may use this model; "natter doctor" asks',
      'the provider; /model in a chat chooses another; ↑ brings the line back',
    ],
  ],
  [
    'the steps of a turn, its calls, and which of them went wrong',
    [
      piece(0, 'Looking'),
      {
        type: 'model_step',
        turn,
        step: 1,
        text: 'Looking.',
        finish: 'continue',
        calls: [{ callId: 'c', tool: 'exec', arguments: '{"a":1}' }],
      },
      { type: 'tool_call_started', turn, tool: 'exec', callId: 'c' },
      { type: 'tool_result', turn, tool: 'exec', callId: 'c', outcome: 'error', text: 'gone' },
      { ...piece(0, 'Sorry'), step: 2 },
      answer('Sorry.'),
    ],
    ['Looking.', '· exec {"a":1}', '· exec: error: gone', 'Sorry.'],
  ],
  [
    'B6: an answer that others joined, and the one for them',
    [{ ...answer('one'), interim: true }, { ...piece(0, 'two'), step: 2 }, answer('two')],
    ['one', 'two'],
  ],
  [
    'what others say here, but not what Natter says to the model',
    [
      { type: 'user_message', correlationId: 'x', message: { text: 'hi all', sender: { id: '7', name: 'Ann' } } },
      { type: 'user_message', correlationId: 'y', message: { text: 'Greet the user', sender: { id: 'natter' } } },
    ],
    ['Ann: hi all'],
  ],
  ['nothing that could control the terminal', [answer('\u001b[2J\u001b]0;x\u0007a &#27;[2J')], ['[2J]0;xa \ufffd[2J']],
])('shows %s', async (_, told, expected) => {
  const chat = atTerminal();
  await chat.say('hello');
  chat.tell(...told);
  await chat.shows(expected.at(-1) ?? '');
  expect(await chat.left()).toEqual(['you> hello', ...expected]);
  expect(chat.screen.strange).toEqual([]);
});

describe('while an answer streams', () => {
  test('a line is sent at once, and what is typed stays apart from what is shown', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(piece(0, 'a long '));
    await chat.shows('a long');
    chat.type('/st');
    await chat.shows('you> /st');
    chat.tell(piece(7, 'answer'));
    await chat.shows('a long answer\nyou> /st');
    expect(chat.screen.cursor).toEqual([chat.screen.lines.length - 1, 8]);
    await chat.say('op');
    expect(chat.posted).toEqual(['hello', '/stop']);
    chat.tell(
      { type: 'turn_aborted', turn, reason: '/stop' },
      { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped 1 run.' } },
    );
    await chat.shows('Stopped 1 run.');
    expect(await chat.left()).toEqual(['you> hello', 'you> /stop', 'a long answer', 'Stopped 1 run.']);
  });

  test('Ctrl-C stops it, and leaves only when pressed again', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(piece(0, 'a long'));
    await chat.shows('a long');
    chat.type('\u0003');
    await chat.shows('a long\nStopping the answer. Ctrl-C again leaves.\nyou>');
    expect(chat.posted).toEqual(['hello', '/stop']);
    chat.tell(
      { type: 'turn_aborted', turn, reason: '/stop' },
      { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped.' } },
    );
    await chat.shows('a long\nStopped.\nCtrl-C again leaves.\nyou>');
    await chat.say('more');
    expect(chat.screen.text).toMatch(/Stopped\.\nyou> more\nyou>/);
    chat.tell({ ...answer('yes'), turn: { id: 'run-3', attempt: 1 } });
    await chat.shows('yes');
    chat.type('\u0003\u0003');
    await chat.done;
    expect(chat.posted).toEqual(['hello', '/stop', 'more']);
    // Otherwise the keyboard would keep the process alive.
    expect(chat.keys.isPaused()).toBe(true);
  });

  test('what the rest of the program says appears above the prompt', async () => {
    const chat = atTerminal();
    await chat.shows('you>');
    chat.type('hel');
    await chat.shows('you> hel');
    chat.note('the broker is gone');
    expect(chat.screen.text).toBe('the broker is gone\nyou> hel');
    chat.stop.abort();
    await chat.done;
  });
});

test('a paste is one message, and Alt-Enter begins a new line', async () => {
  const chat = atTerminal();
  await chat.say('\u001b[200~one\rtwo\u001b[201~');
  await chat.say('a\u001b\rb');
  expect(chat.posted).toEqual(['one\ntwo', 'a\nb']);
  expect(await chat.left()).toEqual(['you> one', '     two', 'you> a', '     b']);
});

test.each(['/quit', 'quit', 'exit', '/exit', ' Exit ', '\u0004'])('%j leaves', async (line) => {
  const chat = atTerminal();
  await chat.shows('you>');
  chat.type(line === '\u0004' ? line : `${line}\r`);
  await chat.done;
  expect(chat.posted).toEqual([]);
});

test('/help lists the commands and the skills; a word that is none is refused with the nearest', async () => {
  const chat = atTerminal();
  chat.type('/help\r/stpo\r/tidse now\r');
  await chat.shows('There is no command /tidse. Did you mean /tides?');
  expect(chat.screen.text).toMatch(/^\/stop +stops the answer.*\n[\s\S]*^\/tides +skill: When the tide is high$/m);
  expect(chat.screen.text.match(/^\/export.*$/gm)).toEqual([expect.stringMatching(/^\/export FILE +writes this session/)]);
  expect(chat.screen.text).toContain(
    'There is no command /stpo. Did you mean /stop? /help lists them; with a space\nbefore it, it is text.',
  );
  expect(chat.screen.text).toMatch(/↑ and ↓\nare the history; Tab completes a command\.\n/);
  for (const line of ['/stop', '/tides now', '/fresh', ' /tidse now', '/etc/hosts is what?']) await chat.say(line);
  expect(chat.posted).toEqual(['/stop', '/tides now', '/fresh', ' /tidse now', '/etc/hosts is what?']);
  await chat.left();
});

describe('an approval', () => {
  const request = {
    type: 'approval_requested',
    turn,
    approvalId: 'k3x9',
    action: 'run exec',
    callId: 'c',
    tool: 'exec',
    expiresAt: 0,
  };
  const step = {
    type: 'model_step',
    turn,
    step: 1,
    text: '',
    finish: 'continue',
    calls: [{ callId: 'c', tool: 'exec', arguments: '{"command":["make\u202e"]}' }],
  };

  test.each([
    ['y', '/approve k3x9'],
    ['YES', '/approve k3x9'],
    ['a', '/approve k3x9 always'],
    ['n', '/deny k3x9'],
    ['no not today', '/deny k3x9 not today'],
    ['you there?', 'you there?'],
  ])('A5/62: is asked in place with its arguments; "%s" sends "%s"', async (line, sent) => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(step, request);
    await chat.shows('allow?');
    expect(chat.screen.text).toContain(
      'Approval needed: run exec\n  exec {"command":["make\\u{202e}"]}\ny = yes, once; a = always',
    );
    await chat.say(line);
    expect(chat.posted.at(-1)).toBe(sent);
    chat.tell({ type: 'approval_resolved', approvalId: 'k3x9', turn }, answer('done'));
    await chat.shows('done');
    await chat.shows('\nyou>');
    await chat.left();
  });

  test('of a call that may run twice is answered once only', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell({ ...request, asks: 'retry' });
    await chat.shows('It was begun and cut off');
    expect(chat.screen.text).not.toContain('always');
    await chat.say('a');
    expect(chat.posted.at(-1)).toBe('a');
    await chat.left();
  });

  test.each([
    { type: 'turn_aborted', turn, reason: '/stop' },
    { type: 'turn_failed', turn, code: 'internal', message: 'broken' },
  ])('goes with its turn: after $type a line is a message again', async (event) => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(step, request);
    await chat.shows('allow?');
    chat.tell(event);
    await chat.shows('\nyou>');
    await chat.say('y');
    expect(chat.posted.at(-1)).toBe('y');
    await chat.left();
  });

  test('that comes while something is typed is not answered by it', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.type('y');
    await chat.shows('you> y');
    chat.tell(request);
    await chat.shows('Approval needed');
    await chat.say('');
    expect(chat.posted).toEqual(['hello', 'y']);
    await chat.say('y');
    expect(chat.posted.at(-1)).toBe('/approve k3x9');
    await chat.left();
  });

  test.each([
    ['one value, which the summary has', 'run ["make","it"] here', '{"command": ["make", "it"]}', false],
    ['one that it has cut', 'run ["make",… here', '{"command":["make","it"]}', true],
    ['a second one', 'run ["make"] here', '{"command":["make"],"cwd":"/"}', true],
    ['a flag', 'run ["make"] true', '{"really":true}', true],
    ['none', 'run make', '{}', false],
    ['no JSON', 'run make', '{"command', true],
  ])('arguments that are %s: said once', (_, action, args, isShown) => {
    const lines = questionLines(
      { action, asks: 'run', tool: 'exec', approvalId: 'x' },
      { approvalId: 'x', mayAlways: false },
      { width: 80, args },
    );
    expect(lines.some((line) => line.startsWith('  exec '))).toBe(isShown);
  });

  test('from before the chat is asked again, behind the end of what was said', async () => {
    const earlier = [
      { role: 'user', text: 'make it', sender: { id: 'api' } },
      { role: 'user', text: 'A new session has just begun.', sender: { id: 'natter' } },
      { role: 'assistant', text: 'I ask\nfirst' },
    ];
    const pending = [
      { sessionKey: 'agent:main:main', approvalId: 'k3x9', action: 'run make', asks: 'run', onceOnly: false },
      { sessionKey: 'agent:main:other', approvalId: 'zzz', action: 'run other', asks: 'run', onceOnly: false },
    ];
    const chat = atTerminal({ earlier, pending, session: { seq: 7, status: 'awaiting_approval' } });
    await chat.shows('allow?');
    expect(chat.screen.lines.slice(0, 3)).toEqual(['you: make it', 'agent: I ask first', 'Approval needed: run make']);
    expect(chat.screen.text).not.toContain('other');
    await chat.say('y');
    expect(chat.posted).toEqual(['/approve k3x9']);
    await chat.left();
  });
});

test.each([
  ['more than the last four messages', 5, 7, true],
  ['no more than those', 4, 7, false],
  ['a log that is longer than what was read', 1, 101, true],
])('a chat that was left, with %s: says where all of it is: %o', async (_, count, seq, isSaid) => {
  const earlier = Array.from({ length: count }, (_, at) => ({ role: 'assistant', text: `answer ${at + 1}` }));
  const chat = atTerminal({ earlier, session: { seq, status: 'idle' } });
  await chat.shows(`answer ${count}\nyou>`);
  expect(chat.screen.text.includes('/export FILE writes all of it')).toBe(isSaid);
  await chat.left();
});

test('B20: /export writes what was said to a new file, and not over another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-export-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'notes.md');
  const chat = atTerminal({
    session: { seq: 7, status: 'idle' },
    earlier: [
      { role: 'user', text: 'hello', at: 0, sender: { id: '7', name: 'Ann' } },
      { role: 'assistant', text: '**hi**', at: 1_000 },
    ],
  });
  chat.type(`/export ${file}\r`);
  await chat.shows('2 messages in');
  expect(readFileSync(file, 'utf8')).toBe(
    '## Ann, 1970-01-01T00:00:00.000Z\n\nhello\n\n## agent, 1970-01-01T00:00:01.000Z\n\n**hi**\n',
  );
  chat.type(`/export ${file}\r`);
  await chat.shows('Not exported:');
  await chat.left();
});

test('what could not be sent is said, and comes back with the arrow', async () => {
  let isGone = true;
  const chat = atTerminal({ fail: () => isGone });
  chat.type('hello\r');
  await chat.shows('Not sent: no answer from http://gateway');
  isGone = false;
  await chat.say('\u001b[A');
  expect(chat.posted).toEqual(['hello']);
  await chat.left();
});
