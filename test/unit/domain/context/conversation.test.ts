import { describe, expect, test } from 'vitest';
import { ConversationMessageList } from '../../../../services/session/prompt/conversation-message-list.ts';
import { ownerAside, type TurnView } from '../../../../shared/domain/prompt/conversation-message.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import type { ReasoningPart } from '../../../../shared/domain/values/reasoning.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { command, tell } from '../../../support/domain/given.ts';
import { conversationOf, problemsOf, rowsOf } from './rows.ts';

/** What the turn that runs after a story sees. */
const viewAfter = (...history: (string | CommandEnvelope)[]): TurnView => {
  const { state, commits } = tell(...history);
  const view = conversationOf(commits).view(state.machine.context.turn?.id ?? '');
  if (view === null) throw new Error('the turn that runs is not there');
  expect(problemsOf(view.said.map(({ message }) => message))).toEqual([]);
  return view;
};
/** A command row with other data. */
const changed = (row: string, data: object): CommandEnvelope => {
  const envelope = command(row);
  return { ...envelope, data: { ...envelope.data, ...data } as CommandEnvelope['data'] };
};
const flushing = (row: string): CommandEnvelope => changed(row, { flush: true });
const from = (row: string, sender: object): CommandEnvelope => {
  const envelope = command(row);
  const message = 'message' in envelope.data ? envelope.data.message : undefined;
  return changed(row, { message: { ...message, sender } });
};

describe('what a model hears', () => {
  test.each<[string, string[], string[]]>([
    ['A5/68: the message that the turn answers', ['post m1'], ['m1']],
    ['the answers before it', ['post m1', 'reply m1/1 1', 'post m2'], ['m1', '> step 1 of m1/1', 'm2']],
    [
      'A5/70: a message that waited comes after the answer given meanwhile',
      ['post m1', 'post m2', 'reply m1/1 1'],
      ['m1', '> step 1 of m1/1', 'm2'],
    ],
    [
      'A5/69: a message without a turn is heard where it was said',
      ['post m1', 'append m2', 'reply m1/1 1', 'post m3'],
      ['m1', 'm2', '> step 1 of m1/1', 'm3'],
    ],
    ['A11/125: what /stop has cleared is not heard', ['post m1', 'post m2', 'stop', 'post m3'], ['m1', 'm3']],
    ['A11/123: what Natter says is not heard', ['post m1', 'report', 'notice hello'], ['m1']],
    [
      'D12: that an answer may not have arrived is heard where it was learned',
      ['post m1', 'reply m1/1 1', 'undelivered 4.1 partial', 'post m2'],
      ['m1', '> step 1 of m1/1', 'natter: [Your last answer has reached the person in part only: 1 of 3 parts.]', 'm2'],
    ],
    [
      'D12: while calls run, behind their results',
      ['post m1', 'reply m1/1 1', 'post m2', 'call m2/1 1 read run', 'undelivered 4.1', 'result m2/1 m2.1.0 ok'],
      [
        ...['m1', '> step 1 of m1/1', 'm2', '> calls m2.1.0', 'm2.1.0 ok'],
        'natter: [It is not known whether your last answer has reached the person.]',
      ],
    ],
    [
      'D12: not of an answer of an older generation, and not when it is sent again',
      ['post m1', 'reply m1/1 1', 'reset s2', 'undelivered 4.1 failed', 'repeat-delivery 4.1', 'post m2'],
      ['m2'],
    ],
    ['A4/53: of an older generation nothing is heard', ['post m1', 'reply m1/1 1', 'reset s2 m2'], ['m2']],
    ['C9: of a deleted session nothing is heard', ['append m0', 'post m1', 'delete key', 'post m2'], ['m2']],
    ['C9: nor of an erased one', ['post m1', 'delete erased', 'post m2'], ['m2']],
    [
      'A4/57: a turn that waited hears its own message in the generation that it began',
      ['post m1', 'post-under m2 s2 isolated', 'reply m1/1 1'],
      ['m2'],
    ],
    ['steps that are not the last are heard too', ['post m1', 'continue m1/1 1'], ['m1', '> step 1 of m1/1']],
    ['what failed is not', ['post m1', 'fail m1/1 1', 'post m2'], ['m1', 'm2']],
    [
      'B6: messages that were collected are heard together',
      ['post m1', 'post-as m2 collect', 'post-as m3 collect', 'reply m1/1 1'],
      ['m1', '> step 1 of m1/1', 'm2', 'm3'],
    ],
    ['B6: a message that interrupts leaves the one before it', ['post m1', 'post-as m2 interrupt'], ['m1', 'm2']],
  ])('%s', (_, history, expected) => {
    expect(rowsOf(viewAfter(...history))).toEqual(expected);
  });

  test('B6: a turn that answers several messages has them all as its prompt', () => {
    const view = viewAfter('post m1', 'post-as m2 collect', 'post-as m3 collect', 'reply m1/1 1');
    expect(view.prompt).toBe('text of m2\n\ntext of m3');
  });

  test('A5/62: a turn acts for who asked for it, and for a participant as soon as one has a part in it', () => {
    const owner = { id: 'ann', role: 'owner' };
    const participant = { id: 'bob', role: 'participant' };
    expect(viewAfter(from('post m1', owner), from('post-as m2 steer', owner)).sender).toEqual(owner);
    expect(viewAfter(from('post m1', owner), from('post-as m2 steer', participant)).sender).toEqual(participant);
    expect(viewAfter(from('post m1', participant), from('post-as m2 steer', owner)).sender).toEqual(participant);
    const other = { id: 'carl', role: 'participant' };
    const several = viewAfter(from('post m1', participant), from('post-as m2 steer', other));
    expect(several).toMatchObject({
      sender: { id: 'several', role: 'participant' },
      askers: [{ sender: participant }, { sender: other }],
    });
  });

  test.each(['post', 'post-as', 'append'])('A6/76, D3: what the owner said to others is marked for the model (%s)', (verb) => {
    const envelope = command(verb === 'post-as' ? 'post-as m2 steer' : `${verb} m2`);
    const aside = changed(verb === 'post-as' ? 'post-as m2 steer' : `${verb} m2`, {
      message: { ...('message' in envelope.data && envelope.data.message), aside: 'owner' },
    });
    const { said, prompt } = viewAfter('post m1', ...(verb === 'post' ? ['reply m1/1 1'] : []), aside);
    expect(said.at(-1)?.message.text).toBe(`${ownerAside}text of m2`);
    if (verb === 'post') expect(prompt).toBe(`${ownerAside}text of m2`);
  });

  test('only the turn that runs sees anything', () => {
    const { commits } = tell('post m1', 'post m2', 'reply m1/1 1');
    const conversation = conversationOf(commits);
    expect([conversation.view('m1'), conversation.view('m3')]).toEqual([null, null]);
    expect(conversation.view('m2')).not.toBeNull();
  });
});

