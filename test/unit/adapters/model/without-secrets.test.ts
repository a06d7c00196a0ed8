import { describe, expect, test } from 'vitest';
import { withoutSecrets } from '../../../../shared/adapters/model/without-secrets.ts';
import type { StepOutcome } from '../../../../shared/domain/values/types.ts';
import type { Model } from '../../../../shared/ports/model.ts';
import { request } from './rig.ts';

/** I12: what a model writes is recorded and sent on, so no secret of this installation may be in it. */

const [key, longer] = ['planted-provider-key', 'planted-provider-key-of-tomorrow'];
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const modelThat = (outcome: StepOutcome, pieces: readonly string[] = []): Model => ({
  ...{ name: 'test', windowTokens: 1_000 },
  step: async (_, onText) => {
    for (const piece of pieces) onText(piece);
    return outcome;
  },
});
const take = async (model: Model, secrets: readonly string[] = [key, longer]) => {
  const told: string[] = [];
  const outcome = await withoutSecrets(model, secrets).step(request(), (text) => told.push(text), new AbortController().signal);
  return { outcome, told };
};

test.each<[string, (text: string) => StepOutcome]>([
  ['a reply', (text) => ({ kind: 'reply', text, model: 'm', usage })],
  ['a step that continues', (text) => ({ kind: 'continue', text, model: 'm', usage })],
  [
    'the arguments of a call',
    (text) => ({ kind: 'continue', text: '', model: 'm', usage, calls: [{ tool: 't', arguments: JSON.stringify({ text }) }] }),
  ],
  ['a failure', (message) => ({ kind: 'failed', code: 'model_error', message })],
])('%s', async (_, outcomeWith) => {
  const { outcome } = await take(modelThat(outcomeWith(`it is ${key}, or ${longer}, or "${btoa(longer)}"`)));
  expect(outcome).toEqual(outcomeWith('it is [secret], or [secret], or "[secret]"'));
});

describe('live text', () => {
  const reply = (text: string): StepOutcome => ({ kind: 'reply', text, model: 'm', usage });

  test('is the text of the outcome, however a secret is cut', async () => {
    const text = `first ${key} then ${longer}-and planted-pro is none: pl`;
    for (let size = 1; size < 30; size++) {
      const pieces = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const { outcome, told } = await take(modelThat(reply(text), pieces));
      expect(told.join('')).toBe('first [secret] then [secret]-and planted-pro is none: pl');
      expect(outcome).toEqual(reply(told.join('')));
    }
  });

  test('waits only where a secret may have begun', async () => {
    expect((await take(modelThat(reply('a b'), ['a ', 'b']))).told).toEqual(['a ', 'b']);
    expect((await take(modelThat(reply('a plan'), ['a pla', 'n']))).told).toEqual(['a ', 'plan']);
  });
});

test('a model that answers at once does so without a secret too, and one that cannot stays so', () => {
  const model: Model = {
    ...modelThat({ kind: 'failed', code: 'x', message: '' }),
    instantly: ({ prompt }) => (prompt === '' ? null : { kind: 'reply', text: prompt, model: 'm', usage }),
  };
  const hidden = withoutSecrets(model, [key]);
  expect(hidden.instantly?.({ step: 1, prompt: `say ${key}` })).toMatchObject({ text: 'say [secret]' });
  expect(hidden.instantly?.({ step: 1, prompt: '' })).toBeNull();
  expect(withoutSecrets(modelThat({ kind: 'failed', code: 'x', message: '' }), [key]).instantly).toBeUndefined();
});
