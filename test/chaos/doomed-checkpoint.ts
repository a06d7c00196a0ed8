import { pino } from 'pino';
import { startCheckpoint } from '../../services/checkpoint/main.ts';
import { OfflineModel } from '../../shared/adapters/model/offline.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { Model, Ports, WorkQueue } from '../../shared/ports.ts';

/**
 * A checkpoint service as a process that ends itself with SIGKILL at one moment of looking back: `DOOM_AT` counts the moments before and after
 * each message that it publishes or handles, each position of its requests and each step of its model; 0: never. Used by
 * `test/e2e/checkpoint/killed-anywhere.test.ts`.
 */
const { DOOM_AT = '0', DOOM_PREFIX = 'natter', DOOM_MEMBER = 'doomed', NATS_URL = '' } = process.env;

let moments = 0;
const moment = (): void => {
  moments += 1;
  if (moments === Number(DOOM_AT)) process.kill(process.pid, 'SIGKILL');
};
const around = async <T>(work: () => Promise<T>): Promise<T> => {
  moment();
  const result = await work();
  moment();
  return result;
};

const doomedQueue = <T>(queue: WorkQueue<T>): WorkQueue<T> => ({
  ...queue,
  publish: (message) => around(() => queue.publish(message)),
  consume: (options) => queue.consume({ ...options, handle: (delivery) => around(() => options.handle(delivery)) }),
});
const doomedPorts = (ports: Ports): Ports => ({
  ...ports,
  checkpoints: doomedQueue(ports.checkpoints),
  commands: doomedQueue(ports.commands),
  cursors: {
    get: (name) => ports.cursors.get(name),
    put: (name, seq) =>
      name === 'checkpoint-requests' ? around(() => ports.cursors.put(name, seq)) : ports.cursors.put(name, seq),
  },
});
const offline = new OfflineModel(systemClock);
const model: Model = {
  name: offline.name,
  windowTokens: offline.windowTokens,
  step: (request, onText, signal) => around(() => offline.step(request, onText, signal)),
};

const config = configSchema.parse({ prefix: DOOM_PREFIX, nats: { partitions: 1 } });
const ports = await openNats(config, { name: DOOM_MEMBER, clock: systemClock, servers: NATS_URL });
const log = pino({ level: 'silent' });
await startCheckpoint({ ports: doomedPorts(ports), log, member: DOOM_MEMBER, introspection: { config, env: {}, model } });
process.send?.('ready');
