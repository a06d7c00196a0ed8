import { expect, test, vi } from 'vitest';
import { serve } from './server.ts';

/** How the pages of a history are read. */

/** Pages of two commits each, whose cursors are numbers; the third is the last. */
const twoEach = async () => {
  const asked: string[] = [];
  const { client } = await serve(({ url = '' }, response) => {
    const after = new URL(url, 'http://gateway').searchParams.get('after') ?? '';
    asked.push(after);
    const seq = Number(after);
    const page = { commits: [{ seq: seq + 1 }, { seq: seq + 2 }], next: `${seq + 2}`, more: seq < 4 };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
  });
  return { client, asked };
};

test('every item comes once, in order', async () => {
  const { client, asked } = await twoEach();
  const seqs: number[] = [];
  for await (const { seq } of client.sessions.export('k')) seqs.push(seq);
  expect(seqs).toEqual([1, 2, 3, 4, 5, 6]);
  expect(asked).toEqual(['0', '2', '4']);
});

test('the next page is asked for while one is read, and not before its reader has gone past the first item', async () => {
  const { client, asked } = await twoEach();
  const commits = client.sessions.export('k');
  await commits.next();
  expect(asked).toEqual(['0']);
  await commits.next();
  await vi.waitFor(() => expect(asked).toEqual(['0', '2']));
  await commits.return(undefined);
});
