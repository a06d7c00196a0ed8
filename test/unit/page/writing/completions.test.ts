import { expect, test } from 'vitest';
import { completionsFor, modelNamesIn } from '../../../../services/page/writing/completions.ts';

/** What is offered while a message is written. */

const key = (path: string, value: unknown) => ({ path, value, origin: 'default', takesEffect: 'at_start' as const });
const models = modelNamesIn({
  keys: [
    key('agent.model', 'local/large'),
    key('model.aliases.fast', 'local/small'),
    key('model.idleTokenMs', 60_000),
    key('model.providers.local.kind', 'openai-compatible'),
    key('model.providers.local.models', ['small', 'large']),
    key('model.providers.my.own.models', ['tiny']),
  ],
});

test('models are listed once each, short names first, then the agent’s own', () => {
  expect(models.map(({ name }) => name)).toEqual(['fast', 'local/large', 'local/small', 'my.own/tiny']);
  expect(models[0]?.what).toBe('short for local/small');
});

test.each([
  ['/mo', ['/model ']],
  ['/model', ['/model ']],
  ['/model ', ['/model fast', '/model local/large', '/model local/small', '/model my.own/tiny']],
  ['/model SMALL', ['/model local/small']],
  ['/model fast', []],
  ['/model local/small', []],
  ['/model none', []],
  ['the /model ', []],
  ['/new fast', []],
])('after "%s" these are offered: %j', (text, texts) => {
  expect(completionsFor(text, models).map((each) => each.text)).toEqual(texts);
});
