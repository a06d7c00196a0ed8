import { createHash } from 'node:crypto';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { type InboundEnvelope, inboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import { createRoute } from '../../../shared/domain/routing/route.ts';
import type { Row } from '../table.ts';

/** Envelopes to a key and a decision, on one core, by the processor's time: what else runs on the machine does not count. */
const envelopes = (count: number): InboundEnvelope[] =>
  Array.from({ length: count }, (_, number) =>
    inboundEnvelope.parse({
      id: `telegram:${number}`,
      channel: number % 3 === 0 ? 'discord' : 'telegram',
      conversation: { id: `-100${number % 500}`, kind: number % 4 === 0 ? 'direct' : 'group', subject: 'Ubuntu' },
      sender: { id: `${number % 300}`, name: 'Ann' },
      text: `message ${number}: how do I mount a windows partition in ubuntu?`,
      mentioned: number % 5 === 0,
      at: Date.UTC(2026, 2, 4, 5) + number,
    }),
  );

const people = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`person-${n}`, [`telegram:${n}`, `discord:${n}`]]));
const settings = {
  main: {},
  'per-channel-peer': { dmScope: 'per-channel-peer', identityLinks: people },
  global: { scope: 'global' },
} as const;

/** Calls of `work` per second of processor time. */
const perSecond = (work: () => number, seconds: number): number => {
  const began = process.cpuUsage();
  let count = 0;
  for (;;) {
    count += work();
    const { user, system } = process.cpuUsage(began);
    if (user + system > seconds * 1_000_000) return count / ((user + system) / 1_000_000);
  }
};

/** Routing, against the hash that every command's id takes. The first second of each is the compiler's. */
export const routing = async (): Promise<Row[]> => {
  const all = envelopes(2_000);
  const hashed = (): number => {
    for (const { id } of all) createHash('sha256').update(id).digest('hex');
    return all.length;
  };
  perSecond(hashed, 1);
  const yardstick = perSecond(hashed, 1);
  const rows: Row[] = [{ what: 'SHA-256 of an id', value: yardstick, unit: '/s of one core', ratio: 1 }];
  for (const [name, session] of Object.entries(settings)) {
    const route = createRoute(configSchema.parse({ agent: { names: ['natter'], owners: ['telegram:1'] }, session }));
    let commands = 0;
    const routed = (): number => {
      for (const envelope of all) if ('command' in route(envelope, Date.UTC(2026, 2, 5))) commands += 1;
      return all.length;
    };
    perSecond(routed, 1);
    const value = perSecond(routed, 2);
    if (commands % all.length !== 0) throw new Error('every envelope of the bench should become a command');
    rows.push({ what: `envelopes routed, ${name}`, value, unit: '/s of one core', ratio: value / yardstick, goal: '200,000' });
  }
  return rows;
};
