import { expect, test } from 'vitest';
import { createInMemoryDeadLetters } from '../../../../shared/adapters/in-memory/dead-letters.ts';
import { handleStored } from '../../../../shared/adapters/streams/handle-stored.ts';
import { commandBinding } from '../../../../shared/adapters/streams/queue-binding.ts';
import { encodeCommand } from '../../../../shared/wire/codec.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';
import { commandTo } from '../../../contract/work-queue/work-queue.contract.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';

const binding = commandBinding(subjectsUnder('natter'), 1);
const unreadable = new Uint8Array([0xc1]);
const hopeless = encodeCommand(commandTo('k', 'hopeless'));

/** One member after the other tries a message, a second apart; the letters that are there in the end, oldest first. */
const lettersAfter = async (...tries: readonly { seq: number; bytes: Uint8Array; created?: number }[]) => {
  const clock = new VirtualClock(1_790_000_000_000);
  const deadLetters = createInMemoryDeadLetters({ clock });
  for (const [index, { seq, bytes, created = 1 }] of tries.entries()) {
    const fate = await handleStored(
      {
        ...{ binding, clock, deadLetters, incarnation: async () => created },
        options: { handle: async () => ({ kind: 'dead', reason: 'nobody knows how' }) },
      },
      { seq, bytes, subject: binding.subjectOf('k'), partition: 0, attempt: index + 1 },
    );
    expect(fate).toBe('done');
    await clock.pass(1_000);
  }
  return (await deadLetters.list(10)).toReversed();
};

test.each([
  ['that nobody can read', unreadable],
  ['that its handler gives up', hopeless],
])('I2: a message %s is one letter, however often it comes', async (_, bytes) => {
  expect(await lettersAfter({ seq: 7, bytes }, { seq: 7, bytes }, { seq: 7, bytes })).toHaveLength(1);
});

test('I2: the same bytes at another place, or in another life of the stream, are another letter', async () => {
  const letters = await lettersAfter(
    { seq: 7, bytes: hopeless },
    { seq: 8, bytes: hopeless },
    { seq: 7, bytes: hopeless, created: 2 },
  );
  expect(new Set(letters.map(({ id }) => id)).size).toBe(3);
});
