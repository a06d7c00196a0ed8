import { setImmediate as turn } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import type { StreamGuard } from '../../../../shared/adapters/kv/guards/stream-guard.ts';
import { watchBroker } from '../../../../shared/adapters/nats/watch/broker-watch.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';

const connection = { isClosed: () => false, status: async function* () {} } as unknown as NatsConnection;

test('one look that gets no answer is no failure of the broker, several in a row are, and the first answer ends it', async () => {
  let isSilent = false;
  let now = 0;
  let wake = (): void => {};
  const beat = () =>
    new Promise<void>((woken) => {
      wake = woken;
    });
  const clock = { now: () => now, monotonic: () => now, sleep: beat };
  const look = async (): Promise<void> => {
    now += isSilent ? 2_000 : 0;
    if (isSilent) throw new NatterError('unavailable', 'no answer of the broker');
  };
  const guard = { code: 'log_went_back', isDue: true, look, problem: () => null, distrust: () => {} } as unknown as StreamGuard;
  const watch = await watchBroker({ connection, guards: [guard], clock });
  onTestFinished(() => watch.stop());
  const problemsAfterNextLook = async (): Promise<string[]> => {
    now += 2_000;
    wake();
    await turn();
    return watch.problems().map(String);
  };

  for (const silent of [true, false, true, false]) {
    isSilent = silent;
    expect(await problemsAfterNextLook()).toEqual([]);
  }
  isSilent = true;
  expect(await problemsAfterNextLook()).toEqual([]);
  expect(await problemsAfterNextLook()).toEqual(['no answer of the broker']);
  isSilent = false;
  expect(await problemsAfterNextLook()).toEqual([]);
});
