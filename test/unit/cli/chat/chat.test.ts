import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Chat } from '../../../../services/cli/chat/chat.ts';
import { LineEditor } from '../../../../services/cli/chat/line-editor.ts';
import { questionIn } from '../../../../services/cli/chat/question.ts';
import { Screen } from '../../../../services/cli/chat/screen.ts';
import { helpLines } from '../../../../services/cli/chat/words.ts';
import type { World } from '../../../../services/cli/terminal.ts';
import { NatterApiError, type NatterClient } from '../../../../shared/client/main.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';
import type { SessionEvent } from '../../../../shared/domain/session/events.ts';
import { Signal } from '../../../../shared/kit/signal.ts';
import { recordedAt } from '../../../support/memories.ts';
import { TerminalScreen } from '../../../support/terminal/screen.ts';

type Told = { readonly type: string; readonly [name: string]: unknown };
const turn = { id: 'run-1', attempt: 1 };
/** The person at the terminal, as the log has them. */
const me = 'token:api';
const mainKey = 'agent:main:main' as SessionKey;
/** A piece of live text, as the gateway sends it. */
const piece = (offset: number, text: string, end = offset + text.length) => ({ type: 'delta', turn, step: 1, offset, end, text });
const answer = (text: string) => ({ type: 'assistant_message', turn, text });
/** What the person at the terminal wrote before, or elsewhere. */
const mine = (text: string): Told => ({
  type: 'user_message',
  actor: me,
  message: { text, sender: { id: 'api', role: 'program' } },
});

const waiting = { interval: 5, timeout: 30_000 };

