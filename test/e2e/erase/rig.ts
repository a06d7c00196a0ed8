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
import { createTerminal, type World } from '../../../services/cli/terminal.ts';
import { startDelivery } from '../../../services/delivery/main.ts';
import { startGateway } from '../../../services/gateway/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { openConnection } from '../../../shared/adapters/nats/connection.ts';
import { openNats } from '../../../shared/adapters/nats/open.ts';
import { provision } from '../../../shared/adapters/nats/provision.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Outlet } from '../../../shared/ports/outlet.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import { subjectsUnder } from '../../../shared/wire/subjects.ts';
import { topologyOf } from '../../../shared/wire/topology.ts';
import { startServer } from '../../support/nats.ts';
import { callerOf, ready, token } from '../gateway/setup.ts';

/** A whole system on a real broker: two session hosts, the index, delivery through `outlet`, a gateway, and `natter erase`. */
export const startSystem = async (outlet: Outlet) => {
  const server = await startServer({ syncInterval: '1s' });
  const home = mkdtempSync(join(tmpdir(), 'natter-erase-'));
  const config = configSchema.parse({ gateway: { port: 0 }, nats: { partitions: 8 } });
  const connection = await openConnection({ servers: server.url, name: 'test', requestTimeoutMs: 5_000 });
  await provision(connection, topologyOf(subjectsUnder('natter'), { replicas: 1, partitions: 8 }));
  await connection.close();
  const log = pino({ level: 'silent' });
  const opened: Ports[] = [];
  const portsOf = async (name: string): Promise<Ports> => {
    const ports = await openNats(config, { name, clock: systemClock, servers: server.url });
    opened.push(ports);
    return ports;
  };
  const ports = await portsOf('test');
  const host = async (member: string) => startSession({ config, ports: await portsOf(member), log, member, env: {} });
  const hosts = [await host('host-1'), await host('host-2')];
  const services = [
    await startCheckpoint({ ports, log, member: 'checkpoint-1' }),
    await startDelivery({ config: fixed(config), ports, log, member: 'delivery-1', outlets: [outlet] }),
  ];
  const gateway = await startGateway({ config: fixed(config), ports: await portsOf('gateway'), log, token, version: 'test' });
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

  /** Runs `natter erase` in this process. `typed`: what a person answers on a terminal. */
  const erase = async (args: readonly string[], typed?: string): Promise<string> => {
    let printed = '';
    const sink = { write: (text: string) => (printed += text) };
    const input = new PassThrough();
    const world: World = {
      env: { NATS_URL: server.url, NATTER_DATA_DIR: home, USER: 'olga' },
      home,
      terminal: createTerminal({ out: sink, err: sink, interactive: typed !== undefined, now: () => Date.now() }),
      input,
      output: new PassThrough(),
      program: '',
      version: 'test',
      timeZone: 'UTC',
      now: () => Date.now(),
      interrupted: new AbortController().signal,
    };
    if (typed !== undefined) input.write(`${typed}\n`);
    const program = new Command('natter').exitOverride();
    eraseCommand(program, world);
    await program.parseAsync(['node', 'natter', 'erase', ...args]);
    return printed;
  };

  return {
    server,
    ports,
    hosts,
    gateway,
    call,
    send,
    post: (key: SessionKey, text: string, change?: object) =>
      send(key, { type: 'post_message', sessionId: 's', message: message(text, change) }),
    append: (key: SessionKey, text: string) => send(key, { type: 'append_message', sessionId: 's', message: message(text) }),
    erase,
    /** The files of the broker's store that have a text in them, by their place in the store. */
    filesWith: (text: string): string[] => filesUnder(server.storeDir).filter((path) => readFileSync(path).includes(text)),
    close: async () => {
      await Promise.all([...hosts, ...services, gateway].map((service) => service.stop(2_000)));
      await Promise.all(opened.map((each) => each.close()));
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
