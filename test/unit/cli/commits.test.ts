import { expect, test } from 'vitest';
import { commitsOf } from '../../../services/cli/commits.ts';
import type { NatterClient } from '../../../shared/client/main.ts';
import { key, tell } from '../../support/domain/given.ts';

const { commits } = tell('open', 'post m1', 'reply m1/1 1');

test.each([key, 'main'])('a session named %s whose first commits are lost is told of, and the others are read', async (name) => {
  const kept = commits.slice(1);
  const client = {
    sessions: {
      export: async function* () {
        yield* kept;
      },
    },
  } as unknown as NatterClient;
  const lost: object[] = [];
  const read: number[] = [];
  for await (const { rev } of commitsOf(client, name, { lost: (gap) => lost.push(gap) })) read.push(rev);
  expect(read).toEqual(kept.map(({ rev }) => rev));
  expect(lost).toHaveLength(1);
});
