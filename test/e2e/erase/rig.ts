import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import pino from 'pino';
import { vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { eraseCommand } from '../../../services/cli/commands/sessions/erase.ts';
import { sessionsCommand } from '../../../services/cli/commands/sessions/sessions.ts';
import { createTerminal, type World } from '../../../services/cli/terminal.ts';
import { startDelivery } from '../../../services/delivery/main.ts';
import { startGateway } from '../../../services/gateway/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { Outlet } from '../../../shared/ports/outlet.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { startServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';
import { callerOf, ready, token } from '../gateway/setup.ts';

/** A whole system on a real broker: two session hosts, the index, delivery through `outlet`, a gateway, and `natter erase`. */
export const startSystem = async (outlet: Outlet) => {
  const server = await startServer({ syncInterval: '1s' });
  const home = mkdtempSync(join(tmpdir(), 'natter-erase-'));
  const config = configSchema.parse({ gateway: { port: 0 }, nats: { partitions: 8 } });
  await provisionFor(server, { partitions: 8 });
  const log = pino({ level: 'silent' });
  const opened = portsOn(server, config);
  const ports = await opened.as('tester');
  const host = async (member: string) => startSession({ config, ports: await opened.as('session'), log, member, env: {} });
  const hosts = [await host('host-1'), await host('host-2')];
  const services = [
    await startCheckpoint({ ports: await opened.as('checkpoint'), log, member: 'checkpoint-1' }),
    await startDelivery({
      ...{ config: fixed(config), ports: await opened.as('delivery'), log },
      ...{ member: 'delivery-1', outlets: [outlet] },
    }),
  ];
  const gateway = await startGateway({ config: fixed(config), ports: await opened.as('gateway'), log, token, version: 'test' });
  const call = callerOf(gateway.url);
  await ready(call);

  const send = async (key: SessionKey, data: SessionCommand): Promise<string> => {
    const id = randomUUID();
    const envelope = { id, key, at: Date.now(), correlationId: id, causationId: id, actor: 'test', data };
    const answer = ports.answers.wait(id, 20_000);
    await ports.commands.publish({ ...envelope, answerTo: ports.answers.address });
    const told = await answer;
    if (told?.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(told)}`);
    return id;
  };
  const message = (text: string, change: object = {}) => ({ messageId: randomUUID(), text, sender: { id: 'ann' }, ...change });

  /** Runs a command in this process. `typed`: what a person answers on a terminal. `days`: as if it were so many days later. */
  const natter = async (
    args: readonly string[],
    { typed, days = 0 }: { typed?: string; days?: number } = {},
  ): Promise<string> => {
    const now = () => Date.now() + days * 86_400_000;
    let printed = '';
    const sink = { write: (text: string) => (printed += text) };
    const input = new PassThrough();
    const world: World = {
      env: { NATS_URL: server.url, NATS_USERS_DIR: server.usersDir, NATTER_DATA_DIR: home, USER: 'olga' },
      home,
      terminal: createTerminal({ out: sink, err: sink, interactive: typed !== undefined, now }),
      input,
      output: new PassThrough(),
      program: '',
      version: 'test',
      timeZone: 'UTC',
      now,
      interrupted: new AbortController().signal,
    };
    if (typed !== undefined) input.write(`${typed}\n`);
    const program = new Command('natter').exitOverride();
    for (const add of [eraseCommand, sessionsCommand]) add(program, world);
    await program.parseAsync(['node', 'natter', ...args]);
    return printed;
  };

  return {
    server,
    home,
    ports,
    hosts,
    gateway,
    call,
    send,
    post: (key: SessionKey, text: string, change?: object) =>
      send(key, { type: 'post_message', sessionId: 's', message: message(text, change) }),
    append: (key: SessionKey, text: string) => send(key, { type: 'append_message', sessionId: 's', message: message(text) }),
    natter,
    erase: (args: readonly string[], typed?: string) => natter(['erase', ...args], { ...(typed !== undefined && { typed }) }),
    /** The files of the broker's store that have a text in them, by their place in the store. */
    filesWith: (text: string): string[] => filesUnder(server.storeDir).filter((path) => readFileSync(path).includes(text)),
    close: async () => {
      await Promise.all([...hosts, ...services, gateway].map((service) => service.stop(2_000)));
      await opened.close();
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
};
export type System = Awaited<ReturnType<typeof startSystem>>;

/** A file may go while we look. */
const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());

export const until = (check: () => void | Promise<void>, timeout = 20_000): Promise<void> =>
  vi.waitFor(check, { timeout, interval: 50 });
