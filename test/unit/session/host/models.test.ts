import { describe, expect, test } from 'vitest';
import { createModels } from '../../../../shared/adapters/model/create.ts';
import { configSchema } from '../../../../shared/domain/config/schema.ts';
import type { CommandEnvelope } from '../../../../shared/domain/session/envelope.ts';
import { systemClock } from '../../../../shared/kit/clock.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { command } from '../../../support/domain/given.ts';
import { homeKey, rig } from '../rig.ts';

const named = (name: string): Model => ({
  name,
  windowTokens: 128_000,
  step: async () => ({
    kind: 'reply',
    text: `this is ${name}`,
    model: name,
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  }),
});
const choose = (model: string | null): CommandEnvelope => ({
  ...command('send inherit', `choose ${model}`),
  key: homeKey,
  data: { type: 'patch_session', settings: { model } },
});

describe('the model of a session (A4/54)', () => {
  test('is the one it was given, over resets, until it is taken back', async () => {
    const { take, events } = rig({ modelOf: (name = 'usual') => named(name) });
    const said = () => events().flatMap((event) => (event.type === 'assistant_message' ? [event.text] : []));
    await take('post m1');
    await expect.poll(said).toEqual(['this is usual']);
    await take(choose('special/one'));
    await take('reset s2 m2');
    await expect.poll(said).toEqual(['this is usual', 'this is special/one']);
    await take(choose(null));
    await take('post m3');
    await expect.poll(said).toEqual(['this is usual', 'this is special/one', 'this is usual']);
  });

  test('is made once by name; one that is not known fails with what to do', async () => {
    const provider = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };
    const modelOf = createModels(configSchema.parse({ model: { providers: { local: provider } } }), {}, systemClock);
    expect(modelOf().name).toBe('offline');
    expect(modelOf('local/a')).toBe(modelOf('local/a'));
    expect(modelOf('local/a').name).toBe('local/a');
    const request = { key: homeKey, turn: { id: 't', attempt: 1 }, step: 1, system: '', messages: [], tools: [], prompt: '' };
    expect(await modelOf('gone/model').step(request, () => {}, AbortSignal.timeout(1_000))).toMatchObject({
      kind: 'failed',
      code: 'model_unknown',
      message: expect.stringContaining('local/<model>'),
    });
  });
});
