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
/** An error of the provider itself, as the adapter words it; behind a fallback each has the name of its model before it. */
const ownError = /^(?:\S+: )?HTTP 5\d\d\b/;
const fault: Failure = {
  reason: 'the provider answered with an error of its own',
  advice: 'the fault is on its side: try again later',
};
const other: Failure = { reason: 'the request failed', advice: 'see docs/use/models.md, "How a step can fail"' };

interface Failed {
  readonly code: string;
  readonly message: string;
}
/** Whether the provider itself had an error. */
export const isProviderFault = ({ code, message }: Failed): boolean => code === 'model_unavailable' && ownError.test(message);

const known = (failed: Failed): Failure | undefined => (isProviderFault(failed) ? fault : failures.get(failed.code));

/** Why a model did not answer and what to do about it. */
export const failureOf = (failed: Failed): Failure => known(failed) ?? other;

/** Why a model did not answer, in plain words; `null`: the code does not tell. */
export const reasonOf = (failed: Failed): string | null => known(failed)?.reason ?? null;

/** What to do about a turn that failed because its model did not answer; `null`: there is nothing that helps every time. */
export const nextStep = (failed: Failed): string | null => {
  const advice = known(failed)?.advice;
  return advice === undefined ? null : `→ ${advice}; "natter doctor" asks the provider; /model in a chat chooses another`;
};
