import { describe, expect, test } from 'vitest';
import { Conversations } from '../../../../services/session/prompt/conversations.ts';
import type { TurnView } from '../../../../shared/domain/prompt/conversation-message.ts';
import type { CommandEnvelope, RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import type { SessionState } from '../../../../shared/domain/session/fold/evolve.ts';
import { command, key, stateAfter, tell } from '../../../support/domain/given.ts';
import { logOf, problemsOf, rowsOf } from '../../domain/context/rows.ts';

type Story = (string | CommandEnvelope)[];

/** Back to where the session stood after so many of the story's rows, each of which is a commit. */
const forkTo = (story: Story, rows: number, sessionId: string): CommandEnvelope => {
  const { position, machine } = stateAfter(...story.slice(0, rows));
  const { seq, rev, contextSeq, skips } = position;
  const from = { sessionId: machine.context.sessionId, seq, rev, contextSeq, skips };
  return { ...command('fork', `fork ${sessionId}`), data: { type: 'fork', sessionId, from } };
};
/** The story, forked, and then told on. */
const forked = (story: Story, rows: number, sessionId: string, ...then: Story): Story => [
  ...story,
  forkTo(story, rows, sessionId),
  ...then,
];

const running = ({ machine }: SessionState) => machine.context.turn ?? { id: 'none' };

/** The conversation as whoever loads it sees it. */
const loaded = async (...story: Story): Promise<TurnView> => {
  const { commits, state } = tell(...story);
  return new Conversations(logOf(commits)).read(key, running(state), state.position);
};

/** As a host sees it that had it in memory and was told of each commit from then on. */
const lived = async (...story: Story): Promise<TurnView> => {
  const { commits, state } = tell(...story);
  const log: RecordedCommit[] = [];
  const conversations = new Conversations(logOf(log));
  for (const [index, commit] of commits.entries()) {
    log.push(commit);
    conversations.note(commit, false);
    const { machine, position } = tell(...story.slice(0, index + 1)).state;
    if (machine.context.turn) await conversations.read(key, machine.context.turn, position);
  }
  return conversations.read(key, running(state), state.position);
};

const bothWays = async (...story: Story): Promise<string[]> => {
  const view = await loaded(...story);
  expect(await lived(...story)).toEqual(view);
  expect(problemsOf(view.said.map(({ message }) => message))).toEqual([]);
  return rowsOf(view);
};

const talked = ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1'];
const first = ['m1', '> step 1 of m1/1'];
const second = ['m2', '> step 1 of m2/1'];

describe('the conversation of a fork (B21)', () => {
  test('B21: at the head it goes on', async () => {
    expect(await bothWays(...forked(talked, 4, 's2', 'post m3'))).toEqual([...first, ...second, 'm3']);
  });

  test('B21: further back it knows nothing of what came since', async () => {
    expect(await bothWays(...forked(talked, 2, 's2', 'post m3', 'reply m3/1 1', 'post m4'))).toEqual([
      ...first,
      'm3',
      '> step 1 of m3/1',
      'm4',
    ]);
  });

  test('B21: back over a reset, into the generation before', async () => {
    const story = [...talked, 'reset s2', 'post m3', 'reply m3/1 1'];
    expect(await bothWays(...forked(story, 2, 's3', 'post m4'))).toEqual([...first, 'm4']);
    expect(await bothWays(...forked(story, 6, 's3', 'post m4'))).toEqual(['m3', 'm4']);
  });

  test('B21: a reset after it begins anew', async () => {
    expect(await bothWays(...forked(talked, 2, 's2', 'post m3', 'reset s3', 'post m4'))).toEqual(['m4']);
  });

  test('B21: a fork of a fork: from the branch, from before the branch, and at its very beginning', async () => {
    const branch = forked(talked, 2, 's2', 'post m3', 'reply m3/1 1', 'post m4', 'reply m4/1 1');
    const third = ['m3', '> step 1 of m3/1'];
    expect(await bothWays(...forked(branch, 7, 's3', 'post m5'))).toEqual([...first, ...third, 'm5']);
    expect(await bothWays(...forked(branch, 9, 's3', 'post m5'))).toEqual([...first, ...third, 'm4', '> step 1 of m4/1', 'm5']);
    expect(await bothWays(...forked(branch, 4, 's3', 'post m5'))).toEqual([...first, ...second, 'm5']);
    expect(await bothWays(...forked(branch, 5, 's3', 'post m5'))).toEqual([...first, 'm5']);
  });

  test('B21: two forks in a row are as the last one', async () => {
    const once = forked(talked, 2, 's2');
    expect(await bothWays(...forked(once, 4, 's3', 'post m5'))).toEqual([...first, ...second, 'm5']);
    expect(await bothWays(...forked(once, 5, 's3', 'post m5'))).toEqual([...first, 'm5']);
  });

  test('B21, I6: in the middle of a turn: its call has the result that nobody will bring', async () => {
    const story = ['post m1', 'call m1/1 1 read run ask', 'result m1/1 m1.1.0'];
    const cutOff = ['m1', '> calls m1.1.0 m1.1.1'];
    expect(await bothWays(...forked(story, 2, 's2', 'post m2'))).toEqual([...cutOff, 'm1.1.0 unknown', 'm1.1.1 error', 'm2']);
    expect(await bothWays(...forked(story, 3, 's2', 'post m2'))).toEqual([...cutOff, 'm1.1.0 ok', 'm1.1.1 error', 'm2']);
    expect(await bothWays(...forked(story, 1, 's2', 'post m2'))).toEqual(['m1', 'm2']);
  });

  test('B21, A5/70: what waited there is not heard, what was only remembered is', async () => {
    const story = ['post m1', 'post m2', 'append m3', 'reply m1/1 1', 'reply m2/1 1'];
    expect(await bothWays(...forked(story, 3, 's2', 'post m4'))).toEqual(['m1', 'm3', 'm4']);
  });

  test('B21, B6: who had joined the turn there has been heard', async () => {
    const story = ['post m1', 'post-as m2 steer', 'reply m1/1 1 1'];
    expect(await bothWays(...forked(story, 2, 's2', 'post m3'))).toEqual(['m1', 'm2', 'm3']);
  });

  const compacting = [...talked, 'post m3', 'compacted m3/1 2 6', 'reply m3/1 1'];
  const summary = expect.stringContaining('what was said');

  test('B21, A11/126: after a compaction it begins with the summary, before it with what that stands for', async () => {
    expect(await bothWays(...forked(compacting, 7, 's2', 'post m4'))).toEqual([
      summary,
      ...second,
      'm3',
      '> step 1 of m3/1',
      'm4',
    ]);
    expect(await bothWays(...forked(compacting, 4, 's2', 'post m4'))).toEqual([...first, ...second, 'm4']);
  });

  test('B21, A11/126: a compaction in the fork stands for the base too, and forgets what it left out', async () => {
    const story = forked(talked, 2, 's2', 'post m3', 'reply m3/1 1', 'post m4', 'compacted m4/1 5 12', 'continue m4/1 1');
    expect(await bothWays(...story)).toEqual([summary, 'm3', '> step 1 of m3/1', 'm4', '> step 1 of m4/1']);
    expect(stateAfter(...story).position).toMatchObject({ contextSeq: 12, skips: [] });
    const kept = forked(talked, 2, 's2', 'post m3', 'compacted m3/1 1 2', 'continue m3/1 1');
    expect(await bothWays(...kept)).toEqual([summary, '> step 1 of m1/1', 'm3', '> step 1 of m3/1']);
    expect(stateAfter(...kept).position).toMatchObject({ contextSeq: 2, skips: [{ after: 4, until: 10 }] });
  });

  test('B21: reading leaves out what the fork left out', async () => {
    const { commits, state } = tell(...forked(talked, 2, 's2', 'post m3'));
    const log = logOf(commits);
    await new Conversations(log).read(key, { id: 'm3' }, state.position);
    expect(log.read()).toEqual([1, 2, 3, 5, 6]);
  });

  test('I4: a host that missed the fork reads on and finds that it leads elsewhere', async () => {
    const story = forked(talked, 2, 's2', 'post m3');
    const { commits, state } = tell('post m1', 'reply m1/1 1', 'post m2');
    const log = logOf(tell(...story).commits);
    const conversations = new Conversations(log);
    await conversations.read(key, { id: 'm2' }, state.position);
    expect(commits).toHaveLength(3);
    expect(rowsOf(await conversations.read(key, { id: 'm3' }, stateAfter(...story).position))).toEqual([...first, 'm3']);
  });
});
