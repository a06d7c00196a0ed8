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
      minimax: { kind: 'openai-compatible', models: ['MiniMax-M2.1', 'MiniMax-M1'] },
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
    ["a model's own name may have a slash", 'router/meta/llama-3.1', 'router/meta/llama-3.1'],
    ["and be written without its provider's", 'meta/llama-3.1', 'router/meta/llama-3.1'],
    ["a provider is the agent's own model if that is one of its", 'openai', 'openai/gpt-5'],
    ['else the first of its models', 'anthropic', 'anthropic/claude-opus-4-1'],
    ['a name without its provider', 'gpt-5', 'openai/gpt-5'],
    ['a name without its hyphens', 'gpt5', 'openai/gpt-5'],
  ])('%s', (_, word, model) => expect(resolveModel(word, config)).toEqual({ model }));

  test("the agent's own model that no provider has, if it stands alone", () => {
    const without = configSchema.parse({ agent: { model: 'offline' } });
    expect(resolveModel('Offline', without)).toEqual({ model: 'offline' });
    expect(resolveModel('offline', without, { alone: false })).toBeNull();
    expect(resolveModel('offline', config)).toBeNull();
  });

  test.each([
    ['the part that people call it by', 'opus', 'anthropic/claude-opus-4-1'],
    ['the beginning of a provider', 'anthr', 'anthropic/claude-opus-4-1'],
    ['the beginning of a name', 'mist', 'router/mistral-large'],
    ['provider/model that the configuration does not name', 'openai/gpt-9', 'openai/gpt-9'],
    ['provider and a part of its model', 'anthropic/opus', 'anthropic/claude-opus-4-1'],
    ['provider and a part without its hyphens', 'anthropic/opus4.1', 'anthropic/claude-opus-4-1'],
    ["a provider's version, which is a part of the name", 'minimax/m2.1', 'minimax/MiniMax-M2.1'],
    ['a version that is not configured is none of those that are', 'minimax/m2.2', 'minimax/m2.2'],
    ['provider and a misspelt model', 'openai/gtp-5-mini', 'openai/gpt-5-mini'],
    ['a misspelt provider', 'antropic', 'anthropic/claude-opus-4-1'],
    ['two letters swapped', 'opneai', 'openai/gpt-5'],
    ['a misspelt provider and a part of its model', 'antropic/haiku', 'anthropic/claude-haiku-4-5'],
    ['a misspelt provider and a model of its own', 'antropic/claude-next', 'anthropic/claude-next'],
    ['a misspelt model', 'mistrall-large', 'router/mistral-large'],
    ['a misspelt name with a slash', 'meta/lama-3.1', 'router/meta/llama-3.1'],
    ['a provider and nothing', 'openai/', 'openai/gpt-5'],
    ['a misspelt part of a name', 'sonet', 'anthropic/claude-sonnet-4-5'],
    ['a misspelt alias', 'anthropik2', 'anthropic/claude-opus-4-1'],
  ])('D5: a name that is only similar is taken, and said: %s', (_, word, model) => {
    expect(resolveModel(word, config)).toEqual({ model, guessed: true });
  });

  test.each<[string, string, readonly string[]]>([
    ['a short name could as well be a word', 'fist', ['openai/gpt-5-mini']],
    ['another version', 'gpt-9', ['openai/gpt-5', 'openai/gpt-5-mini']],
    ['another version of a part', 'opus-5', ['anthropic/claude-opus-4-1']],
    ['another version without more letters', 'o4', ['openai/o3', 'router/o3']],
    ['several models of a provider', 'anthropic/claude', claudes],
    ['a misspelt part of several', 'cluade', claudes],
  ])('D5: what is too uncertain is asked: %s', (_, word, expected) => {
    const found = resolveModel(word, config);
    expect(found && 'ambiguous' in found && [...found.ambiguous].sort()).toEqual(expected);
  });

  test.each([['google/gemini'], ['and/or'], ['gogle/gemini-2.5-pro']])(
    'D5: a word with a slash is meant as a model: %s',
    (word) => {
      expect(resolveModel(word, config)).toEqual({ unknown: word });
      expect(resolveModel(word, config, { alone: false })).toEqual({ unknown: word });
    },
  );

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
    ['a property of every object', 'constructor'],
    ['letters of a name with others between them', 'snnt'],
    ['a date', '3/4'],
    ['an address', 'https://example.org/a'],
    ['a path', '/etc/hosts'],
    ['another path', './notes/today'],
    ['a number', '42'],
    ['what no name is as long as', `openai/${'x'.repeat(200)}`],
  ])('no model: %s', (_, word) => expect(resolveModel(word, config)).toBeNull());

  test.each<[string, object | null]>([
    ['opus', { model: 'anthropic/claude-opus-4-1', guessed: true }],
    ['fast', { model: 'openai/gpt-5-mini' }],
    ['openai', { model: 'openai/gpt-5' }],
    ['anthropic/opus', { model: 'anthropic/claude-opus-4-1', guessed: true }],
    ['antropic', { ambiguous: ['anthropic/claude-opus-4-1'] }],
    ['mistrall-large', { ambiguous: ['router/mistral-large'] }],
    ['opus-5', { ambiguous: ['anthropic/claude-opus-4-1'] }],
    ['last', null],
    ['rooter', { ambiguous: ['router/meta/llama-3.1'] }],
    ['roter', null],
    ['clause', null],
    ['sonet', null],
    ['what', null],
    ['3', null],
    ['open', null],
    ['mist', null],
    ['?!?', null],
  ])('with a text after it "%s" must be a whole word of a name, or is asked about', (word, expected) => {
    expect(resolveModel(word, config, { alone: false })).toEqual(expected);
  });
});
