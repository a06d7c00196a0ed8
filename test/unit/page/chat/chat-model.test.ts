import { describe, expect, test } from 'vitest';
import { growingItem } from '../../../../services/page/chat/answers.ts';
import { type Chat, noChat, takeEvent, takeLive } from '../../../../services/page/chat/chat-model.ts';
import { lastFailure } from '../../../../services/page/chat/failed.ts';
import { leftWords, runsOf } from '../../../../services/page/chat/resets.ts';
import type { LiveText, NatterEvent } from '../../../../shared/client/main.ts';

/** What a chat shows, whatever order and repeats its stream has. */

const turn = { id: 't', attempt: 1 };
let seq = 0;
const event = (fields: object, at = ++seq): NatterEvent =>
  ({
    ...{ id: `${at}.0`, seq: at, index: 0, rev: at, key: 'k', sessionId: 's', at, correlationId: 't', actor: 'a', v: 1 },
    ...fields,
  }) as NatterEvent;
const live = (offset: number, text: string, fields: object = {}): LiveText => ({
  ...{ type: 'delta', key: 'k', turn, step: 1, offset, end: offset + text.length, text },
  ...fields,
});
const asked = () => event({ type: 'user_message', message: { messageId: 'm', text: 'hi', sender: { id: 'ann' } } });
const answered = (text: string) => event({ type: 'assistant_message', turn, messageId: 'a', text });
const shownItems = (chat: Chat) => [...chat.items, ...[growingItem(chat) ?? []].flat()];
const texts = (chat: Chat): string[] => shownItems(chat).flatMap((item) => (item.kind === 'said' ? [item.text] : []));
const taken = (chat: Chat, ...pieces: readonly LiveText[]): Chat => pieces.reduce(takeLive, chat);

describe('live text', () => {
  const start = takeEvent(noChat, asked());

  test.each([
    ['in order', [live(0, 'one '), live(4, 'two')], 'one two'],
    ['a piece twice', [live(0, 'one '), live(0, 'one '), live(4, 'two'), live(4, 'two')], 'one two'],
    ['the whole text again after a reconnect', [live(0, 'one two'), live(0, 'one two three')], 'one two three'],
    ['an overlap', [live(0, 'one two'), live(4, 'two three')], 'one two three'],
    ['a lost piece: what comes after the gap is left out', [live(0, 'one '), live(8, 'three')], 'one '],
    ['a late piece of an attempt that is over', [live(0, 'new', { turn: { id: 't', attempt: 2 } }), live(0, 'old')], 'new'],
    ['a late piece of a step that is over', [live(0, 'next', { step: 2 }), live(0, 'old')], 'next'],
  ])('%s', (_, pieces, expected) => {
    expect(texts(taken(start, ...pieces))).toEqual(['hi', expected]);
  });

  test('becomes the recorded answer in the same bubble', () => {
    const growing = taken(start, live(0, 'one '));
    const over = takeEvent(growing, answered('one two'));
    expect(texts(over)).toEqual(['hi', 'one two']);
    expect(shownItems(over).at(-1)?.id).toBe(shownItems(growing).at(-1)?.id);
  });
});

test('what was thought stands above what was said, and what its provider hides is named', () => {
  const reasoning = [{ text: 'first\n' }, { text: '', redacted: 'xyz' }, { text: '' }];
  const step = () => event({ type: 'model_step', turn, step: 1, finish: 'stop', text: 'yes', reasoning });
  const chat = [asked(), step(), answered('yes')].reduce(takeEvent, noChat);
  expect(chat.items).toMatchObject([
    { kind: 'said', text: 'hi' },
    { kind: 'reasoning', text: 'first\n\n(hidden by the provider)' },
    { kind: 'said', text: 'yes' },
  ]);
});

test('an answer for a channel says which event is sent there, and one for the page or another session does not', () => {
  const to = (channel: string) => ({ ...answered(channel), deliverTo: { channel, to: '1' } });
  const events = [to('telegram'), answered('the page'), to('session')];
  const { items } = events.reduce(takeEvent, noChat);
  expect(items.map((item) => item.kind === 'said' && item.sentTo)).toEqual([
    { event: events[0]?.id, channel: 'telegram' },
    undefined,
    undefined,
  ]);
});

