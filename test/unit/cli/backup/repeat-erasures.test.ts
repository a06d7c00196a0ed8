import { expect, test } from 'vitest';
import { repeatErasures } from '../../../../services/cli/backup/repeat-erasures.ts';
import { isErasure } from '../../../../shared/domain/session/chain.ts';
import { homeKey, rig } from '../../session/rig.ts';

/** C9: what a restore brings back of an erased session is erased again, whatever happened to that session before. */
test.each([
  ['whole', [], ''],
  ['damaged, and a person has decided', [2], 'repair a bad disk'],
  ['damaged, and nobody has decided', [2], ''],
])('an erasure is repeated on a session that is %s', async (_, lost, decision) => {
  const made = rig();
  for (const row of ['post a', 'append b', 'post c', 'append d']) await made.take(row);
  const stored = () => made.system.events.stored().filter(({ key }) => key === homeKey);
  for (const { seq } of stored().filter(({ rev }) => lost.some((one) => one === rev))) made.system.events.kept.spoil(seq);
  made.restart();
  if (decision !== '') await made.take(decision);

  const erasures = [{ key: homeKey, at: 1 }];
  expect(await repeatErasures(made.ports, made.system.eraser, { erasures, actor: 'operator:olga' })).toBe(1);
  expect(stored().map(isErasure)).toEqual([true]);
});
