import { errors, type NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { makeFromSnapshot } from '../../../../services/cli/backup/snapshot.ts';

const state = {} as Parameters<typeof makeFromSnapshot>[1]['state'];
async function* pieces(): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(1);
  yield Uint8Array.of(2);
}

test('restoring on a cluster: a piece that nobody heard is sent again, since our server may not know yet who listens', async () => {
  const heard: number[][] = [];
  let deaf = 2;
  const request = async (subject: string, data: Uint8Array): Promise<unknown> => {
    if (subject.startsWith('$JS.API')) return { json: () => ({ deliver_subject: 'pieces' }) };
    if (deaf-- > 0) throw new errors.RequestError('', { cause: new errors.NoRespondersError(subject) });
    heard.push([...data]);
    return { data: new Uint8Array(), json: () => ({}) };
  };
  await makeFromSnapshot({ request } as unknown as NatsConnection, { config: { name: 'EVENTS' }, state }, pieces());
  expect(heard).toEqual([[1], [2], []]);
});

const refused = (code: number, description: string) => ({ json: () => ({ error: { code: 400, err_code: code, description } }) });
const restoring = async (refusals: unknown[]): Promise<number> => {
  let asked = 0;
  const request = async (subject: string): Promise<unknown> => {
    if (!subject.startsWith('$JS.API')) return { data: new Uint8Array(), json: () => ({}) };
    asked += 1;
    return refusals.shift() ?? { json: () => ({ deliver_subject: 'pieces' }) };
  };
  await makeFromSnapshot({ request } as unknown as NatsConnection, { config: { name: 'EVENTS' }, state }, pieces());
  return asked;
};

test('a cluster that does not know all its servers yet is asked again, anything else ends the restore', async () => {
  const offline = refused(10005, 'no suitable peers for placement, peer offline');
  expect(await restoring([offline, offline])).toBe(3);
  await expect(restoring([refused(10058, 'stream name already in use')])).rejects.toThrow('stream name already in use');
});