test('the answer to /export leads to the transcript, which can be downloaded', () => {
  const notice = (code: string) => event({ type: 'notice', notice: { code, text: 'how to' } });
  const chat = [notice('export'), notice('status')].reduce(takeEvent, noChat);
  expect(chat.items.map((item) => item.kind === 'mark' && item.leadsTo)).toEqual(['transcript', undefined]);
});

test('an answer that did not reach its channel says so, and why', () => {
  const report = { outboundId: '2.0', kind: 'assistant_message', deliverTo: { channel: 'telegram', to: '1' } };
  const failed = () => event({ type: 'delivery_reported', ...report, outcome: 'failed', detail: 'the chat is gone' });
  const chat = [asked(), answered('yes'), failed()].reduce(takeEvent, noChat);
  expect(chat.items.at(-1)).toMatchObject({
    ...{ kind: 'mark', tone: 'bad', text: 'The answer was not delivered to telegram: the chat is gone' },
  });
});

describe('a stop', () => {
  const stop = event({ type: 'turn_aborted', turn, reason: 'enough' }, 1_000);
  const start = takeEvent(noChat, event({ type: 'turn_started', turn, attempt: 1 }, 999));
  const growing = taken(start, live(0, 'one tw'));
  const stopped = takeEvent(growing, stop);

  test('leaves the words that were in sight, in the same bubble, above what says so', () => {
    expect(stopped.items).toMatchObject([
      { kind: 'said', text: 'one tw', isStopped: true, id: growingItem(growing)?.id },
      { kind: 'mark', text: 'Stopped: enough. The unfinished answer above is not kept: it is gone after a reload.' },
    ]);
    expect(growingItem(stopped)).toBeNull();
  });

  test('by a command is said once, with what ended', () => {
    const notice = { code: 'stopped', text: 'Stopped the answer and cleared 1 waiting message.' };
    const byCommand = { ...stop, reason: '/stop' } as NatterEvent;
    const answer = { ...event({ type: 'notice', notice }, 1_000), index: 1, correlationId: 'run' };
    const { items } = [byCommand, answer].reduce(takeEvent, growing);
    expect(items).toMatchObject([
      { kind: 'said', isStopped: true },
      { kind: 'mark', text: `${notice.text} The unfinished answer above is not kept: it is gone after a reload.`, runId: 'run' },
    ]);
    expect(takeEvent(noChat, answer).items).toMatchObject([{ kind: 'mark', text: notice.text, runId: 'run' }]);
  });

  test.each([
    ['stopped on the page', 'Stopped', '. Only finished steps are kept.'],
    ['api', 'Stopped', '. Only finished steps are kept.'],
    // The message that took its place says by itself whose it is.
    ['another text', 'Stopped. Only finished steps are kept.', undefined],
  ])('that was asked for as "%s" says who did, where nothing after it does', (reason, text, rest) => {
    const [mark] = takeEvent(start, { ...stop, reason, actor: 'token:ann' } as NatterEvent).items;
    expect(mark).toEqual({ ...mark, text, ...(rest !== undefined && { by: { actor: 'token:ann', rest } }) });
  });

  test('leaves them where earlier events are read afterwards', () => {
    expect(takeEvent({ ...noChat, cut: stopped.cut }, stop).items).toEqual(stopped.items);
  });

  test('stands above the message that waited for the end of the answer, which will have none', () => {
    const message = { messageId: 'later', text: 'later', sender: { id: 'ann' } };
    const waiting = [
      event({ type: 'user_message', turnId: 'u', message }, 999.1),
      event({ type: 'turn_queued', turn: { id: 'u' }, position: 1 }, 999.2),
      event({ type: 'tool_call_started', turn, callId: 'c' }, 999.3),
    ].reduce(takeEvent, growing);
    const cleared = takeEvent(waiting, event({ type: 'queue_cleared', turnIds: ['u'], reason: 'enough' }, 999.4));
    expect(takeEvent(cleared, stop).items).toMatchObject([
      { kind: 'said', text: 'one tw', isStopped: true },
      { kind: 'mark' },
      { kind: 'said', text: 'later', isDropped: true },
    ]);
    expect(takeEvent(waiting, stop).items).toMatchObject([{ text: 'one tw' }, { kind: 'mark' }, { text: 'later' }]);
  });

  test.each([
    ['of an answer that had not begun', start],
    ['of another turn', taken(start, live(0, 'one', { turn: { id: 'other', attempt: 1 } }))],
  ])('%s leaves none', (_, before) => {
    expect(takeEvent(before, stop).items).toMatchObject([
      { kind: 'mark', text: 'Stopped: enough. Only finished steps are kept.' },
    ]);
  });
});

