import { expect, test, vi } from 'vitest';
import { type Position, toPlain } from '../../../../shared/domain/session/fold/evolve.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { commitTo, keyOf, userMessage } from '../../../support/domain/commits.ts';
import { stateAfter } from '../../../support/domain/given.ts';
import { pathOf, startWorld } from '../setup.ts';

const key = keyOf('agent:main:main');

/** A session with this many commits, its snapshot, and what of its log is read from now on, by the sequence after which. */
const startLong = async (commits: number, position: Partial<Position> = {}) => {
  const { call, memory, ports } = await startWorld();
  const { events, snapshots } = memory.portsFor('writer');
  for (let rev = 1; rev <= commits; rev += 1) {
    const command = { id: `run-${rev}`, seq: rev, incarnation: 1 };
    await events.append(commitTo(key, { rev, command, events: [userMessage('hi')] }), rev - 1);
  }
  const state = toPlain(stateAfter('post m1'));
  const window = [commits - 2, commits - 1, commits];
  await snapshots.put(key, { ...state, position: { ...state.position, seq: commits, rev: commits, window, ...position } });
  const read = vi.spyOn(ports.events, 'read');
  /** Asks for a run; its status, and from where on the log was read for it. */
  const ask = async (runId: string, query = '') => {
    read.mockClear();
    const { status, body } = await call('GET', pathOf(key, `/runs/${runId}${query}`));
    return { status, body, readAfter: read.mock.calls.map(([, options]) => options?.after) };
  };
  return { call, ask };
};

test('A10/122, I11: for an id that nobody knows no long log is read, and the answer says where older runs are', async () => {
  const commits = limits.runSearchCommits + 1;
  const { call, ask } = await startLong(commits);
  const recent = commits - 3;
  expect(await ask(`run-${commits - 1}`)).toMatchObject({ status: 200, readAfter: [recent] });
  for (const query of ['', '?wait=0.01']) {
    const unknown = await ask('run-x', query);
    expect(unknown).toMatchObject({ status: 404, readAfter: [recent] });
    expect(unknown.body.detail).toContain('older ones are read with its messages');
  }
  expect(await ask('run-1')).toMatchObject({ status: 404, readAfter: [recent] });
  const params = { sessionKey: key, runId: 'run-1', timeoutMs: 0 };
  const { body } = await call('POST', '/v1/rpc', { body: { method: 'agent.wait', params } });
  expect(body).toMatchObject({ status: 404, detail: expect.stringContaining('older ones are read with its messages') });
});

test('A10/122: of a session that is not long every run is found', async () => {
  const { ask } = await startLong(limits.runSearchCommits);
  expect(await ask('run-1')).toMatchObject({ status: 200, readAfter: [limits.runSearchCommits - 3, 0] });
});

test('I11: a generation in which nothing was said yet is no reason to read all before it', async () => {
  const commits = limits.runSearchCommits + 1;
  const { ask } = await startLong(commits, { window: [] });
  expect(await ask('run-x')).toMatchObject({ status: 404, readAfter: [commits - 1] });
});
