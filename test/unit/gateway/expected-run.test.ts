import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { EventFeed } from '../../../services/gateway/context/event-feed.ts';
import type { Expectation } from '../../../services/gateway/context/expected-run.ts';
import { Runs } from '../../../services/gateway/context/runs.ts';
import { openInMemory } from '../../../shared/adapters/in-memory/open.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { afterwards } from '../../support/afterwards.ts';
import { unrecorded } from '../../support/domain/commits.ts';
import { key, tell } from '../../support/domain/given.ts';

const until = (holds: () => boolean): Promise<void> => vi.waitFor(() => expect(holds()).toBe(true), { timeout: 10_000 });

/** A gateway's runs, and the log that they are in. */
const rig = async () => {
  const { portsFor, events } = openInMemory({ clock: systemClock });
  const ports = portsFor('gateway');
  const feed = new EventFeed(events, systemClock, pino({ enabled: false }));
  afterwards(() => feed.close());
  await until(() => feed.problems().length === 0);
  const history = tell('post m1', 'reply m1/1 1').commits;
  let lastSeq = 0;
  const append = async (): Promise<void> => {
    const commit = history.shift();
    if (commit === undefined) return;
    const stored = await events.append(unrecorded(commit), lastSeq);
    if (stored.kind === 'stored') lastSeq = stored.seq;
    await until(() => feed.position === lastSeq);
  };
  const { signal } = new AbortController();
  const expectRun = (expectation: Partial<Expectation> = {}) =>
    new Runs(ports, feed).expect(key, 'm1', { seen: 0, waitMs: 60_000, signal, ...expectation });
  const answer = (outcome: 'accepted' | 'refused' | 'duplicate'): void =>
    ports.answers.tell(ports.answers.address, { commandId: 'm1', outcome, ...(outcome === 'refused' && { code: 'no' }) });
  return { feed, append, expectRun, answer };
};
const replied = { status: 'ok', runId: 'm1' };

test('what is recorded before the broker has confirmed the command counts', async () => {
  const { append, expectRun } = await rig();
  const expected = expectRun();
  await append();
  await append();
  expect(await expected.after(false)).toMatchObject(replied);
});

test('a run that is not over when nobody waits any more is a timeout', async () => {
  const { feed, append, expectRun } = await rig();
  const caller = new AbortController();
  const expected = expectRun({ signal: caller.signal });
  await append();
  const outcome = expected.after(false);
  caller.abort();
  expect(await outcome).toMatchObject({ status: 'timeout' });
  expect(await expectRun({ waitMs: 1 }).after(false)).toMatchObject({ status: 'timeout' });
  const last = expectRun().after(false);
  await feed.close();
  expect(await last).toMatchObject({ status: 'timeout' });
});

test('a refusal and a repeat are told by the answer alone', async () => {
  const { append, expectRun, answer } = await rig();
  const refused = expectRun();
  answer('refused');
  expect(await refused.after(false)).toMatchObject({ status: 'error', error: { code: 'no' } });
  const unknown = expectRun();
  answer('duplicate');
  expect(await unknown.after(false)).toMatchObject({ status: 'error', error: { code: 'duplicate_message' } });
  await append();
  await append();
  const repeated = expectRun();
  answer('duplicate');
  expect(await repeated.after(false)).toMatchObject(replied);
  expect(await expectRun().after(true)).toMatchObject(replied);
});

test('one that nobody waits for any more hears nothing', async () => {
  const { append, expectRun, answer } = await rig();
  const expected = expectRun();
  expected.end();
  await append();
  await append();
  answer('refused');
  expect(await expected.after(false)).toMatchObject({ status: 'timeout' });
});
