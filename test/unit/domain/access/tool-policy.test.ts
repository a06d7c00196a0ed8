import { describe, expect, test } from 'vitest';
import {
  type AskedCall,
  isOffered,
  matchesPattern,
  type ToolWord,
  toolWord,
} from '../../../../services/session/tools/tool-policy.ts';
import { toolsConfig } from '../../../../shared/domain/config/turn-schema.ts';

const rulesOf = (rules: readonly object[]) => toolsConfig.parse({ rules }).rules;
const olga = { id: '1', role: 'owner', principal: 'telegram:1' } as const;
const ann = { ...olga, role: 'participant' } as const;
const call = (change: Partial<AskedCall> = {}): AskedCall => ({
  tool: { name: 'write_file', usual: 'allow' },
  arguments: { path: 'notes/today.md' },
  agentId: 'main',
  channel: 'telegram',
  sender: olga,
  ...change,
});
const tool = (name: string, usual: 'allow' | 'ask' | 'deny', onceOnly?: true): AskedCall['tool'] => ({
  name,
  usual,
  ...(onceOnly && { onceOnly }),
});
const allow: ToolWord = { action: 'allow' };
const deny = (index: number): ToolWord => ({ action: 'deny', rule: `tools.rules[${index}]` });
const ask = (index: number, ...approvers: string[]): ToolWord => ({ action: 'ask', rule: `tools.rules[${index}]`, approvers });
const noRule = 'no rule in "tools.rules" allows it for participants';
const usual = (name: string) => `what is usual for the tool "${name}"`;

