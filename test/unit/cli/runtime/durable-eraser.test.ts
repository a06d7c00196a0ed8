import { expect, test } from 'vitest';
import { durableEraser } from '../../../../services/cli/runtime/erasure.ts';
import type { SessionKey } from '../../../../shared/domain/keys/session-key.ts';

test('C9: an erasure is on the disk before it is reported', async () => {
  const order: string[] = [];
  const report = { commits: 1, timers: 0, commands: 0, custody: 0, deadLetters: 0, memories: 0, attachments: 0 };
  const eraser = durableEraser(
    {
      erase: async (key, uptoSeq) => {
        order.push(`erase ${key} up to ${uptoSeq}`);
        return report;
      },
    },
    async () => void order.push('sync'),
  );
  expect(await eraser.erase('agent:main:main' as SessionKey, 7)).toEqual(report);
  expect(order).toEqual(['erase agent:main:main up to 7', 'sync']);
});
