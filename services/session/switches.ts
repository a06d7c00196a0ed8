/** Safety mechanisms that tests switch off to prove that the checkers notice. All on in any other use. */
export interface Switches {
  readonly fencing: boolean;
  readonly deduplication: boolean;
  readonly stopOnUncommitted: boolean;
  /** Off: that a command changes nothing is said of what is in memory, though another host may have gone on with the session (I1). */
  readonly freshness: boolean;
  /** Off: a call that an earlier attempt began is made as if this one had begun it (I6). */
  readonly intents: boolean;
  /** Off: every command finds its session out of memory and loads it anew. Not a safety mechanism: both ways must behave alike. */
  readonly residency: boolean;
}
export const allOn: Switches = {
  fencing: true,
  deduplication: true,
  stopOnUncommitted: true,
  freshness: true,
  intents: true,
  residency: true,
};
