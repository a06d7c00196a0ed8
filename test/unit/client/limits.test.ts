import { expect, test } from 'vitest';
import { callsAtOnce, frameBytes } from '../../../shared/client/socket-calls.ts';
import { limits } from '../../../shared/kit/limits.ts';

test('the client knows what the gateway takes over a WebSocket', () => {
  expect({ callsAtOnce, frameBytes }).toEqual({ callsAtOnce: limits.socketCalls, frameBytes: limits.commandBytes });
});
