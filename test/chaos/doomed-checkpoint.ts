import { pino } from 'pino';
import { startCheckpoint } from '../../services/checkpoint/main.ts';
import { credentialsOf } from '../../services/cli/broker/users.ts';
import { OfflineModel } from '../../shared/adapters/model/offline.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { configSchema } from '../../shared/domain/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Ports } from '../../shared/ports/index.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { WorkQueue } from '../../shared/ports/work-queue.ts';

/**
 * A checkpoint service as a process that ends itself with SIGKILL, or freezes with SIGSTOP, at one moment of introspection. `DOOM_AT` counts the
 * moments before and after each message that it publishes or handles, each position of its requests and each step of its model, or names the
 * first of a kind; 0: never. A parent that says `hold` has it wait at the next moment, until it is told the number of another one, counted from
 * there; it says when it knows. A frozen one says so before, and that it is at rest when it has gone on. Its model begins each talk with an answer
 * that is none, and never answers about what is poison. Used by `test/e2e/checkpoint/doomed.ts`.
 */
const {
  DOOM_AT = '0',
  DOOM_BY = 'SIGKILL',
  DOOM_PREFIX = 'natter',
  DOOM_MEMBER = 'doomed',
  NATS_URL = '',
  NATS_USERS_DIR = '',
} = process.env;

let doomAt = DOOM_AT;
let moments = 0;
let underWay = 0;
let isDoomed = false;
let release = (): void => {};
let held = Promise.resolve();
const tell = (text: string): Promise<unknown> => new Promise((resolve) => process.send?.(text, undefined, undefined, resolve));
const moment = async (name: string): Promise<void> => {
  await held;
  moments += 1;
  if (isDoomed || ![String(moments), name].includes(doomAt)) return;
  isDoomed = true;
  if (DOOM_BY === 'SIGSTOP') await tell('frozen');
  process.kill(process.pid, DOOM_BY);
};
process.on('message', (told: number | 'hold') => {
  if (told === 'hold') held = new Promise((resolve) => (release = resolve));
  else [moments, doomAt] = [0, String(told)];
  if (told !== 'hold') release();
  void tell('ready');
});
const around = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  underWay += 1;
  await moment(`before ${name}`);
  const result = await work();
  await moment(`after ${name}`);
  underWay -= 1;
  if (isDoomed && underWay === 0) await tell('at rest');
  return result;
};

const doomedQueue = <T>(name: string, queue: WorkQueue<T>): WorkQueue<T> => ({
  ...queue,
  publish: (message) => around(name, () => queue.publish(message)),
  consume: (options) =>
    queue.consume({ ...options, handle: (delivery) => around('introspection', () => options.handle(delivery)) }),
});
const doomedPorts = (ports: Ports): Ports => ({
  ...ports,
  checkpoints: doomedQueue('request', ports.checkpoints),
  commands: doomedQueue('command', ports.commands),
  cursors: {
    ...ports.cursors,
    put: (name, seq) =>
      name === 'checkpoint-requests' ? around('cursor', () => ports.cursors.put(name, seq)) : ports.cursors.put(name, seq),
  },
});
const offline = new OfflineModel(systemClock);
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const model: Model = {
  name: offline.name,
  windowTokens: offline.windowTokens,
  step: (request, onText, signal) =>
    around('answer', async () => {
      if (request.prompt.includes('poison')) return { kind: 'failed', code: 'model_auth', message: 'not about this' };
      if (request.step === 1) return { kind: 'reply', text: 'Sure!', model: offline.name, usage };
      return offline.step(request, onText, signal);
    }),
};

const config = configSchema.parse({ prefix: DOOM_PREFIX, nats: { partitions: 1 } });
const address = { servers: NATS_URL, ...credentialsOf(NATS_USERS_DIR, 'checkpoint') };
const ports = await openNats(config, { name: DOOM_MEMBER, clock: systemClock, ...address });
const log = pino({ level: 'silent' });
await startCheckpoint({ ports: doomedPorts(ports), log, member: DOOM_MEMBER, introspection: { config, env: {}, model } });
process.send?.('ready');
