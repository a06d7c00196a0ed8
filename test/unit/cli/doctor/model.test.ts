import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askModel } from '../../../../services/cli/doctor/model.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { Config } from '../../../../shared/runtime/config/load.ts';
import { type Answer, openai, startProvider, status, stream } from '../../../support/provider-server.ts';

/** `natter doctor` asks the provider, and says which. */

const key = 'sk-planted-0815-4711';
const ready = stream(openai.begin(), openai.text('ready'), openai.end('stop'));
const ask = async (answer: Answer, provider: object = {}, env: Record<string, string> = { HOUSE_KEY: key }) => {
  const server = await startProvider(answer);
  onTestFinished(server.close);
  const house = { kind: 'openai-compatible', baseUrl: server.url, apiKeyEnv: 'HOUSE_KEY', ...provider };
  const config = configSchema.parse({ agent: { model: 'house/tiny' }, model: { providers: { house } } }) as Config;
  const finding = await askModel(config, env);
  expect(JSON.stringify(finding)).not.toContain(key);
  return { finding, server };
};

test('a provider that answers is well, and was asked once', async () => {
  const { finding, server } = await ask(ready);
  expect(finding).toMatchObject({ level: 'ok', detail: expect.stringMatching(`house/tiny at ${server.url} answered in`) });
  expect(server.requests).toHaveLength(1);
});

test.each<[string, Answer, RegExp, RegExp]>([
  [
    'a wrong key',
    status(401, openai.error('auth', `wrong key ${key}`)),
    /house\/tiny at http.*: the provider refused .*model_auth: /,
    /check the key/,
  ],
  ['a limit', status(429, openai.error('limit', 'slow down')), /the key is right.*model_rate_limited/, /wait/],
  ['trouble', status(500, {}), /an error of its own \(model_unavailable: HTTP 500/, /on its side: try again later/],
])('%s is a failure, with the fix', async (_, answer, detail, fix) => {
  expect((await ask(answer)).finding).toMatchObject({
    ...{ level: 'fail', detail: expect.stringMatching(detail), fix: expect.stringMatching(fix) },
  });
});

test('a key that is missing here is a warning: session hosts have an environment of their own', async () => {
  const { finding, server } = await ask(ready, {}, {});
  expect(finding).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(/was not asked: .*apiKeyEnv names HOUSE_KEY.*export HOUSE_KEY=/),
    fix: expect.stringContaining('wherever "natter up" or one of its services is started'),
  });
  expect(server.requests).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), 'natter-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inFile = await ask(ready, { apiKeyEnv: undefined, keyFile: join(folder, 'nothing') });
  expect(inFile.finding).toMatchObject({ level: 'warn', detail: expect.stringContaining('house.keyFile: cannot read') });
});

test('the offline model is well, and named as what it is', async () => {
  expect(await askModel(configSchema.parse({}) as Config, {})).toMatchObject({
    level: 'ok',
    detail: expect.stringContaining('natter init'),
  });
});
