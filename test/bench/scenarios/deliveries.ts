import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionEvent } from '../../../shared/domain/session/events.ts';
import { assistantMessage, commitTo, freshKey } from '../../support/domain/commits.ts';
import { startScriptedPlatform } from '../../support/platform/scripted-platform.ts';
import { processorMs, type SetupName, setups, startSystem } from '../system.ts';
import type { Row } from '../table.ts';

const rooms = 32;

/** Replies of 2,000 characters to a webhook that answers at once: in one piece, without a limit and under one, and in five parts. */
export const deliveries = async (setup: SetupName, seconds: number): Promise<Row[]> => {
  const platform = await startScriptedPlatform(() => 'store', { recognises: false });
  const hook = { url: platform.url, secret: 'a secret' };
  const webhooks = { whole: hook, limited: { ...hook, maxCharacters: 40_000 }, parts: { ...hook, maxCharacters: 500 } };
  const system = await startSystem(setup, { outlets: { webhooks } });
  try {
    const delivery = await system.start('delivery');
    const text = Array.from({ length: 5 }, (_, part) => `Part **${part + 1}** ${'x'.repeat(400)}`).join('\n\n');
    const deliver = async (channel: string, count: number, messages: number): Promise<{ perSecond: number; usedMs: number }> => {
      const until = platform.stored.length + count * messages;
      const [began, usedBefore] = [performance.now(), await processorMs(delivery.pid)];
      for (let number = 0; number < count; number += 1) {
        const event = { ...assistantMessage(text), deliverTo: { channel, to: `${number % rooms}` } } as SessionEvent;
        await system.ports.events.append(commitTo(freshKey(), { events: [event] }), 0);
      }
      while (platform.stored.length < until) await sleep(5);
      const usedMs = (await processorMs(delivery.pid)) - usedBefore;
      return { perSecond: (1_000 * count) / (performance.now() - began), usedMs: usedMs / count };
    };
    const count = seconds * 50;
    for (const [channel, messages] of [['whole', 1] as const, ['parts', 5] as const]) await deliver(channel, count, messages);
    const whole = await deliver('whole', count, 1);
    const limited = await deliver('limited', count, 1);
    const parts = await deliver('parts', count, 5);
    return [
      { what: `replies in one piece (${setups[setup].title})`, value: whole.perSecond, unit: '/s', ratio: 1 },
      { what: 'the same under a limit', value: limited.perSecond, unit: '/s', ratio: limited.perSecond / whole.perSecond },
      { what: 'replies in five parts', value: parts.perSecond, unit: '/s', ratio: parts.perSecond / whole.perSecond },
      { what: 'processor time of delivery per reply, one piece', value: 1_000 * whole.usedMs, unit: 'µs', ratio: 1 },
      {
        what: 'processor time of delivery per reply, under a limit',
        value: 1_000 * limited.usedMs,
        unit: 'µs',
        ratio: limited.usedMs / whole.usedMs,
      },
      {
        what: 'processor time of delivery per reply, five parts',
        value: 1_000 * parts.usedMs,
        unit: 'µs',
        ratio: parts.usedMs / whole.usedMs,
      },
    ];
  } finally {
    await system.close();
    await platform.close();
  }
};
