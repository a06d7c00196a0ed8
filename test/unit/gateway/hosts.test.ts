import { expect, test } from 'vitest';
import { listHosts } from '../../../services/gateway/inspection/hosts.ts';
import type { Call } from '../../../services/gateway/operation/operation.ts';

/** Who holds which partition, by what the processes report (A14). What real hosts report is in test/e2e/gateway/system/inspection.test.ts. */

const report = (process: string, since: number, partitions: number[]) => ({
  ...{ process, version: '1', startedAt: 1, at: 9 },
  services: [{ name: 'session', problems: [], warnings: [], metrics: {}, held: [{ since, partitions }] }],
});
const listed = (...reports: object[]) =>
  listHosts(
    {
      caller: { principal: { role: 'read-only' } },
      context: {
        config: { nats: { partitions: 3 } },
        ports: {
          presence: { list: async () => reports },
          commands: { lagByPartition: async () => Promise.reject(new Error('down')) },
        },
      },
    } as unknown as Call,
    {},
  );

test('of two that report the same partition the later one has it, in whatever order they are read', async () => {
  const [before, after] = [report('before', 5, [0, 1]), report('after', 7, [1])];
  for (const reports of [
    [before, after],
    [after, before],
  ])
    expect((await listed(...reports)).partitions).toEqual([
      { partition: 0, process: 'before', since: 5, waiting: null },
      { partition: 1, process: 'after', since: 7, waiting: null },
      { partition: 2, process: null, waiting: null },
    ]);
});
