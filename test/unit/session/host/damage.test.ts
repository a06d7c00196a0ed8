import { describe, expect, test, vi } from 'vitest';
import { loadState } from '../../../../services/session/host/load.ts';
import type { IndexRow } from '../../../../shared/domain/projections/index-row.ts';
import { summarize } from '../../../../shared/domain/projections/summary.ts';
import type { RecordedCommit } from '../../../../shared/domain/session/envelope.ts';
import { toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { HistoryFold } from '../../../../shared/domain/session/fold/history-fold.ts';
import { surveyDamage } from '../../../../shared/runtime/damage-survey.ts';
import { command } from '../../../support/domain/given.ts';
import { homeKey, keyOf, post, type Rig, rig } from '../rig.ts';

const other = keyOf('other');

/** A session of five commits, and one beside it. */
const told = async (): Promise<Rig> => {
  const made = rig();
  for (const row of ['post a', 'append b', 'send deny', 'post c', 'post d']) await made.take(row);
  await made.take('post x', other);
  return made;
};
const commitsOf = ({ system }: Rig, key = homeKey): RecordedCommit[] =>
  system.events.stored().filter((commit) => commit.key === key);
const seqOf = (made: Rig, rev: number): number => commitsOf(made).find((commit) => commit.rev === rev)?.seq ?? 0;
/** The bit flips while nobody has the session in memory. */
const spoil = (made: Rig, ...revs: number[]): void => {
  const seqs = revs.map((rev) => seqOf(made, rev));
  for (const seq of seqs) made.system.events.kept.spoil(seq);
  made.restart();
};
const texts = (made: Rig): string[] => made.events().flatMap((event) => (event.type === 'assistant_message' ? [event.text] : []));
/** A turn that reads the conversation comes to its end. */
const expectThought = async (made: Rig): Promise<void> => {
  expect(await made.take(post('think of it [[think 5]]', 'thought'))).toEqual({ kind: 'recorded' });
  await made.clock.pass(100);
  expect(texts(made).at(-1)).toMatch(/think of it/);
};
/** I4: what the host goes on with is what the log says. */
const expectReplay = async (made: Rig): Promise<void> => {
  const replay = new HistoryFold();
  for (const commit of commitsOf(made)) replay.take(commit);
  expect(toPlain(replay.whole(homeKey))).toEqual(toPlain(await loadState(made.ports, homeKey)));
};

describe('F13: a session with commits that the store has lost', () => {
  test.each([
    ['the last', [5]],
    ['one in the middle', [2]],
    ['the first', [1]],
    ['the last two', [4, 5]],
    ['two that are not side by side', [2, 4]],
    ['the first and the last', [1, 5]],
    ['each second one', [1, 3, 5]],
    ['every one', [1, 2, 3, 4, 5]],
  ])('is set aside alone and read-only until a person decides, then goes on: %s', async (_, revs) => {
    const made = await told();
    spoil(made, ...revs);
    const left = commitsOf(made).length;
    expect(await made.take('post e')).toMatchObject({ kind: 'dead', reason: expect.stringContaining('natter repair') });
    expect(await made.take('stop')).toMatchObject({ kind: 'dead' });
    expect(commitsOf(made)).toHaveLength(left);
    expect(await made.take('post y', other)).toEqual({ kind: 'recorded' });
    expect(made.host.quarantine.damaged).toEqual([homeKey]);
    expect(made.host.quarantine.warnings()).toEqual([`1 session is damaged; see natter repair ${homeKey}`]);

    expect(await made.take('repair a bad disk')).toEqual({ kind: 'recorded' });
    expect(made.host.quarantine.size).toBe(0);
    const [repair] = commitsOf(made).slice(left);
    expect(repair).toMatchObject({ rev: 6, host: 'host' });
    expect(repair?.events[0]).toMatchObject({
      ...{ type: 'history_damaged', fromRev: Math.min(...revs), toRev: Math.max(...revs) },
      ...{ reason: 'a bad disk', by: 'test' },
    });
    expect(await made.take('post f')).toEqual({ kind: 'recorded' });
    expect(texts(made).at(-1)).toBe('You said: text of f');
    await expectThought(made);
    await expectReplay(made);
    made.restart();
    expect(await made.take('post g')).toEqual({ kind: 'recorded' });
    await expectReplay(made);
  });

  test('a second commit is lost while a person decides about the first: the decision is about both, and the next damage needs another', async () => {
    const made = await told();
    spoil(made, 2);
    expect(await made.take('post e')).toMatchObject({ kind: 'dead', reason: expect.stringContaining('rev 2 is missing') });
    made.system.events.kept.spoil(seqOf(made, 4));
    await made.take('repair x');
    expect(commitsOf(made).at(-1)?.events[0]).toMatchObject({ type: 'history_damaged', fromRev: 2, toRev: 4 });
    expect(await made.take('post f')).toEqual({ kind: 'recorded' });
    const left = commitsOf(made).length;
    spoil(made, 7);
    expect(await made.take('post g')).toMatchObject({ kind: 'dead' });
    expect(commitsOf(made).length, 'nothing is written beside the new damage').toBeLessThan(left);
    await made.take('repair y');
    expect(await made.take('post h')).toEqual({ kind: 'recorded' });
    await expectReplay(made);
  });

  test.each([
    ['an early commit', 2],
    ['the last commit before the turn', 5],
    ['the start of the turn itself', 6],
  ])('is lost while its partition moves in the middle of a turn: %s', async (_, rev) => {
    const made = await told();
    const [first, thinking] = [made.host, made.take(post('think [[think 50]]', 'slow'))];
    expect(await thinking).toEqual({ kind: 'recorded' });
    made.system.events.kept.spoil(seqOf(made, rev));
    made.restart();
    expect(await made.take('post e')).toMatchObject({ kind: 'dead', reason: expect.stringContaining('natter repair') });
    expect(await made.take('repair x')).toEqual({ kind: 'recorded' });
    const repaired = commitsOf(made).length;
    // The host that had it thinks on, and what it found is of a turn that is void.
    await made.clock.pass(100);
    expect(commitsOf(made)).toHaveLength(repaired);
    expect(await made.take('post f')).toEqual({ kind: 'recorded' });
    const second = made.host;
    made.host = first;
    expect(await made.take('post g'), 'the partition comes back').toEqual({ kind: 'recorded' });
    await expectReplay(made);
    made.host = second;
    expect(await made.take('post h')).toEqual({ kind: 'recorded' });
    expect(texts(made).slice(-3)).toEqual(['f', 'g', 'h'].map((id) => `You said: text of ${id}`));
    await expectReplay(made);
  });

  test('is found while it is in memory: at the next commit nothing is written over what is there', async () => {
    const made = await told();
    made.system.events.kept.spoil(seqOf(made, 5));
    expect(await made.take('post e')).toMatchObject({ kind: 'dead' });
    expect(commitsOf(made).map(({ rev }) => rev)).toEqual([1, 2, 3, 4]);
  });

  test('keeps what is known: settings, the conversation, the people; a turn or an approval of before is void', async () => {
    const made = await told();
    spoil(made, 5);
    await made.take('repair x');
    const state = await loadState(made.ports, homeKey);
    expect(state.machine.value).toBe('idle');
    expect(state.machine.context.settings).toMatchObject({ sendPolicy: 'deny' });
    expect(state.machine.context).toMatchObject({ turn: null, approval: null, queue: [], generation: 2, epoch: 1 });
    const from = commitsOf(made)[0]?.seq ?? 0;
    expect(state.position).toMatchObject({ contextSeq: from, skips: [{ after: seqOf(made, 4), until: state.position.seq }] });
  });

  test.each([
    ['the first', 1],
    ['one in the middle', 3],
  ])('is not taken up from a snapshot beyond a lost commit; the repair continues from that snapshot: %s', async (_, rev) => {
    const made = await told();
    await made.ports.snapshots.put(homeKey, toPlain(await loadState(made.ports, homeKey)));
    made.system.events.kept.lose(seqOf(made, rev));
    made.restart();
    expect(await made.take('post e')).toMatchObject({ kind: 'dead', reason: expect.stringContaining(`rev ${rev} is missing`) });
    await made.take('repair x');
    expect((await loadState(made.ports, homeKey)).machine.context.settings).toMatchObject({ sendPolicy: 'deny' });
    await expectThought(made);
    await expectReplay(made);
  });

  test('whose generation began in a lost commit goes on with that generation, not with the one before it (A4/53)', async () => {
    const made = await told();
    for (const row of ['reset s2', 'append y', 'append z']) await made.take(row);
    spoil(made, 6);
    await made.take('repair x');
    const { position } = await loadState(made.ports, homeKey);
    expect(position).toMatchObject({ contextSeq: seqOf(made, 7), skips: [{ after: seqOf(made, 8), until: seqOf(made, 9) }] });
    await expectThought(made);
  });

  test('works on from a snapshot beyond an unreadable commit until a scrub finds that, then no host takes it up', async () => {
    const made = await told();
    await made.ports.snapshots.put(homeKey, toPlain(await loadState(made.ports, homeKey)));
    spoil(made, 3);
    expect(await made.take('post e')).toEqual({ kind: 'recorded' });
    expect(await made.take('check')).toEqual({ kind: 'done' });
    expect(await made.take('post f')).toMatchObject({ kind: 'dead', reason: expect.stringContaining('rev 3 is missing') });
    made.restart();
    expect(await made.take('post g')).toMatchObject({ kind: 'dead' });

    await made.take('repair x');
    expect((await loadState(made.ports, homeKey)).machine.context.settings).toMatchObject({ sendPolicy: 'deny' });
    await expectThought(made);
    await expectReplay(made);
    expect(await made.take('check')).toEqual({ kind: 'done' });
    expect(await made.take('post h')).toEqual({ kind: 'recorded' });
  });

  test('that is whole is not set aside by somebody who has it checked, nor is one that was erased or repaired', async () => {
    const made = await told();
    await made.take('check');
    expect(await made.take('post e')).toEqual({ kind: 'recorded' });
    made.system.events.kept.lose(seqOf(made, 2));
    await made.take('check');
    await made.take('repair x');
    await made.ports.snapshots.put(homeKey, toPlain(await loadState(made.ports, homeKey)));
    made.restart();
    expect(await made.take('post f')).toEqual({ kind: 'recorded' });
    await made.take('delete erased');
    made.system.events.purge(homeKey, commitsOf(made).at(-1)?.seq ?? 0);
    await made.take('append g');
    await made.ports.snapshots.put(homeKey, toPlain(await loadState(made.ports, homeKey)));
    const asked: string[] = [];
    const read = made.ports.events.read.bind(made.ports.events);
    vi.spyOn(made.ports.events, 'read').mockImplementation((key, options) => {
      asked.push(`after ${options?.after}`);
      return read(key, options);
    });
    await loadState(made.ports, homeKey);
    expect(asked).toEqual([]);
  });

  test('whose end is gone without a trace is known by its snapshot: it is not an empty or a shorter session', async () => {
    const made = await told();
    await made.ports.snapshots.put(homeKey, toPlain(await loadState(made.ports, homeKey)));
    made.system.events.kept.forget(homeKey, seqOf(made, 4));
    made.restart();
    await expect(loadState(made.ports, homeKey)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('revs 4 to 5 are missing'),
    });
    await made.take('repair x');
    expect(commitsOf(made).at(-1)).toMatchObject({ rev: 6, events: [{ type: 'history_damaged', fromRev: 4, toRev: 5 }, {}, {}] });
    expect(await made.take('post f')).toEqual({ kind: 'recorded' });
    await expectThought(made);
    await expectReplay(made);
  });

  test('whose end is gone and was in no snapshot is known by its row in the index, and stays set aside wherever it is loaded', async () => {
    const made = await told();
    await made.ports.index.put([commitsOf(made).reduce<IndexRow | null>(summarize, null)!], seqOf(made, 5));
    made.system.events.kept.forget(homeKey, seqOf(made, 4));
    made.restart();
    expect((await surveyDamage(made.ports, homeKey)).gaps).toMatchObject([{ reason: 'missing', fromRev: 4, toRev: 5 }]);
    await made.take('check');
    expect(made.host.quarantine.damaged).toEqual([homeKey]);
    made.restart();
    expect(await made.take('post e'), 'on another host').toMatchObject({ kind: 'dead' });
    await made.take('repair x');
    expect(commitsOf(made).at(-1)).toMatchObject({ rev: 6, events: [{ type: 'history_damaged', fromRev: 4, toRev: 5 }, {}, {}] });
    expect(await made.take('post f')).toEqual({ kind: 'recorded' });
    await expectThought(made);
    await expectReplay(made);
    expect((await surveyDamage(made.ports, homeKey)).gaps).toEqual([]);
  });

  test('that is whole has nothing to repair; a repeated decision takes effect once (I2)', async () => {
    const made = await told();
    expect(await made.take('repair x')).toEqual({ kind: 'done' });
    spoil(made, 5);
    const left = commitsOf(made).length;
    await made.take('repair x');
    await made.take('repair x');
    expect(commitsOf(made)).toHaveLength(left + 1);
  });

  test('is not repaired by a decision that comes again: that was about other damage, and is older than what was recorded since', async () => {
    const made = await told();
    spoil(made, 2);
    const decision = { ...command('repair x', 'decision'), key: homeKey };
    const deliver = () => made.host.handle({ message: decision, seq: 100, incarnation: 1, partition: 0, attempt: 1 });
    expect(await deliver()).toEqual({ kind: 'recorded' });
    expect(await made.host.handle({ message: post('b', 'b'), seq: 101, incarnation: 1, partition: 0, attempt: 1 })).toEqual({
      kind: 'recorded',
    });
    spoil(made, 6);
    const left = commitsOf(made).length;
    expect(await deliver()).toEqual({ kind: 'recorded' });
    expect(commitsOf(made)).toHaveLength(left);
  });

  test.each<[string, number[], boolean]>([
    ['known by a commit that is left', [2], false],
    ['known by the snapshot', [1], true],
  ])('D9: what had arrived before is a repeat after the repair, and after the next one: %s', async (_, revs, hasSnapshot) => {
    const made = rig();
    const numbered = { ...post('a', 'first'), order: { source: 'chat', number: '7' } };
    for (const one of [numbered, post('b', 'second'), post('c', 'third')]) await made.take(one);
    if (hasSnapshot) await made.ports.snapshots.put(homeKey, toPlain(await loadState(made.ports, homeKey)));
    spoil(made, ...revs);
    await made.take('repair x');
    const expectRepeats = async (): Promise<void> => {
      const left = commitsOf(made).length;
      for (const one of [numbered, { ...numbered, ...post('a2', 'renamed') }, post('c', 'third')])
        expect(await made.take(one)).toEqual({ kind: 'done' });
      expect(commitsOf(made)).toHaveLength(left);
      await expectReplay(made);
    };
    await expectRepeats();
    made.restart();
    await expectRepeats();
    await made.take(post('d', 'fourth'));
    spoil(made, 4);
    expect(commitsOf(made).at(-1)?.rev).toBe(5);
    await made.take('repair y');
    await expectRepeats();
  });

  test('D9: only what is known of nowhere is new again when it comes again after a repair', async () => {
    const made = rig();
    for (const one of [post('a', 'first'), post('b', 'second')]) await made.take(one);
    spoil(made, 2);
    await made.take('repair x');
    const left = commitsOf(made).length;
    await made.take(post('a', 'first'));
    expect(commitsOf(made)).toHaveLength(left);
    await made.take(post('b', 'second'));
    expect(commitsOf(made).length).toBeGreaterThan(left);
  });

  test('C9: can still be erased', async () => {
    const made = await told();
    spoil(made, 2);
    await made.take('repair x');
    expect(await made.take('delete erased')).toEqual({ kind: 'recorded' });
    await expectReplay(made);
  });
});
