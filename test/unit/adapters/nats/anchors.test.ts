import type { JetStreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import type { ReplyInbox } from '../../../../shared/adapters/nats/client/reply-inbox.ts';
import { Anchors, anchorBytes, anchorsKept } from '../../../../shared/adapters/nats/publish/anchors.ts';

/** A stream that takes anchors, or refuses them, and what was done to it. */
const rig = ({ isReplicated = true, stored = 0, fails = false, to = 'natter.anchor.commands' } = {}) => {
  const subject = isReplicated ? to : undefined;
  const [published, purges]: [string[], unknown[]] = [[], []];
  const ask = async (to: string, payload: Uint8Array) => {
    published.push(`${to} ${payload.length}`);
    if (fails) throw new Error('no leader');
  };
  const streams = {
    info: async () => ({
      state: { messages: 1_000 + stored, subjects: subject === undefined ? undefined : { [subject]: stored } },
    }),
    purge: async (stream: string, options: object) => purges.push({ stream, ...options }),
  };
  const inbox = { ask } as unknown as ReplyInbox;
  const manager = Promise.resolve({ streams } as unknown as JetStreamManager);
  const anchors = new Anchors({ inbox, manager, stream: 'S', subject, requestTimeoutMs: 1_000 });
  return { anchors, published, purges };
};
const half = anchorBytes / 2;

test('the first message of a process has an anchor, and then the one with which 32 kB are full', () => {
  const { anchors, published } = rig();
  anchors.note(0);
  expect(published).toEqual(['natter.anchor.commands 0']);
  anchors.note(half);
  expect(published).toHaveLength(1);
  anchors.note(half);
  expect(published).toHaveLength(2);
  for (let bytes = 0; bytes < 8 * anchorBytes; bytes += 1_000) anchors.note(1_000);
  // A message takes more in the store than its payload.
  expect(published.length).toBeGreaterThanOrEqual(2 + 8);
});

test('those of a bucket go to one place after another, and then replace the oldest, so that nobody has to remove any', () => {
  const { anchors, published } = rig({ to: 'natter.anchor.index.*' });
  for (let count = 0; count <= anchorsKept; count++) anchors.note(anchorBytes);
  const places = published.map((line) => Number(/^natter\.anchor\.index\.(\d+) 0$/.exec(line)?.[1]));
  expect(new Set(places.slice(0, -1)).size).toBe(anchorsKept);
  expect(places.at(-1)).toBe(places[0]);
});

test('a stream that needs none gets none, and loses nothing', async () => {
  const { anchors, published, purges } = rig({ isReplicated: false });
  anchors.note(10 * anchorBytes);
  await anchors.trim();
  expect([published, purges, await anchors.others()]).toEqual([[], [], 1_000]);
});

test('one that the broker refuses harms nobody', async () => {
  const { anchors, published } = rig({ fails: true });
  anchors.note(0);
  anchors.note(anchorBytes);
  await Promise.resolve();
  expect(published).toHaveLength(2);
});

test('the newest stay, and no message that is no anchor is counted or removed with them', async () => {
  const enough = rig({ stored: 2 * anchorsKept });
  await enough.anchors.trim();
  expect([enough.purges, await enough.anchors.others()]).toEqual([[], 1_000]);
  const many = rig({ stored: 2 * anchorsKept + 1 });
  await many.anchors.trim();
  expect(many.purges).toEqual([{ stream: 'S', filter: 'natter.anchor.commands', keep: anchorsKept }]);
});
