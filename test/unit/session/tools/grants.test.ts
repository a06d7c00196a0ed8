import { expect, test } from 'vitest';
import type { Attempt } from '../../../../services/session/turn/attempt.ts';
import { grantOf } from '../../../../services/session/turn/grants.ts';
import type { SessionState } from '../../../../shared/domain/session/fold/evolve.ts';
import { key, tell } from '../../../support/domain/given.ts';
import { logOf } from '../../domain/context/rows.ts';

const attemptAt = (services: Pick<ReturnType<typeof logOf>, 'events' | 'clock'>, state: SessionState) =>
  ({ services, key, ref: { id: 'm4', attempt: 2 }, state }) as unknown as Attempt;

test('I7, B21: whether a call was allowed is in the log of its own generation: what a fork left out is not read', async () => {
  const talked = ['post m1', 'reply m1/1 1', 'post m2', 'reply m2/1 1', 'post m3', 'reply m3/1 1'];
  const { commits, state } = tell(...talked, 'fork s2 1', 'post m4', 'call m4/1 1 read ask', 'answer p0 granted');
  const log = logOf(commits);
  const call = { callId: 'm4.1.0', tool: 'read', arguments: '{"index":0}' };
  expect(await grantOf(attemptAt(log, state), call)).toBe('other');
  expect(log.read()).toEqual([7, 8, 9, 10]);
});

test('I7: a question that no turn waited for is found although the conversation before its answer was compacted (ADR 22)', async () => {
  const asked = ['post m1', 'call m1/1 1 read ask-later', 'reply m1/1 2', 'compact c1', 'compacted c1/1 3 8'];
  const { commits, state } = tell(...asked, 'answer p0 granted');
  expect(state.position.contextSeq).toBe(8);
  const call = { callId: 'approval-p0.1.0', tool: 'read', arguments: '{"index":0}' };
  const attempt = { key, ref: { id: 'approval-p0', attempt: 1 }, state, services: logOf(commits) };
  // The hash in these rows is no real one: what is read is another call than what was allowed, and not a call that nobody was asked about.
  expect(await grantOf(attempt as unknown as Attempt, call)).toBe('other');
});
