import type { StepOutcome } from '../../domain/values/types.ts';
import { SecretForms, SecretStream, secretHider } from '../../kit/scrub.ts';
import type { Model } from '../../ports/model.ts';

/** The model without these secrets in what it writes: its text, live too, and its calls are recorded, shown and sent on (I12). */
export const withoutSecrets = (model: Model, secrets: readonly string[]): Model => {
  if (secrets.length === 0) return model;
  const hide = secretHider(secrets);
  const forms = new SecretForms(secrets);
  const hidden = (outcome: StepOutcome): StepOutcome => {
    if (outcome.kind === 'failed') return { ...outcome, message: hide(outcome.message) };
    const text = hide(outcome.text);
    // What is signed is worth nothing once it is changed.
    const thought = outcome.reasoning && { reasoning: outcome.reasoning.filter((part) => hide(part.text) === part.text) };
    if (outcome.kind === 'reply' || outcome.calls === undefined) return { ...outcome, text, ...thought };
    return { ...outcome, text, ...thought, calls: outcome.calls.map((call) => ({ ...call, arguments: hide(call.arguments) })) };
  };
  return {
    name: model.name,
    windowTokens: model.windowTokens,
    takes: (type) => model.takes?.(type) ?? false,
    step: async (request, onText, signal) => {
      const live = new SecretStream(forms);
      const show = (text: string): void => {
        if (text !== '') onText(text);
      };
      const outcome = await model.step(request, (piece) => show(live.push(piece)), signal);
      show(live.end());
      return hidden(outcome);
    },
    ...(model.instantly && {
      instantly: (request) => {
        const outcome = model.instantly?.(request) ?? null;
        return outcome && hidden(outcome);
      },
    }),
  };
};