describe('toolWord', () => {
  const any = (action: string, more: object = {}) => ({ tool: '*', action, ...more });
  const rows: readonly [rule: string, rules: object[], asked: AskedCall, word: ToolWord][] = [
    ['without a rule what is usual: allow', [], call(), allow],
    ['ask', [], call({ tool: tool('x', 'ask') }), { action: 'ask', rule: usual('x'), approvers: [] }],
    ['deny', [], call({ tool: tool('x', 'deny') }), { action: 'deny', rule: usual('x') }],
    ['a rule comes before what is usual', [any('deny')], call(), deny(0)],
    ['also one that is milder', [any('allow')], call({ tool: tool('x', 'deny') }), allow],
    ['the strictest wins, wherever it stands: deny', [any('deny'), any('ask'), any('allow')], call(), deny(0)],
    ['deny, last', [any('allow'), any('ask'), any('deny')], call(), deny(2)],
    ['ask over allow', [any('allow'), any('ask')], call(), ask(1)],
    ['a rule of another tool says nothing', [any('deny', { tool: 'exec' })], call(), allow],
    ['names are byte-exact', [any('deny', { tool: 'Write_file' })], call(), allow],
    ['a pattern of the name', [any('deny', { tool: '*_file' })], call(), deny(0)],
    ['of an MCP server', [any('ask', { tool: 'github__*' })], call({ tool: tool('github__push', 'allow') }), ask(0)],
    ['per agent', [any('deny', { agent: 'main' })], call(), deny(0)],
    ['not another', [any('deny', { agent: 'work' })], call(), allow],
    ['per channel, whatever the case', [any('deny', { channel: 'Telegram' })], call(), deny(0)],
    ['not another', [any('deny', { channel: 'telegramx' })], call(), allow],
    ['nor none', [any('deny', { channel: 'telegram' })], call({ channel: undefined }), allow],
    ['per role', [any('deny', { role: 'owner' })], call(), deny(0)],
    ['not another', [any('deny', { role: 'program' })], call(), allow],
    ['nobody knows the role: a participant', [any('deny', { role: 'participant' })], call({ sender: { id: '9' } }), deny(0)],
    [
      'and never the owner',
      [any('allow', { role: 'owner' })],
      call({ sender: { id: '9' }, tool: tool('x', 'deny') }),
      { action: 'deny', rule: noRule },
    ],
    ['all that a rule names must match', [any('deny', { agent: 'main', channel: 'discord' })], call(), allow],
    ['per argument', [any('deny', { arguments: { path: 'notes/*' } })], call(), deny(0)],
    ['not another', [any('deny', { arguments: { path: 'secret/*' } })], call(), allow],
    ['nor one that is not there', [any('deny', { arguments: { file: '*' } })], call(), allow],
    ['all of the arguments', [any('deny', { arguments: { path: '*', file: '*' } })], call(), allow],
    [
      'a list as JSON',
      [any('deny', { arguments: { command: '*"rm"*' } })],
      call({ arguments: { command: ['rm', '-rf'] } }),
      deny(0),
    ],
    ['a number as JSON', [any('deny', { arguments: { limit: '1*' } })], call({ arguments: { limit: 12 } }), deny(0)],
    ['null as JSON', [any('deny', { arguments: { limit: 'null' } })], call({ arguments: { limit: null } }), deny(0)],
    [
      'arguments that are no object match no pattern',
      [any('deny', { arguments: { path: '*' } })],
      call({ arguments: 'path' }),
      allow,
    ],
    ['nor does null', [any('deny', { arguments: { path: '*' } })], call({ arguments: null }), allow],
    ['what objects inherit is no argument', [any('deny', { arguments: { constructor: '*' } })], call(), allow],
    [
      'a name like __proto__ is one like others',
      [any('deny', { arguments: JSON.parse('{"__proto__":"x"}') })],
      call({ arguments: JSON.parse('{"__proto__":"y"}') }),
      // The schema of the configuration drops such a name; the rule is then one for all arguments: the strict reading.
      deny(0),
    ],
    [
      'a tool to be asked about each time is asked about',
      [any('allow')],
      call({ tool: tool('exec', 'ask', true) }),
      {
        action: 'ask',
        rule: usual('exec'),
        approvers: [],
      },
    ],
    [
      'even if it is usual to allow it',
      [],
      call({ tool: tool('x', 'allow', true) }),
      { action: 'ask', rule: usual('x'), approvers: [] },
    ],
    ['and may be denied', [any('deny')], call({ tool: tool('exec', 'ask', true) }), deny(0)],
    ['or usually is', [], call({ tool: tool('x', 'deny', true) }), { action: 'deny', rule: usual('x') }],
    ['approvers', [any('ask', { approvers: ['telegram:7'] })], call(), ask(0, 'telegram:7')],
    ['each once', [any('ask', { approvers: ['asker', 'telegram:1', 'asker'] })], call(), ask(0, 'telegram:1')],
    ['`asker` is who wrote', [any('ask', { approvers: ['asker'] })], call(), ask(0, 'telegram:1')],
    ['nobody, if nobody knows who', [any('ask', { approvers: ['asker'] })], call({ sender: { id: '9' } }), ask(0)],
    [
      'of several rules those whom all let answer',
      [any('ask', { approvers: ['asker', 'bob'] }), any('ask', { approvers: ['bob'] })],
      call(),
      ask(0, 'bob'),
    ],
    ['so a rule without any leaves the owner', [any('ask', { approvers: ['asker'] }), any('ask')], call(), ask(0)],
    ['a rule that allows makes nobody an approver', [any('allow', { approvers: ['bob'] }), any('ask')], call(), ask(1)],
  ];
  test.each(rows)('A5/62: %s', (_, rules, asked, word) => {
    expect(toolWord(rulesOf(rules), asked)).toEqual(word);
  });

  test('A5/62: what is too deep to be read gets nobody a permission', () => {
    const deep = { path: JSON.parse(`${'['.repeat(60_000)}${']'.repeat(60_000)}`) };
    const about = (action: string) => rulesOf([{ tool: '*', action, arguments: { path: 'x' } }]);
    expect(toolWord(about('deny'), call({ arguments: deep }))).toEqual(deny(0));
    expect(toolWord(about('allow'), call({ arguments: deep, tool: tool('x', 'deny') }))).toMatchObject({ action: 'deny' });
  });
});

