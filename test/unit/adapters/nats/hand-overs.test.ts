import { expect, test } from 'vitest';
import { HandOvers } from '../../../../shared/adapters/nats/queue/hand-overs.ts';
import type { Membership } from '../../../../shared/adapters/nats/queue/membership.ts';
import type { Partition } from '../../../../shared/adapters/nats/queue/partition.ts';
import { VirtualClock } from '../../../sim/world/virtual-clock.ts';

/** The hand-over of partition 3, whose message in hand takes `handleMs`, and what the other members hear of it meanwhile. */
const handingOver = (handleMs: number) => {
  const clock = new VirtualClock(1_790_000_000_000);
  const began = clock.monotonic();
  const passed = (): number => Math.round(clock.monotonic() - began);
  const state = { isBusy: false, isWanted: false };
  const seen: string[] = [];
  const membership = {
    announceFinishing: (partitions: readonly number[]) => {
      const said = `finishing [${partitions}]`;
      if (seen.at(-1)?.startsWith(said) !== true) seen.push(`${said} at ${passed()}`);
    },
  };
  const partition = {
    ...{ number: 3, held: true },
    release: async (withinMs: number, mayGo: (isIdle: boolean) => boolean) => {
      const leftMs = Math.max(0, handleMs - passed());
      await clock.sleep(Math.min(withinMs, leftMs));
      const goes = mayGo(leftMs <= withinMs);
      if (goes) seen.push(`gone at ${passed()}`);
      return goes;
    },
  };
  const rules = { isBusy: () => state.isBusy, isWanted: () => state.isWanted };
  const handOvers = new HandOvers<string>(clock, membership as unknown as Membership, rules);
  const over = handOvers.handOver(partition as unknown as Partition<string>);
  void over.then(() => seen.push('over'));
  return { clock, state, seen, handOvers, passed };
};

test('F27: what is over soon is not announced', async () => {
  const { clock, seen } = handingOver(400);
  await clock.pass(1_000);
  expect(seen).toEqual(['gone at 400', 'over']);
});

test('F27: a message that takes long is announced until it is finished and the partition is gone', async () => {
  const { clock, seen } = handingOver(900);
  await clock.pass(2_000);
  expect(seen).toEqual(['finishing [3] at 500', 'gone at 900', 'finishing [] at 900', 'over']);
});

test('F27: what another member cannot continue is announced at once, also if the message in hand began it', async () => {
  const { clock, seen, state } = handingOver(100);
  await clock.pass(50);
  state.isBusy = true;
  await clock.pass(3_000);
  expect(seen).toEqual(['finishing [3] at 100']);
  state.isBusy = false;
  await clock.pass(100);
  expect(seen.slice(1)).toEqual(['gone at 3100', 'finishing [] at 3100', 'over']);
});

test('F27: it ends when the partition is wanted here again, and after ten seconds or when all must end', async () => {
  const again = handingOver(100);
  Object.assign(again.state, { isBusy: true });
  await again.clock.pass(1_000);
  again.state.isWanted = true;
  await again.clock.pass(100);
  expect(again.seen).toEqual(['finishing [3] at 100', expect.stringContaining('finishing []'), 'over']);

  const endless = handingOver(60_000);
  await endless.clock.pass(9_900);
  expect(endless.seen).toEqual(['finishing [3] at 500']);
  await endless.clock.pass(200);
  expect(endless.seen.slice(1)).toEqual(['gone at 10000', 'finishing [] at 10000', 'over']);

  const closing = handingOver(60_000);
  await closing.clock.pass(2_000);
  closing.state.isWanted = true;
  closing.handOvers.endBy(closing.clock.monotonic() + 300);
  await closing.clock.pass(1_000);
  expect(closing.seen.slice(-3)).toEqual(['gone at 2300', 'finishing [] at 2300', 'over']);
});
