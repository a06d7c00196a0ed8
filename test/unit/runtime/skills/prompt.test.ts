import { describe, expect, test } from 'vitest';
import { reservedCommands, skillCallIn } from '../../../../shared/domain/routing/chat-command.ts';
import { commandName, skillCommands } from '../../../../shared/runtime/skills/commands.ts';
import { charactersOf, skillsSection } from '../../../../shared/runtime/skills/prompt.ts';
import { skillOf } from './folders.ts';

describe('A15/168: what the prompt costs', () => {
  const told = (...names: string[]) => names.map((name) => ({ skill: skillOf(name) }));
  /** With the empty line that stands before it. */
  const cost = (...names: string[]) => `\n\n${skillsSection(told(...names))}`.length;
  const own = (name: string) => name.length + `What ${name} does.`.length + `skills/${name}/SKILL.md`.length;

  test('nothing without skills', () => expect(skillsSection([])).toBe(''));
  test('195 characters and 97 for each skill, besides its name, description and location', () => {
    expect(cost('git')).toBe(195 + 97 + own('git'));
    expect(cost('git', 'summarize')).toBe(195 + 97 + own('git') + 97 + own('summarize'));
  });
  test('the list, in XML', () => {
    const skill = skillOf('a-b', {}, { description: 'Reads <b> & "c" it\'s' });
    expect(skillsSection([{ skill }])).toMatch(
      / {2}<skill>\n {4}<name>a-b<\/name>\n {4}<description>Reads &lt;b&gt; &amp; &quot;c&quot; it&apos;s<\/description>\n {4}<location>skills\/a-b\/SKILL\.md<\/location>\n {2}<\/skill>\n<\/available_skills>$/,
    );
  });
  test('what is counted for each is what it adds, also on a node', () => {
    const base = told('a');
    for (const more of [
      { skill: skillOf('b', {}, { description: 'b & "c"' }) },
      { skill: skillOf('d'), node: 'the "mac"' },
      { skill: skillOf('d') },
    ]) {
      const added = skillsSection([...base, more]).length - skillsSection(base).length;
      expect([charactersOf(more), charactersOf(more)]).toEqual([added, added]);
    }
  });
  test('A15/149: one that the model may not call is not in it', () => {
    const hidden = { skill: skillOf('hidden', {}, { 'disable-model-invocation': true }) };
    expect(skillsSection([hidden])).toBe('');
    expect(skillsSection([hidden, ...told('a')])).toBe(skillsSection(told('a')));
  });
  test('A15/167: one whose programs run on a node says so', () => {
    expect(skillsSection([{ skill: skillOf('a'), node: 'mac' }])).toContain(
      'What a does. (Run its programs on the node &quot;mac&quot; with nodes.run.)</description>',
    );
  });
});

describe('A15/148: commands of skills', () => {
  test.each([
    ['code-review', 'code_review'],
    ['Code Review 2', 'code_review_2'],
    ['--a--', 'a'],
    ['日本', ''],
    ['x'.repeat(40), 'x'.repeat(32)],
  ])('%s is typed as %s', (name, expected) => expect(commandName(name)).toBe(expected));

  test('they are unique, and none of ours', () => {
    const reserved = reservedCommands(['/fresh', 'fresh start']);
    const skills = ['status', 'a-b', 'a_b', 'a.b', 'fresh', 'skill', '日本'].map((name) => skillOf(name));
    const commands = skillCommands([...skills, skillOf('none', {}, { 'user-invocable': false })], reserved);
    expect([...commands.keys()]).toEqual(['status_2', 'a_b', 'a_b_2', 'a_b_3', 'fresh_2', 'skill_2', 'skill_3']);
  });
  test('A15/144: of two that come to the same the one whose place comes first has the word, however they are spelt', () => {
    const theirs = skillOf('Deploy', {}, { source: 'extra' });
    const ours = skillOf('deploy', {}, { source: 'workspace' });
    const commands = skillCommands([theirs, ours], new Set());
    expect([commands.get('deploy'), commands.get('deploy_2')]).toEqual([ours, theirs]);
  });
  test('the words of ours', () => {
    const words = reservedCommands(['/fresh', 'again', '/two words']);
    for (const word of [
      'new',
      'reset',
      'stop',
      'status',
      'context',
      'send',
      'compact',
      'approve',
      'deny',
      'skill',
      'fresh',
      'two',
    ])
      expect(words).toContain(word);
    expect(words).not.toContain('again');
  });
  test.each([
    ['/summarize', { name: 'summarize', rest: '' }],
    ['/summarize  notes.md  in 3 lines ', { name: 'summarize', rest: 'notes.md  in 3 lines' }],
    ['/summarize\nnotes\nmore', { name: 'summarize', rest: 'notes\nmore' }],
    ['/skill summarize notes.md', { name: 'summarize', rest: 'notes.md' }],
    ['/SKILL /Summarize', { name: 'Summarize', rest: '' }],
    ['@natter /code-review x', { name: 'code-review', rest: 'x' }],
    ['/code_review@natter x', { name: 'code_review', rest: 'x' }],
    ['/code_review@other x', { name: 'code_review@other', rest: 'x' }],
    ['summarize this', null],
    ['/', null],
    ['// a comment', null],
    ['/usr/share/file', null],
    ['', null],
  ])('%j', (text, expected) => expect(skillCallIn(text, ['natter'])).toEqual(expected));
});
