import { pino } from 'pino';
import { credentialsOf } from '../../services/cli/broker/users.ts';
import { startGateway } from '../../services/gateway/main.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { configSchema } from '../../shared/domain/config/schema.ts';
import type { Clock } from '../../shared/kit/clock.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import { limits } from '../../shared/kit/limits.ts';
import { fixed } from '../../shared/runtime/config/reload.ts';

/**
 * A gateway as a process of its own that ends with its parent and tells it its URL. `DOOR_CONFIG` is its configuration as JSON; with
 * `DOOR_STALL_MS` a client may leave a full buffer unread for so long only. Used by `test/e2e/gateway/messages/flood.test.ts` and
 * `gateway-kill.test.ts`.
 */
const { DOOR_CONFIG = '{}', DOOR_STALL_MS, DOOR_TOKEN = '', NATS_URL = '', NATS_USERS_DIR = '' } = process.env;
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) =>
    systemClock.sleep(ms === limits.streamStallMs && DOOR_STALL_MS !== undefined ? Number(DOOR_STALL_MS) : ms, signal),
};
const config = configSchema.parse(JSON.parse(DOOR_CONFIG));
const ports = await openNats(config, { name: 'gateway', clock, servers: NATS_URL, ...credentialsOf(NATS_USERS_DIR, 'gateway') });
const log = pino({ level: 'error' });
const gateway = await startGateway({ config: fixed(config), ports, log, token: DOOR_TOKEN, version: '0' });
process.on('disconnect', () => process.exit());
process.send?.(gateway.url);
