import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import type { InboundEnvelope } from '../../../shared/domain/routing/inbound-envelope.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { startServer, type TestServer } from '../../support/nats.ts';
import { provisionFor } from '../../support/system.ts';
import { backUpTo, configAt, eventsOf, freshFolder, partitions, restoreFrom, type Services, startServices } from './rig.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const broker = async (): Promise<TestServer> => {
  const server = await startServer();
  cleanUp.push(() => server.stop());
  return server;
};
const folder = async (): Promise<string> => {
  const { path, remove } = await freshFolder();
  cleanUp.push(remove);
  return join(path, 'backup');
};
const started = async (server: TestServer): Promise<Services> => {
  const services = await startServices(server.url);
  cleanUp.push(services.stop);
  return services;
};
const provisioned = async (): Promise<TestServer> => {
  const server = await broker();
  await provisionFor(server.url, { partitions });
  return server;
};
const until = (condition: () => unknown): Promise<unknown> => vi.waitFor(condition, { timeout: 20_000, interval: 20 });

const envelope = (person: string, text: string): InboundEnvelope => ({
  ...{ id: randomUUID(), channel: 'hook', conversation: { id: person, kind: 'direct' }, sender: { id: person } },
  ...{ text, mentioned: false, directed: false, at: Date.now() },
});
const texts = (services: Services): string[] => services.sent.map(({ text }) => text);

test('a backup under load: what it acknowledged is answered exactly once after the restore', async () => {
  const old = await provisioned();
  const before = await startServices(old.url);
  const accepted: string[] = [];
  let more = true;
  const load = async (person: string): Promise<void> => {
    for (let n = 0; more; n++) {
      const text = `${person} ${n}`;
      await before.ports.inbound.publish(envelope(person, text));
      accepted.push(text);
    }
  };
  const people = Array.from({ length: 12 }, (_, n) => `p${n}`).map(load);
  await until(() => expect(before.sent.length).toBeGreaterThan(30));
  const sure = accepted.length;
  const dir = await folder();
  const manifest = await backUpTo(dir, old.url);
  more = false;
  await Promise.all(people);
  await before.stop();
  await old.stop();
  expect(manifest.log.commits).toBeGreaterThan(30);

  const server = await broker();
  const { log } = await restoreFrom(dir, server.url);
  expect(log).toEqual(manifest.log);
  const after = await started(server);
  const backedUp = accepted.slice(0, sure);
  const answers = new Map<string, number>();
  await until(async () => {
    answers.clear();
    for (let n = 0; n < 12; n++)
      for (const event of await eventsOf(after.ports, `agent:main:main`))
        if (event.type === 'assistant_message') answers.set(event.text, (answers.get(event.text) ?? 0) + 1);
    expect(backedUp.filter((text) => !answers.has(`You said: ${text}`))).toEqual([]);
  });
  expect(after.problems()).toEqual([]);
  void configAt; void execFile; void promisify; void (0 as unknown as SessionKey); void texts;
});
