import { expect, test } from 'vitest';
import { type CpuProfile, profileOfProcess } from '../../bench/profiles.ts';

const frame = (id: number, functionName: string, url: string, children: number[] = []) => ({
  ...{ id, children, callFrame: { functionName, url } },
});
const profile: CpuProfile = {
  nodes: [
    frame(1, '(root)', '', [2, 3, 8]),
    frame(2, '(idle)', ''),
    frame(3, '(garbage collector)', ''),
    frame(4, 'answer', 'file:///somewhere/dist/services/gateway/messages/post.js', [5, 6]),
    frame(5, 'encode', 'file:///somewhere/node_modules/@nats-io/jetstream/lib/mod.js', [7]),
    frame(6, 'decide', 'file:///somewhere/dist/services/session/host/host.js'),
    frame(8, 'listOnTimeout', '', [4]),
    frame(7, 'writev', 'node:internal/stream_base_commons'),
  ],
  samples: [2, 3, 3, 4, 5, 3, 6, 7, 7],
  timeDeltas: [90_000, 500, 1_000, 1_000, 2_000, 500, 1_000, 2_000, 2_000],
};

test('a profile says what each area used itself, and with what it called; waiting is not counted', () => {
  const { title, rows } = profileOfProcess(profile) ?? { title: '', rows: [] };
  expect(title).toBe('process of gateway, session: 0.0 s of processor time');
  expect(rows.map(({ what, value, note }) => [what, value, note])).toEqual([
    ['node:stream_base_commons', 40, '40.0 % with what it calls'],
    ['garbage collection', 20, '0 of 2 pauses over 5 ms, the longest 1.5 ms'],
    ['@nats-io/jetstream', 20, '60.0 % with what it calls'],
    ['services/gateway/messages', 10, '80.0 % with what it calls'],
    ['services/session/host', 10, '10.0 % with what it calls'],
  ]);
});

test('a process that ran no service has none', () => {
  expect(profileOfProcess({ ...profile, samples: [3], timeDeltas: [1_000] })).toBeUndefined();
});
