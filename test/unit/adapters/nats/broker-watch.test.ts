import { setImmediate as turn } from 'node:timers/promises';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import type { StreamGuard } from '../../../../shared/adapters/kv/guards/stream-guard.ts';
import { watchBroker } from '../../../../shared/adapters/nats/watch/broker-watch.ts';
import { NatterError } from '../../../../shared/kit/errors.ts';

const connection = { isClosed: () => false, status: async function* () {} } as unknown as NatsConnection;

/** A watch whose guard fails with `failing.error`, if that is set; a look that fails takes 2 s. */
const watched = async () => {
  const failing: { error: NatterError | null } = { error: null };
  let now = 0;
  let wake = (): void => {};
  const beat = () =>
    new Promise<void>((woken) => {
      wake = woken;
    });
  const look = async (): Promise<void> => {
    if (failing.error === null) return;
    now += 2_000;
    throw failing.error;
  };
  const guard = { code: 'log_went_back', isDue: true, look, problem: () => null, distrust: () => {} } as unknown as StreamGuard;
  const clock = { now: () => now, monotonic: () => now, sleep: beat };
  const watch = await watchBroker({ connection, guards: [guard], clock });
  onTestFinished(() => watch.stop());
  const problemsAfterNextLook = async (error: NatterError | null): Promise<string[]> => {
    failing.error = error;
    now += 2_000;
    wake();
    await turn();
    return watch.problems().map(String);
  };
  return problemsAfterNextLook;
};

test('one look that gets no answer is no failure of the broker, several in a row are, and the first answer ends it', async () => {
  const problemsAfterNextLook = await watched();
  const silence = new NatterError('unavailable', 'no answer of the broker', { cause: new errors.TimeoutError() });
  for (const error of [silence, null, silence, null, silence]) expect(await problemsAfterNextLook(error)).toEqual([]);
  expect(await problemsAfterNextLook(silence)).toEqual(['no answer of the broker']);
  expect(await problemsAfterNextLook(null)).toEqual([]);
});

test('an answer that is an error is told at once', async () => {
  const problemsAfterNextLook = await watched();
  expect(await problemsAfterNextLook(new NatterError('unavailable', 'no leader'))).toEqual(['no leader']);
});
