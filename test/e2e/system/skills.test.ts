import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startRouter } from '../../../services/router/main.ts';
import { startSession } from '../../../services/session/main.ts';
import { type Config, configSchema } from '../../../shared/domain/config/schema.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { EventOf, EventType } from '../../../shared/domain/session/events.ts';
import { fixed } from '../../../shared/runtime/config/reload.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { SkillLibrary } from '../../../shared/runtime/skills/library.ts';
import { numbered, startServer, type TestServer } from '../../support/nats.ts';
import { portsOn, provisionFor } from '../../support/system.ts';
import { skillText } from '../../unit/runtime/skills/folders.ts';

/** Skills on a real broker: from a folder of the workspace, through a channel, into the log. */
const key = 'agent:main:main' as SessionKey;
let server: TestServer;
let systems = 0;
let workspace: string;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startServer({ prefixes: numbered('skills', 40) });
});
afterAll(() => server.stop());
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'natter-skills-e2e-')));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(workspace, { recursive: true });
});

const drop = (name: string, more = ''): void => {
  mkdirSync(join(workspace, 'skills', name), { recursive: true });
  writeFileSync(join(workspace, 'skills', name, 'SKILL.md'), skillText(name, more, `[[tool list_files {}]] ${name} was done.`));
};

const begin = async (settings: object = {}) => {
  const prefix = `skills${++systems}`;
  const config: Config = configSchema.parse({
    prefix,
    nats: { partitions: 4 },
    agent: { workspace, owners: ['terminal:ann'] },
    skills: { allowBundled: [], load: { watch: false }, ...settings },
  });
  await provisionFor(server, { prefix, partitions: 4 });
  const opened = portsOn(server, config);
  closers.push(() => opened.close());
  const ports = await opened.as('tester');
  const log = pino({ level: 'silent' });
  const hostOf = async (member: string): Promise<Service> => {
    const host = await startSession({ config, ports: await opened.as('session'), log, member, env: {}, recoveryEveryMs: 100 });
    closers.push(() => host.stop(2_000));
    return host;
  };
  const router = await startRouter({ config: fixed(config), ports: await opened.as('router'), log, member: 'router' });
  closers.push(() => router.stop(1_000));

  const eventsOf = async <T extends EventType>(type: T): Promise<EventOf<T>[]> => {
    const found: EventOf<T>[] = [];
    for await (const { events } of ports.events.read(key)) {
      found.push(...events.filter((event): event is EventOf<T> => event.type === type));
    }
    return found;
  };
  let turns = 0;
  /** Says it on the terminal, and waits for the end of its turn. */
  const say = async (text: string): Promise<void> => {
    const conversation = { id: 'ann', kind: 'direct' } as const;
    await ports.inbound.publish({
      ...{ id: randomUUID(), channel: 'terminal', conversation, sender: { id: 'ann' }, text },
      ...{ at: Date.now(), mentioned: false, directed: false, kind: 'message' },
    });
    turns++;
    await vi.waitFor(async () => expect(await eventsOf('turn_completed')).toHaveLength(turns), { interval: 20 });
  };
  const known = async () => (await eventsOf('skills_changed')).map(({ skills }) => skills.map(({ name }) => name).join());
  return { config, log, say, known, eventsOf, hostOf };
};
/** Something that the offline model does not answer at once. */
const look = '[[tool list_files {}]] what is there?';

describe('A15/166: a skill that is dropped into the workspace', () => {
  test('is there in the next session, and of one that is not eligible people are told why', async () => {
    const { config, log, say, known, hostOf } = await begin();
    await hostOf('host-1');
    await say(look);
    drop('greet');
    drop('mac-notes', 'metadata: {natter: {os: [darwin, win32], requires: {bins: [no-such-program]}}}');
    await say(look);
    expect(await known()).toEqual([]);
    await say(`/new ${look}`);
    expect(await known()).toEqual(['greet']);

    const library = await SkillLibrary.open({ config, log, env: {}, reserved: new Set() });
    closers.push(() => library.close());
    const reasons = library.explain().flatMap(({ skill, reasons }) => (skill?.name === 'mac-notes' ? reasons : []));
    expect(reasons).toContain('The program no-such-program is not installed.');
  }, 90_000);

  test('A15/165: with a watch it counts from the next turn on, without a new session', async () => {
    const { say, known, hostOf } = await begin({ load: { watch: true, watchDebounceMs: 20 } });
    await hostOf('host-1');
    await say(look);
    drop('greet');
    await vi.waitFor(
      async () => {
        await say(look);
        expect(await known()).toEqual(['greet']);
      },
      { interval: 50 },
    );
  }, 90_000);

  test('A15/148: is called by its command', async () => {
    drop('greet');
    const { say, eventsOf, hostOf } = await begin();
    await hostOf('host-1');
    await say('/greet everybody');
    const [answer] = await eventsOf('assistant_message');
    expect(answer?.text).toMatch(/^You said: \[Do what the skill "greet" says/);
    expect(answer?.text).toContain('greet was done.\n\n[The request]\neverybody\nlist_files → skills/');
    expect(await eventsOf('user_message')).toMatchObject([{ message: { text: '/greet everybody' } }]);
  }, 90_000);

  test('another host goes on with the skills that the session has', async () => {
    drop('greet');
    const { say, known, hostOf } = await begin();
    const first = await hostOf('host-1');
    await say(look);
    await first.stop(2_000);
    drop('later');
    await hostOf('host-2');
    await say(look);
    expect(await known()).toEqual(['greet']);
    await say(`/new ${look}`);
    expect(await known()).toEqual(['greet', 'greet,later']);
  }, 90_000);
});
