import { expect, test } from 'vitest';
import { approvalLines } from '../../../../services/cli/commands/approvals-and-memory/approvals.ts';
import type { PendingApproval } from '../../../../shared/client/main.ts';

const pending = (approvalId: string, more: Partial<PendingApproval> = {}): PendingApproval => ({
  ...{ approvalId, sessionKey: 'agent:main:main', action: 'run npm publish', asks: 'run', requestedAt: 1, expiresAt: 2 },
  ...{ approvers: [], onceOnly: false, ...more },
});

test('the address of an approval on the page stands below it, whole, where it has one', () => {
  const pageUrl = 'https://natter.example.org/#/approvals/0198c0de-0000-7000-8000-000000000001';
  const [, ...lines] = approvalLines([pending('a1', { pageUrl }), pending('a2')], 1, 40);
  expect(lines.map((line) => line.slice(0, 2))).toEqual(['a1', '  ', 'a2']);
  expect(lines[1]).toBe(`  ${pageUrl}`);
});