describe('calls and their results', () => {
  const calling = ['post m1', 'call m1/1 1 read run run'];

  test('a step is heard when all of its calls have ended, in the order of the calls', () => {
    const waiting = viewAfter(...calling, 'result m1/1 m1.1.1');
    expect(rowsOf(waiting)).toEqual(['m1']);
    expect([...waiting.calls.values()]).toEqual([
      { callId: 'm1.1.0', tool: 'read', arguments: '{"index":0}' },
      { callId: 'm1.1.1', tool: 'read', arguments: '{"index":1}' },
    ]);
    const done = viewAfter(...calling, 'result m1/1 m1.1.1', 'result m1/1 m1.1.0 error');
    expect(rowsOf(done)).toEqual(['m1', '> calls m1.1.0 m1.1.1', 'm1.1.0 error', 'm1.1.1 ok']);
  });

  test('A5/69: what is said meanwhile comes after them', () => {
    const view = viewAfter(...calling, 'append m2', 'result m1/1 m1.1.0', 'result m1/1 m1.1.1');
    expect(rowsOf(view)).toEqual(['m1', '> calls m1.1.0 m1.1.1', 'm1.1.0 ok', 'm1.1.1 ok', 'm2']);
  });

  test('A5/62: a call that was not allowed has a result too', () => {
    expect(rowsOf(viewAfter('post m1', 'call m1/1 1 read deny'))).toEqual(['m1', '> calls m1.1.0', 'm1.1.0 denied']);
  });

  test('A11/125: calls of a turn that was stopped are cut off, and it says which may have taken effect', () => {
    const view = viewAfter('post m1', 'call m1/1 1 read run ask', 'stop', 'post m2');
    expect(rowsOf(view)).toEqual(['m1', '> calls m1.1.0 m1.1.1', 'm1.1.0 unknown', 'm1.1.1 error', 'm2']);
    expect(view.calls.size).toBe(0);
  });

  test('I6: the result of an older attempt counts, its call is not cut off', () => {
    const view = viewAfter('post m1', 'call m1/1 1 read run', 'result m1/1 m1.1.0', 'resume', 'continue m1/2 2');
    expect(rowsOf(view)).toEqual(['m1', '> calls m1.1.0', 'm1.1.0 ok', '> step 2 of m1/2']);
  });

  test('a long output is heard by its first page, and where the others are', () => {
    const { said } = viewAfter('post m1', 'call m1/1 1 read run', 'long-result m1/1 m1.1.0 70000');
    const { text } = said.at(-1)?.message ?? { text: '' };
    expect(text.slice(0, limits.toolPageBytes)).toBe('x'.repeat(limits.toolPageBytes));
    expect(text.slice(limits.toolPageBytes)).toBe('\n[Page 1 of 3. read_output has the others, by call id m1.1.0.]');
  });
});

