import { effect } from '@preact/signals';
import { expect, test, vi } from 'vitest';
import { type Newest, Past, type PastSource } from '../../../services/page/past/past.ts';
import type { RecordedCommit } from '../../../shared/domain/session/envelope.ts';
import { initialState, toPlain, toShown } from '../../../shared/domain/session/fold/evolve.ts';
import { recorded, unrecorded } from '../../support/domain/commits.ts';
import { tell } from '../../support/domain/given.ts';

const { commits } = tell('append m1', 'append m2', 'reset s2');

/** Hands out two commits, and the others once it is let go on. */
const slowly = () => {
  let [goOn, fail] = [() => {}, () => {}];
  const promise = new Promise<void>((resolve, reject) => {
    goOn = resolve;
    fail = () => reject(new Error('no connection'));
  });
  // It may fail before anybody waits for it.
  promise.catch(() => {});
  const source: PastSource = {
    isLive: false,
    async *commits() {
      yield* commits.slice(0, 2);
      await promise;
      yield* commits.slice(2);
    },
    async *recorded() {},
    problemOf: () => 'gone',
  };
  return { source, goOn, fail };
};
const folded = (past: Past, count: number): Promise<void> => vi.waitFor(() => expect(past.timeline.commits.length).toBe(count));

test('no moment on the way to the newest is drawn, and none of them is compared with the gateway', async () => {
  const { source, goOn } = slowly();
  const past = new Past('agent:main:main', null, source);
  await folded(past, 2);
  expect(past.hasMoment.value).toBe(false);
  goOn();
  await vi.waitFor(() => expect(past.isRead.value).toBe(true));
  expect([past.hasMoment.value, past.place.value]).toEqual([true, commits.length]);
});

test('a moment that was chosen is drawn as soon as it is read, and what was read when the rest cannot be', async () => {
  const chosen = slowly();
  const past = new Past('agent:main:main', commits[1]?.seq ?? 0, chosen.source);
  await folded(past, 2);
  expect([past.hasMoment.value, past.isRead.value, past.place.value]).toEqual([true, false, 2]);
  const cut = slowly();
  const broken = new Past('agent:main:main', null, cut.source);
  await folded(broken, 2);
  cut.fail();
  await vi.waitFor(() => expect(broken.problem.value).toBe('gone'));
  expect(broken.hasMoment.value).toBe(true);
});

test('the newest moment is known before all is read, and one asked for meanwhile is chosen once it is read', async () => {
  const newest: Newest = { commits: commits.slice(1), state: toShown(toPlain(initialState)) };
  const { source, goOn } = slowly();
  const past = new Past('agent:main:main', null, { ...source, newest: async () => newest });
  await vi.waitFor(() => expect(past.newest.value).toBe(newest));
  expect([past.hasMoment.value, past.isRead.value]).toEqual([false, false]);
  past.wanted.value = commits[2]?.seq ?? 0;
  goOn();
  await vi.waitFor(() => expect(past.isRead.value).toBe(true));
  expect([past.chosen.value, past.wanted.value]).toEqual([3, null]);
});

test('it is not asked for where another moment is wanted, and nothing is lost where it cannot be had', async () => {
  const newest = vi.fn(() => Promise.reject(new Error('damaged')));
  const { source, goOn } = slowly();
  const wanting = new Past('agent:main:main', commits[0]?.seq ?? 0, { ...source, newest });
  expect(newest).not.toHaveBeenCalled();
  const past = new Past('agent:main:main', null, { ...source, newest });
  expect(newest).toHaveBeenCalledOnce();
  goOn();
  for (const each of [wanting, past]) await vi.waitFor(() => expect(each.isRead.value).toBe(true));
  expect([past.newest.value, past.problem.value, past.place.value]).toEqual([null, null, commits.length]);
});

test('landmarks that are read after the chosen moment are told to whoever draws them', async () => {
  const { source, goOn } = slowly();
  const past = new Past('agent:main:main', commits[0]?.seq ?? 0, source);
  const told: number[] = [];
  effect(() => {
    told.push(past.marksOf('reset').length);
  });
  await folded(past, 2);
  goOn();
  await vi.waitFor(() => expect(past.isRead.value).toBe(true));
  expect([past.place.value, told.at(-1)]).toEqual([1, 1]);
});

test('damage to the log is told: a changed commit, or one that is missing, after which nothing is folded', async () => {
  const read = async (...written: readonly RecordedCommit[]): Promise<Past> => {
    const source: PastSource = {
      isLive: false,
      async *commits() {
        yield* written;
      },
      async *recorded() {},
      problemOf: String,
    };
    const past = new Past('agent:main:main', null, source);
    await vi.waitFor(() => expect(past.isRead.value).toBe(true));
    return past;
  };
  const [first, second, third] = commits as [RecordedCommit, RecordedCommit, RecordedCommit];
  const whole = await read(first, second, third);
  expect([whole.damage(), whole.timeline.stateAfter(3).position.rev]).toEqual([null, 3]);
  const changed = await read(first, recorded({ ...unrecorded(second), actor: 'eve' }, second.seq), third);
  expect(changed.damage()).toBe(
    'rev 2 is changed: what follows is not folded, and the session is read-only until "natter repair agent:main:main"',
  );
  expect(changed.timeline.stateAfter(3).position.rev).toBe(2);
  const missing = await read(first, third);
  expect(missing.damage()).toContain('rev 2 is missing');
  expect((await read(second, third)).damage()).toBe('rev 1 is missing, or not for you to see: what follows is not folded');
});
