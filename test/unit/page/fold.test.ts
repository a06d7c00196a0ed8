import { expect, test, vi } from 'vitest';
import { corpus, readCommits } from '../../support/domain/golden.ts';

const histories = corpus().map((golden) => ({ golden, commits: readCommits(golden) }));

vi.resetModules();
vi.doMock('zod', () => import('../../../services/page/fold/no-schemas.ts'));

test('the fold runs in the page, which has no schemas: every event of every version, to the state that it was recorded with', async () => {
  const { fold, initialState, toPlain } = await import('../../../shared/domain/session/fold/evolve.ts');
  for (const { golden, commits } of histories) {
    const state = commits.reduce(fold, initialState);
    expect(toPlain(state), golden.name).toMatchObject(golden.state);
  }
});
