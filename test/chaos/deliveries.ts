import { jetstreamManager } from '@nats-io/jetstream';
import { isFinal } from '../../services/delivery/delivery-state.ts';
import { openConnection } from '../../shared/adapters/nats/client/connection.ts';
import type { SessionEvent } from '../../shared/domain/session/events.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { CustodyRecord } from '../../shared/ports/custody-log.ts';
import { custodyCodec } from '../../shared/wire/custody-record.ts';
import { streamNames } from '../../shared/wire/topology.ts';
import { optionsOf } from '../bench/options.ts';
import { type BenchSystem, startSystem, type Worker } from '../bench/system.ts';
import { type Random, randomOf } from '../sim/random.ts';
import { assistantMessage, commitTo, freshKey } from '../support/domain/commits.ts';
import { type Reaction, startScriptedPlatform } from '../support/platform/scripted-platform.ts';
import { violationsOf } from '../support/platform/verdict.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Waits of 70 s and of hours are in test/e2e/delivery/parts.test.ts, where time can be skipped. */
const reactions = {
  ...{
    store: 60,
    store_late: 10,
    store_and_cut: 6,
    cut: 6,
    store_and_500: 6,
    hang: 2,
    busy: 3,
    wait: 3,
    longWait: 2,
    invalid: 2,
  },
};
const reactionOf = (name: keyof typeof reactions): Reaction => {
  if (name === 'busy') return { status: 503 };
  if (name === 'invalid') return { status: 400 };
  if (name === 'wait' || name === 'longWait') return { status: 429, retryAfterSeconds: name === 'wait' ? 1 : 8 };
  return name;
};

/** Every custody record so far, in the order of the log. */
const recordsOf = async ({ servers, config }: BenchSystem): Promise<CustodyRecord[]> => {
  const connection = await openConnection({ servers, name: 'chaos witness', requestTimeoutMs: 5_000 });
  const manager = await jetstreamManager(connection);
  const stream = streamNames(config.prefix).deliveries;
  const { state } = await manager.streams.info(stream);
  const records: CustodyRecord[] = [];
  for (let seq = 1; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams.getMessage(stream, { seq });
    if (message) records.push(custodyCodec.decode(message.data));
  }
  await connection.close();
  return records;
};

/** What may not have arrived, and is not in the list of `natter deliveries`. */
const unlisted = async ({ ports }: BenchSystem, finals: ReadonlyMap<string, CustodyRecord>): Promise<string[]> => {
  const listed = new Set((await ports.deadLetters.list(1_000)).map(({ id }) => id));
  return [...finals.values()].flatMap(({ state, outboundId }) =>
    state === 'delivered' || listed.has(outboundId) ? [] : [`${outboundId} is ${state}, and nobody is told`],
  );
};

/** Appends replies of one to five parts to the log. Resolves with their ids, in order. */
const reply = async ({ ports }: BenchSystem, replies: number, random: Random): Promise<string[]> => {
  const ids: string[] = [];
  for (let index = 0; index < replies; index += 1) {
    const parts = Array.from({ length: random.between(1, 5) }, (_, part) => `Part **${part + 1}** ${'x'.repeat(400)}`);
    const deliverTo = { channel: 'chat', to: `room-${random.between(1, 25)}` };
    const event = { ...assistantMessage(parts.join('\n\n')), deliverTo } as SessionEvent;
    const result = await ports.events.append(commitTo(freshKey(), { events: [event] }), 0);
    if (result.kind !== 'stored') throw new Error(`the log refused a reply: ${result.kind}`);
    ids.push(`${result.seq}.0`);
  }
  return ids;
};

const oneRun = async (seed: number, replies: number, idempotent: boolean): Promise<boolean> => {
  const random = randomOf(seed);
  const react = (_: unknown, nth: number): Reaction => (nth > 4 ? 'store' : reactionOf(random.weighted(reactions)));
  const platform = await startScriptedPlatform(react, { recognises: idempotent });
  const chat = { url: platform.url, secret: 'a secret', maxCharacters: 500, timeoutMs: 1_000, idempotent };
  const system = await startSystem('always', { outlets: { webhooks: { chat } } }, 'error');
  try {
    const workers: Worker[] = [await system.start('delivery'), await system.start('delivery')];
    const ids = await reply(system, replies, random);
    const began = systemClock.monotonic();
    const finals = new Map<string, CustodyRecord>();
    let [kills, records] = [0, 0];
    while (finals.size < replies && systemClock.monotonic() - began < 600_000) {
      await systemClock.sleep(random.between(1_000, 3_000));
      if (systemClock.monotonic() - began < 60_000) {
        await workers.shift()?.kill9();
        workers.push(await system.start('delivery'));
        kills += 1;
      }
      const all = await recordsOf(system);
      records = all.length;
      for (const record of all) if (isFinal(record.state)) finals.set(record.outboundId, record);
    }
    const problems = [
      ...violationsOf({ outbounds: ids, stored: platform.stored, finals, canKnow: idempotent }),
      ...(await unlisted(system, finals)),
    ];
    const states = [...finals.values()].map(({ state }) => state);
    const counts = [...new Set(states)].map((state) => `${states.filter((each) => each === state).length} ${state}`);
    const seconds = Math.round((systemClock.monotonic() - began) / 1_000);
    say(
      `  seed ${seed}, ${idempotent ? 'ids recognised' : 'ids not recognised'}: ${counts.join(', ')}; ${platform.requests.length} requests, ` +
        `${platform.stored.length} messages, ${records} records, ${kills} kills, ${seconds} s`,
    );
    for (const problem of problems.slice(0, 20)) say(`    VIOLATION: ${problem}`);
    return problems.length === 0 && kills > 0;
  } finally {
    await system.close();
    await platform.close();
  }
};

/**
 * `npm run chaos -- deliveries [--replies 500] [--runs 1] [--seed N]`: replies of one to five parts to a platform with every fault, while the
 * delivery services are killed every few seconds. Resolves with the exit code: 1 when a message came twice, out of order or not at all where
 * the outlet can know, or when custody says what is not so.
 */
export const deliveries = async (given: readonly string[]): Promise<number> => {
  const values = optionsOf(
    'npm run chaos -- deliveries',
    {
      replies: { type: 'string', default: '500' },
      runs: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
    given,
  );
  let isGood = true;
  for (let run = 0; run < Number(values.runs); run += 1)
    for (const idempotent of [true, false])
      isGood = (await oneRun(Number(values.seed) + run, Number(values.replies), idempotent)) && isGood;
  return isGood ? 0 : 1;
};