/** A chat at a terminal, with a gateway that says what the test tells it to. */
const atTerminal = (
  given: {
    earlier?: readonly Told[];
    hasMore?: boolean;
    status?: string;
    sendPolicy?: 'allow' | 'deny';
    nextReset?: { dailyAt?: number; idleAt?: number };
    fail?: () => boolean;
    leaving?: 'leaves' | 'stops everything';
    now?: () => number;
  } = {},
) => {
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys });
  const screen = new TerminalScreen();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  output.on('data', (data) => screen.write(String(data)));
  const posted: string[] = [];
  const queue: Told[] = [];
  const more = new Signal();
  let above: ((text: string) => void) | null = null;
  const events = given.earlier?.map((event, at) => ({ id: `${at + 1}.0`, seq: at + 1, at: 0, actor: 'session-1', ...event }));
  const client = {
    get: async (path: string) =>
      path === '/v1/me' ? { actor: me } : { events: events?.toReversed(), more: given.hasMore ?? false, next: '0' },
    sessions: {
      get: async () => {
        if (events === undefined) throw new NatterApiError(404, { detail: 'there is no such session' });
        return {
          ...{ seq: events.length, status: given.status ?? 'idle', settings: { sendPolicy: given.sendPolicy } },
          nextResetByCall: { rule: 'session.reset', due: given.nextReset !== undefined, ...given.nextReset },
        };
      },
      export: async function* () {
        for (const { id: _, seq, at, actor, ...event } of events ?? [])
          yield { ...recordedAt(mainKey, seq, event as unknown as SessionEvent), at, actor };
      },
      post: async (_: string, message: string | { readonly text: string; readonly commands: boolean }) => {
        if (given.fail?.()) throw new NatterApiError(0, { detail: 'no answer from http://gateway' });
        posted.push(typeof message === 'string' ? message : `as text:${message.text}`);
        return { runId: `run-${posted.length}` };
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
  const world = { terminal, input: keys, output, now: given.now ?? (() => 0) } as unknown as World;
  const stop = new AbortController();
  const done = new Chat(world, client, mainKey, {
    skills: new Map([['tides', 'When the tide is high']]),
    triggers: ['/fresh'],
    leaving: given.leaving ?? 'leaves',
    hasPrograms: false,
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
      { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped the answer.' } },
    );
    await chat.shows('Stopped the answer.');
    expect(await chat.left()).toEqual(['you> hello', 'you> /stop', 'a long answer', 'Stopped the answer.']);
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

  test('what is half typed stays when Ctrl-C stops an answer, and goes when there is none', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.type('half a li\u0003');
    await chat.shows('you> half a li');
    expect(chat.posted).toEqual(['hello', '/stop']);
    chat.tell(
      { type: 'turn_aborted', turn, reason: '/stop' },
      { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped.' } },
    );
    chat.type('ne\r');
    await chat.shows('you> half a line\n');
    chat.tell({ ...answer('yes'), turn: { id: 'run-3', attempt: 1 } });
    await chat.shows('yes');
    chat.type('gone\u0003');
    await chat.shows('Ctrl-C again leaves.\nyou>');
    chat.type('\u0003');
    await chat.done;
    expect(chat.posted).toEqual(['hello', '/stop', 'half a line']);
  });

  test('Ctrl-C pressed twice stops it, and leaves only once its hint could be read', async () => {
    let now = 0;
    const chat = atTerminal({ now: () => now });
    await chat.say('hello');
    chat.type('\u0003\u0003');
    chat.tell({ type: 'notice', correlationId: 'x', notice: { text: 'The chat goes on.' } });
    await chat.shows('The chat goes on.\nStopping the answer. Ctrl-C again leaves.\nyou>');
    expect(chat.posted).toEqual(['hello', '/stop']);
    now = 1_000;
    chat.type('\u0003');
    await chat.done;
  });

  const later = { id: 'elsewhere-1', attempt: 1 };
  const asks = { type: 'approval_requested', turn: later, approvalId: 'k3x9', action: 'run exec', tool: 'exec', expiresAt: 0 };
  test.each<[string, Told[]]>([
    ['begins', []],
    ['begins and asks', [asks]],
  ])('Ctrl-C pressed again stops an answer that %s after the one that it stopped', async (_, told) => {
    let now = 0;
    const chat = atTerminal({ now: () => now });
    await chat.say('hello');
    chat.type('\u0003');
    // The event that comes late is of the answer that is being stopped.
    chat.tell(
      { type: 'turn_started', turn, attempt: 1 },
      { type: 'notice', correlationId: 'x', notice: { text: 'One moment.' } },
    );
    await chat.shows('One moment.\nStopping the answer. Ctrl-C again leaves.\nyou>');
    chat.tell(
      { type: 'turn_aborted', turn, reason: '/stop' },
      { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped the answer.' } },
    );
    await chat.shows('Stopped the answer.\nCtrl-C again leaves.\nyou>');
    now = 8_000;
    chat.tell({ type: 'turn_started', turn: later, attempt: 1 }, ...told, { ...piece(0, 'Once upon'), turn: later });
    await chat.shows('Once upon');
    expect(chat.screen.text).not.toContain('Ctrl-C again');
    chat.type('\u0003');
    await vi.waitFor(() => expect(chat.posted).toEqual(['hello', '/stop', '/stop']), waiting);
    expect(chat.screen.text).toContain('Stopping the answer. Ctrl-C again leaves.');
    await chat.left();
  });

  test('what the rest of the program says appears above the prompt', async () => {
    const chat = atTerminal();
    await chat.shows('you>');
    chat.type('hel');
    await chat.shows('you> hel');
    chat.note('the broker is gone');
    expect(chat.screen.text).toBe('the broker is gone\nyou> hel');
    chat.note(`${'word '.repeat(15)}together`);
    await chat.shows('word word\ntogether\nyou> hel');
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

test('a narrower terminal has broken the row with the cursor: both parts are taken away', () => {
  const written: string[] = [];
  const output = { columns: 80, rows: 24, write: (text: string) => written.push(text) };
  const editor = new LineEditor();
  const screen = new Screen(output, editor);
  for (const text of 'words '.repeat(10)) editor.press({ text });
  screen.repaint();
  output.columns = 25;
  screen.repaint();
  expect(written.at(-1)).toContain('\r\u001b[2A\u001b[J');
});

test('Tab lists the commands that fit until the next key', async () => {
  const chat = atTerminal();
  chat.type('/st\t');
  await chat.shows('/stop  /status\nyou> /st');
  chat.type('o\t');
  await chat.shows('you> /stop');
  expect(chat.screen.text).not.toContain('/status');
  chat.type('\u0003');
  await chat.left();
});

test('a line of /help about a skill ends with a whole word', () => {
  const skills = new Map([['tides', `${'When the tide is high '.repeat(9)}`]]);
  const lines = helpLines({ skills, triggers: [], leaving: 'leaves', hasPrograms: true }, 60);
  expect(lines.filter((line) => line.startsWith('/tides'))).toEqual([expect.stringMatching(/ (When|the|tide|is|high)…$/)]);
});

test('/help lists the commands and the skills; a word that is none is refused with the nearest', async () => {
  const chat = atTerminal();
  chat.type('/help\r/stpo\r/tidse now\r');
  await chat.shows('There is no command /tidse. Did you mean /tides?');
  expect(chat.screen.text).toMatch(
    /^\/stop +stops the answer.*\n[\s\S]*^\/quit +leaves.*\n\nSkills of the agent:\n\/tides +When the tide is high$/m,
  );
  expect(chat.screen.text.match(/^\/export.*$/gm)).toEqual([expect.stringMatching(/^\/export FILE +writes this session/)]);
  expect(chat.screen.text).toContain(
    'There is no command /stpo. Did you mean /stop? /help lists them; with a space\nbefore it, it is text.',
  );
  expect(chat.screen.text).toMatch(/↑ and ↓\nare the history; Tab completes a command\.\n/);
  for (const line of ['/stop', '/tides now', '/fresh', ' /stop', '/etc/hosts is what?']) await chat.say(line);
  expect(chat.posted).toEqual(['/stop', '/tides now', '/fresh', 'as text: /stop', '/etc/hosts is what?']);
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

  test('stays open where another line is sent as a message, and that is said; not of an answer or a command', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(request);
    await chat.shows('allow?');
    await chat.say('/status');
    await chat.say('what is make?');
    const said = 'That is a message: the call still waits for y or n.';
    await chat.shows(`allow? what is make?\n${said}\nallow?`);
    await chat.say('y');
    expect(chat.screen.text.split(said)).toHaveLength(2);
    await chat.left();
  });

  test('shows the ID that /approve and /deny ask for', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(request);
    await chat.shows('Then Enter. ID: k3x9\nallow?');
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
    const lines = questionIn({ action, asks: 'run', tool: 'exec', approvalId: 'x' }, args).lines(80);
    expect(lines.some((line) => line.startsWith('  exec '))).toBe(isShown);
  });

  test('from before the chat is asked again with its arguments, below what was said, and its call shows them', async () => {
    const chat = atTerminal({ earlier: [mine('make it'), step, request], status: 'awaiting_approval' });
    await chat.shows('allow?');
    expect(chat.screen.lines.slice(0, 3)).toEqual([
      'you> make it',
      'Approval needed: run exec',
      '  exec {"command":["make\\u{202e}"]}',
    ]);
    await chat.say('y');
    expect(chat.posted).toEqual(['/approve k3x9']);
    chat.tell(
      { type: 'approval_resolved', approvalId: 'k3x9', turn, verdict: 'granted', by: 'api', actor: me },
      { type: 'tool_call_started', turn, tool: 'exec', callId: 'c', approvalId: 'k3x9' },
    );
    await chat.shows('· exec {"command":["make"]} (allowed by you)');
    await chat.left();
  });

  test.each([
    ['run', 'exec was not run.'],
    ['retry', 'exec was not run again.'],
  ])('that Ctrl-C ends (asks: %s) says what became of the call: %s', async (asks, text) => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(step, { ...request, asks });
    await chat.shows('allow?');
    chat.type('\u0003');
    await vi.waitFor(() => expect(chat.posted).toEqual(['hello', '/stop']), waiting);
    chat.tell(
      { type: 'turn_aborted', turn, reason: '/stop' },
      { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped the answer.' } },
    );
    await chat.shows(`${text}\nStopped the answer.\n`);
    await chat.left();
  });

  const started = { type: 'tool_call_started', turn, tool: 'exec', callId: 'c', approvalId: 'k3x9' };
  test.each<[string, string, Told, string]>([
    ['y', 'granted', started, '· exec {"command":["make"]} (allowed by you)'],
    ['n', 'denied', { ...started, type: 'tool_result', outcome: 'denied', text: 'not now' }, '· exec: denied: not now'],
  ])('that is answered %s is told once', async (typed, verdict, effect, line) => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(step, request);
    await chat.shows('allow?');
    await chat.say(typed);
    chat.tell(
      { type: 'approval_resolved', turn, approvalId: 'k3x9', verdict, by: 'api', actor: me, seq: 5 },
      { ...effect, seq: 5 },
      { type: 'notice', correlationId: 'run-2', notice: { code: 'approval', text: 'Approved or denied: run exec' }, seq: 5 },
      answer('Done.'),
    );
    await chat.shows(`${line}\nDone.\n`);
    await chat.left();
  });

  test('that was allowed always and counts once says so', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(step, { ...request, onceOnly: true });
    await chat.shows('allow?');
    await chat.say('/approve k3x9 always');
    const text = 'Approved: run exec (allowed once: exec is asked each time)';
    chat.tell(
      { type: 'approval_resolved', turn, approvalId: 'k3x9', verdict: 'granted', by: 'api', actor: me, seq: 5 },
      { ...started, seq: 5 },
      { type: 'notice', correlationId: 'run-2', notice: { code: 'approval_once', text }, seq: 5 },
      answer('Done.'),
    );
    await chat.shows(`${text}\nDone.\n`);
    await chat.left();
  });

  test('that is open when somebody leaves stays open, and that is said', async () => {
    const chat = atTerminal();
    await chat.say('hello');
    chat.tell(step, request);
    await chat.shows('allow?');
    chat.type('\u0004');
    await chat.done;
    expect(chat.screen.text).toContain('The call still waits for your answer; the next chat asks again.');
    expect(chat.posted).toEqual(['hello']);
  });
});

test.each(['leaves', 'stops everything'] as const)('/help and Ctrl-C say what leaving does: %s', async (leaving) => {
  const chat = atTerminal({ leaving });
  chat.type('/help\r');
  await chat.shows('Ctrl-C stops the answer and clears what waits');
  expect(chat.screen.text).toMatch(new RegExp(`^/quit +${leaving}; so do quit, exit and Ctrl-D$`, 'm'));
  expect(chat.screen.text.replaceAll('\n', ' ')).toContain(`pressed again, it ${leaving}.`);
  expect(chat.screen.text.replaceAll('\n', ' ')).toContain('restart "natter up": agent: { workspace:');
  chat.type('\u0003');
  await chat.shows(`Ctrl-C again ${leaving}.`);
  chat.type('\u0003');
  await chat.done;
});

test.each([
  [1, 'Your message is next, after this answer.'],
  [3, 'Your message waits; it is number 3 in the queue.'],
])('a message that waits at position %i says so: %s', async (position, text) => {
  const chat = atTerminal();
  await chat.say('hello');
  chat.tell({ type: 'turn_queued', turn, position });
  await chat.shows(text);
  await chat.left();
});

test('a new session is said, and of one that nobody asked for, why; a fork is told as one', async () => {
  const chat = atTerminal();
  await chat.say('hello');
  const reset = (trigger: string): Told => ({ type: 'session_reset', cause: { trigger, rule: 'r' } });
  chat.tell(reset('command'), reset('daily'), reset('fork'), answer('Hi.'));
  await chat.shows('Hi.');
  const said = [
    'The session begins anew.',
    'The session begins anew: the daily reset.',
    'The session goes on from an earlier point.',
  ];
  expect(await chat.left()).toEqual(['you> hello', ...said, 'Hi.']);
});

test.each([
  [{ dailyAt: 1, idleAt: 2 }, 'Your next message begins the session anew: the daily reset was due.'],
  [{ dailyAt: 2, idleAt: 1 }, 'Your next message begins the session anew: this one was idle for long.'],
])('a reset that is due (%j) is announced when the chat opens', async (nextReset, text) => {
  const chat = atTerminal({ earlier: [mine('hello'), answer('Hi.')], nextReset });
  await chat.shows(`Hi.\n${text}\nyou>`);
  await chat.left();
});

test('a message that waited stands above its answer once more', async () => {
  const chat = atTerminal();
  await chat.say('one');
  await chat.say('two');
  const next = { id: 'run-2', attempt: 1 };
  chat.tell(
    { ...mine('one'), correlationId: 'run-1', turnId: 'run-1' },
    { type: 'turn_started', turn, attempt: 1 },
    { ...mine('two'), correlationId: 'run-2', turnId: 'run-2' },
    { type: 'turn_queued', turn: next, position: 1 },
    answer('1'),
    { type: 'turn_started', turn: next, attempt: 1 },
    { ...answer('2'), turn: next },
  );
  await chat.shows('1\nyou> two\n2\nyou>');
  expect(chat.screen.text.match(/you> \w+/g)).toEqual(['you> one', 'you> two', 'you> two']);
  await chat.left();
});

describe('a chat that was left shows', () => {
  const call = { type: 'tool_call_started', turn, tool: 'exec', callId: 'c' };
  const calling = (finish = 'continue'): Told => ({
    ...{ type: 'model_step', v: 1, turn, step: 1, text: 'Looking.', finish, model: 'm' },
    ...{
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      calls: [{ callId: 'c', tool: 'exec', arguments: '{"a":1}' }],
    },
  });
  const begun: Told = { type: 'turn_started', turn, attempt: 1 };

  test.each<[string, Told[], string[]]>([
    [
      'the last turn in full, as it was',
      [mine('one\ntwo'), begun, calling(), call, { ...answer('# Done\n\n- made'), messageId: 'a1' }],
      ['you> one', '     two', 'Looking.', '· exec {"a":1}', 'Done', '• made'],
    ],
    [
      'who allowed a call, and the call that was denied',
      [
        ...[mine('go'), begun, calling()],
        { type: 'approval_requested', turn, approvalId: 'k3x9', action: 'run exec', callId: 'c', tool: 'exec', expiresAt: 0 },
        { type: 'approval_resolved', turn, approvalId: 'k3x9', verdict: 'granted', by: 'alice' },
        { ...call, approvalId: 'k3x9' },
        { type: 'tool_result', turn, tool: 'exec', callId: 'c', outcome: 'denied', text: 'not today' },
        answer('Well.'),
      ],
      ['you> go', 'Looking.', '· exec {"a":1} (allowed by alice)', '· exec {"a":1}', '· exec: denied: not today', 'Well.'],
    ],
    [
      'that an answer was stopped, and by whom',
      [
        ...[mine('a long one'), begun, { type: 'turn_aborted', turn, reason: '/stop', actor: me }],
        { type: 'notice', correlationId: 'run-2', notice: { text: 'Stopped the answer.' } },
      ],
      ['you> a long one', 'stopped by you; only finished steps are kept'],
    ],
    [
      'that what waited was removed with it',
      [
        ...[mine('a long one'), begun, mine('next')],
        { type: 'turn_queued', turn: { id: 'r2', messageId: 'm2' }, position: 1 },
        { type: 'turn_aborted', turn, reason: '/stop', actor: me },
        { type: 'queue_cleared', turnIds: ['r2'], reason: '/stop', actor: me },
      ],
      [
        'you> a long one',
        'you> next',
        'stopped by you; only finished steps are kept',
        '1 waiting message removed from the queue by you, without an answer',
      ],
    ],
    [
      'that a call was not run whose question went with its turn',
      [
        ...[mine('go'), begun, calling()],
        { type: 'approval_requested', turn, approvalId: 'k3x9', action: 'run exec', callId: 'c', tool: 'exec', expiresAt: 0 },
        { type: 'turn_aborted', turn, reason: '/stop', actor: me },
      ],
      ['you> go', 'Looking.', 'exec was not run.', 'stopped by you; only finished steps are kept'],
    ],
    [
      'that somebody else stopped an answer',
      [mine('a long one'), begun, { type: 'turn_aborted', turn, reason: '/stop' }],
      ['you> a long one', 'stopped: /stop; only finished steps are kept'],
    ],
    [
      'why an answer was stopped on the page',
      [mine('a long one'), begun, { type: 'turn_aborted', turn, reason: 'stopped on the page' }],
      ['you> a long one', 'stopped on the page; only finished steps are kept'],
    ],
    [
      'what others said, as it was edited, and not what was withdrawn or Natter said to the model',
      [
        { type: 'user_message', message: { text: 'hi al', sender: { id: '7', name: 'Ann' } } },
        { type: 'user_message', message: { text: 'oops', sender: { id: '7', name: 'Ann' } } },
        { type: 'user_message', message: { text: 'Greet the user', sender: { id: 'natter' } } },
        { type: 'message_edited', of: '1.0', text: 'hi all' },
        { type: 'message_withdrawn', of: '2.0' },
        answer('Hello.'),
      ],
      ['Ann: hi all', 'Hello.'],
    ],
    [
      'that the answer goes on that was under way',
      [mine('a long one'), begun],
      ['you> a long one', 'The answer that was under way goes on.'],
    ],
    [
      'a message that waited right above its answer',
      [
        ...[{ ...mine('one'), turnId: 'run-1' }, begun],
        ...[
          { ...mine('two'), turnId: 'run-2' },
          { type: 'turn_queued', turn: { id: 'run-2' }, position: 1 },
        ],
        ...[
          { ...mine('three'), turnId: 'run-3' },
          { type: 'turn_queued', turn: { id: 'run-3' }, position: 2 },
        ],
        ...[answer('1'), { type: 'turn_started', turn: { id: 'run-2' }, attempt: 1, merged: [{ id: 'run-3', messageId: 'm' }] }],
        { ...answer('2 and 3'), turn: { id: 'run-2', attempt: 1 } },
      ],
      ['you> one', '1', 'you> two', 'you> three', '2 and 3'],
    ],
    [
      'where the session begins anew',
      [mine('one'), answer('1'), { type: 'session_reset' }, mine('two'), answer('2')],
      ['you> one', '1', 'The session begins anew.', 'you> two', '2'],
    ],
  ])('%s', async (_, earlier, expected) => {
    const chat = atTerminal({ earlier });
    await chat.shows(`${expected.at(-1)}\nyou>`);
    expect(await chat.left()).toEqual(expected);
    expect(chat.screen.strange).toEqual([]);
  });

  const turns = (count: number, lines: number): Told[] =>
    Array.from({ length: count }, (_, at) => [mine(`question ${at + 1}`), answer(Array(lines).fill('line').join('\\\n'))]).flat();
  test.each([
    ['all turns that fit', turns(3, 2), false, ['question 1', 'question 2', 'question 3']],
    ['fewer turns if more do not fit', turns(3, 9), false, ['question 2', 'question 3']],
    ['the last turn whole, however long it is', turns(3, 40), false, ['question 3']],
    [
      'only whole turns of a history that was not read to its beginning',
      [answer('the end'), ...turns(1, 2)],
      true,
      ['question 1'],
    ],
  ])('%s, and where the rest is', async (_, earlier, hasMore, expected) => {
    const chat = atTerminal({ earlier, hasMore });
    await chat.shows('line\nyou>');
    expect(chat.screen.text.match(/question \d/g)).toEqual(expected);
    expect(chat.screen.text).not.toContain('the end');
    expect(chat.screen.text.includes('/export FILE writes all of it')).toBe(hasMore || expected[0] !== 'question 1');
    await chat.left();
  });

  test('an answer that another attempt takes up again, which may say it in other words', async () => {
    const chat = atTerminal({ earlier: [mine('a long one'), begun] });
    await chat.shows('goes on');
    chat.tell(piece(0, 'Once upon'));
    await chat.shows('Once upon');
    chat.tell({ type: 'turn_resumed', turn: { id: 'run-1', attempt: 2 }, step: 1 }, piece(0, 'There was'));
    await chat.shows('Once upon\nThe answer was interrupted and begins again, attempt 2.\nThere was\nyou>');
    chat.tell(answer('There was one.'));
    await chat.shows('attempt 2.\nThere was one.\nyou>');
    await chat.left();
  });

  test('one line about an answer that goes on, of which nothing was seen here', async () => {
    const chat = atTerminal({ earlier: [mine('a long one'), begun] });
    await chat.shows('goes on.\nyou>');
    chat.tell({ type: 'turn_resumed', turn: { id: 'run-1', attempt: 2 }, step: 1 }, answer('There was one.'));
    await chat.shows('There was one.');
    expect(await chat.left()).toEqual(['you> a long one', 'The answer that was under way goes on.', 'There was one.']);
  });

  test.each<[string, Told[]]>([
    ['', [mine('a long one'), begun]],
    [' whose beginning was not read', [calling()]],
  ])('a turn%s that Ctrl-C can stop', async (_, earlier) => {
    const chat = atTerminal({ earlier, hasMore: true });
    await chat.shows('goes on');
    chat.type('\u0003');
    await vi.waitFor(() => expect(chat.posted).toEqual(['/stop']), waiting);
    await chat.left();
  });
});

test('what is said at another terminal of the same person looks as if it were typed here', async () => {
  const chat = atTerminal();
  await chat.say('hello');
  chat.tell({ ...mine('hi from there'), correlationId: 'x' });
  await chat.shows('you> hello\nyou> hi from there\nyou>');
  await chat.left();
});

test('B20: /export writes who said what, calls, answers to approvals and results to a new file, and not over another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-export-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'notes.md');
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const said = (text: string, sender: object, actor: string): Told => ({
    ...{ type: 'user_message', v: 1, actor },
    message: { messageId: text, text, sender },
  });
  const chat = atTerminal({
    earlier: [
      said('hello', { id: 'api', role: 'program' }, me),
      said('me too', { id: '7', name: 'Ann', role: 'participant' }, 'router'),
      {
        ...{ type: 'model_step', v: 1, turn, step: 1, text: '', finish: 'continue', model: 'm', usage },
        calls: [{ callId: 'c', tool: 'exec', arguments: '{"a":1}' }],
      },
      { type: 'approval_resolved', v: 1, turn, approvalId: 'k3x9', verdict: 'granted', by: 'api', actor: me },
      { type: 'tool_result', v: 1, turn, tool: 'exec', callId: 'c', outcome: 'ok', text: 'made\nit', bytes: 7 },
      { ...answer('**hi**'), v: 1, messageId: 'a', at: 1_000 },
      { type: 'turn_aborted', v: 1, turn, reason: '/stop', actor: me },
    ],
  });
  chat.type(`/export ${file}\r`);
  await chat.shows('3 messages in');
  expect(readFileSync(file, 'utf8')).toBe(`# main

Session \`agent:main:main\`

## You, 1970-01-01T00:00:00.000Z

hello

## Ann, 1970-01-01T00:00:00.000Z

me too

Calls the tool exec:

    {"a":1}

Allowed by you.

Result of exec (ok):

    made
    it

## Agent, 1970-01-01T00:00:01.000Z

**hi**

*(stopped by you; only finished steps are kept)*
`);
  chat.type(`/export ${file}\r`);
  await chat.shows('Not exported:');
  await chat.left();
});

test.each([
  ['/quit now', '/quit'],
  ['/Stop it', '/stop'],
  ['/clear all', '/clear'],
])('%s does not go to the model: the command stands alone', async (line, usage) => {
  const chat = atTerminal();
  chat.type(`${line}\r`);
  await chat.shows(`Nothing was sent: the command is ${usage}, alone.`);
  await chat.say(` ${line}`);
  expect(chat.posted).toEqual([`as text: ${line}`]);
  await chat.left();
});

test('/send shows what it is and what it can be, and names the choices to who writes another', async () => {
  const chat = atTerminal({ earlier: [], sendPolicy: 'deny' });
  chat.type('/send\r');
  await chat.shows('Sending: off\nChoices: on, off, inherit\n');
  chat.type('/send maybe\r');
  await chat.shows('Nothing was changed: "maybe" is none of on, off, inherit.');
  expect(chat.posted).toEqual([]);
  await chat.say('/send on');
  await chat.left();
});

test('B20: /export without a file asks for one, and says that a folder does not exist', async () => {
  const chat = atTerminal({ earlier: [] });
  chat.type('/export\r');
  await chat.shows('Name a file that does not exist yet: /export chat.md');
  chat.type('/export /nowhere/at/all.md\r');
  await chat.shows('Not exported: the folder /nowhere/at does not exist');
  expect(chat.posted).toEqual([]);
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