test('an event that comes again changes nothing', () => {
  const [question, answer] = [asked(), answered('yes')];
  const chat = [question, answer].reduce(takeEvent, noChat);
  expect([question, answer].reduce(takeEvent, chat)).toBe(chat);
});

test('a call goes from waiting to its result, below its approval, which keeps its answer and when it was given', () => {
  const calls = [{ callId: 'c', tool: 'exec', arguments: '{}' }];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const chat = [
    event({ type: 'model_step', turn, step: 1, text: 'let me see', finish: 'continue', model: 'm', usage, calls }),
    event({ type: 'approval_requested', turn, approvalId: 'p', callId: 'c', action: 'run', expiresAt: 9 }),
    event({ type: 'approval_resolved', turn, approvalId: 'p', verdict: 'granted', by: 'ann', at: 500 }),
    event({ type: 'tool_call_started', turn, callId: 'c', tool: 'exec', callAttempt: 1 }),
    event({ type: 'tool_result', turn, callId: 'c', tool: 'exec', outcome: 'ok', text: 'done', bytes: 4 }),
  ].reduce(takeEvent, noChat);
  expect(chat.items).toMatchObject([
    { kind: 'said', text: 'let me see' },
    // The question stands above what the call did.
    { kind: 'approval', answer: { verdict: 'granted', by: 'ann', at: 500 } },
    { kind: 'tool', status: 'ok', result: 'done' },
  ]);
});

test('it runs from the start of a turn to its end, but not while a person is asked', () => {
  const events = [
    event({ type: 'turn_started', turn: { id: 't', messageId: 'm' }, attempt: 1 }),
    event({ type: 'approval_requested', turn, approvalId: 'p', action: 'run', expiresAt: 9 }),
    event({ type: 'approval_resolved', turn, approvalId: 'p', verdict: 'denied', by: 'ann' }),
    event({ type: 'turn_completed', turn }),
  ];
  let chat = noChat;
  const states = events.map((each) => {
    chat = takeEvent(chat, each);
    return chat.isRunning;
  });
  expect(states).toEqual([true, false, true, false]);
});

test.each([
  ['of a group, not said to the agent', { deliverTo: { channel: 'irc', to: '#a' } }, {}, true],
  ['of a group, whose answers would go elsewhere', { channel: 'irc' }, {}, true],
  ['that is answered', { channel: 'irc' }, { turnId: 't' }, false],
  // Calls append what was said and answered in another program.
  ['that a call appends', {}, {}, false],
  ['that is the result of a run', { channel: 'irc', answers: 'r' }, {}, false],
])('whether a message says that it is not answered: one %s', (_, message, fields, expected) => {
  const said = { messageId: 'm', text: 'hi', sender: { id: 'ann' }, ...message };
  expect(takeEvent(noChat, event({ type: 'user_message', message: said, ...fields })).items).toMatchObject([
    { kind: 'said', isUnanswered: expected },
  ]);
});

