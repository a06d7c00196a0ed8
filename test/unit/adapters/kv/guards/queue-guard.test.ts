import { expect, test, vi } from 'vitest';
import { InMemoryKeyValue } from '../../../../../shared/adapters/in-memory/kv-store.ts';
import { QueueGuard } from '../../../../../shared/adapters/kv/guards/queue-guard.ts';
import { createWritersWitness } from '../../../../../shared/adapters/kv/guards/writers-witness.ts';
import { systemClock } from '../../../../../shared/kit/clock.ts';
import { afterwards } from '../../../../support/afterwards.ts';

/** A queue, and processes that use it (I13). */
const queueOf = () => {
  const stream = { incarnation: 1, lastSeq: 0 };
  const bucket = new InMemoryKeyValue({ clock: systemClock });
  const witness = createWritersWitness(bucket, 'queue');
  const put = vi.spyOn(bucket, 'put');
  const looks = vi.fn(async () => ({ ...stream }));
  const process = (lazy = false): QueueGuard => {
    const guard = new QueueGuard({ stream: 'QUEUE', clock: systemClock, witness, lazy, end: looks });
    afterwards(() => guard.stop());
    return guard;
  };
  const store = (guard: QueueGuard, duplicateOf?: number) =>
    guard.store(async () => (duplicateOf === undefined ? { seq: ++stream.lastSeq } : { seq: duplicateOf, duplicate: true }));
  return { bucket, stream, witness, put, looks, process, store };
};
const certain = (guard: QueueGuard) => vi.waitFor(() => expect(guard.problem()).toMatchObject({ certain: true }));

test('the first message is shared at once, those after it together, and no message waits for it', async () => {
  const { witness, put, process, store } = queueOf();
  const guard = process();
  await store(guard);
  await vi.waitFor(async () => expect(await witness.read()).toMatchObject({ seq: 1, incarnation: 1 }));
  for (let i = 0; i < 50; i++) await store(guard);
  await guard.save();
  expect(await witness.read()).toMatchObject({ seq: 51 });
  expect(put.mock.calls.length).toBeLessThan(5);
});

test('what one process has seen stops another, and its own memory stops itself, when the queue ends before that', async () => {
  const { stream, process, store } = queueOf();
  const [guard, another] = [process(), process()];
  await store(guard);
  await store(guard);
  await guard.save();
  stream.lastSeq = 1;
  await expect(another.check()).rejects.toMatchObject({ code: 'unavailable', message: /QUEUE ends at 1, but had reached 2/ });
  guard.distrust();
  await expect(store(guard)).rejects.toMatchObject({ code: 'unavailable' });
  expect(stream.lastSeq, 'nothing was stored').toBe(1);
  stream.lastSeq = 2;
  await Promise.all([guard.check(), another.check()]);
});

test('the witness went back together with the queue: a process that still runs writes it again, so that others stop and a person can decide', async () => {
  const { bucket, stream, witness, process, store } = queueOf();
  const guard = process();
  await store(guard);
  await guard.save();
  const { value } = await bucket.read('queue');
  await store(guard);
  await store(guard);
  await guard.save();
  const goBack = async (now: Partial<typeof stream>): Promise<void> => {
    Object.assign(stream, now);
    await bucket.put('queue', value ?? Buffer.alloc(0));
    guard.distrust();
    await expect(store(guard)).rejects.toMatchObject({ code: 'unavailable' });
  };
  await goBack({ lastSeq: 1 });
  expect(await witness.read()).toMatchObject({ seq: 3, incarnation: 1 });
  await expect(process().check()).rejects.toMatchObject({ message: /ends at 1, but had reached 3/ });

  // Another stream in its place may be a restored backup, and starts without a witness.
  await goBack({ incarnation: 2, lastSeq: 0 });
  expect(await witness.read()).toMatchObject({ seq: 1, incarnation: 1 });
});

test('one that was created anew is another, although it is longer', async () => {
  const { stream, process, store } = queueOf();
  const guard = process();
  await store(guard);
  await guard.save();
  Object.assign(stream, { incarnation: 2, lastSeq: 9 });
  await expect(process().check()).rejects.toMatchObject({ message: /recreated; it had reached 1/ });
});

test('a place that is given out twice proves it, also to processes after this one, until a person accepts it', async () => {
  const { stream, witness, process, store } = queueOf();
  const guard = process();
  for (let i = 0; i < 3; i++) await store(guard);
  stream.lastSeq = 1;
  // Others fill the places before this process looks again.
  expect(await store(guard)).toEqual({ seq: 2 });
  stream.lastSeq = 8;
  await expect(store(guard)).rejects.toMatchObject({ message: /gave its place 2 out again/ });
  await certain(guard);
  await expect(process().check()).rejects.toMatchObject({ message: /gave its place 2 out again/ });
  await witness.accept({ incarnation: 1, seq: 8, digest: null });
  await Promise.all([guard.check(), process().check()]);
  expect(await store(guard)).toEqual({ seq: 9 });
});

test('no false alarm: a repeat that the queue recognises, a late answer, and a queue that was emptied', async () => {
  const { process, store } = queueOf();
  const guard = process();
  for (let i = 0; i < 3; i++) await store(guard);
  await store(guard, 2);
  expect(guard.isTrusted).toBe(true);
  let late = (_: { seq: number }): void => {};
  const first = guard.store(() => new Promise<{ seq: number }>((resolve) => (late = resolve)));
  await vi.waitFor(() => expect(late.length).toBe(1));
  await guard.store(async () => ({ seq: 5 }));
  late({ seq: 4 });
  await first;
  expect(guard.isTrusted).toBe(true);
});

test('one that only some services may look at is not looked at before it is used', async () => {
  const { looks, process } = queueOf();
  const guard = process(true);
  expect([guard.isDue, guard.problem()]).toEqual([false, null]);
  const checking = guard.check();
  // Who uses it waits for this; calls that have nothing to do with it do not fail meanwhile.
  expect(guard.problem()).toBeNull();
  await checking;
  expect(looks).toHaveBeenCalledTimes(1);
  guard.distrust();
  expect([guard.isDue, guard.problem()]).toEqual([true, { text: 'the stream QUEUE is being checked', certain: false }]);
});

test('a look that began before the connection broke proves nothing', async () => {
  const { stream, looks, process, store } = queueOf();
  const guard = process();
  await store(guard);
  await guard.save();
  guard.distrust();
  let answer = (): void => {};
  const before = { ...stream };
  looks.mockImplementationOnce(
    () =>
      new Promise((resolve) => {
        answer = () => resolve(before);
      }),
  );
  const looking = guard.look();
  await vi.waitFor(() => expect(looks).toHaveBeenCalledTimes(2));
  guard.distrust();
  stream.lastSeq = 0;
  answer();
  await looking;
  await expect(store(guard)).rejects.toMatchObject({ message: /ends at 0, but had reached 1/ });
  expect(stream.lastSeq, 'nothing was stored').toBe(0);
});
