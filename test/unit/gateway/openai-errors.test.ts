import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Call } from '../../../services/gateway/operation/operation.ts';
import { embedTexts } from '../../../services/gateway/protocols/openai/embeddings.ts';
import { Failure, failureOfRun, toldOf } from '../../../services/gateway/protocols/openai/format/failure.ts';
import { responseIdOf, runOfResponse } from '../../../services/gateway/protocols/openai/format/ids.ts';
import { runIdOf } from '../../../shared/domain/keys/run-id.ts';
import type { SessionKey } from '../../../shared/domain/keys/session-key.ts';
import { NatterError } from '../../../shared/kit/errors.ts';

/** Issue 5: errors and ids of OpenAI's interface. */

const folder = 'services/gateway/protocols/openai';
const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
  .join('\n');

test('docs/integrate/openai-api.md has each code that is only there, and no other', () => {
  const thrown = [...source.matchAll(/new Failure\(\s*\d+,\s*'(\w+)'/g)].map(([, code]) => code);
  const found = [...source.matchAll(/code: '(\w+_not_found)'/g)].map(([, code]) => code);
  const route = readFileSync(`${folder}/operations.ts`, 'utf8');
  const read = [...route.matchAll(/code: '(\w+)'/g)].map(([, code]) => code);
  const renamed = [...(/knownCodes[^=]*= \{([^}]*)\}/.exec(source)?.[1] ?? '').matchAll(/: '(\w+)'/g)].map(([, code]) => code);
  const general = ['unavailable'];
  const codes = new Set([...thrown, ...found, ...read, ...renamed].filter((code) => !general.includes(code ?? '')));
  const table = readFileSync('docs/integrate/openai-api.md', 'utf8').split('## Errors')[1] ?? '';
  const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(documented.sort()).toEqual([...codes].sort());
});

describe('errors', () => {
  test('embeddings of a gateway without a provider are refused by name', async () => {
    const call = {
      context: {},
      caller: { principal: { role: 'owner' } },
      signal: new AbortController().signal,
    } as unknown as Call;
    const refused = { status: 400, code: 'unsupported_parameter', param: 'model' };
    await expect(embedTexts(call, { model: 'x', input: ['a'] })).rejects.toMatchObject(refused);
  });

  test.each([
    [new NatterError('invalid', 'm', { field: 'messages.0.content.11.type' }), 400, 'invalid', 'messages[0].content[11].type'],
    [new NatterError('unauthorized', 'm'), 401, 'invalid_api_key', null],
    [new NatterError('overloaded', 'm'), 429, 'rate_limit_exceeded', null],
    [new NatterError('unavailable', 'm'), 503, 'unavailable', null],
    [new Failure(404, 'model_not_found', 'm', 'model'), 404, 'model_not_found', 'model'],
  ])('%s', (thrown, status, code, param) => {
    expect(toldOf(thrown, 'r')).toMatchObject({ status, error: { message: 'm', code, param }, isOurs: false });
  });

  test('a bug is ours and says nothing of itself', () => {
    const { status, error, isOurs } = toldOf(new Error('secret'), 'r');
    expect([status, error.code, isOurs]).toEqual([500, 'internal', true]);
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  test.each([
    ['queue_full', 429],
    ['aborted', 409],
    ['too_large', 413],
    ['unavailable', 503],
    ['model_rate_limited', 429],
    ['tool_name_taken', 400],
    ['setting_unsupported', 400, 'unsupported_parameter'],
    ['rate_limited', 500],
  ])('a run that ends with %s is %i', (code, status, told = code) => {
    const failure = failureOfRun({ runId: 'r', status: 'error', error: { code, message: 'm' } });
    expect([failure.status, failure.code]).toEqual([status, told]);
  });
});

describe('ids of responses', () => {
  const keys = ['agent:main:main', 'agent:main:telegram:group:größe', `agent:main:${'x'.repeat(240)}`] as SessionKey[];

  test.each(keys)('%s: an id leads to its session and run, whether the run says its session or not', (key) => {
    const runId = runIdOf(key, 'once-abc');
    expect(runOfResponse(responseIdOf(key, runId))).toEqual({ key, runId });
  });

  test('two runs, or the same in two sessions, have two ids', () => {
    const ids = keys.flatMap((key) => ['a', 'b', 'a.b'].map((unique) => responseIdOf(key, runIdOf(key, unique))));
    expect(new Set(ids).size).toBe(9);
  });

  test.each([
    '',
    'resp_',
    'resp_abc',
    'resp_.a',
    'resp_YQ==.a',
    'resp_YR.a',
    `resp_YQ.${'a'.repeat(200)}`,
    'chatcmpl-YQ.a',
    'resp_IA.a',
  ])('%j is no id', (id) => {
    expect(runOfResponse(id)).toBeNull();
  });
});