test('a message that waits in the queue says so until its turn begins, joins another, or is dropped', () => {
  const said = (turnId: string) =>
    event({ type: 'user_message', turnId, message: { messageId: turnId, text: turnId, sender: { id: 'a' } } });
  const waiting = (chat: Chat) => chat.items.flatMap((item) => (item.kind === 'said' && item.isQueued ? [item.id] : []));
  const before = ['one', 'two', 'three', 'four'].reduce(
    (chat, id) => takeEvent(takeEvent(chat, said(id)), event({ type: 'turn_queued', turn: { id }, position: 1 })),
    noChat,
  );
  expect(waiting(before)).toEqual(['one', 'two', 'three', 'four']);
  const started = takeEvent(
    before,
    event({ type: 'turn_started', turn: { id: 'one' }, attempt: 1, merged: [{ id: 'two', messageId: 'two' }] }),
  );
  expect(waiting(started)).toEqual(['three', 'four']);
  const joined = takeEvent(started, event({ type: 'turn_joined', turn, messageId: 'three', runId: 'three' }));
  expect(waiting(joined)).toEqual(['four']);
  const cleared = takeEvent(joined, event({ type: 'queue_cleared', turnIds: ['four'], reason: 'stop' }));
  expect(waiting(cleared)).toEqual([]);
  expect(cleared.items.at(-1)).toMatchObject({ id: 'four', isDropped: true });
});

test('a message that was taken back stands where it was said, below the answer that it waited for', () => {
  const said = (turnId: string) =>
    event({ type: 'user_message', turnId, message: { messageId: turnId, text: turnId, sender: { id: 'a' } } });
  const queued = (id: string) => event({ type: 'turn_queued', turn: { id }, position: 1 });
  const dropped = (reason: string, ...turnIds: string[]) => event({ type: 'queue_cleared', turnIds, reason });
  const ids = (...events: readonly NatterEvent[]) => events.reduce(takeEvent, noChat).items.map(({ id }) => id);
  const waiting = ['one', 'two', 'three'].flatMap((id) => [said(id), queued(id)]);
  const taken = [...waiting, dropped('cancelled', 'two')];
  expect(ids(...taken, dropped('stop', 'one', 'three'))).toEqual(['one', 'two', 'three']);
  const next = event({ type: 'turn_started', turn: { id: 'three' }, attempt: 1 });
  expect(ids(...taken, answered('yes'), next)).toEqual(['answer:t', 'one', 'two', 'three']);
});

test('a fork leaves behind what came after its base, and one from there takes it back', () => {
  const said = (at: number) =>
    event({ type: 'user_message', turnId: `${at}`, message: { messageId: `${at}`, text: `${at}`, sender: { id: 'a' } } }, at);
  const fork = (at: number, base: object) =>
    event(
      { type: 'session_reset', generation: 2, reason: 'fork', forkedFrom: { sessionId: 's', rev: 1, contextSeq: 1, ...base } },
      at,
    );
  const left = (chat: Chat) =>
    chat.items.flatMap((item) => (item.kind === 'said' && item.leftBy !== undefined ? [`${item.id} by ${item.leftBy}`] : []));
  const forked = [said(1), said(2), said(3), fork(4, { seq: 1, skips: [] }), said(5)].reduce(takeEvent, noChat);
  expect(left(forked)).toEqual(['2 by 4', '3 by 4']);
  const again = [fork(6, { seq: 5, skips: [{ after: 1, until: 4 }] }), said(7)].reduce(takeEvent, forked);
  expect(left(again)).toEqual(['2 by 4', '3 by 4']);
  // A fork from the same commit as the first leaves behind only what was said since.
  const second = [fork(6, { seq: 1, skips: [] })].reduce(takeEvent, forked);
  expect(left(second)).toEqual(['2 by 4', '3 by 4', '5 by 6']);
  expect(left([fork(8, { seq: 2, skips: [] })].reduce(takeEvent, again))).toEqual(['3 by 4', '5 by 8', '7 by 8']);
});

