import { expect, test, vi } from 'vitest';
import { createTools } from '../../../../services/session/tools/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { limits } from '../../../../shared/kit/limits.ts';
import type { ToolSource } from '../../../../shared/ports/tool-source.ts';
import type { Tool } from '../../../../shared/ports/tools.ts';
import { scope } from './calling.ts';

const tool = (name: string, description = ''): Tool => ({
  name,
  description,
  parameters: {},
  idempotent: true,
  usual: 'allow',
  describe: () => name,
  run: async () => ({ outcome: 'ok', text: '' }),
});
const source = (...tools: Tool[]): ToolSource => ({ of: () => tools, problems: () => [], close: async () => {} });
const made = (sources: readonly ToolSource[], disabled: string[] = []) =>
  createTools(sources, configSchema.parse({ tools: { disabled } }));
const names = (tools: readonly Tool[]) => tools.map(({ name }) => name);

test('the tools of all sources, in the order of their names whatever order they come in', () => {
  expect(names(made([source(tool('b'), tool('a')), source(tool('Z'), tool('a_b'))]).of(scope))).toEqual(['Z', 'a', 'a_b', 'b']);
});
test.each([
  [['exec'], ['github__push', 'web_fetch']],
  [['github__*'], ['exec', 'web_fetch']],
  [['*'], []],
  [['x'], ['exec', 'github__push', 'web_fetch']],
])('%j are disabled', (disabled, left) => {
  expect(names(made([source(tool('exec'), tool('web_fetch'), tool('github__push'))], disabled).of(scope))).toEqual(left);
});
test('I12: a later source cannot take the place of a tool; that is a problem, told once', () => {
  const tools = made([source(tool('exec', 'ours')), source(tool('exec', 'theirs'))]);
  expect([...tools.of(scope), ...tools.of(scope)].map(({ description }) => description)).toEqual(['ours', 'ours']);
  expect(tools.problems()).toEqual(['a second tool "exec" is left out: disable or rename one of them']);
});
test('a problem that is mended is none any more: a server has changed its list', () => {
  const theirs = [tool('exec'), tool('fine')];
  const tools = made([source(tool('exec')), { ...source(), of: () => theirs }]);
  tools.of(scope);
  theirs.shift();
  expect([names(tools.of(scope)), tools.problems()]).toEqual([['exec', 'fine'], []]);
});
test('a disabled one is no second one', () => {
  const tools = made([source(tool('exec')), source(tool('exec'))], ['exec']);
  expect([tools.of(scope), tools.problems()]).toEqual([[], []]);
});
test.each(['', 'a b', 'a.b', 'ä', 'x'.repeat(65), 'a\n'])('the name %j is left out', (name) => {
  const tools = made([source(tool(name), tool('fine'))]);
  expect(names(tools.of(scope))).toEqual(['fine']);
  expect(tools.problems()).toEqual([expect.stringContaining('no provider takes this name')]);
});
test('__proto__ is a name like others', () => {
  expect(names(made([source(tool('__proto__'), tool('constructor'))]).of(scope))).toEqual(['__proto__', 'constructor']);
});
test('I11: there is an end to tools and to problems', () => {
  const many = made([source(...Array.from({ length: 500 }, (_, index) => tool(`t${index}`)))]);
  expect(many.of(scope)).toHaveLength(limits.offeredTools);
  expect(many.problems()).toHaveLength(limits.offeredTools);
});
test('problems of sources are told, and all of them are closed, also when one fails', async () => {
  const closed = vi.fn(async () => {});
  const broken = { of: () => [], problems: () => ['gone'], close: () => Promise.reject(new Error('no')) };
  const tools = made([broken, { ...source(), close: closed }]);
  expect(tools.problems()).toEqual(['gone']);
  await tools.close();
  expect(closed).toHaveBeenCalledOnce();
});
