import { expect, test } from 'vitest';
import { exactFirst, foundKeyOf, nameBy, nameOf, nameWithIcon } from '../../../../services/page/finding/session-name.ts';
import type { SessionRow } from '../../../../shared/client/main.ts';

const row = (key: string, displayName?: string, shownKey = key): SessionRow =>
  ({ key, shownKey, settings: { displayName }, origin: {}, description: '' }) as unknown as SessionRow;
const ann = row('agent:main:main', 'Ann', 'main');

test.each([
  ['main', 'main'],
  ['MAI', 'main'],
  ['ann', null],
  ['agent', null],
  ['', null],
])('found by "%s", a row whose name is another shows its key: %s', (words, expected) => {
  expect(foundKeyOf(ann, words)).toBe(expected);
});

const [chat, call] = ['agent:main:web:k2j9x1', 'agent:main:api:openai-AbCdEfGhIjKlMnOpQrStUv'];
const subAgent = 'agent:main:subagent:1b2c3d4e5f607182930a4b5c-8d7e6f5a4b3c2d1e0f9a9f3b';
const told = (key: string, change: object): SessionRow => ({ ...row(key), ...change }) as SessionRow;
test.each([
  [
    'a given name without what would turn the words around it',
    told(chat, { settings: { displayName: '\u202eAn\u2066n' } }),
    'Ann',
  ],
  ['a given name, before all', told(chat, { settings: { displayName: 'Ann' }, firstWords: 'Plan it' }), 'Ann'],
  ['the key, where it says something', told('agent:main:work', { firstWords: 'Plan it' }), 'work'],
  ['that of a program too', told('agent:main:api:my-very-long-name-of-some-report', {}), 'api:my-very-long-name-of-some-report'],
  [
    'the first words of a chat of the page, without marks',
    told(chat, { firstWords: '**Plan** it', description: 'A plan' }),
    'Plan it',
  ],
  [
    'those without the directives of the offline model',
    told(chat, { firstWords: '[[tool exec {"command": ["true"]}]] please' }),
    'please',
  ],
  ['those of a directive alone, as they are', told(chat, { firstWords: '[[fail busy]]' }), '[[fail busy]]'],
  [
    'those cut at a word',
    told(chat, { firstWords: 'Write me a long story about the garden, and about what grew th…' }),
    'Write me a long story about the garden, and…',
  ],
  ['the first words of a call', told(call, { firstWords: 'Plan it' }), 'Plan it'],
  ['what it is about, where nothing has words', told(chat, { firstWords: '', description: 'A plan' }), 'A plan'],
  ['the beginning of the id, where nothing is known', told(chat, {}), 'Chat k2j9'],
  ['that of a call too', told(call, {}), 'Chat AbCd'],
  ['that of a sub-agent, which is called one', told(subAgent, {}), 'Sub-agent 9f3b'],
  ['the task of a sub-agent', told(subAgent, { firstWords: 'Count the seeds' }), 'Count the seeds'],
])('a session is called by %s', (_, session, expected) => {
  expect(nameOf(session)).toBe(expected);
});

test.each([
  ['agent:main:work', undefined, 'work'],
  [chat, undefined, 'Chat k2j9'],
  [chat, 'Ann', 'Ann'],
])('of %s alone, and the given name %s, it is called %s', (key, given, expected) => {
  expect(nameBy(key, given)).toBe(expected);
});

test.each([
  [undefined, 'Ann'],
  ['🌱', '🌱 Ann'],
])('with the icon %s it is shown as %s, and still found by its name', (icon, expected) => {
  const session = told(chat, { settings: { displayName: 'Ann', icon } });
  expect(nameWithIcon(session)).toBe(expected);
  expect(nameOf(session)).toBe('Ann');
});

test.each([
  ['main', ['Ann', 'mainly', 'domain']],
  ['  MAINLY ', ['mainly', 'Ann', 'domain']],
  ['agent:main:domain', ['domain', 'Ann', 'mainly']],
  ['', ['Ann', 'mainly', 'domain']],
  ['ain', ['Ann', 'mainly', 'domain']],
])('searched for "%s", what is called exactly so stands first', (words, expected) => {
  const rows = [ann, row('agent:main:mainly'), row('agent:main:domain')];
  expect(exactFirst(rows, words).map(nameOf)).toEqual(expected);
});
