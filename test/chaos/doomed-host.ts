import { appendFileSync } from 'node:fs';
import { pino } from 'pino';
import { credentialsOf } from '../../services/cli/broker/users.ts';
import { startSession } from '../../services/session/main.ts';
import { openNats } from '../../shared/adapters/nats/open.ts';
import { configSchema } from '../../shared/domain/config/schema.ts';
import type { ModelRequest } from '../../shared/domain/prompt/model-request.ts';
import type { StepOutcome } from '../../shared/domain/values/types.ts';
import { systemClock } from '../../shared/kit/clock.ts';
import type { EventLog } from '../../shared/ports/event-log.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Tool, Tools } from '../../shared/ports/tools.ts';

/**
 * A session host as a process that ends itself with SIGKILL at one moment of a turn. Which one it is told by its parent, and says that it
 * knows: it counts the moments from then on, before and after each durable write, each model step and each effect of a tool; 0: never. What
 * its tools do is a line in the file `DOOM_EFFECTS`. Used by `test/e2e/session/killed-anywhere.test.ts`.
 */
const { DOOM_EFFECTS = '', DOOM_PREFIX = 'natter', DOOM_MEMBER = 'doomed', NATS_URL = '', NATS_USERS_DIR = '' } = process.env;

let moments = 0;
let doomAt = 0;
const moment = (): void => {
  moments += 1;
  if (moments === doomAt) process.kill(process.pid, 'SIGKILL');
};
process.on('message', (told: number) => {
  [moments, doomAt] = [0, told];
  process.send?.('ready');
});

const doomedLog = (log: EventLog): EventLog => ({
  ...{
    last: log.last.bind(log),
    newest: log.newest.bind(log),
    count: log.count.bind(log),
    read: log.read.bind(log),
    page: log.page.bind(log),
    raw: log.raw.bind(log),
  },
  ...{ follow: log.follow.bind(log), info: log.info.bind(log), view: log.view.bind(log) },
  append: async (commit, expectedSeq) => {
    moment();
    const result = await log.append(commit, expectedSeq);
    moment();
    return result;
  },
});

const effect = (name: string, idempotent: boolean): Tool => ({
  name,
  description: `Leaves a line (${idempotent ? 'the same id again is no further effect' : 'each time'}).`,
  parameters: { type: 'object' },
  idempotent,
  usual: 'allow',
  describe: () => name,
  run: async ({ callId }) => {
    moment();
    appendFileSync(DOOM_EFFECTS, `${name} ${callId}\n`);
    moment();
    return { outcome: 'ok', text: `${name} is done` };
  },
});
const all = [effect('charge', false), effect('put', true)];
const tools: Tools = { of: () => all, problems: () => [], close: async () => {} };

/** Two calls, one more, and the answer; or a call of the program's tool and the answer. */
const scripts: Readonly<Record<string, string[][]>> = { go: [['charge', 'put'], ['put']], ask: [['get_weather']] };
const model: Model = {
  name: 'script',
  windowTokens: 100_000,
  step: async ({ step, prompt }: ModelRequest): Promise<StepOutcome> => {
    moment();
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const calls = (scripts[prompt]?.[step - 1] ?? []).map((tool) => ({ tool, arguments: '{}' }));
    moment();
    return calls.length > 0
      ? { kind: 'continue', text: '', model: 'script', usage, calls }
      : { kind: 'reply', text: 'all done', model: 'script', usage };
  },
};

const config = configSchema.parse({ prefix: DOOM_PREFIX, nats: { partitions: 1 } });
const address = { servers: NATS_URL, ...credentialsOf(NATS_USERS_DIR, 'session') };
const ports = await openNats(config, { name: DOOM_MEMBER, clock: systemClock, ...address });
const options = { config, log: pino({ level: 'silent' }), member: DOOM_MEMBER, env: {}, model, tools, recoveryEveryMs: 100 };
await startSession({ ...options, ports: { ...ports, events: doomedLog(ports.events) } });
process.send?.('ready');
