import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exportCommand } from '../../../services/cli/commands/sessions/export.ts';
import { tailCommand } from '../../../services/cli/commands/sessions/tail.ts';
import { verifyLines } from '../../../services/cli/stored-export.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { afterwards, callerOf, openGateway, pathOf, ready, startWorld } from '../gateway/setup.ts';
import { natter } from './natter.ts';

const start = async () => {
  const { memory, gateway: first } = await startWorld();
  const { port } = new URL(first.url);
  const config = configSchema.parse({ gateway: { port: Number(port) } });
  const call = callerOf(first.url);
  let gateway = first;
  const restart = async (): Promise<void> => {
    await gateway.stop(1_000);
    gateway = await openGateway(memory.portsFor('gateway'), [], config);
    await ready(call);
  };
  const say = (text: string, to = 'agent:main:main') => call('POST', pathOf(to, '/messages?wait=5'), { body: { text } });
  const tail = (...given: string[]) => {
    const running = natter(gateway.url, [tailCommand], 'tail', ...given);
    afterwards(async () => {
      running.interrupt();
      await running.done;
    });
    return running;
  };
  const ids = async (): Promise<string[]> =>
    (await call('GET', '/v1/events?limit=1000')).body.events.map(({ id }: { id: string }) => id);
  return { url: first.url, tail, say, restart, ids };
};
const idsOf = (lines: readonly string[]): string[] => lines.map((line) => JSON.parse(line).id);

test('natter tail survives restarts of the gateway: no event is lost or told twice (A1)', async () => {
  const { tail, say, restart, ids } = await start();
  await say('before');
  const { out, notes, done, interrupt } = tail('--from', '1', '--json');
  const told = () => vi.waitFor(async () => expect(idsOf(out)).toEqual(await ids()));
  const times = (text: string): number => notes.filter((note) => note.includes(text)).length;
  for (let turn = 0; turn < 3; turn++) {
    await say(`message ${turn}`);
    await told();
    await restart();
    await vi.waitFor(() => expect(times('the gateway is back')).toBe(turn + 1));
    await say(`after ${turn}`);
  }
  await told();
  expect(times('waiting for the gateway: ')).toBe(3);
  interrupt();
  await done;
});

test('begins now unless told otherwise, and filters by key and type; one line for each', async () => {
  const { tail, say } = await start();
  await say('before');
  const answers = tail('--key', 'agent:main:irc', '--type', 'assistant_message', 'turn_failed', '--from', '1');
  const news = tail('--json');
  await vi.waitFor(async () => {
    await say('hello', 'agent:main:irc:group:x');
    expect(news.out.length).toBeGreaterThan(0);
  });
  await vi.waitFor(() =>
    expect(answers.out[0]).toMatch(/^ +\d+\.\d+ .* agent:main:irc:group:x {2}assistant_message {2}you said: hello$/),
  );
  expect(news.out.join('\n')).not.toContain('"before"');
});

test.each([['main'], ['agent:main:main'], ['agent:main'], ['agent']])('the key %s names the main session', async (key) => {
  const { tail, say } = await start();
  await say('hello');
  const { out } = tail('--key', key, '--type', 'assistant_message', '--from', '1');
  await vi.waitFor(() => expect(out[0]).toContain('you said: hello'));
});

test('an export of stored commits is whole, whatever form the key was given in', async () => {
  const { url, say } = await start();
  await say('hello');
  for (const key of ['main', 'agent:main:main']) {
    const { out, done } = natter(url, [exportCommand], 'export', key, '--stored');
    await done;
    const sessions = [];
    for await (const session of verifyLines(each(out))) sessions.push(session);
    expect(sessions).toMatchObject([{ key: 'agent:main:main', problem: null }]);
  }
});
async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

test('an export replaces no file that is there, unless --force says so', async () => {
  const { url, say } = await start();
  await say('hello');
  const folder = mkdtempSync(join(tmpdir(), 'natter-export-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'mine');
  writeFileSync(file, 'mine');
  const exported = (...words: string[]) => natter(url, [exportCommand], 'export', ...words).done;
  const there = { code: 'invalid', message: `${file} exists already; name another file, or replace it with --force` };
  await expect(exported('main', '--stored', '--out', file)).rejects.toMatchObject(there);
  await expect(exported('main', '--markdown', '--out', file)).rejects.toMatchObject(there);
  const nowhere = exported('main', '--stored', '--out', join(folder, 'none', 'x'));
  await expect(nowhere).rejects.toThrow(`the folder ${join(folder, 'none')} does not exist`);
  await expect(exported('--out', file)).rejects.toThrow(`--out: ${file} is a file; name a folder`);
  expect(readFileSync(file, 'utf8')).toBe('mine');
  await exported('main', '--markdown', '--out', file, '--force');
  expect(readFileSync(file, 'utf8')).toContain('hello');
});
