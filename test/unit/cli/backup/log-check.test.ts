import { expect, test } from 'vitest';
import { LogCheck } from '../../../../services/cli/backup/log-check.ts';
import { subjectsUnder } from '../../../../shared/wire/subjects.ts';

const subjects = subjectsUnder('natter');
const breaksOf = (subject: string): readonly string[] => {
  const check = new LogCheck(subjects);
  expect(check.take({ subject, seq: 8, time: 0, data: new Uint8Array() })).toBeNull();
  return check.result().breaks;
};

test('I13: the places that `natter log accept` has given up break no chain; any other message that is no commit does', () => {
  expect(breaksOf(subjects.lost)).toEqual([]);
  expect(breaksOf('natter.event.agent.main.main')).toEqual([expect.stringContaining('message 8 of ')]);
});
