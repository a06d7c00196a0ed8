interface Failure {
  /** What happened, in plain words. */
  readonly reason: string;
  readonly advice: string;
}
const failures: ReadonlyMap<string, Failure> = new Map([
  ['model_auth', { reason: 'the provider refused the key', advice: 'check the key, and that the account may use this model' }],
  [
    'model_unknown',
    {
      reason: 'the provider has no such model',
      advice: 'choose a model that it offers: "natter init --model NAME", or /model in a chat',
    },
  ],
  [
    'model_rate_limited',
    {
      reason: 'the key is right, but the provider takes no more requests of this account for now',
      advice: 'wait, or raise the limit of the account',
    },
  ],
  [
    'model_unavailable',
    {
      reason: 'the provider cannot be reached, or is in trouble',
      advice: 'check the address and the network, and that the server runs',
    },
  ],
  ['model_timeout', { reason: 'no answer came in time', advice: 'check the address and the network, and that the server runs' }],
]);
const other: Failure = { reason: 'the request failed', advice: 'see docs/use/models.md, "How a step can fail"' };

/** Why a model did not answer and what to do about it, by the code. */
export const failureOf = ({ code }: { readonly code: string }): Failure => failures.get(code) ?? other;

/** Why a model did not answer, in plain words; `null`: the code does not tell. */
export const reasonOf = (code: string): string | null => failures.get(code)?.reason ?? null;

/** What to do about a turn that failed because its model did not answer; `null`: there is nothing that helps every time. */
export const nextStep = (code: string): string | null => {
  const known = failures.get(code);
  return known === undefined ? null : `→ ${known.advice}; "natter doctor" asks the provider; /model in a chat chooses another`;
};
