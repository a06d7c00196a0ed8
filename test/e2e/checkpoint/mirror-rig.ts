import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { vi } from 'vitest';
import { startCheckpoint } from '../../../services/checkpoint/main.ts';
import { exportCommand } from '../../../services/cli/commands/sessions/export.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import type { SessionCommand } from '../../../shared/domain/session/commands.ts';
import type { Clock } from '../../../shared/kit/clock.ts';
import { systemClock } from '../../../shared/kit/clock.ts';
import type { Ports } from '../../../shared/ports/index.ts';
import type { Service } from '../../../shared/runtime/service.ts';
import { natterWith } from '../../support/natter.ts';
import { afterwards, config, startWorld, token } from '../gateway/setup.ts';

/** Pauses of the mirror are a tenth as long. */
const fast: Clock = {
  now: systemClock.now,
  monotonic: systemClock.monotonic,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};

/** A gateway and a host on a broker in memory, with a folder for the mirror and one for exports. */
export const openHouse = async () => {
  const home = mkdtempSync(join(tmpdir(), 'natter-transcripts-'));
  afterwards(async () => rmSync(home, { recursive: true }));
  const world = await startWorld({ index: false });
  const { memory, ports, gateway } = world;
  const mirrored = join(home, 'mirror');
  const store = join(mirrored, 'agents', '{agentId}', 'sessions', 'sessions.json');
  let members = 0;

  const startMirror = async (change: Partial<Ports> = {}): Promise<Service> => {
    const member = `checkpoint-${++members}`;
    const service = await startCheckpoint({
      ports: { ...memory.portsFor(member), clock: fast, ...change },
      log: pino({ level: 'silent' }),
      member,
      mirror: { agent: config.agent, session: { ...config.session, store } },
    });
    afterwards(() => service.stop(2_000));
    return service;
  };

  let commands = 0;
  const send = async (key: string, data: SessionCommand): Promise<void> => {
    const id = `command-${++commands}`;
    const answer = ports.answers.wait(id, 5_000);
    const envelope = { id, key: key as SessionKey, at: Date.now(), correlationId: id, causationId: id, actor: 'test' };
    await ports.commands.publish({ ...envelope, answerTo: ports.answers.address, data });
    const told = await answer;
    if (told?.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(told)}`);
  };
  const say = (key: string, text: string, sessionId = `s-${key}`) =>
    send(key, {
      type: 'append_message',
      sessionId,
      message: { messageId: `m-${commands}`, text, sender: { id: 'ann', name: 'Ann' } },
    });

  /** Runs `natter export` and gives what it printed. */
  const natterExport = (...words: string[]): Promise<string> =>
    natterWith([exportCommand], { home })('--url', gateway.url, '--token', token, 'export', ...words);

  /** Waits until the mirror and its maps are where the log is. */
  const settled = async (service: Service): Promise<void> => {
    const { lastSeq } = await ports.events.info();
    await until(() => {
      const { mirror_position, mirror_lag, mirror_maps_behind } = service.metrics();
      if (mirror_position !== lastSeq || mirror_lag !== 0 || mirror_maps_behind !== 0) throw new Error('not settled');
    });
  };
  return { ...world, home, mirrored, store, startMirror, send, say, natterExport, settled };
};

export const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { interval: 5 });

/** Every file below a folder, by its place in it, with its text. */
export const filesUnder = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
