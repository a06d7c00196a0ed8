import type { NatsConnection } from '@nats-io/transport-node';
import { MsgHdrsImpl } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { PullStream } from '../../../../shared/adapters/nats/pull-stream.ts';

const pinMs = 2_000;

/** A consumer's pull stream, and the broker that it asks. */
const rig = ({ cluster, pinned = true }: { cluster?: string; pinned?: boolean } = {}) => {
  let now = 0;
  const said: string[] = [];
  const requests: { readonly reply: string; readonly asks: string }[] = [];
  let hear = (_error: null, _message: unknown): void => {};
  const seconds = (nanoseconds = 0): string => `${nanoseconds / 1e9}s`;
  const connection = {
    info: { cluster },
    options: {},
    isClosed: () => false,
    subscribe: (_subject: string, { callback }: { callback: typeof hear }) => {
      hear = callback;
      return { drain: async () => {} };
    },
    publish: (_subject: string, body: string, { reply }: { reply: string }) => {
      const { batch, expires, idle_heartbeat: heartbeat, id } = JSON.parse(body);
      const asks = [batch, 'for', seconds(expires), heartbeat && `hears ${seconds(heartbeat)}`, id && `as ${id}`];
      requests.push({ reply, asks: asks.filter(Boolean).join(' ') });
    },
  } as unknown as NatsConnection;
  const pull = new PullStream(
    connection,
    { stream: 'S', name: 'partition-1', ...(pinned && { pinMs }) },
    { message: () => said.push('message'), unpinned: () => said.push('unpinned'), gone: () => said.push('gone') },
    () => now,
  );
  const asks = (): string | undefined => requests.at(-1)?.asks;
  const status = (code: number): void => hear(null, { subject: requests.at(-1)?.reply, headers: { code } });
  return {
    ...{ pull, said, asks, status, requests },
    /** Time goes by, and the consumer's owner ticks. */
    wait: (ms: number) => {
      for (const until = now + ms; now < until; now += 250) pull.tick();
    },
    /** Time goes by in which the process does nothing. */
    freeze: (ms: number) => {
      now += ms;
      pull.tick();
    },
    message: (pin: string) => {
      const headers = MsgHdrsImpl.fromRecord({ 'Nats-Pin-Id': [pin] });
      hear(null, { subject: 's', reply: '$JS.ACK.S.c.1.2.3.4.5', data: new Uint8Array(), headers });
    },
    expire: () => {
      status(408);
      return asks();
    },
  };
};

const busy = '100 for 1s hears 0.5s';
const resting = '1 for 60s';

test('a consumer without messages rests: one request a minute, no heartbeats', () => {
  const { asks, expire, wait, said } = rig();
  expect(asks()).toBe(busy);
  expect(expire()).toBe(resting);
  wait(60_000);
  expect(asks()).toBe(resting);
  expect(expire()).toBe(resting);
  expect(said).toEqual([]);
});

test('the first message ends the rest; the rest begins again only once the pin cannot be in force any more', () => {
  const { message, expire, asks, said } = rig();
  expire();
  message('p1');
  expect(asks()).toBe(`${busy} as p1`);
  message('p1');
  expect(expire()).toBe(`${busy} as p1`);
  expect(expire()).toBe('1 for 2.25s hears 0.5s as p1');
  expect(expire()).toBe(resting);
  message('p2');
  expect(asks()).toBe(`${busy} as p2`);
  expect(said, 'the pins are both ours').toEqual(['message', 'message', 'message']);
});

test('before the pin is given up, the last request is out: none follows it, whatever the broker says of it', () => {
  const { pull, requests, message, status, wait, said } = rig({ cluster: 'three' });
  message('p1');
  pull.stop();
  for (const code of [423, 408, 409]) status(code);
  wait(5_000);
  expect(requests).toHaveLength(1);
  message('p2');
  expect(
    said.filter((what) => what === 'message'),
    'what it brings still comes',
  ).toHaveLength(2);
});

test('a member without pins rests as well', () => {
  const { expire, message } = rig({ pinned: false });
  expect(expire()).toBe(resting);
  message('');
  expect(expire()).toBe(resting);
});

test('in a cluster, where a leader may die without a word, nothing rests', () => {
  const { expire, wait, asks } = rig({ cluster: 'three' });
  expect(expire()).toBe(busy);
  expect(expire()).toBe(busy);
  wait(5_000);
  expect(asks()).toBe(busy);
});

test.each([
  [1_000, ['message', 'unpinned']],
  [2_000, ['message']],
])('a pin that the broker does not know after %i ms, when it lasts 2 s', (ms, expected) => {
  const { message, expire, wait, status, said, asks } = rig();
  message('p1');
  expire();
  expire();
  expire();
  wait(ms);
  status(423);
  expect(said).toEqual(expected);
  expect(asks(), 'requested again at once, without it').toBe(busy);
});

test('a process that was frozen while it rested may have lost its partition', () => {
  const { expire, wait, freeze, said } = rig();
  expire();
  wait(10_000);
  freeze(1_500);
  expect(said).toEqual([]);
  freeze(2_000);
  expect(said).toEqual(['unpinned']);
});

test('a consumer that is gone while it rests is asked for until it is back, and is silent meanwhile', () => {
  const { expire, wait, status, said, asks, pull } = rig();
  expire();
  wait(10_000);
  status(409);
  expect(said).toEqual(['gone']);
  wait(500);
  expect(asks()).toBe(busy);
  wait(5_500);
  expect(pull.silentMs()).toBeGreaterThan(5_000);
});

test('a rest that the broker does not end is over all the same', () => {
  const { expire, wait, asks } = rig();
  expire();
  wait(62_000);
  expect(asks()).toBe(busy);
});
