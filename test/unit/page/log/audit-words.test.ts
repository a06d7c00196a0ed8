import { expect, test } from 'vitest';
import { auditFactWords, auditWords } from '../../../../services/page/log/audit-words.ts';
import { auditKinds } from '../../../../shared/domain/access/audit.ts';

test('each kind of the audit has words of its own, none of which is a code', () => {
  const words = auditKinds.map(auditWords);
  expect(new Set(words).size).toBe(auditKinds.length);
  expect(words.filter((each) => /[^a-z -]/.test(each))).toEqual([]);
  expect(auditWords('login_code_created')).toBe('link to this page made');
});

test.each([
  ['approvalId: k3x, verdict: denied', 'approval k3x, denied'],
  ['approvalId: k3x, verdict: granted, scope: always', 'approval k3x, allowed from now on'],
  ['commit: 12, reason: another text', 'from commit 12, a message was edited'],
  ['reason: another answer', 'an answer was tried again'],
  ['commit: 12, reason: the plan failed', 'from commit 12, reason: the plan failed'],
  ['reason: tidying up', 'reason: tidying up'],
  ['mode: key, reason: tidying up', 'reason: tidying up'],
  ['mode: session', ''],
  ['role: channel, namespace: irc', 'role: channel, namespace: irc'],
])('%s reads: %s', (detail, words) => {
  expect(auditFactWords(detail)).toBe(words);
});
