import { describe, expect, test } from 'vitest';
import { createModels } from '../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';

const models = (agent: object, providers: object = {}, context: object = {}) =>
  createModels(configSchema.parse({ agent, context, model: { providers } }), { KEY: 'k' }, systemClock);
const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };

describe('the model that the configuration names', () => {
  test.each<[string, object, RegExp]>([
    ['gpt', {}, /agent\.model "gpt" is not known; use one of: offline/],
    ['__proto__/x', {}, /agent\.model/],
    ['a/', { a: local }, /agent\.model.*a\/<model>/],
    ['a/b', { a: { kind: 'anthropic', apiKeyEnv: 'MISSING' } }, /model\.providers\.a\.apiKeyEnv names MISSING/],
    ['a/b', { a: { kind: 'openai-compatible' } }, /model\.providers\.a\.baseUrl is missing/],
  ])('%s is refused, naming the field', (model, providers, message) => {
    expect(() => models({ model }, providers)).toThrow(message);
  });

  test('has the window that the provider’s entry names, else the configured one', () => {
    const modelOf = models(
      { model: 'a/b/c' },
      { a: { ...local, apiKeyEnv: 'KEY', windows: { 'b/c': 5_000 } } },
      { windowTokens: 7_000 },
    );
    expect(modelOf()).toMatchObject({ name: 'a/b/c', windowTokens: 5_000 });
    expect(modelOf('a/constructor').windowTokens).toBe(7_000);
    expect(modelOf('offline').windowTokens).toBe(7_000);
    expect(modelOf('gone/x').windowTokens).toBe(7_000);
  });
});