describe('B6: messages that join a turn', () => {
  test('are heard by its next step, and it says how many', () => {
    const view = viewAfter('post m1', 'post-as m2 steer', 'post-as m3 steer');
    expect([rowsOf(view), view.heard]).toEqual([['m1', 'm2', 'm3'], 2]);
  });

  test('come before the step that has heard them and after the one that has not', () => {
    const story = ['post m1', 'post-as m2 steer', 'post-as m3 steer', 'continue m1/1 1 1'];
    const view = viewAfter(...story);
    expect([rowsOf(view), view.heard]).toEqual([['m1', 'm2', '> step 1 of m1/1', 'm3'], 2]);
    expect(rowsOf(viewAfter(...story, 'continue m1/1 2 2'))).toEqual(['m1', 'm2', '> step 1 of m1/1', 'm3', '> step 2 of m1/1']);
  });

  test('never come between a call and its result', () => {
    const story = ['post m1', 'call m1/1 1 read run', 'post-as m2 steer'];
    expect([rowsOf(viewAfter(...story)), viewAfter(...story).heard]).toEqual([['m1'], 0]);
    const view = viewAfter(...story, 'result m1/1 m1.1.0');
    expect([rowsOf(view), view.heard]).toEqual([['m1', '> calls m1.1.0', 'm1.1.0 ok', 'm2'], 1]);
  });

  test('are not lost when the turn ends before a step hears them', () => {
    expect(rowsOf(viewAfter('post m1', 'post-as m2 steer', 'fail m1/1 1', 'post m3'))).toEqual(['m1', 'm2', 'm3']);
  });
});

describe('A11/126: compaction', () => {
  const long = ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'post m3'];

  test('a summary stands for all up to a rev; what came later stays', () => {
    const view = viewAfter(...long, 'compacted m3/1 2 6');
    expect(rowsOf(view)).toEqual([
      'natter: [Summary of the conversation before this point]\nwhat was said',
      'm2',
      '> step 1 of m2/1',
      'm3',
    ]);
    expect(view.counted).toBeNull();
  });

  test('what the running turn is about is never lost', () => {
    const view = viewAfter(...long, 'post-as m4 steer', 'continue m3/1 1 1', 'compacted m3/1 7 8');
    expect(rowsOf(view).slice(1)).toEqual(['m3', 'm4']);
  });

  test('the next one takes the place of the one before', () => {
    const view = viewAfter(...long, 'compacted m3/1 2 6', 'compacted m3/1 4 10');
    expect(rowsOf(view).slice(1)).toEqual(['m3']);
  });

  test('a turn that waits is heard whenever its message was said', () => {
    const view = viewAfter('post m1', 'post m2', 'compacted m1/1 2 6', 'reply m1/1 1');
    expect(rowsOf(view).slice(1)).toEqual(['m1', '> step 1 of m1/1', 'm2']);
  });

  test('one that somebody asked for has the instructions as its prompt', () => {
    const asked = changed('compact c1', { instructions: 'the names' });
    expect(viewAfter('post m1', 'reply m1/1 1', asked)).toMatchObject({ prompt: 'the names', sender: { role: 'program' } });
  });
});

