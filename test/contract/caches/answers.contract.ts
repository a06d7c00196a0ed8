import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CommandAnswer } from '../../../shared/domain/session/envelope.ts';
import { limits } from '../../../shared/kit/limits.ts';
import type { CacheBroker } from '../../support/caches.ts';

const accepted = (commandId: string): CommandAnswer => ({ commandId, outcome: 'accepted', seq: 4, rev: 2 });

export const answersContract = (broker: () => CacheBroker): void => {
  /** One that asks and one that answers, whose servers know of each other that the first listens: a cluster needs a moment for that. */
  const two = async () => {
    const [asker, teller, id] = [await broker().host(), await broker().host(), randomUUID()];
    await vi.waitFor(async () => {
      const wait = asker.answers.wait(id, 100);
      teller.answers.tell(asker.answers.address, accepted(id));
      expect(await wait).toEqual(accepted(id));
    });
    return [asker, teller] as const;
  };

  test('whoever waits hears the outcome of its command, and only that', async () => {
    const [asker, teller] = await two();
    const ids = Array.from({ length: 50 }, () => randomUUID());
    const waits = ids.map((id) => asker.answers.wait(id, 10_000));
    for (const id of ids.toReversed()) teller.answers.tell(asker.answers.address, accepted(id));
    expect(await Promise.all(waits)).toEqual(ids.map(accepted));
  });

  test('every field of an answer arrives', async () => {
    const [{ answers }, commandId] = [await broker().host(), randomUUID()];
    const refused: CommandAnswer = { commandId, outcome: 'refused', code: 'queue_full', message: 'ü'.repeat(300) };
    const wait = answers.wait(commandId, 10_000);
    answers.tell(answers.address, refused);
    expect(await wait).toEqual(refused);
  });

  test('no answer in time is null, and a late one is nobody’s', async () => {
    const [{ answers }, id, next] = [await broker().host(), randomUUID(), randomUUID()];
    expect(await answers.wait(id, 30)).toBeNull();
    answers.tell(answers.address, accepted(id));
    const wait = answers.wait(next, 10_000);
    answers.tell(answers.address, accepted(next));
    expect(await wait).toEqual(accepted(next));
  });

  test('two waits for one command both hear', async () => {
    const [{ answers }, id] = [await broker().host(), randomUUID()];
    const waits = [answers.wait(id, 10_000), answers.wait(id, 10_000)];
    answers.tell(answers.address, accepted(id));
    expect(await Promise.all(waits)).toEqual([accepted(id), accepted(id)]);
  });

  test('bytes that are no answer are passed over', async () => {
    const [{ answers }, id] = [await broker().host(), randomUUID()];
    const wait = answers.wait(id, 10_000);
    broker().ephemera.publish(answers.address, Buffer.from('yes'));
    broker().ephemera.publish(answers.address, new Uint8Array());
    answers.tell(answers.address, accepted(id));
    expect(await wait).toEqual(accepted(id));
  });

  test.each([
    'natter.event.x.main',
    'natter.command.main',
    '$JS.API.STREAM.PURGE.X',
    '_INBOX.>',
    '_INBOX.*',
    '_INBOX',
    '',
    'a b',
  ])('I8: a forged address is not written to: %s', async (address) => {
    const [{ answers }, id, heard] = [await broker().host(), randomUUID(), vi.fn()];
    if (!/[ *>]|^$/.test(address)) onTestFinished(broker().ephemera.subscribe(address, heard));
    const wait = answers.wait(id, 10_000);
    answers.tell(address, { commandId: id, outcome: 'refused' });
    answers.tell(answers.address, accepted(id));
    expect(await wait).toEqual(accepted(id));
    expect(heard).not.toHaveBeenCalled();
  });

  test('I11: waits are bounded; one more is refused as overloaded', async () => {
    const { answers } = await broker().host();
    const waits = Array.from({ length: limits.waitingCalls }, (_, at) => answers.wait(`c${at}`, 2_000));
    await expect(answers.wait('one more', 10)).rejects.toMatchObject({ code: 'overloaded' });
    for (let at = 0; at < limits.waitingCalls; at++) answers.tell(answers.address, accepted(`c${at}`));
    await Promise.all(waits);
    expect(await answers.wait('again', 10)).toBeNull();
  });

  test('telling never throws, not even when the host is dead', async () => {
    const [dead, other] = [await broker().host(), await broker().host()];
    await dead.kill();
    expect(() => dead.answers.tell(other.answers.address, accepted('x'))).not.toThrow();
    expect(() => dead.answers.tell(other.answers.address, { ...accepted('x'), seq: 0.5 })).not.toThrow();
  });
};