test('an edit of the first message leaves all behind; a fork from before a reset leaves behind what the reset had not ended', () => {
  const said = (at: number) =>
    event({ type: 'user_message', turnId: `${at}`, message: { messageId: `${at}`, text: `${at}`, sender: { id: 'a' } } }, at);
  const reset = (at: number, more: object) => event({ type: 'session_reset', generation: 2, reason: 'r', ...more }, at);
  const boxes = (...events: readonly NatterEvent[]) => {
    const { items } = events.reduce(takeEvent, noChat);
    return runsOf(items).flatMap((run) => (run[0]?.leftBy === undefined ? [] : [leftWords(run, items)]));
  };
  const restart = reset(3, { cause: { trigger: 'api', rule: 'another text' } });
  expect(boxes(said(1), said(2), restart, said(4))).toEqual(['Left behind by the edit: 2 messages']);
  expect([restart].reduce(takeEvent, noChat).items).toMatchObject([{ leadsTo: 'fork' }]);
  const ended = reset(4, { cause: { trigger: 'command', rule: '/new' } });
  const forkedFrom = { sessionId: 's', rev: 1, seq: 1, contextSeq: 1, skips: [] };
  const fork = reset(7, { cause: { trigger: 'fork', rule: 'r' }, forkedFrom });
  expect(boxes(said(1), said(2), said(3), ended, said(5))).toEqual([]);
  expect(boxes(said(1), said(2), said(3), ended, said(5), fork)).toEqual([
    'Left behind by the reset: 2 messages',
    'Left behind by the fork: 1 message',
  ]);
  // Another edit, of what was said after the first one, leaves behind no more than that.
  const again = reset(6, {
    cause: { trigger: 'fork', rule: 'another answer' },
    forkedFrom: { ...forkedFrom, seq: 3, contextSeq: 3 },
  });
  expect(boxes(said(1), said(2), restart, said(5), again)).toEqual([
    'Left behind by the edit: 2 messages',
    'Left behind by the retry: 1 message',
  ]);
});

test('the answer that a fork stops is left behind by it', () => {
  const fork = (at: number, base: object) => {
    const forkedFrom = { sessionId: 's', rev: 1, contextSeq: 1, skips: [], ...base };
    return event({ type: 'session_reset', index: 1, generation: 2, reason: 'fork', forkedFrom }, at);
  };
  const stopped = event({ type: 'turn_aborted', turn, reason: 'reset' }, 4);
  const growing: Chat = { ...noChat, live: { turnId: turn.id, attempt: 1, step: 1, text: 'half of it' } };
  const leftBy = (chat: Chat) => chat.items.flatMap((item) => (item.kind === 'said' ? [item.leftBy] : []));
  const forked = [stopped, fork(4, { seq: 1 })].reduce(takeEvent, growing);
  expect(leftBy(forked)).toEqual([4]);
  expect(leftBy([fork(6, { seq: 5, skips: [{ after: 1, until: 4 }] })].reduce(takeEvent, forked))).toEqual([4]);
  expect(leftBy([fork(6, { seq: 3 })].reduce(takeEvent, forked))).toEqual([4]);
});

test('a fork leaves behind no word of a setting, which it keeps', () => {
  const notice = (at: number, code: string) => event({ type: 'notice', notice: { code, text: code } }, at);
  const fork = event(
    {
      type: 'session_reset',
      ...{ generation: 2, reason: 'fork' },
      forkedFrom: { sessionId: 's', rev: 1, seq: 3_001, contextSeq: 3_001, skips: [] },
    },
    3_005,
  );
  const { items } = [notice(3_002, 'setting_changed'), notice(3_003, 'help'), fork].reduce(takeEvent, noChat);
  expect(items.filter(({ leftBy }) => leftBy !== undefined).map((item) => item.kind === 'mark' && item.text)).toEqual(['help']);
});

test('a failed answer says which model failed and what to do in one line; of a failure that is none of a model only why', () => {
  const failed = (code: string, message = 'HTTP 404') => event({ type: 'turn_failed', turn, code, message });
  const { items } = [
    failed('model_auth'),
    failed('model_unavailable', 'HTTP 500: oh'),
    event({ type: 'settings_changed', changes: { model: 'gone/model' } }),
    failed('model_unknown'),
    failed('busy'),
  ].reduce(takeEvent, noChat);
  expect(items).toMatchObject([
    {
      text: 'No answer from the model: HTTP 404',
      advice: expect.stringMatching(/^→ check the key in model\.providers .{1,70}$/),
    },
    { text: 'No answer from the model: HTTP 500: oh', advice: '→ the fault is on the provider’s side: try again' },
    { text: 'No answer from gone/model: HTTP 404', advice: expect.stringMatching(/agent\.model .*\/model in the chat$/) },
    { text: 'No answer: HTTP 404', advice: null },
  ]);
});

