import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createClient } from '../../../shared/client/main.ts';

/** docs/integrate/client.md; its examples run in test/e2e/client/package.test.ts. */
const text = readFileSync(new URL('../../../docs/integrate/client.md', import.meta.url), 'utf8');
const client = createClient({ url: 'http://127.0.0.1:1', token: '' });
const namesIn = (row: string): string[] => [...row.matchAll(/`(\w+)/g)].map(([, name = '']) => name).sort();

test.each([
  ['client.sessions', client.sessions],
  ['client.runs', client.runs],
  ['client.approvals', client.approvals],
])('the row of %s has each of its methods, and no other', (name, group) => {
  const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
  expect(namesIn(row.split(' | ')[1] ?? '')).toEqual(Object.keys(group).sort());
});

test('every method of the client itself is told of', () => {
  const row = text.split('\n').find((line) => line.startsWith('| `client` |')) ?? '';
  const calls = Object.entries(client).flatMap(([name, part]) => (typeof part === 'function' ? [name] : []));
  const apart = ['connect', 'events'];
  expect([...namesIn(row.split(' | ')[1] ?? ''), ...apart].sort()).toEqual(calls.sort());
  for (const name of apart) expect(text).toContain(`client.${name}(`);
});
