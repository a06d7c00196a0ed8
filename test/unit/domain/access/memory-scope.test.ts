import { describe, expect, test } from 'vitest';
import { identitiesOf } from '../../../../shared/domain/keys/identity.ts';
import { memoryReach } from '../../../../shared/domain/memory/memory-scope.ts';
import type { Sender } from '../../../../shared/domain/values/types.ts';
import { keyOf } from '../../../support/domain/commits.ts';

const rules = { mainKey: 'main', identities: identitiesOf({}) };
const key = keyOf('agent:main:telegram:dm:1');
const reachOf = (sender: Sender) => memoryReach({ key, participants: ['telegram:1'], sender }, rules);
const persons = (scopes: ReturnType<typeof reachOf>['read']) =>
  scopes.flatMap((scope) => (scope.kind === 'person' ? scope.principal : []));

const program = (change: Partial<Sender>): Sender => ({ id: 'agent:main:main', role: 'program', ...change });

describe('A7/82: what a program reads of the person whose session it is', () => {
  test.each<[string, Sender, string[]]>([
    ['theirs, when it works for nobody in particular', program({}), ['telegram:1']],
    ['theirs, when it works for them', program({ principal: 'telegram:1', onBehalfOf: 'participant' }), ['telegram:1']],
    ['nothing, when it works for somebody else', program({ principal: 'telegram:2', onBehalfOf: 'participant' }), []],
    ['nothing, when it works for a participant nobody names', program({ onBehalfOf: 'participant' }), []],
  ])('%s', (_, sender, expected) => {
    expect(persons(reachOf(sender).read)).toEqual(expected);
  });

  test('it changes what is remembered of them only on their behalf', () => {
    expect(persons(reachOf(program({})).write)).toEqual([]);
    expect(persons(reachOf(program({ principal: 'telegram:1', onBehalfOf: 'participant' })).write)).toEqual(['telegram:1']);
  });
});