describe('an answer that failed can be tried again at its mark', () => {
  const said = (id: string, sender: object = { id: 'a' }) =>
    event({ type: 'user_message', turnId: id, message: { messageId: id, text: id, sender } });
  const failed = (id: string) => event({ type: 'turn_failed', turn: { id, attempt: 1 }, code: 'busy', message: 'HTTP 503' });
  const reset = (rest: object = {}) => event({ type: 'session_reset', generation: 2, reason: 'asked', ...rest });
  const notice = () => event({ type: 'notice', notice: { code: 'help', text: 'help' } });
  const forkedFrom = { sessionId: 's', rev: 1, seq: 1, contextSeq: 1, skips: [] };
  const ann = { id: 'telegram:1', role: 'participant' };

  test.each([
    ['the last of them', [said('one'), failed('one'), said('two'), failed('two')], 'two'],
    ['whatever else was noted since', [said('one'), failed('one'), notice()], 'one'],
    ['not after an answer', [said('one'), failed('one'), said('two'), answered('two')], null],
    ['not once something was said since', [said('one'), failed('one'), said('two')], null],
    ['not after a reset', [said('one'), failed('one'), reset()], null],
    ['not after a deletion', [said('one'), failed('one'), event({ type: 'session_deleted', reason: 'api' })], null],
    ['not where a fork left it behind', [said('one'), failed('one'), reset({ forkedFrom })], null],
    ['also where another person is answered', [said('one', ann), failed('one')], 'one'],
    ['not where no message asked for it', [failed('one')], null],
  ])('%s', (_, events, expected) => {
    const found = lastFailure(events.reduce(takeEvent, noChat).items);
    expect(found?.message.id ?? null).toBe(expected);
    expect(found?.mark.failedTurnId ?? null).toBe(expected);
  });
});

test('a message keeps the files that came with it, also when its text is edited', () => {
  const attachments = [{ name: 'a.png', type: 'image/png', bytes: 68, digest: 'd' }];
  const said = event({ type: 'user_message', message: { messageId: 'm', text: 'hi', sender: { id: 'ann' }, attachments } });
  const edited = event({ type: 'message_edited', of: said.id, text: 'hello' });
  expect([said, edited].reduce(takeEvent, noChat).items).toMatchObject([{ text: 'hello', attachments }]);
});

test('an edited message changes itself alone, not the answer that was recorded with it', () => {
  const said = asked();
  const answer = { ...answered('hello'), id: `${said.seq}.1`, seq: said.seq, index: 1 } as NatterEvent;
  const edited = event({ type: 'message_edited', of: said.id, text: 'good day' });
  const { items } = [said, answer, edited].reduce(takeEvent, noChat);
  expect(items).toMatchObject([
    { role: 'user', event: said.id, text: 'good day' },
    { role: 'assistant', event: answer.id, text: 'hello' },
  ]);
});

test('a reset says why nothing was remembered of the conversation that it ended, until that is done after all', () => {
  const reset = event({ type: 'session_reset', previousSessionId: 'before', sessionId: 's', generation: 2, reason: 'asked' });
  const range = { reason: 'new_session', fromRev: 1, toRev: 4 };
  const failed = (sessionId: string) =>
    event({ type: 'introspection_failed', ...range, sessionId, code: 'model_auth', message: 'HTTP 401' });
  const done = event({ type: 'introspected', ...range, sessionId: 'before', model: 'm' }, 9_000);
  const fold = (...events: readonly NatterEvent[]) => events.reduce(takeEvent, noChat).items;
  const of = failed('before');
  expect(fold(reset, of)).toMatchObject([{ unremembered: { why: expect.stringContaining('HTTP 401'), seq: of.seq } }]);
  expect(fold(reset, failed('another'))).not.toMatchObject([{ unremembered: expect.anything() }]);
  expect(fold(reset, of, done)).not.toMatchObject([{ unremembered: expect.anything() }]);
});
