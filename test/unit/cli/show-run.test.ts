import { afterEach, expect, test } from 'vitest';
import { showRun } from '../../../services/cli/show-run.ts';
import type { World } from '../../../services/cli/terminal.ts';
import type { Run } from '../../../shared/client/main.ts';

afterEach(() => {
  process.exitCode = undefined;
});

const told = async (code: string, message = 'connect ECONNREFUSED'): Promise<string[]> => {
  const notes: string[] = [];
  const world = { terminal: { note: (text: string) => notes.push(text) } } as unknown as World;
  const run: Run = { runId: 'r', status: 'error', error: { code, message } };
  await showRun(world, 'agent:main:main', run, false);
  return notes;
};

test('a run that goes on after the wait says where its answer will be', async () => {
  const notes: string[] = [];
  const world = { terminal: { note: (text: string) => notes.push(text) } } as unknown as World;
  await showRun(world, 'main', { runId: 'r', status: 'timeout' } as Run, false);
  expect(notes).toEqual([
    'no answer yet; run r goes on. See its answer later with: natter chat main, or natter tail --key main --from 1',
  ]);
});

test('a run that failed because the provider is down says what to do next', async () => {
  expect(await told('model_unavailable')).toEqual([
    'run r failed: connect ECONNREFUSED',
    '→ check the address and the network, and that the server runs; "natter doctor" asks the provider; /model in a chat chooses another',
  ]);
  expect(process.exitCode).toBe(1);
  expect(await told('busy')).toEqual(['run r failed: connect ECONNREFUSED']);
});

test.each(['HTTP 500: internal error', 'own/big: HTTP 503: later; own/small: HTTP 401: no'])(
  'a provider that failed itself (%s) is not taken for one that cannot be reached',
  async (message) => {
    const next =
      '→ the fault is on its side: try again later; "natter doctor" asks the provider; /model in a chat chooses another';
    expect(await told('model_unavailable', message)).toEqual([`run r failed: ${message}`, next]);
  },
);
