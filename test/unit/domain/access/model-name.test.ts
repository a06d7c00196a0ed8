import { describe, expect, test } from 'vitest';
import { resolveModel } from '../../../../shared/domain/config/model-name.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';

const config = configSchema.parse({
  agent: { model: 'openai/gpt-5' },
  model: {
    aliases: { fast: 'openai/gpt-5-mini', gpt: 'openai/gpt-5', anthropic2: 'anthropic/claude-opus-4-1' },
    providers: {
      openai: { kind: 'openai-compatible', models: ['gpt-5-mini', 'gpt-5', 'o3'] },
      anthropic: { kind: 'anthropic', models: ['claude-opus-4-1', 'claude-sonnet-4-5', 'claude-haiku-4-5'] },
      router: { kind: 'openai-compatible', models: ['meta/llama-3.1', 'o3', 'mistral-large'] },
      empty: { kind: 'openai-compatible' },
    },
  },
});
const claudes = ['anthropic/claude-haiku-4-5', 'anthropic/claude-opus-4-1', 'anthropic/claude-sonnet-4-5'];

describe('A4/54: the model that /new <model> means', () => {
  test.each([
    ['an alias', 'fast', 'openai/gpt-5-mini'],
    ['an alias as a phone writes it', 'Fast', 'openai/gpt-5-mini'],
    ['an alias before a name that is nearer', 'gpt', 'openai/gpt-5'],
    ['provider/model', 'anthropic/claude-opus-4-1', 'anthropic/claude-opus-4-1'],
    ['provider/model in any case, as configured', 'Anthropic/Claude-Opus-4-1', 'anthropic/claude-opus-4-1'],
    ['provider/model that the configuration does not name', 'openai/gpt-9', 'openai/gpt-9'],
    ["a model's own name may have a slash", 'router/meta/llama-3.1', 'router/meta/llama-3.1'],
    ["and be written without its provider's", 'meta/llama-3.1', 'router/meta/llama-3.1'],
    ["a provider is the agent's own model if that is one of its", 'openai', 'openai/gpt-5'],
    ['else the first of its models', 'anthropic', 'anthropic/claude-opus-4-1'],
    ['a name without its provider', 'gpt-5', 'openai/gpt-5'],
    ['a name without its hyphens', 'gpt5', 'openai/gpt-5'],
    ['the part that people call it by', 'opus', 'anthropic/claude-opus-4-1'],
    ['the beginning of a provider', 'anthr', 'anthropic/claude-opus-4-1'],
    ['the beginning of a name', 'mist', 'router/mistral-large'],
  ])('%s', (_, word, model) => expect(resolveModel(word, config)).toEqual({ model }));

  test.each([
    ['a name that two providers have', 'o3', ['openai/o3', 'router/o3']],
    ['a part of several names', 'claude', claudes],
    ['a provider of which no model is known', 'empty', []],
  ])('a tie is listed and not taken: %s', (_, word, ambiguous) => {
    const found = resolveModel(word, config);
    expect(found && 'ambiguous' in found && [...found.ambiguous].sort()).toEqual(ambiguous);
  });

  test.each([
    ['an ordinary word', 'hello'],
    ['nothing', ''],
    ['two letters', 'so'],
    ['letters that a name has somewhere', 'plan'],
    ['a slash without a provider before it', 'and/or'],
    ['a provider and nothing', 'openai/'],
    ['a property of every object', 'constructor'],
    ['letters of a name with others between them', 'snnt'],
    ['what no name is as long as', `openai/${'x'.repeat(200)}`],
  ])('no model: %s', (_, word) => expect(resolveModel(word, config)).toBeNull());

  test.each([
    ['opus', { model: 'anthropic/claude-opus-4-1' }],
    ['fast', { model: 'openai/gpt-5-mini' }],
    ['openai', { model: 'openai/gpt-5' }],
    ['open', null],
    ['mist', null],
    ['?!?', null],
  ])('with a text after it "%s" must be a whole word of a name', (word, expected) => {
    expect(resolveModel(word, config, { alone: false })).toEqual(expected);
  });
});