describe('A7/85: the memory flush', () => {
  const flush = ['post m1', flushing('call m1/1 1 write run'), 'result m1/1 m1.1.0'];

  test('is seen by itself alone, with the request that began it', () => {
    const view = viewAfter(...flush);
    expect(rowsOf(view)).toEqual(['m1']);
    expect(view.flush.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect([view.flushing, view.calls.size]).toEqual([true, 1]);
  });

  test('ends with a step that calls nothing, and is remembered until the compaction', () => {
    const view = viewAfter(...flush, 'flush m1/1 2');
    expect([rowsOf(view), view.flushing, view.flush.length]).toEqual([['m1'], false, 4]);
    const after = viewAfter(...flush, 'flush m1/1 2', 'compacted m1/1 1 4');
    expect([after.flush, after.flushing]).toEqual([[], false]);
  });

  test('is gone with its turn', () => {
    const view = viewAfter(...flush, 'flush m1/1 2', 'reply m1/1 3', 'post m2');
    expect([rowsOf(view), view.flush]).toEqual([['m1', '> step 3 of m1/1', 'm2'], []]);
  });
});

describe('A1/3: tokens of the last step', () => {
  test('count what was said up to it, its own answer included', () => {
    const counted = { tokens: 5 };
    expect(viewAfter('post m1').counted).toBeNull();
    expect(viewAfter('post m1', 'reply m1/1 1', 'post m2').counted).toEqual({ ...counted, messages: 2 });
    expect(viewAfter('post m1', 'continue m1/1 1').counted).toEqual({ ...counted, messages: 2 });
    const called = viewAfter('post m1', 'call m1/1 1 read run', 'result m1/1 m1.1.0');
    expect(called.counted).toEqual({ ...counted, messages: 2 });
  });

  test('are not those of a model that has not counted, which may know nothing of what was said before', () => {
    const usage = { inputTokens: 2, outputTokens: 3, totalTokens: 5, estimated: true };
    const guess = changed('continue m1/1 1', { outcome: { kind: 'continue', text: 'x', model: 'm', usage } });
    expect(viewAfter('post m1', guess).counted).toBeNull();
  });
});

describe('I11: a conversation is bounded', () => {
  test('it keeps its newest messages, and what the running turn is about', () => {
    const text = 'x'.repeat(250_000);
    const appended = (id: string): CommandEnvelope =>
      changed(`append ${id}`, { message: { messageId: id, text, sender: { id: 'a' } } });
    const { commits } = tell('post m1', ...Array.from({ length: 20 }, (_, index) => appended(`n${index}`)));
    const conversation = conversationOf(commits);
    const said = conversation.view('m1')?.said ?? [];
    expect(conversation.characters).toBeLessThanOrEqual(limits.contextCharacters);
    expect(said).toHaveLength(1 + Math.floor(limits.contextCharacters / 250_200));
    expect(said[0]?.message.text).toBe('text of m1');
  });

  test('what a model thought counts too, with its signature', () => {
    const charactersWith = (...parts: ReasoningPart[]): number => {
      const list = new ConversationMessageList();
      list.add({ rev: 1, seq: 1, message: { role: 'assistant', text: 'said', calls: [], reasoning: { model: 'a/b', parts } } });
      return list.characters;
    };
    const bare = charactersWith({ text: '' });
    const parts = [{ text: 'x'.repeat(10) }, { text: '', signature: 's'.repeat(100) }, { text: '', redacted: 'r'.repeat(1_000) }];
    expect(parts.map((part) => charactersWith(part) - bare)).toEqual([10, 100, 1_000]);
  });

  test('messages that wait count with what it takes in memory', () => {
    const waiting = conversationOf(tell('post m1', 'post m2').commits);
    const heard = conversationOf(tell('post m1').commits);
    expect(waiting.characters - heard.characters).toBe('text of m2'.length);
  });
});
