import { expect, test } from 'vitest';
import { methods } from '../../../services/gateway/protocols/rpc/table.ts';
import { callsAtOnce, frameBytes, reading } from '../../../shared/client/socket-calls.ts';
import { limits } from '../../../shared/kit/limits.ts';

test('the client knows what the gateway takes over a WebSocket', () => {
  expect({ callsAtOnce, frameBytes }).toEqual({ callsAtOnce: limits.socketCalls, frameBytes: limits.commandBytes });
});

test('the client asks again for what changes nothing, and for all of that', () => {
  const harmless = Object.entries(methods).flatMap(([name, { changes }]) => (changes === 'nothing' ? [name] : []));
  expect([...reading].sort()).toEqual(harmless.sort());
});