describe('what a stranger may use (ADR 22)', () => {
  const rule = (action: string, more: object = {}) => ({ tool: 'write_file', action, ...more });
  const nothing: ToolWord = { action: 'deny', rule: noRule };
  const notes = { arguments: { path: 'notes/*' } };
  const plans = { arguments: { path: 'plans/*' } };
  const rows: readonly [given: string, rules: object[], asked: Partial<AskedCall>, word: ToolWord, offered: boolean][] = [
    ['no rule', [], {}, nothing, false],
    ['no rule, and no role', [], { sender: { id: '9' } }, nothing, false],
    ['no rule, and a tool that is usually asked about', [], { tool: tool('x', 'ask') }, nothing, false],
    ['a tool that is open to all', [], { tool: { ...tool('x', 'allow'), openToAll: true } }, allow, true],
    [
      'one that a rule denies all the same',
      [{ tool: 'x', action: 'deny' }],
      { tool: { ...tool('x', 'allow'), openToAll: true } },
      deny(0),
      false,
    ],
    ['a rule for everybody', [rule('allow')], {}, allow, true],
    ['a rule for participants', [rule('allow', { role: 'participant' })], {}, allow, true],
    ['a rule for the owner', [rule('allow', { role: 'owner' })], {}, nothing, false],
    ['a rule for programs', [rule('allow', { role: 'program' })], {}, nothing, false],
    ['a rule for another channel', [rule('allow', { channel: 'irc' })], {}, nothing, false],
    ['a rule that asks', [rule('ask')], {}, ask(0), true],
    ['a rule for these arguments', [rule('allow', notes)], {}, allow, true],
    ['a rule for others', [rule('allow', plans)], {}, nothing, true],
    ['a denial of others only', [rule('deny', plans)], {}, nothing, false],
    ['a denial of everything besides', [rule('allow', notes), rule('deny')], {}, deny(1), false],
    ['a denial of some besides', [rule('allow'), rule('deny', notes)], {}, deny(1), true],
    [
      'a tool that needs a person each time',
      [{ tool: 'exec', action: 'allow' }],
      { tool: tool('exec', 'ask', true) },
      { action: 'ask', rule: usual('exec'), approvers: [] },
      true,
    ],
  ];
  test.each(rows)('A5/62: with %s', (_, rules, asked, word, offered) => {
    const given = call({ sender: ann, ...asked });
    expect(toolWord(rulesOf(rules), given)).toEqual(word);
    expect(isOffered(rulesOf(rules), given)).toBe(offered);
  });
  test.each(['owner', 'program'] as const)('A5/62: the %s needs no rule', (role) => {
    expect([toolWord([], call({ sender: { id: '1', role } })), isOffered([], call({ sender: { id: '1', role } }))]).toEqual([
      allow,
      true,
    ]);
  });
});

describe('matchesPattern', () => {
  const rows: readonly [pattern: string, text: string, matches: boolean][] = [
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['*', 'any\nlines', true],
    ['a', 'a', true],
    ['a', 'A', false],
    ['a', 'ab', false],
    ['a*', 'a', true],
    ['a*', 'ba', false],
    ['*a', 'ba', true],
    ['*a', 'ab', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['a**b', 'ab', true],
    ['*a*a*', 'a', false],
    ['.', 'x', false],
    ['[a-z]+$', '[a-z]+$', true],
    ['a?c', 'abc', false],
  ];
  test.each(rows)('A5/62: %j on %j: %s', (pattern, text, matches) => {
    expect(matchesPattern(pattern, text)).toBe(matches);
  });
  test('A5/62: no pattern takes long', () => {
    const start = performance.now();
    expect(matchesPattern(`${'a*'.repeat(1_000)}b`, `${'a'.repeat(128_000)}c`)).toBe(false);
    expect(matchesPattern(`*${'a*'.repeat(1_000)}b*`, 'a'.repeat(128_000))).toBe(false);
    expect(matchesPattern(`*${'a'.repeat(1_000)}b*`, 'a'.repeat(128_000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
