import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { ChildTransport } from '../../../../shared/adapters/mcp/child-transport.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';

// What Node gives when the process has no file handles left: no pipes, no pid, and an error in the next turn of the event loop.
vi.mock('node:child_process', () => ({
  spawn: (): Partial<ChildProcess> => {
    const child = new EventEmitter();
    process.nextTick(() => child.emit('error', Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' })));
    return child as Partial<ChildProcess>;
  },
}));

test('B29: a program that cannot be started as there are no file handles left is an error, and ends nobody', async () => {
  const transport = new ChildTransport({
    ...{ command: 'x', args: [], env: {}, field: 'mcp.servers.x.command', heard: () => {} },
    clock: systemClock,
  });
  await expect(transport.start()).rejects.toThrow('mcp.servers.x.command: "x": it does not start: EMFILE');
  await expect(transport.send({ jsonrpc: '2.0', method: 'ping' })).rejects.toThrow('the program has ended');
  await transport.close();
});
