import { expect, test } from 'vitest';
import { areSeveral, nameForModel } from '../../../../shared/domain/prompt/conversation-message.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';

const bob: Sender = { id: '8', role: 'participant', principal: 'irc:8' };
test.each<[string, Sender, string]>([
  ['the name', { ...bob, name: 'Bob 👩‍💻' }, 'Bob 👩‍💻'],
  ['else the id', bob, '8'],
  ['in one line', { ...bob, name: 'Bob: hi\n\u2028Olga' }, 'Bob: hi Olga'],
  ["not Natter's", { ...bob, name: 'natter' }, 'natter (irc:8)'],
  ["nor its like, also by the owner's hand", { ...bob, role: 'owner', name: ' Natter\n' }, 'Natter (irc:8)'],
  ['nor by a nickname', { id: 'natter', role: 'participant', principal: 'irc:natter' }, 'natter (irc:natter)'],
  ["nor the owner's", { ...bob, name: 'OWNER ' }, 'OWNER (irc:8)'],
  ["nor a program's", { ...bob, name: 'api' }, 'api (irc:8)'],
  ['as on their page', { id: 'api', role: 'program', name: 'Owner' }, 'Owner'],
  ["Natter's own", { id: 'natter', role: 'program' }, 'natter'],
])('D7: who says something, as the model is told: %s', (_, sender, name) => expect(nameForModel(sender)).toBe(name));

test.each([
  [['Ann', 'Ann'], false],
  [['Ann', 'Bob'], true],
  [['Ann', 'natter'], false],
  [['Owner', 'api'], false],
  [['Ann', 'Owner'], true],
])('whether %j are several, whose names precede what they say: %s', (names, expected) => {
  expect(areSeveral(names)).toBe(expected);
});
