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
