import { createHash } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { openConnection } from '../../../shared/adapters/nats/client/connection.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import { streamNames } from '../../../shared/wire/topology.ts';
import { optionsOf } from '../../bench/options.ts';
import { type BenchSystem, startSystem } from '../../bench/system.ts';
import { freePort } from '../../bench/up.ts';
import { runConnector } from './run.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const token = 'chaos-token-of-the-connector';
const sha256 = createHash('sha256').update(token).digest('hex');

/** Envelopes that the broker has taken for new ones so far: what comes again later than it remembers is one. */
const envelopesStored = async ({ servers, config }: BenchSystem): Promise<number> => {
  const connection = await openConnection({ servers, name: 'chaos witness', requestTimeoutMs: 5_000 });
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info(streamNames(config.prefix).inbound);
  await connection.close();
  return state.last_seq;
};

const oneRun = async (posts: number, chats: number, repeatsMs: readonly number[]): Promise<boolean> => {
  const port = await freePort();
  const settings = { gateway: { port, tokens: { telegram: { sha256, role: 'channel', namespace: 'telegram' } } } };
  const system = await startSystem('always', settings, 'error');
  try {
    await Promise.all((['gateway', 'router', 'session'] as const).map((name) => system.start(name)));
    const began = systemClock.monotonic();
    const { violations, kills, handedAgain } = await runConnector({
      ...{ posts, chats, repeatsMs, everyMs: 60, killEveryMs: 2_000 },
      ...{ gateway: { url: `http://127.0.0.1:${port}`, token }, ports: system.ports },
    });
    const forgotten = (await envelopesStored(system)) - posts;
    const seconds = Math.round((systemClock.monotonic() - began) / 1_000);
    say(
      `  ${posts} envelopes in ${chats} groups, each again after ${repeatsMs.map((ms) => ms / 1_000).join(', ')} s: ${kills} kills, ` +
        `${handedAgain} handed over again by that, ${forgotten} past the memory of the broker, ${violations.length} violations, ${seconds} s`,
    );
    for (const violation of violations.slice(0, 20)) say(`    VIOLATION: ${violation}`);
    const lacking = [
      ...(handedAgain > 0 ? [] : ['nothing was in hand at a kill']),
      ...(forgotten > 0 ? [] : ['the broker knew every repeat: --repeats needs one after more than two minutes']),
    ];
    for (const what of lacking) say(`    DOES NOT COUNT: ${what}`);
    return violations.length === 0 && lacking.length === 0;
  } finally {
    await system.close();
  }
};

/**
 * `npm run chaos -- connectors [--posts 1000] [--groups 1,50] [--repeats 1,180,600]`: a connector posts envelopes and is killed every 2 s,
 * and the platform repeats each after so many seconds. Resolves with the exit code: 1 when a message was lost, is there twice or out of
 * order, or when the run does not count: nothing was in hand at a kill, or the broker recognised every repeat.
 */
export const connectors = async (given: readonly string[]): Promise<number> => {
  const values = optionsOf(
    'npm run chaos -- connectors',
    {
      posts: { type: 'string', default: '1000' },
      groups: { type: 'string', default: '1,50' },
      repeats: { type: 'string', default: '1,180,600' },
    },
    given,
  );
  const repeatsMs = values.repeats.split(',').map((seconds) => 1_000 * Number(seconds));
  let isGood = true;
  for (const chats of values.groups.split(',')) isGood = (await oneRun(Number(values.posts), Number(chats), repeatsMs)) && isGood;
  return isGood ? 0 : 1;
};
