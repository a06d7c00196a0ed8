import { expect, test } from 'vitest';
import { createTranscriptBatch } from '../../../../services/checkpoint/transcripts/transcript-batch.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import { key, tell } from '../../../support/domain/given.ts';

const gathered = (...rows: string[]) => {
  const batch = createTranscriptBatch(1);
  for (const commit of tell(...rows).commits) batch.add(commit);
  return batch;
};

test('C9: what an erasure removes is not written first, also where both are read at once', () => {
  const { news } = gathered('append m1', 'delete erased', 'append m2').take();
  expect(news).toMatchObject([{ key, erased: true, lines: [{ generation: 2 }, {}] }]);
  expect(JSON.stringify(news)).not.toContain('m1');
});

test('A2/16: what was taken is gathered no more, and the position is that of the last commit, with or without lines', () => {
  const batch = gathered('append m1', 'deactivate');
  expect(batch.take()).toMatchObject({ news: [{ key, erased: false }], position: batch.position() });
  expect(batch.take()).toEqual({ news: [], position: batch.position() });
});

test('I11: it is full by commits, and by characters', () => {
  const [commit] = tell('append m1').commits;
  if (commit === undefined) throw new Error('no commit');
  const many = createTranscriptBatch(0);
  for (let count = 0; count < limits.mirrorCommits; count++) {
    expect(many.isFull()).toBe(false);
    many.add(commit);
  }
  expect(many.isFull()).toBe(true);
  const long = createTranscriptBatch(0);
  const text = 'x'.repeat(limits.mirrorCharacters);
  const events = commit.events.map((event) =>
    event.type === 'user_message' ? { ...event, message: { ...event.message, text } } : event,
  );
  long.add({ ...commit, events });
  expect(long.isFull()).toBe(true);
  long.take();
  expect(long.isFull()).toBe(false);
});
