import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import { type Post, type RepeatingPlatformOptions, startRepeatingPlatform } from './platform.ts';

export interface ConnectorRunOptions extends RepeatingPlatformOptions {
  /** Where the gateway is, and a token of the channel `telegram`. */
  readonly gateway: { readonly url: string; readonly token: string };
  readonly ports: Pick<Ports, 'events' | 'inbound' | 'commands'>;
  readonly killEveryMs: number;
  /** Default: no limit. */
  readonly mostKills?: number;
}

export interface ConnectorRun {
  readonly violations: readonly string[];
  readonly kills: number;
  /** Updates that the killed connector had and had not confirmed: they were handed over again. */
  readonly handedAgain: number;
}

const lookMs = 20;
/** How long all that was accepted may take to be in the log. */
const settleMs = 120_000;

/** The built connector, from the sources and from `dist` alike. */
const connectorFile = (): string => {
  const beside = new URL(
    import.meta.url.endsWith('.ts') ? '../../../dist/test/chaos/connectors/connector.js' : './connector.js',
    import.meta.url,
  );
  const path = fileURLToPath(beside);
  if (!existsSync(path)) throw new Error('the connector is not built: npm run build');
  return path;
};

/**
 * Runs a connector as a process, from a platform that repeats each post to the gateway, and kills it with SIGKILL every `killEveryMs`, with
 * updates in hand if there are any, until all were handed over. Resolves with what is wrong in the log then (D9).
 */
export const runConnector = async ({
  gateway,
  ports,
  killEveryMs,
  mostKills = Number.POSITIVE_INFINITY,
  ...given
}: ConnectorRunOptions): Promise<ConnectorRun> => {
  const platform = await startRepeatingPlatform(given);
  const env = { ...process.env, PLATFORM_URL: platform.url, NATTER_URL: gateway.url, NATTER_TOKEN: gateway.token };
  /** Until it is time for the next kill. A life must bring something to its end, however slow the machine is. */
  const live = async (connector: ChildProcess): Promise<void> => {
    const [calls, confirmed] = [platform.calls(), platform.confirmed()];
    let began: number | null = null;
    for (; !platform.isDone(); await systemClock.sleep(lookMs)) {
      if (connector.exitCode !== null) throw new Error(`the connector ended by itself, with ${connector.exitCode}`);
      if (platform.calls() === calls) continue;
      began ??= systemClock.monotonic();
      const lives = (systemClock.monotonic() - began) / killEveryMs;
      const isAtWork = platform.inHand() > 0;
      if (kills < mostKills && (isAtWork ? lives > 1 && platform.confirmed() > confirmed : lives > 2)) return;
    }
  };
  let connector: ChildProcess | null = null;
  let kills = 0;
  try {
    while (!platform.isDone()) {
      connector = fork(connectorFile(), [], { env, stdio: 'inherit' });
      const gone = once(connector, 'exit');
      await live(connector);
      connector.kill('SIGKILL');
      await gone;
      kills += 1;
    }
    const violations = await settledViolations(ports, platform.posts);
    return { violations, kills, handedAgain: platform.handedAgain() };
  } finally {
    connector?.kill('SIGKILL');
    await platform.close();
  }
};

/** What is wrong in the log once the queues are empty. */
const settledViolations = async (ports: ConnectorRunOptions['ports'], posts: readonly Post[]): Promise<string[]> => {
  const giveUpAt = systemClock.monotonic() + settleMs;
  for (;;) {
    const waiting = (await ports.inbound.lag()) + (await ports.commands.lag());
    if (waiting === 0) return violationsOf(posts, await saidIn(ports, new Set(posts.map(({ chat }) => chat))));
    if (systemClock.monotonic() > giveUpAt) return [`${waiting} messages are in the queues`];
    await systemClock.sleep(lookMs);
  }
};

/** The texts of each chat's session, in the order of its log. */
const saidIn = async ({ events }: Pick<Ports, 'events'>, chats: ReadonlySet<string>): Promise<Map<string, string[]>> => {
  const said = new Map<string, string[]>();
  for (const chat of chats) {
    const texts: string[] = [];
    for await (const commit of events.read(`agent:main:telegram:group:${chat}` as SessionKey))
      for (const event of commit.events) if (event.type === 'user_message') texts.push(event.message.text);
    said.set(chat, texts);
  }
  return said;
};

/** Posts that are not in their session, are there twice, or stand before an earlier one (I1, I2, I5). */
export const violationsOf = (posts: readonly Post[], said: ReadonlyMap<string, readonly string[]>): string[] => {
  const problems: string[] = [];
  for (const [chat, texts] of said) {
    const expected = posts.filter((post) => post.chat === chat).map(({ text }) => text);
    for (const text of expected) {
      const times = texts.filter((each) => each === text).length;
      if (times !== 1) problems.push(times === 0 ? `${text} is lost` : `${text} is there ${times} times`);
    }
    const numbers = texts.map((text) => expected.indexOf(text));
    if (numbers.includes(-1)) problems.push(`${chat} has what nobody wrote`);
    numbers.forEach((number, index) => {
      if (number < (numbers[index - 1] ?? 0)) problems.push(`${texts[index]} comes after ${texts[index - 1]}`);
    });
  }
  return problems;
};
