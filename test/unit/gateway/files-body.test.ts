import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { filesBody } from '../../../services/gateway/attachments/files-body.ts';
import { filesBodyBytes } from '../../../services/gateway/attachments/keep-files.ts';
import type { GatewayContext } from '../../../services/gateway/context/gateway-context.ts';
import { ConcurrencyQuota } from '../../../services/gateway/http/concurrency-quota.ts';
import { configSchema } from '../../../shared/domain/config/schema.ts';
import { limits } from '../../../shared/kit/limits.ts';

/** I11: bodies with files are in memory until they are answered; how many bytes of them at once is counted. */

const config = configSchema.parse({ attachments: { maxMegabytes: 1 } });
const most = filesBodyBytes(config);

const route = () => {
  const uploads = new ConcurrencyQuota({ all: 2 * most, each: most }, 'too many files');
  const { preParsing, bodyLimit } = filesBody({ config, uploads } as unknown as GatewayContext);
  /** The body as the route gets it, and how its answer ends. */
  const send = async (actor: string, headers: object, body: Readable = Readable.from([])) => {
    const raw = new EventEmitter();
    const parse = preParsing as unknown as (request: object, reply: object, payload: Readable) => Promise<Readable>;
    return { body: await parse({ headers, actor }, { raw }, body), answered: () => raw.emit('close') };
  };
  return { uploads, bodyLimit, send };
};
const told = (bytes: number) => ({ 'content-length': String(bytes) });

test('each body counts until it is answered, for its sender and for all', async () => {
  const { uploads, send } = route();
  const first = await send('ann', told(most));
  expect(uploads.inUse).toBe(most);
  await expect(send('ann', told(limits.commandBytes + 1))).rejects.toMatchObject({ code: 'overloaded' });
  await send('bob', told(most));
  await expect(send('carl', told(limits.commandBytes + 1))).rejects.toMatchObject({ code: 'overloaded' });
  first.answered();
  await send('carl', told(most));
  expect(uploads.inUse).toBe(2 * most);
});

test('a body as small as those of other routes counts for nothing', async () => {
  const { uploads, send } = route();
  await send('ann', told(limits.commandBytes));
  expect(uploads.inUse).toBe(0);
});

test('one that is larger than all the files that may come, and their texts, is refused before it is read', async () => {
  const { send, bodyLimit } = route();
  expect(bodyLimit).toBe(most);
  await send('ann', told(most));
  const unread = Readable.from(['never']);
  await expect(send('bob', told(most + 1), unread)).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('attachments.maxMegabytes'),
  });
  expect(unread.readableDidRead).toBe(false);
});

test('one that does not say how large it is must be small', async () => {
  const { send } = route();
  const ofBytes = (bytes: number) => Readable.from([Buffer.alloc(bytes - 1), Buffer.alloc(1)]);
  const small = await send('ann', {}, ofBytes(limits.commandBytes));
  expect(Buffer.concat(await small.body.toArray())).toHaveLength(limits.commandBytes);
  const large = await send('ann', {}, ofBytes(limits.commandBytes + 1));
  await expect(large.body.toArray()).rejects.toMatchObject({ code: 'too_large', field: 'body' });
});
