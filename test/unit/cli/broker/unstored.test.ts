import { expect, test } from 'vitest';
import { UnstoredWrites } from '../../../../services/cli/broker/unstored.ts';

/** Lines as nats-server 2.15.1 wrote them. */
const frozen =
  "[3461] 2026/11/22 23:56:37.430423 [ERR] JetStream stream '$G > EV' critical write error: write msgs/1.blk: no space left on device";
const broken =
  '[3461] 2026/11/22 23:56:37.429900 [ERR] Filestore [EV] Critical write error: write msgs/1.blk: input/output error';
const limited = '[3461] 2026/11/22 23:56:37.429900 [ERR] JetStream file resource limits exceeded for server';
const chatter = '[3461] 2026/11/22 23:56:34.611651 [INF]   Max Storage:     480.00 MB';

const listen = () => {
  let now = 0;
  const unstored = new UnstoredWrites(() => now);
  const wait = (ms: number): void => {
    now += ms;
  };
  return { unstored, wait };
};

test('a stream that is frozen by a full disk stays so until the server was started anew (F26)', () => {
  const { unstored, wait } = listen();
  unstored.hear(chatter);
  expect([unstored.problem(), unstored.wantsRestart()]).toEqual([null, false]);
  unstored.hear(frozen);
  wait(3_600_000);
  expect(unstored.problem()).toMatchObject({ code: 'storage_full', fix: expect.stringContaining('free space') });
  expect(unstored.wantsRestart()).toBe(true);
  unstored.forget();
  expect([unstored.problem(), unstored.wantsRestart()]).toEqual([null, false]);
});

test('another error of the disk is told in the words of the server', () => {
  const { unstored } = listen();
  unstored.hear(broken);
  expect(unstored.problem()).toMatchObject({
    code: 'write_probe_failed',
    message: expect.stringContaining('input/output error'),
  });
});

test('a limit wants a restart as long as it is hit, and is no problem of its own: the broker refuses by itself', () => {
  const { unstored, wait } = listen();
  unstored.hear(limited);
  expect([unstored.problem(), unstored.wantsRestart()]).toEqual([null, true]);
  wait(29_999);
  expect(unstored.wantsRestart()).toBe(true);
  wait(1);
  expect(unstored.wantsRestart()).toBe(false);
});
