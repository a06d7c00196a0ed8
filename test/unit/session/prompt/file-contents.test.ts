import { expect, test } from 'vitest';
import { FileContents } from '../../../../services/session/prompt/file-contents.ts';
import type { ModelFile, ModelMessage } from '../../../../shared/domain/prompt/model-request.ts';
import { type ErrorCode, NatterError } from '../../../../shared/kit/errors.ts';
import { keyOf } from '../../../support/domain/commits.ts';

const key = keyOf('agent:main:main');
const file = (digest: string): ModelFile => ({ digest, type: 'image/png', bytes: 5, name: digest });
const said = (...digests: string[]): ModelMessage => ({ role: 'user', text: 'look', files: digests.map(file) });

/** A store that has all but the file `gone`, and fails as told. */
const start = (fails?: ErrorCode) => {
  const reads: string[] = [];
  const get = async (of: string, digest: string) => {
    reads.push(`${of} ${digest}`);
    if (digest === 'bad' && fails) throw new NatterError(fails, 'no');
    return digest === 'gone' ? null : Buffer.from(digest);
  };
  return { files: new FileContents({ get }), reads };
};

test('each file is read once for its session, however many messages and steps have it', async () => {
  const { files, reads } = start();
  const messages = [said('a', 'b'), { role: 'assistant', text: 'ok' } as const, said('a')];
  const given = await files.of(key, messages);
  expect(given).toEqual([
    { ...said('a', 'b'), files: [file('a'), file('b')].map((one) => ({ ...one, content: Buffer.from(one.digest) })) },
    messages[1],
    { ...said('a'), files: [{ ...file('a'), content: Buffer.from('a') }] },
  ]);
  await files.of(key, messages);
  expect(reads).toEqual([`${key} a`, `${key} b`]);
  const other = keyOf('agent:main:cli:other');
  await files.of(other, [said('a')]);
  expect(reads.at(-1)).toBe(`${other} a`);
});

test.each([
  ['gone', undefined],
  ['bad', 'damaged'],
] as const)('a file that is %s is missing, and the model is told so', async (digest, fails) => {
  const [given] = await start(fails).files.of(key, [said('a', digest)]);
  expect(given).toMatchObject({ text: `look\n[You cannot see ${digest}: it is no longer there.]`, files: [{ digest: 'a' }] });
});

test('while the store cannot be reached nothing passes for gone', async () => {
  await expect(start('unavailable').files.of(key, [said('bad')])).rejects.toMatchObject({ code: 'unavailable' });
});
