import { expect, test } from 'vitest';
import { auditWords } from '../../../../services/page/log/audit-words.ts';
import { auditKinds } from '../../../../shared/domain/access/audit.ts';

test('each kind of the audit has words of its own, none of which is a code', () => {
  const words = auditKinds.map(auditWords);
  expect(new Set(words).size).toBe(auditKinds.length);
  expect(words.filter((each) => /[^a-z -]/.test(each))).toEqual([]);
  expect(auditWords('login_code_created')).toBe('link to this page made');
});
