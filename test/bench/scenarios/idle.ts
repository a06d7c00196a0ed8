import { startCountedBroker } from '../counted-broker.ts';
import type { Row } from '../table.ts';
import { startUp } from '../up.ts';

const settleMs = 5_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What an installation with one host costs that does nothing: messages through its broker, and processor time. */
export const idle = async (seconds: number): Promise<Row[]> => {
  const broker = await startCountedBroker('always');
  const messages = async (): Promise<number> => {
    const { inMessages, outMessages } = await broker.traffic();
    return inMessages + outMessages;
  };
  try {
    const up = await startUp(1, { NATS_URL: broker.url, NATS_USERS_DIR: broker.usersDir });
    await sleep(settleMs);
    const [used, sent, began] = [await up.used(), await messages(), performance.now()];
    await sleep(seconds * 1_000);
    const [usedAfter, sentAfter, tookMs] = [await up.used(), await messages(), performance.now() - began];
    await up.stop();
    return [
      {
        what: 'idle: messages into and out of the broker',
        value: (1_000 * (sentAfter - sent)) / tookMs,
        unit: 'a second',
        goal: '40',
      },
      ...Object.entries(usedAfter).map(([name, ms]) => ({
        ...{ what: `idle: ${name}`, value: (100 * (ms - (used[name] ?? 0))) / tookMs, unit: '% of a core', goal: '0.5' },
      })),
    ];
  } finally {
    await broker.stop();
  }
};
